//! The checks that keep the workspace honest: `cargo xtask <command>`.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a tool for the terminal: printing is its job")]
#![expect(clippy::disallowed_methods, reason = "a native tool: it reads files, the environment and starts cargo")]

mod bench;
mod check;
mod clippy;
mod conformance;
mod crash;
mod deny;
mod deps;
mod docs;
mod features;
mod fmt;
mod layers;
mod lines;
mod links;
mod metadata;
mod report;
mod runner;
mod sizes;
mod test;
mod tools;
mod walk;
mod wasm;

use std::{env, error::Error as _, process::ExitCode};

use report::{Error, Report};
use runner::Runner;

/// A row of the command table. A new command is a file with a `run` and a row here.
struct Row {
    name: &'static str,
    summary: &'static str,
    run: fn(&Runner, &[String]) -> Result<Report, Error>,
}

const COMMANDS: &[Row] = &[
    Row { name: "check", summary: "run fmt to deny, go on after a failure", run: check::run },
    Row { name: "test", summary: "run all tests; arguments go to nextest", run: test::run },
    Row { name: "fmt", summary: "check the formatting", run: fmt::run },
    Row { name: "clippy", summary: "lint all targets, warnings are errors", run: clippy::run },
    Row { name: "layers", summary: "check which crate may reach which", run: layers::run },
    Row { name: "sizes", summary: "check lengths of files and crates", run: sizes::run },
    Row { name: "deps", summary: "check the crate budgets and manifests", run: deps::run },
    Row { name: "features", summary: "check every feature alone and together", run: features::run },
    Row { name: "docs", summary: "build docs, run doctests, check links", run: docs::run },
    Row { name: "deny", summary: "check licences, bans and sources", run: deny::run },
    Row { name: "wasm", summary: "build for wasm32 (installs Debian packages)", run: wasm::run },
    Row { name: "bench", summary: "--peers [--fast] [--only NAME]: figures beside other libraries'", run: bench::run },
    Row { name: "crash", summary: "[--kills N] [--seed N]: sessions of processes that are killed", run: crash::run },
    Row { name: "conformance", summary: "wires [--fast]: our wires against real peers", run: conformance::run },
];

fn main() -> ExitCode {
    let mut args = env::args().skip(1);
    let Some(name) = args.next().filter(|name| !matches!(name.as_str(), "help" | "--help" | "-h")) else {
        help();
        return ExitCode::SUCCESS;
    };
    let Some(row) = COMMANDS.iter().find(|row| row.name == name) else {
        help();
        eprintln!("error: no command `{name}`; the commands are listed above");
        return ExitCode::FAILURE;
    };
    let rest: Vec<String> = args.collect();
    match Runner::locate().map(|runner| perform(row, &runner, &rest)) {
        Ok(Outcome::Passed | Outcome::Skipped) => ExitCode::SUCCESS,
        Ok(Outcome::Failed) => ExitCode::FAILURE,
        Err(error) => {
            print_error(&error);
            println!("{name}: stopped");
            ExitCode::FAILURE
        }
    }
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Passed,
    Failed,
    Skipped,
}

/// Runs one command and prints its faults, then its figures as the last line.
fn perform(row: &Row, runner: &Runner, args: &[String]) -> Outcome {
    match (row.run)(runner, args) {
        Ok(report) => {
            for fault in &report.faults {
                eprintln!("error: {fault}");
            }
            println!("{}: {}", row.name, report.figures);
            match (report.faults.is_empty(), report.skipped) {
                (false, _) => Outcome::Failed,
                (true, true) => Outcome::Skipped,
                (true, false) => Outcome::Passed,
            }
        }
        Err(error) => {
            print_error(&error);
            println!("{}: stopped", row.name);
            Outcome::Failed
        }
    }
}

fn help() {
    println!("usage: cargo xtask <command>\n");
    for row in COMMANDS {
        println!("  {:<13}{}", row.name, row.summary);
    }
}

fn print_error(error: &Error) {
    eprintln!("error: {error}");
    let mut source = error.source();
    while let Some(cause) = source {
        eprintln!("  caused by: {cause}");
        source = cause.source();
    }
}
