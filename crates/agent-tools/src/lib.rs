//! Built-in tools for the native operating system: shell, read, write, edit, list and search, kept inside the folders
//! of a [`Workspace`].
#![doc = include_str!("../README.md")]
//!
//! Everything here needs a Unix and a tokio runtime with I/O and time; on other systems the crate is empty.
#![cfg(unix)]
#![expect(clippy::disallowed_methods, reason = "native tools: files, processes, clocks, environment, blocking tasks")]

mod args;
mod bash;
mod blobs;
mod blocking;
mod decode;
mod edit;
mod list;
mod output;
mod path;
mod read;
mod search;
mod walk;
mod workspace;
mod write;

use std::sync::Arc;

use agent_core::{Tool, ToolSpecError};

pub use crate::{
    bash::{
        Bash, CommandPolicy, CommandVerdict, Otherwise, Sandbox, SandboxError, SandboxMode, SandboxStatus,
        UnreadableCommand, simple_commands,
    },
    blobs::{FolderBlobs, MemoryBlobs},
    edit::Edit,
    list::List,
    output::Output,
    read::Read,
    search::Search,
    workspace::{Workspace, WorkspaceError},
    write::Write,
};

/// The tools that change nothing: list, read, search.
///
/// # Errors
/// None in practice: the specs are constants.
pub fn read_only(workspace: &Workspace) -> Result<Vec<Arc<dyn Tool>>, ToolSpecError> {
    Ok(vec![Arc::new(List::new(workspace)?), Arc::new(Read::new(workspace)?), Arc::new(Search::new(workspace)?)])
}

/// All tools with their defaults, in the order of their names: bash, edit, list,
/// output, read, search, write.
///
/// # Errors
/// None in practice: the specs are constants.
pub fn all(workspace: &Workspace) -> Result<Vec<Arc<dyn Tool>>, ToolSpecError> {
    let mut tools = read_only(workspace)?;
    tools.push(Arc::new(Bash::new(workspace)?));
    tools.push(Arc::new(Edit::new(workspace)?));
    tools.push(Arc::new(Output::new(workspace)?));
    tools.push(Arc::new(Write::new(workspace)?));
    tools.sort_by(|a, b| a.spec().name().cmp(b.spec().name()));
    Ok(tools)
}
