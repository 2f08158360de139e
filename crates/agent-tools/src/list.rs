//! `list`: what a folder holds.

use std::{fmt::Write as _, time::Duration};

use agent_core::{
    BoxFuture, Effects, RawJson, Tool, ToolContext, ToolError, ToolOutcome, ToolOutput, ToolSpec, ToolSpecError,
};
use rustix::fs::FileType;
use serde::{Deserialize, Serialize};

use crate::{
    Workspace,
    args::{self, Work},
    blocking::Stop,
    walk::{self, Ignored, Walk},
    workspace::UseOf,
};

const DESCRIPTION: &str = "Lists the files and folders in a folder, sorted; folders end in a slash. What .gitignore \
     names and hidden files are left out unless all is set.";
const SCHEMA: &str = r#"{"type":"object","additionalProperties":false,"properties":{
    "path":{"type":"string","description":"The folder (default: the working folder)"},
    "glob":{"type":"string","description":"Only paths that match, such as *.rs or src/**/mod.rs"},
    "depth":{"type":"integer","minimum":1,"description":"How deep to go (default 3; with a glob as deep as it is)"},
    "limit":{"type":"integer","minimum":1,"maximum":2000,"description":"How many to list at most (default 500)"},
    "all":{"type":"boolean","description":"Hidden and ignored files, too (default false)"}}}"#;

/// How long it may take; a slow disk gives what was found until then.
const DEADLINE: Duration = Duration::from_secs(20);

/// The tool `list`. It runs beside others; dropping its future ends it.
///
/// Links are listed and not followed. What cannot be looked into is said, in the text and in the details.
#[derive(Debug)]
pub struct List {
    spec: ToolSpec,
    workspace: Workspace,
}

#[derive(Deserialize)]
struct Args {
    path: Option<String>,
    glob: Option<String>,
    depth: Option<usize>,
    limit: Option<usize>,
    all: Option<bool>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Details {
    path: String,
    entries: usize,
    complete: bool,
    unreadable: Vec<String>,
}

impl List {
    /// The tool for a workspace.
    ///
    /// # Errors
    /// None in practice: the spec is a constant.
    pub fn new(workspace: &Workspace) -> Result<Self, ToolSpecError> {
        let spec = args::spec("list", "List", DESCRIPTION, SCHEMA)?;
        Ok(Self { spec, workspace: workspace.clone() })
    }
}

impl Tool for List {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn effects(&self, _: &RawJson) -> Effects {
        Effects::shared()
    }

    fn call(&self, arguments: RawJson, context: ToolContext) -> BoxFuture<'_, ToolOutcome> {
        args::work((&self.spec, &self.workspace), (arguments, context), Work::Looks(Some(DEADLINE)), list)
    }
}

fn list(workspace: &Workspace, args: &Args, stop: &Stop) -> Result<ToolOutput, ToolError> {
    let shown = args.path.as_deref().unwrap_or(".");
    let place = workspace.place(shown, UseOf::Reading)?;
    if place.is_missing() {
        return Err(place.not_there().into());
    }
    if !place.is_folder() {
        return Err(ToolError::failed(format!("`{shown}` is a file; list shows folders, read shows files")));
    }
    let glob = args.glob.as_deref();
    let depth = args.depth.or(if glob.is_some() { None } else { Some(3) });
    let limit = args.limit.unwrap_or(500);
    let walk = Walk::new(workspace, &place, glob, depth, Ignored::new(args.all))?;
    let (mut text, mut entries, mut unreadable, mut left_out) = (String::new(), 0, Vec::new(), "");
    for entry in walk {
        stop.check()?;
        if stop.is_late() {
            left_out = "the time is over";
            break;
        }
        let entry = match entry {
            Ok(entry) => entry,
            Err(e) => {
                unreadable.push(e.0);
                continue;
            }
        };
        let folder = entry.kind == FileType::Directory;
        // With a glob, folders are only the way to what it names.
        if folder && glob.is_some() {
            continue;
        }
        if entries == limit {
            left_out = "the limit is reached; give a deeper path or a glob";
            break;
        }
        let end = match entry.kind {
            FileType::Directory => "/",
            FileType::Symlink => " (link)",
            _ => "",
        };
        let _ = writeln!(text, "{}{end}", entry.path.display());
        entries += 1;
    }
    if !left_out.is_empty() {
        let _ = writeln!(text, "[{entries} shown, there is more: {left_out}]");
    } else if entries == 0 {
        text.push_str("[nothing]\n");
    }
    walk::tell(&mut text, "not looked into", &unreadable);
    let path = workspace.show(&place.real).into_owned();
    Ok(args::answer(text, &Details { path, entries, complete: left_out.is_empty(), unreadable }))
}
