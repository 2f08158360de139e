//! `cargo xtask test`: all tests by nextest, which runs no doctests, then the doctests.

#[cfg(test)]
mod tests;

use std::process::Command;

use crate::{
    docs::DOCTESTS,
    layers::PRESERVE_ORDER,
    report::{Error, Fault, Report},
    runner::{self, Keep, Runner},
    tools::{self, NEXTEST, Ready},
};

/// How many tests passed and failed.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Counts {
    passed: usize,
    failed: usize,
}

pub(crate) fn run(runner: &Runner, args: &[String]) -> Result<Report, Error> {
    let has_nextest = match tools::ensure(runner, &NEXTEST)? {
        Ready::Yes => true,
        Ready::No(reason) => {
            eprintln!("{reason}; `cargo test` runs the tests, without nextest's time limits");
            false
        }
    };
    let (mut total, mut faults) = (Counts::default(), Vec::new());
    // Alone, because its features would switch serde_json's key order for every other package.
    let everything: &[&str] = &["--workspace", "--exclude", PRESERVE_ORDER];
    let selections: &[&[&str]] = match selects_packages(args) {
        true => &[&[]],
        false => &[everything, &["-p", PRESERVE_ORDER]],
    };
    for selection in selections {
        let mut command = if has_nextest {
            runner.cargo(["nextest", "run", "--no-tests=pass"])
        } else {
            runner.cargo(["test", "--no-fail-fast", "--tests"])
        };
        command.args(*selection).args(args);
        let keep = if has_nextest { Keep::Stderr } else { Keep::Stdout };
        perform(&mut command, keep, &mut total, &mut faults)?;
    }
    if selects_packages(args) {
        eprintln!("doctests are left out, because the arguments select packages");
    } else {
        let mut command = runner.cargo(DOCTESTS);
        command.arg("--no-fail-fast");
        perform(&mut command, Keep::Stdout, &mut total, &mut faults)?;
    }
    let figures = format!("{} passed, {} failed", total.passed, total.failed);
    println!("{figures}");
    Ok(Report::new(figures, faults))
}

/// Runs one command, adds its counts to the total and its failure to the faults.
fn perform(
    command: &mut Command,
    keep: Keep,
    total: &mut Counts,
    faults: &mut Vec<Fault>,
) -> Result<(), Error> {
    let (success, text) = runner::tee(command, keep)?;
    let mut counts = count(&text);
    if !success {
        let what = match counts.failed {
            0 => "failed before or beside the tests, counted as one failure".to_owned(),
            failed => format!("{failed} tests failed"),
        };
        counts.failed = counts.failed.max(1);
        let words = command.get_args().take_while(|word| *word != "--no-tests=pass");
        let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
        let place = format!("cargo {}", words.join(" "));
        faults.push(Fault::new(place, what, "see its messages above"));
    }
    total.passed += counts.passed;
    total.failed += counts.failed;
    Ok(())
}

/// Whether arguments for nextest name packages themselves.
fn selects_packages(args: &[String]) -> bool {
    args.iter().take_while(|arg| *arg != "--").any(|arg| {
        arg.starts_with("-p") || arg.starts_with("--package") || arg.starts_with("--manifest-path")
    })
}

/// Sums nextest's `Summary` lines and libtest's `test result` lines.
fn count(text: &str) -> Counts {
    let mut counts = Counts::default();
    for line in text.lines().map(str::trim_start) {
        let Some(summary) = summary(line) else { continue };
        // `3 passed (1 slow), 1 failed`: the parts in parentheses repeat what was counted.
        let mut depth = 0_usize;
        let flat: String = summary
            .chars()
            .filter(|c| {
                match c {
                    '(' => depth += 1,
                    ')' => depth = depth.saturating_sub(1),
                    _ => {}
                }
                depth == 0 && *c != ')'
            })
            .collect();
        for part in flat.split([',', ';', '.']) {
            let Some((number, what)) = part.trim().split_once(' ') else { continue };
            let Ok(number) = number.parse::<usize>() else { continue };
            match what.trim() {
                "passed" => counts.passed += number,
                "failed" | "timed out" | "exec failed" => counts.failed += number,
                _ => {}
            }
        }
    }
    counts
}

/// The part of a summary line that lists the counts.
fn summary(line: &str) -> Option<&str> {
    let counts = if let Some(result) = line.strip_prefix("test result: ") {
        result.split_once(". ")?.1
    } else {
        line.strip_prefix("Summary [")?.split_once(" run: ")?.1
    };
    Some(counts)
}
