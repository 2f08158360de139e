//! `cargo xtask clippy`: all targets of all packages, with warnings as errors.

use crate::{
    report::{Error, Fault, Report},
    runner::{self, Runner},
    tools,
};

pub(crate) fn run(runner: &Runner, args: &[String]) -> Result<Report, Error> {
    tools::no_arguments("clippy", args)?;
    let mut command = runner.cargo(["clippy", "--workspace", "--all-targets"]);
    command.args(["--", "-D", "warnings"]);
    if runner::passes(&mut command)? {
        return Ok(Report::new("no warnings", Vec::new()));
    }
    let remedy = "fix it, or `#[expect(lint, reason = \"..\")]` where the lint is wrong";
    let fault = Fault::new("clippy", "warnings or errors, see above", remedy);
    Ok(Report::new("warnings", vec![fault]))
}
