//! What a model and an application are told about a command that has ended.

use std::{fmt::Write as _, os::unix::process::ExitStatusExt, process::ExitStatus, time::Duration};

use agent_core::ToolOutput;
use serde::Serialize;

use super::process::Job;
use crate::args;

/// How a command came to its end.
#[derive(Clone, Copy)]
pub(super) enum Ended {
    Exited { status: ExitStatus, open: bool },
    TimedOut,
    Cancelled,
}

/// What there is to tell.
pub(super) struct Facts<'a> {
    pub(super) ended: Ended,
    pub(super) text: String,
    pub(super) output_bytes: u64,
    /// The handle of the whole output, where it is kept.
    pub(super) whole: Option<String>,
    /// The handle under which a job that runs on adds its output; `None` inside where it cannot be kept.
    pub(super) goes_on: Option<Option<String>>,
    pub(super) job: Option<&'a Job>,
    pub(super) limit: Duration,
    pub(super) took: Duration,
    /// What became of the working folder, where it is kept.
    pub(super) folder: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Details {
    /// `None` where a signal ended it.
    exit_code: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<i32>,
    duration_ms: u64,
    output_bytes: u64,
    timed_out: bool,
    cancelled: bool,
    output_still_open: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    background: Vec<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<String>,
}

impl Facts<'_> {
    pub(super) fn answer(self) -> ToolOutput {
        let mut text = self.text;
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        let (mut exit_code, mut signal, mut output_still_open) = (None, None, false);
        let _ = match &self.ended {
            Ended::Exited { status, open } => {
                (exit_code, signal, output_still_open) = (status.code(), status.signal(), *open);
                match (exit_code, signal) {
                    (Some(code), _) => write!(text, "[exit code {code}]"),
                    (None, signal) => write!(text, "[ended by signal {}]", signal.unwrap_or_default()),
                }
            }
            Ended::TimedOut => {
                write!(text, "[timed out after {} ms; it was ended, with all it started]", self.limit.as_millis())
            }
            Ended::Cancelled => write!(text, "[cancelled; it was ended, with all it started]"),
        };
        if let Some(job) = self.job {
            let names: Vec<_> = job.members.iter().map(|member| format!("{} ({})", member.pid, member.name)).collect();
            let group = job.group();
            let names = names.join(", ");
            let _ = write!(text, "\n[still running in the background: {names}; `kill -- -{group}` ends it]");
        }
        text.push_str(&match &self.goes_on {
            None => String::new(),
            Some(Some(handle)) => format!("\n[something still holds the output; it goes on in output `{handle}`]"),
            Some(None) => "\n[something still holds the output; what it writes from now on is lost]".to_owned(),
        });
        if let Some(folder) = &self.folder {
            let _ = write!(text, "\n[{folder}]");
        }
        let (timed_out, cancelled) = (matches!(self.ended, Ended::TimedOut), matches!(self.ended, Ended::Cancelled));
        let background = self.job.map(|job| job.members.iter().map(|member| member.pid).collect()).unwrap_or_default();
        let details = Details {
            exit_code,
            signal,
            duration_ms: u64::try_from(self.took.as_millis()).unwrap_or(u64::MAX),
            output_bytes: self.output_bytes,
            timed_out,
            cancelled,
            output_still_open,
            background,
            output: self.whole.or(self.goes_on.flatten()),
        };
        let output = args::answer(text, &details);
        if timed_out || cancelled { output.as_error() } else { output }
    }
}
