//! How a run ended, as data.

use std::{fmt, sync::Arc};

use agent_core::{
    CacheBreak, CallId, CallIntent, JournalError, Message, Money, Origin, ProviderError, RunEnding, RunId, StopReason,
    Suspended, Usage,
};

use crate::StateError;

/// What a run came to.
#[derive(Debug)]
#[non_exhaustive]
pub struct RunReport {
    /// The run.
    pub run: RunId,
    /// How it ended.
    pub ending: Ending,
    /// Why the model stopped last; `None` where it never answered.
    pub stop_reason: Option<StopReason>,
    /// The messages that the run added to the history, oldest first.
    pub new_messages: Vec<Arc<Message>>,
    /// The tokens of all its calls, failed ones included.
    pub usage: Usage,
    /// What its calls cost; `None` where a call was made whose price is not known.
    pub cost: Option<Money>,
    /// How many answers of the model it has.
    pub turns: u64,
    /// Who answered last.
    pub origin: Option<Origin>,
}

impl RunReport {
    /// The text of the last answer; empty where there is none.
    pub fn final_text(&self) -> String {
        let last = self.new_messages.iter().rev().find(|message| matches!(***message, Message::Assistant(_)));
        last.map(|message| message.text()).unwrap_or_default()
    }
}

/// How a run ended. In all cases the history is valid, and the next prompt goes on from there.
#[derive(Debug)]
#[non_exhaustive]
pub enum Ending {
    /// The model was done.
    Completed,
    /// The model refused.
    Refused,
    /// The answer was cut at its limit of tokens.
    Truncated,
    /// Something stopped it.
    Stopped(StopCause),
    /// It waits, as data: any process can take it up again.
    Paused {
        /// The calls that somebody has to agree to.
        approvals: Vec<CallIntent>,
        /// The calls whose tools wait for something outside.
        suspended: Vec<(CallId, Suspended)>,
    },
    /// It was cancelled.
    Cancelled,
    /// It failed.
    Failed(RunError),
}

/// What stopped a run.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum StopCause {
    /// A hook, for this reason.
    Hook(String),
    /// The prompt was refused by a hook, for this reason.
    Rejected(String),
    /// A limit.
    Limit(Limit),
    /// The budget does not cover the next call, for this reason.
    Budget(String),
    /// The next call would not find its prefix in the cache.
    CacheBreak(CacheBreak),
    /// The model called this tool over and over.
    Loop(String),
    /// The model said nothing, and nothing again when it was asked.
    EmptyAnswer,
}

/// A limit that a run reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Limit {
    /// So many answers of the model.
    Turns(u64),
    /// So many tokens.
    Tokens(u64),
    /// So many milliseconds.
    WallClock(u64),
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Turns(turns) => write!(f, "{turns} turns"),
            Self::Tokens(tokens) => write!(f, "{tokens} tokens"),
            Self::WallClock(ms) => write!(f, "{ms} ms"),
        }
    }
}

/// Why a run failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The model could not be asked.
    #[error("the model call failed")]
    Provider(#[from] ProviderError),
    /// The journal could not be written. What is in the history is what was acknowledged.
    #[error("the journal failed")]
    Journal(#[from] JournalError),
    /// A record did not fit the history.
    #[error("the conversation is damaged")]
    State(#[from] StateError),
}

impl Ending {
    /// The ending as the journal has it.
    pub(crate) fn recorded(&self) -> RunEnding {
        match self {
            Self::Completed => RunEnding::Completed,
            Self::Refused => RunEnding::Refused,
            Self::Truncated => RunEnding::Truncated,
            Self::Stopped(cause) => RunEnding::Stopped(cause.to_string()),
            Self::Paused { .. } => RunEnding::Paused,
            Self::Cancelled => RunEnding::Cancelled,
            Self::Failed(error) => {
                let causes = std::iter::successors(std::error::Error::source(error), |cause| cause.source());
                let text = causes.fold(error.to_string(), |text, cause| {
                    let cause = cause.to_string();
                    // Some causes say what the error around them has said.
                    if text.contains(&cause) { text } else { format!("{text}: {cause}") }
                });
                // What may be done about it comes last.
                let advice = if let RunError::Provider(error) = error { error.advice() } else { None };
                RunEnding::Failed(match advice.filter(|advice| !text.contains(*advice)) {
                    Some(advice) => format!("{text}; {advice}"),
                    None => text,
                })
            }
        }
    }
}

impl fmt::Display for StopCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hook(reason) => write!(f, "hook: {reason}"),
            Self::Rejected(reason) => write!(f, "input rejected: {reason}"),
            Self::Limit(limit) => write!(f, "limit of {limit}"),
            Self::Budget(reason) => write!(f, "budget: {reason}"),
            Self::CacheBreak(_) => f.write_str("cache break"),
            Self::Loop(tool) => write!(f, "loop: `{tool}`"),
            Self::EmptyAnswer => f.write_str("empty answer"),
        }
    }
}
