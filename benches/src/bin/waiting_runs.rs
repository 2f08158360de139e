//! What a run keeps that waits for an approval: 10,000 of them, and the growth of the resident memory by them. At most
//! 8 KiB each, besides what all of one agent share.
#![expect(clippy::print_stdout, clippy::disallowed_methods, reason = "a command line tool")]

use std::{
    io,
    pin::Pin,
    process::ExitCode,
    task::{Context, Waker},
};

use agent_core::{AgentEvent, Approval, CallOptions};
use agent_loop::{Agent, ApprovalMode, Conversation, Run, RunSettings};
use futures_core::Stream;
use mainspring_benches::agent::{Caller, Note, Still};

const RUNS: u64 = 10_000;
const MOST: u64 = 8 * 1024;

fn main() -> io::Result<ExitCode> {
    let mut settings = RunSettings::default();
    settings.approvals = ApprovalMode::Wait;
    let options = CallOptions::new("bench-1").max_output(100);
    let builder = Agent::builder(Caller::new(u64::MAX), options, Still).settings(settings);
    let tool = Note::new(Approval::Needed).ok_or_else(|| io::Error::other("the tool is wrong"))?;
    let agent = builder.tool(tool).build().map_err(io::Error::other)?;
    let mut runs = vec![waiting(&agent)?];
    runs.reserve_exact(usize::try_from(RUNS).map_err(io::Error::other)?);
    let before = resident()?;
    for _ in 0..RUNS {
        runs.push(waiting(&agent)?);
    }
    let each = resident()?.saturating_sub(before) / RUNS;
    println!("{each} bytes per run that waits for an approval, at most {MOST}");
    drop(runs);
    Ok(if each > MOST { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// A run that was polled until it waits, with its conversation.
fn waiting(agent: &Agent) -> io::Result<(Conversation, Run)> {
    let conversation = Conversation::new(agent);
    let mut run = conversation.run("Note a number").map_err(io::Error::other)?;
    let mut cx = Context::from_waker(Waker::noop());
    let mut asked = false;
    while let std::task::Poll::Ready(Some(event)) = Pin::new(&mut run).poll_next(&mut cx) {
        asked |= matches!(event, AgentEvent::ApprovalAsked { .. });
    }
    if asked { Ok((conversation, run)) } else { Err(io::Error::other("the run does not wait for an approval")) }
}

fn resident() -> io::Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kib.map(|kib| kib * 1024).ok_or_else(|| io::Error::other("no VmRSS"))
}
