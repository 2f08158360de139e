//! What goes wrong before a run begins, and the exit status of everything.

use std::{io, path::PathBuf, process::ExitCode};

use agent_core::{BlobError, MoneyError, ToolSpecError};
use agent_loop::{Busy, Ending, OpenError, ResumeError};
use agent_session::{ExchangeError, SessionError};
use agent_tools::{SandboxError, WorkspaceError};
use mainspring::ModelError;

/// Why the command could not do what was asked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("{} cannot be read", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("the configuration in {} is not right", path.display())]
    Config { path: PathBuf, source: Box<toml::de::Error> },
    #[error("MAINSPRING_MAX_COST is `{text}`, which is no number of dollars")]
    MaxCost { text: String },
    #[error("--max-cost")]
    Money(#[from] MoneyError),
    #[error("there is no tool `{name}`; the tools are {known}")]
    NoTool { name: String, known: String },
    #[error("there is no prompt: write it behind the command, or pipe it in; `mainspring --help` shows how")]
    NoPrompt,
    #[error("a chat needs a terminal; for one prompt from a pipe, leave `chat` out")]
    NoTerminal,
    #[error("the model")]
    Model(#[from] ModelError),
    #[error(
        "nobody says where the provider `{provider}` is; write `[providers.{provider}]` and `base-url = \"...\"` into the \
         configuration, or name a model that `mainspring models` lists"
    )]
    NoAddress { provider: String },
    #[error("the folder cannot be worked in")]
    Workspace(#[from] WorkspaceError),
    #[error("--sandbox required")]
    Sandbox(#[from] SandboxError),
    #[error("a tool cannot be set up")]
    Tool(#[from] ToolSpecError),
    #[error("the folder for long outputs cannot be used")]
    Blobs(#[from] BlobError),
    #[error("the session")]
    Session(#[from] SessionError),
    #[error("the session cannot be exported")]
    Exchange(#[from] ExchangeError),
    #[error("the session cannot be opened")]
    Open(#[from] OpenError),
    #[error("the session cannot go on")]
    Resume(#[from] ResumeError),
    #[error("this talk is not saved; begin it without --no-save")]
    NotSaved,
    #[error("no session was saved yet")]
    NoSession,
    #[error("`{format}` is no format of sessions; write markdown, html, openai or anthropic")]
    Format { format: String },
    #[error("there is no folder for sessions: set HOME or XDG_DATA_HOME, or use --no-save")]
    NoHome,
    #[error("left before the run had ended; `mainspring resume` goes on with it")]
    Cancelled,
    #[error("a run is on")]
    Busy(#[from] Busy),
    #[error("the output cannot be written")]
    Write(#[from] io::Error),
    #[error("the line editor")]
    Editor(#[from] reedline::ReedlineError),
    #[error("the runtime cannot be started")]
    Runtime(#[source] io::Error),
}

impl Error {
    /// The error with its causes, in one line.
    pub(crate) fn text(&self) -> String {
        let mut text = self.to_string();
        let mut cause = std::error::Error::source(self);
        while let Some(error) = cause {
            let said = error.to_string();
            if !text.contains(&said) {
                text = format!("{text}: {}", said.trim_end());
            }
            cause = error.source();
        }
        text
    }

    pub(crate) fn status(&self) -> Status {
        match self {
            Self::Cancelled => Status::Cancelled,
            Self::Write(_) | Self::Busy(_) | Self::Open(_) | Self::Session(_) | Self::Runtime(_) => Status::Failed,
            _ => Status::Usage,
        }
    }
}

/// The exit status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    Done,
    Failed,
    Usage,
    Stopped,
    Refused,
    Paused,
    Cancelled,
}

impl Status {
    pub(crate) fn of(ending: &Ending) -> Self {
        match ending {
            Ending::Completed => Self::Done,
            Ending::Refused => Self::Refused,
            Ending::Truncated | Ending::Stopped(_) => Self::Stopped,
            Ending::Paused { .. } => Self::Paused,
            Ending::Cancelled => Self::Cancelled,
            _ => Self::Failed,
        }
    }

    pub(crate) fn code(self) -> ExitCode {
        ExitCode::from(self.number())
    }

    pub(crate) fn number(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Stopped => 3,
            Self::Refused => 4,
            Self::Paused => 5,
            Self::Cancelled => 130,
        }
    }
}
