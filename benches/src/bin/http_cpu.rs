//! CPU time of a request over a kept connection: our stack beside a bare hyper client, in turns, in one run.
//! At most 1.3 times. Counts of instructions leave the kernel out; this does not.
#![expect(clippy::print_stdout, clippy::disallowed_methods, reason = "a command line tool")]

use std::{fs, io, process::ExitCode};

use mainspring_benches::{case, http::serve};

const REQUESTS: u64 = 20_000;
const ROUNDS: usize = 5;
const MOST: u64 = 130;

fn main() -> io::Result<ExitCode> {
    if std::env::args().nth(1).as_deref() == Some("serve") {
        serve()?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut ratios = Vec::new();
    for _ in 0..ROUNDS {
        let (ours, bare) = (nanos("http-request")?, nanos("http-floor-request")?);
        ratios.push(ours * 100 / bare.max(1));
        println!("{} ns of CPU for a request, bare hyper {}", ours / REQUESTS, bare / REQUESTS);
    }
    ratios.sort_unstable();
    let median = ratios.get(ROUNDS / 2).copied().unwrap_or(u64::MAX);
    println!("{}.{:02} times the CPU of a bare client, at most 1.30", median / 100, median % 100);
    Ok(if median > MOST { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Nanoseconds on a processor of this thread, which does all the client's work, while a case runs.
fn nanos(name: &str) -> io::Result<u64> {
    let case = case(name).ok_or_else(|| io::Error::other(format!("no case `{name}`")))?;
    let before = spent()?;
    (case.run)(REQUESTS);
    Ok(spent()?.saturating_sub(before))
}

/// The first field of `/proc/thread-self/schedstat` (Documentation/scheduler/sched-stats.rst).
fn spent() -> io::Result<u64> {
    let stat = fs::read_to_string("/proc/thread-self/schedstat")?;
    let first = stat.split_whitespace().next().and_then(|field| field.parse().ok());
    first.ok_or_else(|| io::Error::other("the kernel does not tell the time of a thread"))
}
