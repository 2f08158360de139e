//! The process that is killed: takes the conversation up where the session is, and runs it to its end.

use std::{path::Path, str::FromStr, sync::Arc};

use agent_core::{ApprovalAnswer, CallOptions, Effects};
use agent_loop::{Agent, Conversation, Ending, Limits, RunSettings};
use agent_session::{JsonlFile, SyncPolicy};
use agent_testkit::{FnProvider, PausedTimer, Reply};

use super::{
    Broken, Error, When,
    journal::{Fuse, Mortal, TornFile},
    tools,
};

/// The file of the session in its folder.
pub(super) const SESSION: &str = "session.jsonl";
/// What the process says when it is done.
pub(super) const DONE: &str = "done";

/// What the process is told, as arguments.
#[derive(Debug, Clone)]
pub struct Orders {
    pub folder: String,
    pub server: String,
    pub turns: usize,
    pub sync: SyncPolicy,
    pub die: Option<(When, u64)>,
    pub broken: Option<Broken>,
}

impl Orders {
    /// As the arguments of a process.
    pub fn arguments(&self) -> Vec<String> {
        let sync = if self.sync == SyncPolicy::Always { "always" } else { "os" };
        let die = self.die.map_or_else(|| "never".to_owned(), |(when, count)| format!("{}:{count}", when.as_str()));
        let broken = self.broken.map_or("nothing", Broken::as_str);
        let words = [&*self.folder, &*self.server, &*self.turns.to_string(), sync, &*die, broken];
        words.map(str::to_owned).to_vec()
    }

    /// Reads the arguments again.
    pub fn read(arguments: &[String]) -> Result<Self, Error> {
        let [folder, server, turns, sync, die, broken] = arguments else {
            return Err("FOLDER SERVER TURNS os|always never|MOMENT:COUNT nothing|GUARD".into());
        };
        let die = match die.split_once(':') {
            Some((when, count)) => Some((When::named(when)?, u64::from_str(count)?)),
            None => None,
        };
        let sync = if sync == "always" { SyncPolicy::Always } else { SyncPolicy::Os };
        let broken = if broken == "nothing" { None } else { Some(Broken::named(broken)?) };
        Ok(Self { folder: folder.clone(), server: server.clone(), turns: turns.parse()?, sync, die, broken })
    }
}

/// How many messages a finished conversation has: a prompt, turns of an answer and its results, the last answer.
pub(super) fn messages(turns: usize) -> usize {
    1 + 4 * turns + 3 + 1
}

fn agent(orders: &Orders) -> Result<Agent, Error> {
    let turns = orders.turns;
    let model = FnProvider::new(move |call| match call.view.len() {
        length if (length - 1) / 4 < turns => {
            Reply::call("append", "{}").then_call("count", "{}").then_call("verified", "{}")
        }
        length if (length - 1) / 4 == turns && (length - 1) % 4 == 0 => {
            Reply::call("asked", "{}").then_call("append", "{}")
        }
        _ => Reply::text("Done."),
    });
    let mut settings = RunSettings::default();
    settings.limits = Limits::NONE;
    let append = match orders.broken {
        Some(Broken::Replay) => Effects::exclusive("disk").idempotent(),
        _ => Effects::exclusive("disk"),
    };
    let options = CallOptions::new("toy-1").max_output(100);
    let mut agent = Agent::builder(model, options, PausedTimer::at(1_000)).settings(settings);
    for tool in tools::tools(Path::new(&orders.folder), &orders.server, append)? {
        agent = agent.tool(tool);
    }
    Ok(agent.build()?)
}

/// Runs the conversation to its end.
pub async fn run(orders: &Orders) -> Result<(), Error> {
    let (fuse, file) = (Fuse::new(orders.die), JsonlFile::new(Path::new(&orders.folder).join(SESSION)));
    let torn = fuse.clone();
    let file = file.sync(orders.sync).wrap(move |under| Box::new(TornFile { under, fuse: torn.clone() }));
    let session = file.open_or_create().await?;
    let under = session.journal();
    let journal = Arc::new(Mortal { under, fuse, broken: orders.broken, held: std::sync::Mutex::default() });
    let conversation = Conversation::from_journal(&agent(orders)?, journal).await?;
    let mut run = match conversation.state()?.is_unfinished() {
        // The prompt was never acknowledged, though its run may have been begun.
        _ if conversation.messages().is_empty() => conversation.run("Go")?,
        true => conversation.resume()?,
        false => {
            println!("{DONE}");
            return Ok(());
        }
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
    println!("{DONE}");
    Ok(())
}
