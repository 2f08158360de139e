//! Sessions and histories of others: what comes in, what goes out, and what cannot be carried.

mod anthropic;
mod import;
mod markdown;
mod media;
mod openai;
mod pi;

use std::fmt;

use agent_core::{BoxError, Message};

pub use self::{
    anthropic::{anthropic_messages, read_anthropic_messages},
    markdown::markdown,
    openai::{openai_messages, read_openai_messages},
    pi::PiFile,
};

/// How many records are written together.
const PAGE: usize = 256;

/// Something that a format has no place for, or that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Loss {
    /// Where: a message by its number from 0, or a line.
    pub place: String,
    /// What was left out or changed.
    pub what: String,
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.what)
    }
}

/// A history that somebody else wrote.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Foreign {
    /// The system prompt, where there is one. It is no message here, but a setting of the agent.
    pub system: Option<String>,
    /// The messages. [`Session::import`](crate::Session::import) and `Transcript::load` repair what does not follow.
    pub messages: Vec<Message>,
    /// What was left out.
    pub losses: Vec<Loss>,
}

/// A text that was written, and what is not in it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Exported {
    /// The text.
    pub text: String,
    /// What is not in it.
    pub losses: Vec<Loss>,
}

/// Why a history of others cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExchangeError {
    /// It is not JSON of that format.
    #[error("this is no {format}; check which program wrote it")]
    Format {
        /// What was expected.
        format: &'static str,
        /// Where it differs.
        source: BoxError,
    },
    /// A line is not JSON.
    #[error("line {line} is no JSON object")]
    Line {
        /// The line, from 1.
        line: usize,
        /// Where.
        source: BoxError,
    },
    /// A newer version of a format.
    #[error("the file has version {found} of the format, this version reads up to {known}")]
    Version {
        /// The version found.
        found: u64,
        /// The newest version that is read.
        known: u64,
    },
    /// Two entries of one id, or an entry that stands before the one that it follows.
    #[error("line {line} does not follow from the ones before")]
    Order {
        /// The line, from 1.
        line: usize,
    },
    /// What was read cannot be written into the session.
    #[error(transparent)]
    Session(#[from] crate::SessionError),
}

impl ExchangeError {
    fn format(format: &'static str) -> impl FnOnce(serde_json::Error) -> Self {
        move |source| Self::Format { format, source: source.into() }
    }
}

/// The losses of a text that is being read or written.
#[derive(Debug, Default)]
struct Losses(Vec<Loss>);

impl Losses {
    fn at(&mut self, message: usize, what: impl Into<String>) {
        self.0.push(Loss { place: format!("message {message}"), what: what.into() });
    }

    fn line(&mut self, line: usize, what: impl Into<String>) {
        self.0.push(Loss { place: format!("line {line}"), what: what.into() });
    }
}

/// A format in which a session can be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExportFormat {
    /// The messages of the current path as an array of the Chat Completions API of OpenAI.
    OpenAi,
    /// The messages of the current path as an array of the Messages API of Anthropic.
    Anthropic,
    /// The current path, to be read by people.
    Markdown,
    /// The whole tree as one page for a browser.
    Html,
}

impl ExportFormat {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::OpenAi, Self::Anthropic, Self::Markdown, Self::Html];

    /// The name on a command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Markdown => "markdown",
            Self::Html => "html",
        }
    }
}

/// A name of no format.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` is no format; there are openai, anthropic, markdown, html")]
#[non_exhaustive]
pub struct UnknownFormat {
    /// The name.
    pub name: String,
}

impl std::str::FromStr for ExportFormat {
    type Err = UnknownFormat;
    fn from_str(name: &str) -> Result<Self, UnknownFormat> {
        let found = Self::ALL.into_iter().find(|format| format.as_str() == name);
        found.ok_or_else(|| UnknownFormat { name: name.to_owned() })
    }
}
