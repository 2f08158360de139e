//! A conversation over a session file, in a process that is killed with SIGKILL and taken up by another.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "tests, with processes and files")]

use std::{
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
};

use agent_session::SyncPolicy;
use mainspring_tests::crash::{Broken, Campaign, Counter, Die, Judge, Look, Said, Trial, Verdict, When};

fn program() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_crash"))
}

fn folder() -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let name = format!("session-crash-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn trial(counter: &Counter, turns: usize, sync: SyncPolicy) -> Trial<'_> {
    Trial { program: program(), folder: folder(), counter, turns, sync, broken: None }
}

#[track_caller]
fn clean(judge: &Judge) {
    assert!(judge.is_clean(), "{judge}\n{}", judge.notes.join("\n"));
}

#[test]
fn killed_at_every_journal_point() {
    let (counter, mut judge) = (Counter::start().unwrap(), Judge::default());
    for sync in [SyncPolicy::Os, SyncPolicy::Always] {
        for when in When::ALL {
            for count in 1.. {
                let went = trial(&counter, 1, sync).run(&[Die::At(when, count)], &mut judge).unwrap();
                if !went.killed {
                    assert!(went.done && count > 10, "{when:?} {count}: {went:?}");
                    break;
                }
            }
        }
    }
    assert!(judge.kills > 80, "{judge}");
    clean(&judge);
}

#[test]
fn killed_again_and_again_it_gets_there() {
    let (counter, mut judge) = (Counter::start().unwrap(), Judge::default());
    trial(&counter, 6, SyncPolicy::Os).run(&[Die::Said(3); 100], &mut judge).unwrap();
    assert!(judge.kills > 10, "{judge}");
    clean(&judge);
}

#[test]
fn killed_forty_times_whenever_it_happens() {
    // Another seed each time; a failure prints it.
    let seed = u64::from(std::process::id());
    let campaign = Campaign { program: program(), folder: folder(), kills: 40, seed, turns: 3, broken: None };
    let judge = campaign.run().unwrap();
    assert!(judge.is_clean(), "seed {seed}: {judge}\n{}", judge.notes.join("\n"));
    assert!(judge.kills >= 40, "{judge}");
    assert!(judge.to_string().ends_with("0 missing, 0 invalid transcripts, all runs completed"), "{judge}");
}

fn broken(guard: Broken) -> Verdict {
    let campaign = Campaign { program: program(), folder: folder(), kills: 60, seed: 7, turns: 2, broken: Some(guard) };
    campaign.run().unwrap().verdict
}

#[test]
fn a_journal_that_acknowledges_too_early_is_found() {
    assert!(broken(Broken::Acknowledge).lost > 0);
}

#[test]
fn a_process_that_forgets_results_is_found() {
    let verdict = broken(Broken::Settle);
    assert!(verdict.repeated > 0, "{verdict:?}");
    assert!(verdict.invalid > 0, "{verdict:?}");
}

#[test]
fn a_tool_that_says_it_can_be_repeated_and_cannot_is_found() {
    assert!(broken(Broken::Replay).repeated > 0);
}

#[test]
fn a_process_that_forgets_its_last_record_is_found() {
    let verdict = broken(Broken::Load);
    assert!(verdict.invalid > 0 || verdict.unfinished > 0, "{verdict:?}");
}

#[test]
fn the_judge_counts_each_kind_once() {
    let call = |at: u32| agent_core::CallId::new(agent_core::MessageId::from_bits(1), at);
    let settled = |calls: &[(u32, &str)]| calls.iter().map(|(at, tool)| (call(*at), (*tool).to_owned())).collect();
    let before = Look { records: 5, settled: settled(&[(0, "append"), (1, "count")]), ..Look::default() };
    let mut before = before;
    before.effects.insert(("append".to_owned(), call(0)), 1);
    before.effects.insert(("count".to_owned(), call(1)), 1);

    let mut judge = Judge::default();
    judge.compare("same", 5, &before, &before);
    assert!(judge.is_clean(), "{judge}");

    let mut now = before.clone();
    now.records = 4;
    now.settled = settled(&[(0, "append")]);
    now.effects.insert(("append".to_owned(), call(0)), 2);
    now.effects.insert(("verified".to_owned(), call(2)), 2);
    now.invalid = Some("a fault".to_owned());
    judge.compare("worse", 6, &before, &now);
    let found = judge.verdict;
    assert_eq!((found.lost, found.repeated, found.invalid), (3, 2, 1), "{:?}", judge.notes);

    // What was found is not found again.
    judge.compare("still", 4, &now, &now);
    assert_eq!(judge.verdict, found);

    now.settled = settled(&[(3, "verified"), (4, "append")]);
    judge.end("the end", &now, Said::Done);
    assert_eq!((judge.verdict.missing, judge.verdict.unfinished), (1, 1));
    assert!(judge.to_string().ends_with("1 missing, 1 invalid transcripts, 1 runs not completed"), "{judge}");
}
