//! What the tests of commands have in common.

use std::fs;

use agent_core::{AgentEvent, CancelToken, RawJson, Tool, ToolContext, ToolEvents, ToolOutput};
use agent_tools::Bash;
use serde_json::json;
use tokio::sync::mpsc;

use crate::folder::{context, settled};

pub(crate) fn command(line: &str) -> String {
    json!({ "command": line }).to_string()
}

/// A context, and the pieces of progress as they come.
pub(crate) fn watched() -> (ToolContext, mpsc::Receiver<String>) {
    let (sender, receiver) = mpsc::channel(1000);
    let mut context = context();
    context.events = ToolEvents::new(move |event| {
        if let AgentEvent::ToolProgress { text, .. } = event {
            let _ = sender.try_send(text);
        }
    });
    (context, receiver)
}

/// Whether a process runs; one that has ended and was not collected does not.
pub(crate) fn runs(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"));
    stat.is_ok_and(|stat| !stat.rsplit_once(") ").unwrap().1.starts_with(['Z', 'X']))
}

/// A killed process ends soon, but not at once.
pub(crate) async fn ends(pid: u32) {
    for _ in 0..1_000_000 {
        if !runs(pid) {
            return;
        }
        tokio::task::yield_now().await;
    }
    panic!("process {pid} still runs");
}

/// Runs a command that tells a process id in its first line, and does something when that has come.
pub(crate) async fn until_told(bash: &Bash, line: &str, then: impl FnOnce(CancelToken)) -> (u32, ToolOutput) {
    let (context, mut told) = watched();
    let cancel = context.cancel.clone();
    let run = async { settled(bash.call(RawJson::parse(command(line)).unwrap(), context).await).unwrap() };
    let act = async {
        let pid = told.recv().await.unwrap().trim().parse().unwrap();
        assert!(runs(pid));
        then(cancel);
        pid
    };
    let (output, pid) = tokio::join!(run, act);
    (pid, output)
}
