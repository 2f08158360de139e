//! What a command hands back: its figures, its faults, and the errors that stopped it.

use std::{fmt, io, path::PathBuf};

/// The result of a command that could be run to its end.
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// Printed after the command's name on the last line.
    pub(crate) figures: String,
    /// What is wrong; empty means that the command passed.
    pub(crate) faults: Vec<Fault>,
    /// The command found that it can't run here; counted apart from a pass.
    pub(crate) skipped: bool,
}

impl Report {
    pub(crate) fn new(figures: impl Into<String>, faults: Vec<Fault>) -> Self {
        Self { figures: figures.into(), faults, skipped: false }
    }

    pub(crate) fn skipped(reason: impl fmt::Display) -> Self {
        Self { figures: format!("skipped, {reason}"), faults: Vec::new(), skipped: true }
    }
}

/// One thing that is wrong: where, what, and the way out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) place: String,
    pub(crate) what: String,
    pub(crate) remedy: String,
}

impl Fault {
    pub(crate) fn new(place: impl Into<String>, what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { place: place.into(), what: what.into(), remedy: remedy.into() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; {}", self.place, self.what, self.remedy)
    }
}

/// What keeps a command from running to its end.
#[derive(Debug)]
pub(crate) enum Error {
    /// The program could not be started.
    Start { program: String, source: io::Error },
    /// The program ran and failed where its output was needed.
    Failed { command: String, status: String, stderr: String },
    /// A file or folder could not be read.
    Read { path: PathBuf, source: io::Error },
    /// A file or folder could not be written.
    Write { path: PathBuf, source: io::Error },
    /// Output that should be JSON isn't.
    Json { what: &'static str, source: serde_json::Error },
    /// A manifest isn't TOML.
    Toml { path: PathBuf, source: toml::de::Error },
    /// JSON of a known format lacks a field.
    Field { what: &'static str, field: &'static str },
    /// The command takes no such argument.
    Argument { command: &'static str, argument: String },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start { program, .. } => {
                write!(f, "could not start `{program}`; is it installed and in PATH?")
            }
            Self::Failed { command, status, stderr } => {
                write!(f, "`{command}` failed ({status}); run it by hand to see why\n{stderr}")
            }
            Self::Read { path, .. } => write!(f, "could not read {}", path.display()),
            Self::Write { path, .. } => write!(f, "could not write {}", path.display()),
            Self::Json { what, .. } => write!(f, "{what} is not the JSON that this tool knows"),
            Self::Toml { path, .. } => write!(f, "{} is not valid TOML", path.display()),
            Self::Field { what, field } => {
                write!(f, "{what} has no field `{field}`; the format changed, update xtask/src/metadata.rs")
            }
            Self::Argument { command, argument } => {
                write!(f, "`{command}` takes no argument `{argument}`; run `cargo xtask` for help")
            }
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Start { source, .. } | Self::Read { source, .. } | Self::Write { source, .. } => Some(source),
            Self::Json { source, .. } => Some(source),
            Self::Toml { source, .. } => Some(source),
            Self::Failed { .. } | Self::Field { .. } | Self::Argument { .. } => None,
        }
    }
}
