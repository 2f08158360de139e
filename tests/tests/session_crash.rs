//! A conversation over a session file, in a process that is killed with SIGKILL and taken up by another.
#![cfg(unix)]
#![expect(clippy::unwrap_used, clippy::disallowed_methods, reason = "tests, with processes and files")]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::atomic::{AtomicU32, Ordering},
};

use agent_core::{CallId, Journal, RecordBody};
use agent_loop::State;
use agent_session::JsonlFile;

fn folder() -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let name = format!("session-crash-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// How a process went.
#[derive(Debug)]
struct Went {
    /// How many records it said were acknowledged.
    acknowledged: u64,
    done: bool,
    killed: bool,
}

/// Starts the process, and kills it when it has said `lines` things.
fn process(folder: &Path, arguments: &[&str], lines: usize) -> Went {
    let mut child = Command::new(env!("CARGO_BIN_EXE_session_child"))
        .arg(folder)
        .args(arguments)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut said: Vec<String> = output.by_ref().take(lines).map(Result::unwrap).collect();
    if said.len() == lines {
        child.kill().unwrap();
    }
    said.extend(output.map(Result::unwrap));
    let status = child.wait().unwrap();
    let killed = std::os::unix::process::ExitStatusExt::signal(&status) == Some(9);
    assert!(killed || status.success(), "the process failed by itself: {status:?} after {said:?}");
    let numbers = said.iter().filter_map(|line| line.parse().ok());
    Went { acknowledged: numbers.max().unwrap_or(0), done: said.iter().any(|line| line == "done"), killed }
}

/// What the tools did: how often each call ran, by tool.
fn effects(folder: &Path) -> BTreeMap<(String, CallId), u32> {
    let mut found = BTreeMap::new();
    for line in fs::read_to_string(folder.join("effects.log")).unwrap_or_default().lines() {
        let (tool, call) = line.split_once(' ').unwrap();
        *found.entry((tool.to_owned(), call.parse().unwrap())).or_default() += 1;
    }
    found
}

/// What a dead process left.
struct Left {
    records: u64,
    settled: BTreeSet<CallId>,
    state: State,
}

fn left(folder: &Path) -> Left {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
        let file = JsonlFile::new(folder.join("session.jsonl"));
        let session = match file.read().await {
            Ok(session) => session,
            // Killed before there was a header.
            Err(error) => {
                assert!(!folder.join("effects.log").exists(), "{error}");
                return Left { records: 0, settled: BTreeSet::new(), state: State::default() };
            }
        };
        let branch = session.journal().load().await.unwrap();
        let settled = branch.records().iter().filter_map(|record| match &record.body {
            RecordBody::ToolSettled { call, .. } => Some(*call),
            _ => None,
        });
        let state = State::replay(branch.records()).unwrap();
        Left { records: session.len(), settled: settled.collect(), state }
    })
}

/// Looks at what a kill left, and takes the conversation up to its end.
fn survive(folder: &Path, went: &Went, turns: &str, sync: &str, what: &str) {
    let (found, before) = (left(folder), effects(folder));
    assert!(found.records >= went.acknowledged, "{what}: {} of {} records", found.records, went.acknowledged);
    let again = process(folder, &[turns, sync], usize::MAX);
    assert!(again.done || found.state.run().is_some_and(|run| run.ending.is_some()), "{what}: {again:?}");
    let (end, after) = (left(folder), effects(folder));
    assert!(!end.state.is_unfinished(), "{what}");
    // A prompt, turns of an answer and two results, one that asks, the last answer.
    let turns: usize = turns.parse().unwrap();
    assert_eq!(end.state.transcript().messages().len(), 1 + 3 * (turns + 1) + 1, "{what}");
    for (effect, times) in &before {
        if found.settled.contains(&effect.1) {
            assert_eq!(after.get(effect), Some(times), "{what}: a settled call ran again");
        }
    }
    for ((tool, call), times) in &after {
        assert!(tool == "again" || *times == 1, "{what}: {tool} {call} ran {times} times");
    }
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn killed_at_every_journal_point() {
    let turns = "2";
    for sync in ["os", "always"] {
        for when in ["before", "accepted", "acknowledged"] {
            for count in 1.. {
                let (folder, number) = (folder(), count.to_string());
                let went = process(&folder, &[turns, sync, when, &number], usize::MAX);
                if !went.killed {
                    assert!(went.done && count > 10, "{when} {count}: {went:?}");
                    break;
                }
                survive(&folder, &went, turns, sync, &format!("{sync}, {when} append {count}"));
            }
        }
    }
}

#[test]
fn killed_whenever_it_happens() {
    let (turns, mut kills) = ("12", 0);
    for (round, lines) in (1..80).step_by(2).enumerate() {
        let sync = if round % 2 == 0 { "os" } else { "always" };
        let folder = folder();
        let went = process(&folder, &[turns, sync], lines);
        kills += u32::from(went.killed);
        survive(&folder, &went, turns, sync, &format!("{sync}, killed after {lines} lines"));
    }
    assert!(kills >= 10, "only {kills} processes were killed before they were done");
}

#[test]
fn killed_again_and_again_it_gets_there() {
    let (folder, turns) = (folder(), "6");
    let mut acknowledged = 0;
    for round in 0.. {
        assert!(round < 200, "it never gets there");
        let went = process(&folder, &[turns, "os"], 3);
        let found = left(&folder);
        assert!(found.records >= went.acknowledged.max(acknowledged), "round {round}");
        acknowledged = found.records;
        if went.done || found.state.run().is_some_and(|run| run.ending.is_some() && !found.state.is_unfinished()) {
            break;
        }
    }
    survive(&folder, &Went { acknowledged, done: true, killed: false }, turns, "os", "again and again");
}
