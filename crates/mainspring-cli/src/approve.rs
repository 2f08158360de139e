//! Who has to agree before something is changed or run, and what they are shown.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use agent_core::{CallId, Hook, HookFuture, RawJson, RunFacts, ToolCall, ToolVerdict};
use serde::Deserialize;
use serde_json::Value;

use crate::terminal::safe;

/// What needs nobody's agreement.
const FREE: [&str; 4] = ["list", "output", "read", "search"];
/// How much of a file that is to be written is shown, in lines.
const LINES: usize = 40;

/// The policy of a run: everything, or what changes nothing, or what somebody agrees to.
pub(crate) struct Policy {
    everything: bool,
    asks: bool,
    always: Always,
}

/// The tools that somebody has agreed to for good. A clone is the same list.
#[derive(Clone, Default)]
pub(crate) struct Always(Arc<Mutex<BTreeSet<String>>>);

impl Always {
    pub(crate) fn add(&self, tool: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(tool.to_owned());
    }

    fn holds(&self, tool: &str) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(tool)
    }
}

impl Policy {
    /// `everything` asks nobody; `asks` says whether there is somebody to ask.
    pub(crate) fn new(everything: bool, asks: bool, always: Always) -> Self {
        Self { everything, asks, always }
    }

    fn verdict(&self, tool: &str) -> ToolVerdict {
        if self.everything || FREE.contains(&tool) || self.always.holds(tool) {
            return ToolVerdict::Allow;
        }
        match self.asks {
            true => ToolVerdict::Ask(format!("`{tool}` changes or runs something")),
            false => ToolVerdict::Deny(
                "nobody is there to agree to this. Do what can be done without it, and tell the user to run \
                 `mainspring` in a terminal, or with --yes"
                    .into(),
            ),
        }
    }
}

impl Hook for Policy {
    fn before_tool<'a>(
        &'a self,
        _: &'a RunFacts,
        _: CallId,
        call: &'a ToolCall,
        _: &'a RawJson,
    ) -> HookFuture<'a, ToolVerdict> {
        Box::pin(std::future::ready(Ok(self.verdict(&call.name))))
    }
}

#[derive(Deserialize)]
struct EditArguments {
    path: PathBuf,
    #[serde(default)]
    edits: Vec<Replacement>,
}

#[derive(Deserialize)]
struct Replacement {
    old_text: String,
    new_text: String,
}

#[derive(Deserialize)]
struct WriteArguments {
    path: PathBuf,
    content: String,
}

/// What a call will do, whole, as lines that are safe to show.
pub(crate) fn preview(root: &Path, tool: &str, arguments: &str) -> Vec<String> {
    let value: Value = serde_json::from_str(arguments).unwrap_or_default();
    let shown = match tool {
        "bash" => value.get("command").and_then(Value::as_str).map(|command| {
            command.lines().enumerate().map(|(i, line)| format!("{} {line}", if i == 0 { "$" } else { " " })).collect()
        }),
        "write" => serde_json::from_str::<WriteArguments>(arguments).ok().map(|write| written(root, &write)),
        "edit" => {
            serde_json::from_str::<EditArguments>(arguments).ok().filter(|edit| !edit.edits.is_empty()).map(edited)
        }
        _ => None,
    };
    let lines: Vec<String> = shown.unwrap_or_else(|| vec![format!("{tool} {arguments}")]);
    lines.iter().map(|line| safe(line).into_owned()).collect()
}

fn written(root: &Path, write: &WriteArguments) -> Vec<String> {
    let before = fs::metadata(root.join(&write.path));
    let what = match before {
        Ok(old) => {
            format!("replaces {} ({} bytes) with {} bytes", write.path.display(), old.len(), write.content.len())
        }
        Err(_) => format!("makes {} ({} bytes)", write.path.display(), write.content.len()),
    };
    let count = write.content.lines().count();
    let lines = write.content.lines().take(LINES).map(|line| format!("+ {line}"));
    let more = (count > LINES).then(|| format!("… {} more lines", count.saturating_sub(LINES)));
    std::iter::once(what).chain(lines).chain(more).collect()
}

fn edited(edit: EditArguments) -> Vec<String> {
    let mut lines = vec![format!("changes {}", edit.path.display())];
    for (i, one) in edit.edits.iter().enumerate() {
        if i > 0 {
            lines.push("…".into());
        }
        lines.extend(one.old_text.lines().map(|line| format!("- {line}")));
        lines.extend(one.new_text.lines().map(|line| format!("+ {line}")));
    }
    lines
}
