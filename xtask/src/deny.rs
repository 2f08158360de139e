//! `cargo xtask deny`: licences, banned crates and sources by cargo-deny, without the network.

use std::{env, path::PathBuf};

use crate::{
    report::{Error, Fault, Report},
    runner::{self, Runner},
    tools::{self, DENY, Ready},
};

pub(crate) fn run(runner: &Runner, args: &[String]) -> Result<Report, Error> {
    tools::no_arguments("deny", args)?;
    if let Ready::No(reason) = tools::ensure(runner, &DENY)? {
        return Ok(Report::skipped(reason));
    }
    // Offline, cargo-deny needs the crates of all platforms; a build fetched those of one.
    if !runner::passes(&mut runner.cargo(["fetch", "--locked"]))? {
        eprintln!("cargo fetch failed; going on with the crates that are here");
    }
    let mut faults = Vec::new();
    let mut command = runner.cargo(["deny", "--offline", "check"]);
    command.args(["licenses", "bans", "sources"]);
    if !runner::passes(&mut command)? {
        let what = "a licence, crate or source is not allowed, see above";
        let remedy = "drop the dependency, or change deny.toml with the reason";
        faults.push(Fault::new("cargo deny", what, remedy));
    }
    let advisories = check_advisories(runner, &mut faults)?;
    let figures = format!("licences, bans and sources checked, advisories {advisories}, {} violations", faults.len());
    Ok(Report::new(figures, faults))
}

/// Checks advisories where a database is present; it is never fetched.
fn check_advisories(runner: &Runner, faults: &mut Vec<Fault>) -> Result<&'static str, Error> {
    if !database().is_some_and(|path| path.is_dir()) {
        eprintln!("advisories: skipped, there is no database below $CARGO_HOME/advisory-dbs");
        return Ok("skipped, no database");
    }
    if !runner::passes(&mut runner.cargo(["deny", "--offline", "check", "advisories"]))? {
        let what = "an advisory names a crate in Cargo.lock, see above";
        let remedy = "update the crate, or ignore the advisory in deny.toml with the reason";
        faults.push(Fault::new("cargo deny", what, remedy));
    }
    Ok("checked")
}

/// Where cargo-deny keeps the RustSec database; the name holds a hash of its address.
fn database() -> Option<PathBuf> {
    let home =
        env::var_os("CARGO_HOME").map(PathBuf::from).or_else(|| env::home_dir().map(|home| home.join(".cargo")))?;
    Some(home.join("advisory-dbs").join("advisory-db-3157b0e258782691"))
}
