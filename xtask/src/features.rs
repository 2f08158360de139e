//! `cargo xtask features`: crates that have features compile without, with each, and with all.

#[cfg(test)]
mod tests;

use std::process::Command;

use crate::{
    metadata,
    report::{Error, Fault, Report},
    runner::{self, Runner},
    tools,
};

pub(crate) fn run(runner: &Runner, args: &[String]) -> Result<Report, Error> {
    tools::no_arguments("features", args)?;
    let workspace = metadata::load(runner)?;
    let (mut builds, mut faults) = (0_usize, Vec::new());
    let (with, without): (Vec<_>, Vec<_>) = workspace
        .packages
        .iter()
        .filter(|package| package.is_crate())
        .partition(|package| !package.features.is_empty());
    for package in &without {
        println!("{}: no features", package.name);
    }
    for package in &with {
        for selection in selections(&package.features) {
            builds += 1;
            let mut command: Command = runner.cargo(["check", "-p", &package.name]);
            command.args(&selection);
            if !runner::passes(&mut command)? {
                let what = format!("does not compile with {}", selection.join(" "));
                let remedy = "see the compiler's message above";
                faults.push(Fault::new(&package.name, what, remedy));
            }
        }
    }
    let (with, without) = (with.len(), without.len());
    let figures = format!("{with} crates with features, {without} without, {builds} builds, {} failed", faults.len());
    Ok(Report::new(figures, faults))
}

/// The arguments of each build: none, each alone, all.
fn selections(features: &[String]) -> Vec<Vec<String>> {
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let mut selections = vec![words(&["--no-default-features"])];
    for feature in features {
        selections.push(words(&["--no-default-features", "--features", feature]));
    }
    selections.push(words(&["--all-features"]));
    selections
}
