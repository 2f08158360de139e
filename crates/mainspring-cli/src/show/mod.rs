//! A run as it is shown: for people, or as JSON lines for programs.

mod json;
mod plain;
mod sink;

use std::io;

use agent_core::AgentEvent;
use agent_loop::RunReport;

pub(crate) use self::{
    json::{Json, SCHEMA},
    plain::{Plain, money},
    sink::{Editor, Sink, Std},
};
use crate::error::Status;

/// What a run was, for the last line.
pub(crate) struct Ended<'a> {
    pub(crate) report: &'a RunReport,
    pub(crate) status: Status,
    pub(crate) model: &'a str,
    pub(crate) session: Option<String>,
    pub(crate) elapsed_ms: u64,
}

/// One of the two ways.
pub(crate) enum Show {
    Plain(Box<Plain>),
    Json(Json),
}

impl Show {
    /// Something that is no event of the run: which model, which sandbox.
    pub(crate) fn note(&mut self, text: &str) -> io::Result<()> {
        match self {
            Self::Plain(plain) => plain.note(text),
            Self::Json(json) => json.note(text),
        }
    }

    pub(crate) fn event(&mut self, event: &AgentEvent) -> io::Result<()> {
        match self {
            Self::Plain(plain) => plain.event(event),
            Self::Json(json) => json.event(event),
        }
    }

    /// What somebody is asked to agree to.
    pub(crate) fn question(&mut self, tool: &str, lines: &[String]) -> io::Result<()> {
        match self {
            Self::Plain(plain) => plain.question(tool, lines),
            // The event of the approval says it.
            Self::Json(_) => Ok(()),
        }
    }

    pub(crate) fn end(&mut self, ended: &Ended<'_>) -> io::Result<()> {
        match self {
            Self::Plain(plain) => plain.end(ended),
            Self::Json(json) => json.end(ended),
        }
    }
}
