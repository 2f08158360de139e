//! Counts the instructions of the cases and compares them with their budgets.
//!
//! `counts [case...]` judges all cases or those named; `counts run <case> <n>` runs one bare, which
//! is what callgrind is given. Build it in the release profile.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command line tool")]

use std::io;
use std::process::ExitCode;

use mainspring_benches::judge::Counter;
use mainspring_benches::{CASES, callgrind, case};

fn main() -> io::Result<ExitCode> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let [run, name, n] = args.as_slice()
        && run == "run"
    {
        let case = case(name).ok_or_else(|| io::Error::other(format!("no case `{name}`")))?;
        (case.run)(n.parse().map_err(io::Error::other)?);
        return Ok(ExitCode::SUCCESS);
    }
    if args == ["serve"] {
        mainspring_benches::http::serve()?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(name) = args.iter().find(|name| case(name).is_none()) {
        eprintln!("no case `{name}`; there are:");
        CASES.iter().for_each(|case| eprintln!("  {}", case.name));
        return Ok(ExitCode::FAILURE);
    }
    if cfg!(debug_assertions) {
        eprintln!("the budgets are for the release profile: cargo run --release ...");
    }
    if !callgrind::is_there() {
        eprintln!("skipped: valgrind is not installed, nothing was counted");
        return Ok(ExitCode::SUCCESS);
    }
    judge(&args)
}

fn judge(names: &[String]) -> io::Result<ExitCode> {
    let mut counter = Counter::new(std::env::current_exe()?);
    let mut code = ExitCode::SUCCESS;
    println!("| case | what | measured | at most |");
    println!("|---|---|---|---|");
    for case in CASES {
        if !names.is_empty() && !names.iter().any(|name| name == case.name) {
            continue;
        }
        for found in counter.judge(case)? {
            let over = if found.is_over() { " **OVER**" } else { "" };
            let max = found.max.map_or_else(|| "-".to_owned(), decimal);
            let measured = decimal(found.hundredths);
            println!("| {} | {} | {measured}{over} | {max} |", found.case, found.what);
            if found.is_over() {
                code = ExitCode::FAILURE;
            }
        }
    }
    Ok(code)
}

fn decimal(hundredths: u64) -> String {
    match (hundredths / 100, hundredths % 100) {
        (whole, 0) => whole.to_string(),
        (whole, part) => format!("{whole}.{part:02}"),
    }
}
