//! `write`: a whole file, put in place at once.

use std::sync::PoisonError;

use agent_core::{
    BoxFuture, Effects, RawJson, Tool, ToolContext, ToolError, ToolOutcome, ToolOutput, ToolSpec, ToolSpecError,
};
use serde::{Deserialize, Serialize};

use crate::{
    Workspace,
    args::{self, Work},
    blocking::Stop,
    workspace::UseOf,
};

const DESCRIPTION: &str = "Writes a whole text file: creates it, with the folders it needs, or replaces it. To change \
     parts of a file use edit.";
const SCHEMA: &str = r#"{"type":"object","additionalProperties":false,"required":["path","content"],"properties":{
    "path":{"type":"string","description":"The file; relative paths begin in the working folder"},
    "content":{"type":"string","description":"The whole content"}}}"#;

/// The tool `write`. Calls for one path run one after the other, however the path is written.
///
/// The content goes to a new file that is synced and renamed, so a crash leaves the old or the new content, whole. The
/// mode of a replaced file is kept, and its owner where that is allowed; a link keeps pointing to it, a hard link does
/// not. Refused: what is no regular file, what may not be written, and a file that has changed since it was read.
/// Dropping the future stops the writing; a file that is being renamed in that moment is written.
#[derive(Debug)]
pub struct Write {
    spec: ToolSpec,
    workspace: Workspace,
}

#[derive(Deserialize)]
struct Args {
    path: String,
    content: String,
}

/// Where a call writes, for its effects.
#[derive(Deserialize)]
struct Target {
    path: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Details {
    path: String,
    bytes: usize,
    created: bool,
}

impl Write {
    /// The tool for a workspace.
    ///
    /// # Errors
    /// None in practice: the spec is a constant.
    pub fn new(workspace: &Workspace) -> Result<Self, ToolSpecError> {
        let spec = args::spec("write", "Write", DESCRIPTION, SCHEMA)?;
        Ok(Self { spec, workspace: workspace.clone() })
    }
}

/// The effects of a call that changes the file at `path`.
pub(crate) fn effects(workspace: &Workspace, arguments: &RawJson) -> Effects {
    match arguments.read::<Target>() {
        Ok(target) => Effects::exclusive(workspace.key(&target.path)),
        // The call will fail; until then it stands alone.
        Err(_) => Effects::exclusive("path:"),
    }
}

impl Tool for Write {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn effects(&self, arguments: &RawJson) -> Effects {
        effects(&self.workspace, arguments)
    }

    fn call(&self, arguments: RawJson, context: ToolContext) -> BoxFuture<'_, ToolOutcome> {
        args::work((&self.spec, &self.workspace), (arguments, context), Work::Changes, write)
    }
}

fn write(workspace: &Workspace, args: &Args, stop: &Stop) -> Result<ToolOutput, ToolError> {
    let mut place = workspace.place(&args.path, UseOf::Writing)?;
    let lock = workspace.lock(&place.real);
    let _alone = lock.lock().unwrap_or_else(PoisonError::into_inner);
    stop.check()?;
    let before = place.make_parents()?;
    if let Some(stat) = &before {
        workspace.unchanged(&place, stat)?;
    }
    let stat = place.put(args.content.as_bytes(), before.as_ref(), stop)?;
    workspace.saw(&place.real, &stat);
    let (bytes, created) = (args.content.len(), before.is_none());
    let path = workspace.show(&place.real).into_owned();
    let text = format!("{} `{path}` ({bytes} bytes)", if created { "created" } else { "replaced" });
    Ok(args::answer(text, &Details { path, bytes, created }))
}
