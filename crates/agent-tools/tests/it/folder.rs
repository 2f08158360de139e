//! A folder of one test, and calls of tools in it.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
};

use agent_core::{CallId, ContentBlock, IdSource, RawJson, Tool, ToolContext, ToolError, ToolOutcome, ToolOutput};
use agent_tools::Workspace;

/// A folder `in` to work in, and beside it `out`, which no tool may see.
pub(crate) struct Folder {
    top: PathBuf,
}

impl Folder {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("agent-tools-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        // Not below the repository: rules of a repository above would count.
        let top = std::env::temp_dir().canonicalize().unwrap().join(name);
        fs::create_dir_all(top.join("in")).unwrap();
        fs::create_dir_all(top.join("out")).unwrap();
        fs::write(top.join("out/secret.txt"), "the secret\n").unwrap();
        Self { top }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.top.join("in").join(name)
    }

    pub(crate) fn outside(&self) -> PathBuf {
        self.top.join("out")
    }

    pub(crate) fn put(&self, name: &str, content: impl AsRef<[u8]>) -> &Self {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        self
    }

    pub(crate) fn link(&self, name: &str, target: impl AsRef<Path>) -> &Self {
        std::os::unix::fs::symlink(target, self.path(name)).unwrap();
        self
    }

    pub(crate) fn get(&self, name: &str) -> String {
        String::from_utf8(fs::read(self.path(name)).unwrap()).unwrap()
    }

    pub(crate) fn workspace(&self) -> Workspace {
        Workspace::new(self.path("")).unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.top);
    }
}

pub(crate) fn context() -> ToolContext {
    let mut ids = IdSource::seeded(1);
    ToolContext::new(ids.run(0), CallId::new(ids.message(0), 0))
}

pub(crate) async fn output(tool: &dyn Tool, arguments: &str) -> Result<ToolOutput, ToolError> {
    settled(tool.call(RawJson::parse(arguments).unwrap(), context()).await)
}

pub(crate) fn settled(outcome: ToolOutcome) -> Result<ToolOutput, ToolError> {
    match outcome {
        ToolOutcome::Output(output) => Ok(output),
        ToolOutcome::Error(error) => Err(error),
        other => panic!("{other:?}"),
    }
}

/// The text of an output.
pub(crate) fn text(output: &ToolOutput) -> String {
    output.content.iter().filter_map(ContentBlock::as_text).collect()
}

/// The text that a call gives, or its error.
pub(crate) async fn call(tool: &dyn Tool, arguments: &str) -> Result<String, String> {
    output(tool, arguments).await.map(|output| text(&output)).map_err(|e| e.to_string())
}

pub(crate) fn details(output: &ToolOutput) -> serde_json::Value {
    output.details.as_ref().unwrap().read().unwrap()
}
