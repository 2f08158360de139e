//! `cargo xtask fmt`: fails on a file that rustfmt would change; changes none.

use crate::{
    report::{Error, Fault, Report},
    runner::{self, Runner},
    tools,
};

pub(crate) fn run(runner: &Runner, args: &[String]) -> Result<Report, Error> {
    tools::no_arguments("fmt", args)?;
    if runner::passes(&mut runner.cargo(["fmt", "--all", "--", "--check"]))? {
        return Ok(Report::new("all files formatted", Vec::new()));
    }
    let fault = Fault::new("rustfmt", "files are not formatted, see above", "run `cargo fmt --all`");
    Ok(Report::new("not formatted", vec![fault]))
}
