//! How the cost of the cases grows, in the dev profile: twice the work, about twice the instructions.
#![expect(clippy::print_stderr, reason = "figures and skips are said aloud")]

use std::io;
use std::path::PathBuf;

use mainspring_benches::judge::Counter;
use mainspring_benches::{CASES, callgrind};

/// Whether a case belongs to the long runs: turns and sessions.
fn is_of_runs(name: &str) -> bool {
    name.starts_with("turn") || name.starts_with("session")
}

#[test]
fn growth_of_wires_and_streams_is_linear() -> io::Result<()> {
    judge(|name| !is_of_runs(name))
}

#[test]
fn growth_of_turns_is_linear() -> io::Result<()> {
    judge(|name| name.starts_with("turn"))
}

#[test]
fn growth_of_sessions_is_linear() -> io::Result<()> {
    judge(|name| name.starts_with("session"))
}

/// Counts the cases that are wanted.
fn judge(wanted: impl Fn(&str) -> bool) -> io::Result<()> {
    if !callgrind::is_there() {
        eprintln!("skipped: valgrind is not installed, growth was not measured");
        return Ok(());
    }
    let mut counter = Counter::new(PathBuf::from(env!("CARGO_BIN_EXE_counts")));
    let mut over = Vec::new();
    for case in CASES.iter().filter(|case| wanted(case.name)) {
        let found = match case.growth {
            Some(growth) => Some(counter.growth(case, growth, growth.n_dev)?),
            // A cost that must not grow is judged against the same work at a small size.
            None if case.floor.is_some_and(|floor| floor.routine) => counter.versus_floor(case)?,
            None => None,
        };
        if let Some(found) = found {
            eprintln!("{found:?}");
            if found.is_over() {
                over.push(found);
            }
        }
    }
    assert_eq!(over, []);
    Ok(())
}
