//! What to do next, from the conversation alone: the calls that the work still waits for, or the answer.
//!
//! The work on a request is a plain function that asks a [`Desk`] for the results of tool calls. It runs anew at each
//! model call; a result that is in the conversation is handed over, another one is noted as wanted. So nothing is
//! remembered between calls, and an answer can be made of results only.

use std::{
    cell::RefCell,
    collections::{BTreeSet, HashMap},
};

use agent_core::{CallId, Message, ModelCall, RawJson, ToolChoice};
use serde::Serialize;

use super::{ask::Ask, work};

/// How many calls are made at once.
const BATCH: usize = 16;
/// How many calls are made for one request. What is not known then is said to be not known.
const MOST_CALLS: usize = 1000;
/// How many answers with calls are made for one request; below the limit that a run has by default.
const MOST_TURNS: usize = 80;

/// What comes next.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    Calls(Vec<Call>),
    Answer(String),
}

/// A tool call.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Call {
    pub(super) tool: &'static str,
    pub(super) arguments: String,
}

/// What a tool answered.
#[derive(Debug)]
pub(super) struct Done {
    pub(super) text: String,
    pub(super) failed: bool,
}

/// Why the work cannot go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stuck {
    /// A result is wanted first.
    Waits,
    /// The tool is not offered.
    Lacks(&'static str),
    /// No more calls are made for this request.
    Spent,
}

/// The results of the calls that were made for a request.
#[derive(Debug)]
pub(super) struct Desk {
    tools: BTreeSet<String>,
    done: HashMap<(String, String), Done>,
    turns: usize,
    wanted: RefCell<Vec<Call>>,
}

/// The next step of a conversation.
pub(super) fn next(call: &ModelCall) -> Step {
    let desk = Desk::of(call);
    let asks: Vec<String> =
        call.view.messages().filter(|m| matches!(***m, Message::User(_))).map(|m| m.text()).collect();
    match work::run(&Ask::of(&asks), &desk) {
        Some(answer) => Step::Answer(answer),
        None => Step::Calls(desk.wanted.into_inner().into_iter().take(BATCH).collect()),
    }
}

impl Desk {
    /// The calls behind the last request, and what came of them.
    fn of(call: &ModelCall) -> Self {
        let mut made: HashMap<CallId, (String, String)> = HashMap::new();
        let (mut done, mut turns) = (HashMap::new(), 0);
        for message in call.view.messages() {
            match &**message {
                // What was found before may have changed since.
                Message::User(_) => {
                    done.clear();
                    turns = 0;
                }
                Message::Assistant(answer) => {
                    turns += 1;
                    let calls = answer.tool_calls();
                    made.extend(calls.map(|(id, call)| (id, (call.name.clone(), call.arguments.text().to_owned()))));
                }
                Message::ToolResult(result) => {
                    if let Some(call) = made.remove(&result.call) {
                        done.insert(call, Done { text: message.text(), failed: result.is_error });
                    }
                }
                _ => {}
            }
        }
        let tools = match call.options.tool_choice {
            ToolChoice::Never => BTreeSet::new(),
            _ => call.tools.specs().iter().map(|spec| spec.name().to_owned()).collect(),
        };
        Self { tools, done, turns, wanted: RefCell::default() }
    }

    /// The result of a call.
    ///
    /// # Errors
    /// [`Stuck`] where there is none, and why.
    pub(super) fn ask(&self, tool: &'static str, arguments: &impl Serialize) -> Result<&Done, Stuck> {
        let arguments = RawJson::of(arguments).map_err(|_| Stuck::Spent)?.get().to_owned();
        let key = (tool.to_owned(), arguments);
        if let Some(done) = self.done.get(&key) {
            return Ok(done);
        }
        if !self.tools.contains(tool) {
            return Err(Stuck::Lacks(tool));
        }
        let mut wanted = self.wanted.borrow_mut();
        if self.turns >= MOST_TURNS || self.done.len() + wanted.len() >= MOST_CALLS {
            return Err(Stuck::Spent);
        }
        let call = Call { tool, arguments: key.1 };
        if !wanted.contains(&call) {
            wanted.push(call);
        }
        Err(Stuck::Waits)
    }
}

/// Does all of the parts, so that their calls are made together; stuck where one is.
pub(super) fn all<T>(parts: impl IntoIterator<Item = Result<T, Stuck>>) -> Result<Vec<T>, Stuck> {
    let (mut got, mut stuck) = (Vec::new(), None);
    for part in parts {
        match part {
            Ok(part) => got.push(part),
            Err(e @ Stuck::Lacks(_)) => return Err(e),
            Err(Stuck::Waits) => stuck = Some(Stuck::Waits),
            Err(e) => stuck = stuck.or(Some(e)),
        }
    }
    stuck.map_or(Ok(got), Err)
}
