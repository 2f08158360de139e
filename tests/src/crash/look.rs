//! What a dead process left: the session, and the traces of its tools.

use std::{collections::BTreeMap, fs, path::Path};

use agent_core::{CallId, Journal, Message, RecordBody, RunEnding, ToolSet};
use agent_loop::State;
use agent_session::{JsonlFile, SessionError};

use super::{Counter, Error, child, tools};

/// How many records a process said were acknowledged.
pub type Acknowledged = u64;

/// What the tools did: how often, by tool and call.
pub type Effects = BTreeMap<(String, CallId), u32>;

/// What there is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Look {
    /// How many records the session has.
    pub records: u64,
    /// The calls whose end is in the journal, with their tools.
    pub settled: BTreeMap<CallId, String>,
    pub effects: Effects,
    /// Why the history is none that an API would take.
    pub invalid: Option<String>,
    /// Whether the run came to its end, with every message that belongs to it.
    pub complete: bool,
}

impl Look {
    /// Looks at a folder.
    pub async fn at(folder: &Path, turns: usize, counter: &Counter) -> Result<Self, Error> {
        let mut effects = traces(folder)?;
        let session = match JsonlFile::new(folder.join(child::SESSION)).read().await {
            Ok(session) => session,
            // Killed before there was a header: nothing had begun.
            Err(SessionError::NoHeader { .. } | SessionError::NotFound { .. }) => {
                return Ok(Self { effects, ..Self::default() });
            }
            Err(error) => return Err(error.into()),
        };
        let branch = session.journal().load().await?;
        let (mut settled, mut calls) = (BTreeMap::new(), BTreeMap::new());
        for record in branch.records() {
            match &record.body {
                RecordBody::ToolSettled { call, .. } => {
                    settled.insert(*call, calls.get(call).cloned().unwrap_or_default());
                }
                RecordBody::CallSettled(end) => {
                    if let Some(Message::Assistant(answer)) = &end.message {
                        calls.extend(answer.tool_calls().map(|(id, call)| (id, call.name.clone())));
                    }
                }
                _ => {}
            }
        }
        for call in calls.into_keys() {
            let asked = counter.asked(&call.to_string());
            if asked > 0 {
                effects.insert(("count".to_owned(), call), asked);
            }
        }
        let (invalid, complete) = match State::replay(branch.records()) {
            Err(error) => (Some(error.to_string()), false),
            Ok(state) => {
                let ended = state.run().and_then(|run| run.ending.as_ref()) == Some(&RunEnding::Completed);
                let whole = state.transcript().messages().len() == child::messages(turns);
                (refused(&state), ended && whole && !state.is_unfinished())
            }
        };
        Ok(Self { records: session.len(), settled, effects, invalid, complete })
    }
}

/// Why an API would refuse the history up to its last question; a turn that is open is looked at when it is closed.
fn refused(state: &State) -> Option<String> {
    let messages: Vec<&Message> = state.transcript().messages().iter().map(|message| &**message).collect();
    let is_answer = |message: &&Message| matches!(message, Message::Assistant(_));
    let whole = match state.transcript().open_turn() {
        Some(_) => messages.iter().rposition(is_answer).unwrap_or_default(),
        None => messages.len(),
    };
    let before = messages.get(..whole)?;
    let asked = before.iter().rposition(|message| !is_answer(message))?;
    let tools = tool_set().ok()?;
    agent_testkit::refusal(before.get(..=asked)?, &tools).map(|refusal| refusal.to_string())
}

fn tool_set() -> Result<ToolSet, Error> {
    let tools = tools::tools(Path::new(""), "", agent_core::Effects::shared())?;
    Ok(ToolSet::new(tools.iter().map(|tool| agent_core::Tool::spec(tool).clone()).collect())?)
}

fn traces(folder: &Path) -> Result<Effects, Error> {
    let mut found = Effects::new();
    let text = match fs::read_to_string(folder.join(tools::EFFECTS)) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        text => text?,
    };
    for line in text.lines() {
        let (tool, call) = line.split_once(' ').ok_or("a trace without a call")?;
        *found.entry((tool.to_owned(), call.parse()?)).or_default() += 1;
    }
    Ok(found)
}
