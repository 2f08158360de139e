//! Built-in tools for the native operating system: `read`, `write`, `edit` and more, kept inside the folders of a
//! [`Workspace`].
#![doc = include_str!("../README.md")]
//!
//! Everything here needs a Unix and a tokio runtime with I/O and time; on other systems the crate is empty.
#![cfg(unix)]
#![expect(clippy::disallowed_methods, reason = "native tools: files, processes, clocks, environment, blocking tasks")]
#![expect(dead_code, reason = "what the next tools need")]

mod args;
mod bash;
mod blocking;
mod decode;
mod edit;
mod path;
mod read;
mod workspace;
mod write;

pub use crate::{
    bash::Bash,
    edit::Edit,
    read::Read,
    workspace::{Workspace, WorkspaceError},
    write::Write,
};
