//! A process that is killed: a conversation over a session file, with a tool that leaves traces in a file.
//!
//! `session_child FOLDER TURNS SYNC [WHEN N]`: takes the conversation up where the session is and runs it to its end.
//! `WHEN` is a moment of the `N`th append at which the process kills itself. Each acknowledged append is a line on
//! standard output: how many records there are.
#![expect(clippy::print_stdout, clippy::disallowed_methods, reason = "a process of a test, with files and a kill")]

use std::{
    env,
    error::Error,
    fs,
    io::Write,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use agent_core::{
    Approval, ApprovalAnswer, BoxFuture, Branch, CallOptions, Effects, Journal, JournalError, JournalRecord, RawJson,
    Tool, ToolContext, ToolError, ToolOutcome, ToolSpec,
};
use agent_loop::{Agent, Conversation, Ending, Limits, RunSettings};
use agent_session::{JsonlFile, SessionJournal, SyncPolicy};
use agent_testkit::{FnProvider, PausedTimer, Reply};

/// Writes its call's id into `effects.log`.
struct Traces {
    spec: ToolSpec,
    effects: Effects,
    log: PathBuf,
}

impl Traces {
    fn new(name: &str, effects: Effects, folder: &Path) -> Result<Self, Box<dyn Error>> {
        let schema = RawJson::parse(r#"{"type":"object"}"#)?;
        Ok(Self { spec: ToolSpec::new(name, "Leaves a trace.", schema)?, effects, log: folder.join("effects.log") })
    }
}

impl Tool for Traces {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn effects(&self, _: &RawJson) -> Effects {
        self.effects.clone()
    }

    fn call(&self, _: RawJson, context: ToolContext) -> BoxFuture<'_, ToolOutcome> {
        let line = format!("{} {}\n", self.spec.name(), context.call);
        let file = fs::OpenOptions::new().append(true).create(true).open(&self.log);
        let written = file.and_then(|mut file| file.write_all(line.as_bytes()));
        Box::pin(std::future::ready(match written {
            Ok(()) => ToolOutcome::Output("did it".into()),
            Err(error) => ToolOutcome::Error(ToolError::failed(error.to_string())),
        }))
    }
}

/// When the process kills itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum When {
    Before,
    Accepted,
    Acknowledged,
    Never,
}

/// Says what was acknowledged, and dies when its time has come.
struct Mortal {
    under: SessionJournal,
    when: When,
    left: AtomicU64,
}

fn die() {
    let own = rustix::process::getpid();
    _ = rustix::process::kill_process(own, rustix::process::Signal::KILL);
}

impl Journal for Mortal {
    fn append(&self, records: Vec<JournalRecord>) -> BoxFuture<'static, Result<(), JournalError>> {
        let last = self.left.fetch_sub(1, Ordering::SeqCst) == 1;
        let now = |when| last && self.when == when;
        if now(When::Before) {
            die();
        }
        let written = self.under.append(records);
        let records = self.under.session().len();
        if now(When::Accepted) {
            die();
        }
        let dies = now(When::Acknowledged);
        Box::pin(async move {
            written.await?;
            println!("{records}");
            if dies {
                die();
            }
            Ok(())
        })
    }

    fn load(&self) -> BoxFuture<'_, Result<Branch, JournalError>> {
        self.under.load()
    }
}

fn agent(folder: &Path, turns: usize) -> Result<Agent, Box<dyn Error>> {
    // A turn is an answer with two calls and their results.
    let model = FnProvider::new(move |call| match call.view.len() {
        length if (length - 1) / 3 < turns => Reply::call("again", "{}").then_call("once", "{}"),
        length if (length - 1) / 3 == turns => Reply::call("asked", "{}").then_call("once", "{}"),
        _ => Reply::text("Done."),
    });
    let mut settings = RunSettings::default();
    settings.limits = Limits::NONE;
    let agent = Agent::builder(model, CallOptions::new("toy-1").max_output(100), PausedTimer::at(1_000))
        .tool(Traces::new("again", Effects::shared().idempotent(), folder)?)
        .tool(Traces::new("once", Effects::exclusive("disk"), folder)?)
        .tool(Traces::new("asked", Effects::exclusive("disk").approval(Approval::Needed), folder)?)
        .settings(settings)
        .build()?;
    Ok(agent)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let (folder, turns, sync, when, count) = match arguments.as_slice() {
        [folder, turns, sync] => (folder, turns, sync, When::Never, 0),
        [folder, turns, sync, when, count] => {
            let when = match when.as_str() {
                "before" => When::Before,
                "accepted" => When::Accepted,
                "acknowledged" => When::Acknowledged,
                _ => return Err("no such moment".into()),
            };
            (folder, turns, sync, when, count.parse()?)
        }
        _ => return Err("session_child FOLDER TURNS SYNC [WHEN N]".into()),
    };
    let folder = Path::new(folder);
    let sync = if sync == "always" { SyncPolicy::Always } else { SyncPolicy::Os };
    let session = JsonlFile::new(folder.join("session.jsonl")).sync(sync).open_or_create().await?;
    let journal = Arc::new(Mortal { under: session.journal(), when, left: AtomicU64::new(count) });
    let conversation = Conversation::from_journal(&agent(folder, turns.parse()?)?, journal).await?;
    let mut run = match conversation.state()?.is_unfinished() {
        // The prompt was never acknowledged, though its run may have been begun.
        _ if conversation.messages().is_empty() => conversation.run("Go")?,
        true => conversation.resume()?,
        false => return Ok(()),
    };
    loop {
        match run.into_report().await.ending {
            Ending::Paused { approvals, .. } => {
                // Asked by one process, and answered by this one or the next.
                for asked in &approvals {
                    conversation.answer(asked.call, ApprovalAnswer::Allow).await?;
                }
                run = conversation.resume()?;
            }
            Ending::Completed => break,
            other => return Err(format!("the run ended otherwise: {other:?}").into()),
        }
    }
    session.close().await?;
    println!("done");
    Ok(())
}
