//! What tests are made of: a folder with a home in it, a server with a script, and the binary between them.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    sync::atomic::{AtomicU64, Ordering},
};

use agent_testkit::{WireReply, WireServer};
use serde_json::{Value, json};

/// A folder that goes with the test: `home` for the user, `work` to work in.
pub(crate) struct Place(pub(crate) PathBuf);

impl Place {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let name = format!("cli-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(path.join("home/.config/mainspring")).unwrap();
        fs::create_dir_all(path.join("work")).unwrap();
        Self(path)
    }

    pub(crate) fn put(&self, name: &str, text: &str) -> &Self {
        let path = self.0.join("work").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    pub(crate) fn get(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.0.join("work").join(name)).ok()
    }

    pub(crate) fn config(&self, text: &str) -> &Self {
        fs::write(self.0.join("home/.config/mainspring/config.toml"), text).unwrap();
        self
    }

    /// The configuration with the model of a server of ours.
    pub(crate) fn at(&self, server: &WireServer) -> &Self {
        self.config(&format!("model = \"local/tiny\"\n[providers.local]\nbase-url = \"{}\"\n", server.url("/v1")))
    }

    /// The binary in this place, with an environment that has nothing else in it.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mainspring"));
        command.args(args).env_clear().current_dir(self.0.join("work"));
        command.env("HOME", self.0.join("home")).env("PATH", "/usr/bin:/bin").env("MAINSPRING_LOCAL_SERVERS", "none");
        command.stdin(Stdio::null());
        command
    }

    /// Runs it to its end, off the runtime that the server lives on.
    pub(crate) async fn run(&self, args: &[&str]) -> Ran {
        Ran::of(self.command(args)).await
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// What came of a run.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) status: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    pub(crate) async fn of(mut command: Command) -> Self {
        let output = tokio::task::spawn_blocking(move || command.output()).await.unwrap().unwrap();
        Self::from(output)
    }

    /// The JSON lines of standard output.
    pub(crate) fn lines(&self) -> Vec<Value> {
        self.out.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"))).collect()
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Self { status: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}

fn events(data: impl IntoIterator<Item = Value>) -> WireReply {
    let body: String = data.into_iter().map(|data| format!("data: {data}\n\n")).collect();
    WireReply::new(200).header("content-type", "text/event-stream").body([format!("{body}data: [DONE]\n\n")])
}

fn chunk(delta: Value, finish: Option<&str>) -> Value {
    json!({"id": "c", "model": "tiny", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})
}

/// An answer in two pieces, with usage.
pub(crate) fn says(text: &str) -> WireReply {
    let (a, b) = text.split_at(text.len() / 2);
    let usage = json!({"choices": [], "usage": {"prompt_tokens": 120, "completion_tokens": 30}});
    events([chunk(json!({"content": a}), None), chunk(json!({"content": b}), Some("stop")), usage])
}

/// Calls of tools, with these arguments.
pub(crate) fn calls(calls: &[(&str, Value)]) -> WireReply {
    let deltas = calls.iter().enumerate().map(|(i, (name, arguments))| {
        let function = json!({"name": name, "arguments": arguments.to_string()});
        chunk(json!({"tool_calls": [{"index": i, "id": format!("call_{name}_{i}"), "function": function}]}), None)
    });
    events(deltas.chain([chunk(json!({}), Some("tool_calls"))]))
}

/// What the model was sent with request `n`, as JSON.
pub(crate) fn sent(server: &WireServer, n: usize) -> Value {
    serde_json::from_slice(&server.requests()[n].body).unwrap()
}
