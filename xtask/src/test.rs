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

/// Whose output is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Harness {
    Nextest,
    Libtest,
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
        let harness = if has_nextest { Harness::Nextest } else { Harness::Libtest };
        perform(&mut command, harness, &mut total, &mut faults)?;
    }
    if selects_packages(args) {
        eprintln!("doctests are left out, because the arguments select packages");
    } else {
        let mut command = runner.cargo(DOCTESTS);
        command.arg("--no-fail-fast");
        perform(&mut command, Harness::Libtest, &mut total, &mut faults)?;
    }
    if args.is_empty() && total == Counts::default() {
        let what = "ran no test at all";
        faults.push(Fault::new("test", what, "look why above; an empty run proves nothing"));
    }
    let figures = format!("{} passed, {} failed", total.passed, total.failed);
    println!("{figures}");
    Ok(Report::new(figures, faults))
}

/// Runs one command, adds its counts to the total and its failure to the faults.
fn perform(command: &mut Command, harness: Harness, total: &mut Counts, faults: &mut Vec<Fault>) -> Result<(), Error> {
    let keep = match harness {
        Harness::Nextest => Keep::Stderr,
        Harness::Libtest => Keep::Stdout,
    };
    let (success, text) = runner::tee(command, keep)?;
    let mut counts = count(harness, &text);
    if !success {
        let what = match counts.failed {
            0 => "failed before or beside the tests, counted as one failure".to_owned(),
            1 => "1 test failed".to_owned(),
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
    args.iter()
        .take_while(|arg| *arg != "--")
        .any(|arg| arg.starts_with("-p") || arg.starts_with("--package") || arg.starts_with("--manifest-path"))
}

/// Reads nextest's last `Summary` line, or sums libtest's `test result` lines, one per binary.
fn count(harness: Harness, text: &str) -> Counts {
    match harness {
        // The output of failed tests comes before it and has `test result` lines of its own.
        Harness::Nextest => {
            let after = |line: &str| {
                let (_, counts) = line.trim_start().strip_prefix("Summary [")?.split_once(" run: ")?;
                Some(count_line(counts))
            };
            text.lines().rev().find_map(after).unwrap_or_default()
        }
        Harness::Libtest => {
            let mut sum = Counts::default();
            for line in text.lines() {
                let result = line.strip_prefix("test result: ");
                if let Some((_, counts)) = result.and_then(|line| line.split_once(". ")) {
                    let counts = count_line(counts);
                    sum.passed += counts.passed;
                    sum.failed += counts.failed;
                }
            }
            sum
        }
    }
}

/// Reads `3 passed (1 slow), 1 failed`; the parts in parentheses repeat what was counted.
fn count_line(line: &str) -> Counts {
    let (mut depth, mut counts) = (0_usize, Counts::default());
    let is_outside = |c: &char| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && *c != ')'
    };
    let flat: String = line.chars().filter(is_outside).collect();
    for part in flat.split([',', ';']) {
        let Some((number, what)) = part.trim().split_once(' ') else { continue };
        let Ok(number) = number.parse::<usize>() else { continue };
        match what.trim() {
            "passed" => counts.passed += number,
            "failed" | "timed out" | "exec failed" => counts.failed += number,
            _ => {}
        }
    }
    counts
}
