//! What the loop says to a model. Constant texts: the same history has the same bytes.

use agent_core::{ArgumentFault, ToolOutput};

use crate::Limit;

pub(crate) const CANCELLED: &str = "Not finished: the user cancelled the run.";
pub(crate) const NOT_RUN_CANCELLED: &str = "Not run: the user cancelled the run.";
pub(crate) const SKIPPED: &str = "Not run: the user sent a new message first.";
pub(crate) const REFUSED: &str = "Not run: the answer was refused.";
pub(crate) const LOOPED: &str = "Not run: the same call was made over and over.";
pub(crate) const UNKNOWN: &str =
    "Interrupted: the process ended while this ran, and its outcome is unknown. Check before you call again.";
pub(crate) const EXPIRED: &str = "Not run: nobody agreed in time.";
pub(crate) const NO_ANSWER: &str = "Not run: nobody agreed before the user went on.";
pub(crate) const WITHHELD: &str = "The output is withheld: a check of it failed.";
pub(crate) const CANCEL_NOTE: &str = "The user cancelled while tools were running.";
pub(crate) const LOOP_NOTE: &str = "You have made the same call several times in a row. Its result will not change: do something else, or say what \
     you need.";
pub(crate) const EMPTY_NOTE: &str = "Your answer was empty. Answer, or call a tool.";
pub(crate) const INTERRUPTED: &str = "interrupted";
pub(crate) const INTERRUPTED_CALL: &str = "Not run: the run ended first.";

pub(crate) fn error(text: impl Into<String>) -> ToolOutput {
    ToolOutput::text(text).as_error()
}

pub(crate) fn limit_note(limit: Limit) -> String {
    format!("The run was stopped at its limit of {limit}. What was done so far is above.")
}

pub(crate) fn limited(limit: Limit) -> String {
    format!("Not run: the run reached its limit of {limit}.")
}

pub(crate) fn unfinished(limit: Limit) -> String {
    format!("Not finished: the run reached its limit of {limit}.")
}

pub(crate) fn denied(reason: &str) -> String {
    format!("Not run, denied: {reason}")
}

pub(crate) fn fault(fault: ArgumentFault) -> String {
    format!("Not run: {fault}.")
}

pub(crate) fn timed_out(ms: u64) -> String {
    format!("Stopped: it did not finish within {ms} ms.")
}

pub(crate) fn abandoned(ms: u64) -> String {
    format!("Abandoned: it did not end within {ms} ms of being told to. It may still take effect.")
}

pub(crate) fn cut(bytes: usize) -> String {
    format!("\n[… {bytes} bytes left out …]\n")
}
