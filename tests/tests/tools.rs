//! The built-in tools in a run: what one response asks of one file is all done, in its order.
#![expect(clippy::disallowed_methods, reason = "real files")]
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::{
    fs,
    path::{Path, PathBuf},
};

use agent_core::{CallOptions, ContentBlock, Message};
use agent_loop::{Agent, Conversation, Ending};
use agent_testkit::{PausedTimer, Reply, ScriptedProvider};
use agent_tools::{Bash, Edit, Output, Read, Workspace, Write};
use serde_json::json;

/// A folder that goes with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("tools-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn get(&self, name: &str) -> String {
        fs::read_to_string(self.0.join(name)).unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A reply with calls of tools, in this order.
fn calls<'a>(calls: impl IntoIterator<Item = (&'a str, serde_json::Value)>) -> Reply {
    calls.into_iter().fold(Reply::empty(), |reply, (tool, arguments)| reply.then_call(tool, arguments.to_string()))
}

fn edit(path: &str, old: &str, new: &str) -> (&'static str, serde_json::Value) {
    ("edit", json!({"path": path, "edits": [{"old_text": old, "new_text": new}]}))
}

/// Runs a conversation of these replies over a workspace; the texts of the results, in order.
async fn run(workspace: &Workspace, replies: Vec<Reply>) -> Vec<String> {
    let model = ScriptedProvider::new(replies);
    let agent = Agent::builder(model, CallOptions::new("toy-1"), PausedTimer::at(0))
        .tool(Edit::new(workspace).unwrap())
        .tool(Write::new(workspace).unwrap())
        .tool(Read::new(workspace).unwrap())
        .tool(Bash::new(workspace).unwrap())
        .tool(Output::new(workspace).unwrap())
        .build()
        .unwrap();
    let conversation = Conversation::new(&agent);
    let report = conversation.run("Go on.").unwrap().into_report().await;
    assert!(matches!(report.ending, Ending::Completed), "{:?}", report.ending);
    let messages = conversation.messages();
    let results = messages.iter().filter_map(|message| match &**message {
        Message::ToolResult(result) => Some(result.content.iter().filter_map(ContentBlock::as_text).collect()),
        _ => None,
    });
    results.collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn four_edits_of_one_file_in_one_response_lose_nothing() {
    let folder = Folder::new("edits");
    std::os::unix::fs::symlink("f", folder.0.join("same")).unwrap();
    for round in 0..200 {
        fs::write(folder.0.join("f"), "a\nb\nc\nd\n").unwrap();
        let workspace = Workspace::new(&folder.0).unwrap();
        let whole = folder.0.join("f").display().to_string();
        // The last two fit only what the ones before them have made.
        let four =
            [edit("f", "a", "one"), edit("same", "b", "two"), edit("./f", "one\ntwo", "x"), edit(&whole, "x\nc", "y")];
        let results = run(&workspace, vec![calls(four), Reply::text("Done.")]).await;
        assert!(results.iter().all(|result| result.starts_with("edited ")), "round {round}: {results:?}");
        assert_eq!((results.len(), folder.get("f").as_str()), (4, "y\nd\n"), "round {round}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_output_that_is_too_long_is_paged_by_its_handle() {
    let folder = Folder::new("pages");
    let workspace = Workspace::new(&folder.0).unwrap();
    let first = run(
        &workspace,
        vec![
            calls([
                ("bash", json!({"command": "seq 1000000 1050000"})),
                ("write", json!({"path": "f", "content": "x\n"})),
            ]),
            Reply::text("Done."),
        ],
    )
    .await;
    let (long, written) = (&first[0], &first[1]);
    assert_eq!(written, "created `f` (2 bytes)");
    let handle = long.split_once("the whole is output `").unwrap().1.split_once('`').unwrap().0;
    let pages =
        vec![calls([("output", json!({"handle": handle, "from_byte": 200_000, "bytes": 16}))]), Reply::text("Done.")];
    let expected = "1025000\n1025001\n[bytes 200000 to 200015 of 400008; from_byte 200016 reads on]";
    assert_eq!(run(&workspace, pages).await, [expected]);
}
