//! How far a run is: what limits and detection count, as a fold of records.

use agent_core::{
    AssistantMessage, CallId, ChainHash, Money, NoteMessage, Origin, RunEnding, RunId, StopReason, Usage,
};
use agent_core::{RawJson, canonical};

use super::kind;

/// How many signatures of calls are kept: eight repetitions of the longest cycle.
const RECENT: usize = 64;

/// How far a run is.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RunProgress {
    /// The run.
    pub id: RunId,
    /// The call of the parent run that it answers.
    pub parent: Option<CallId>,
    /// How many answers of the model it has.
    pub turns: u64,
    /// The tokens of all its calls, failed ones included.
    pub usage: Usage,
    /// What its calls count for.
    pub cost: Money,
    /// Whether a call was made whose price is not known.
    pub unpriced: bool,
    /// Who answered last.
    pub origin: Option<Origin>,
    /// Why the model stopped last.
    pub stop_reason: Option<StopReason>,
    /// How it ended; `None` while it is on.
    pub ending: Option<RunEnding>,
    /// How many messages the history had when it began.
    pub(crate) first: usize,
    /// The prompt tokens of its first call.
    pub(crate) first_prompt: Option<u64>,
    /// The tokens of its last answer's prompt and output.
    pub(crate) last_total: u64,
    /// The calls since the model was last told that it goes round in circles.
    pub(crate) recent: Vec<ChainHash>,
    /// The calls because of which it was told.
    pub(crate) told: Vec<ChainHash>,
    pub(crate) empty_nudges: u32,
    pub(crate) continues: u32,
    /// A tool ended whose effects end the turn.
    pub(crate) ends: bool,
}

impl RunProgress {
    pub(super) fn new(id: RunId, parent: Option<CallId>, first: usize) -> Self {
        Self {
            id,
            parent,
            turns: 0,
            usage: Usage::ZERO,
            cost: Money::ZERO,
            unpriced: false,
            origin: None,
            stop_reason: None,
            ending: None,
            first,
            first_prompt: None,
            last_total: 0,
            recent: Vec::new(),
            told: Vec::new(),
            empty_nudges: 0,
            continues: 0,
            ends: false,
        }
    }

    /// Whether it did not end, or waits for answers.
    pub fn is_unfinished(&self) -> bool {
        matches!(self.ending, None | Some(RunEnding::Paused))
    }

    pub(super) fn answered(&mut self, answer: &AssistantMessage) {
        self.turns = self.turns.saturating_add(1);
        self.origin = Some(answer.origin.clone());
        self.stop_reason = Some(answer.stop_reason.clone());
        self.ends = false;
        if is_empty_answer(answer) {
            return;
        }
        self.empty_nudges = 0;
        self.recent.extend(answer.tool_calls().map(|(_, call)| signature(&call.name, call.arguments.as_object())));
        let old = self.recent.len().saturating_sub(RECENT);
        self.recent.drain(..old);
    }

    pub(super) fn noted(&mut self, note: &NoteMessage) {
        match note.kind.as_str() {
            kind::EMPTY => self.empty_nudges = self.empty_nudges.saturating_add(1),
            kind::CONTINUE => self.continues = self.continues.saturating_add(1),
            kind::LOOP => {
                self.told.extend(note.data.as_ref().and_then(|call| call.read::<ChainHash>().ok()));
                self.recent.clear();
            }
            _ => {}
        }
    }
}

/// Whether a call is the same as another one; the order of keys does not count.
fn signature(name: &str, arguments: Option<&RawJson>) -> ChainHash {
    let canonical = arguments.and_then(|raw| canonical(raw).ok());
    let text = canonical.as_ref().or(arguments).map_or("", RawJson::get);
    ChainHash::of(&[name.as_bytes(), &[0], text.as_bytes()])
}

/// An answer that says nothing and calls nothing, or that announces a call and makes none; reasoning alone is nothing.
pub(crate) fn is_empty_answer(answer: &AssistantMessage) -> bool {
    use agent_core::ContentBlock as Block;
    if answer.stop_reason == StopReason::ToolUse && answer.tool_calls().next().is_none() {
        return true;
    }
    answer.content.iter().all(|block| match block {
        Block::Text(text) => text.text.trim().is_empty(),
        Block::Thinking(_) => true,
        _ => false,
    })
}
