//! `cargo xtask check`: the quick checks in order, all of them even after a failure.

use crate::{
    COMMANDS, Outcome, perform,
    report::{Error, Fault, Report},
    runner::Runner,
    tools,
};

const ORDER: &[&str] = &["fmt", "clippy", "layers", "sizes", "deps", "features", "docs", "deny"];

pub(crate) fn run(runner: &Runner, args: &[String]) -> Result<Report, Error> {
    tools::no_arguments("check", args)?;
    let (mut passed, mut skipped, mut faults) = (0_usize, 0_usize, Vec::new());
    for name in ORDER {
        let Some(row) = COMMANDS.iter().find(|row| row.name == *name) else {
            let remedy = "fix ORDER in xtask/src/check.rs";
            faults.push(Fault::new(*name, "is not a command", remedy));
            continue;
        };
        println!("\n== {name}: {}", row.summary);
        match perform(row, runner, &[]) {
            Outcome::Passed => passed += 1,
            Outcome::Skipped => skipped += 1,
            Outcome::Failed => {
                let remedy = format!("run `cargo xtask {name}` and fix what it names");
                faults.push(Fault::new(*name, "failed", remedy));
            }
        }
    }
    println!();
    let mut figures = format!("{passed} passed, {} failed", faults.len());
    if skipped > 0 {
        figures.push_str(&format!(", {skipped} skipped"));
    }
    Ok(Report::new(figures, faults))
}
