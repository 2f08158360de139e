//! `cargo xtask crash [--kills N] [--seed N] [--turns N] [--break GUARD]`: kills processes, and says what became of
//! their sessions.

use crate::{
    report::{Error, Fault, Report},
    runner::{self, Keep, Runner},
};

const PROGRAM: [&str; 8] = ["run", "--quiet", "--release", "--package", "mainspring-tests", "--bin", "crash", "--"];
const TAKES_A_VALUE: [&str; 4] = ["--kills", "--seed", "--turns", "--break"];

pub(crate) fn run(runner: &Runner, args: &[String]) -> Result<Report, Error> {
    for pair in args.chunks(2) {
        match pair {
            [name, _] if TAKES_A_VALUE.contains(&name.as_str()) => {}
            _ => return Err(Error::Argument { command: "crash", argument: pair.join(" ") }),
        }
    }
    if cfg!(not(unix)) {
        return Ok(Report::skipped("SIGKILL is Unix's"));
    }
    let mut command = runner.cargo(PROGRAM);
    command.args(args);
    let (success, text) = runner::tee(&mut command, Keep::Stdout)?;
    let figures = text.lines().last().unwrap_or("nothing was said").to_owned();
    let remedy = "the lines above name each kill; the seed above repeats the moments";
    let faults = if success { Vec::new() } else { vec![Fault::new("crash", "something was lost or repeated", remedy)] };
    Ok(Report::new(figures, faults))
}
