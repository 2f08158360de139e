//! Cargo tools that are not part of the toolchain, at pinned versions, installed when missing.

#[cfg(test)]
mod tests;

use crate::{
    report::Error,
    runner::{self, Runner},
};

/// A cargo subcommand from crates.io.
#[derive(Debug)]
pub(crate) struct Tool {
    /// The name after `cargo `; the package is `cargo-<name>`.
    pub(crate) name: &'static str,
    pub(crate) version: &'static str,
    pub(crate) accepts: Accepts,
}

/// Which installed versions serve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Accepts {
    /// Its verdict may change with the version.
    Exactly,
    OrNewer,
}

pub(crate) const NEXTEST: Tool = Tool { name: "nextest", version: "0.9.143", accepts: Accepts::OrNewer };
pub(crate) const DENY: Tool = Tool { name: "deny", version: "0.20.2", accepts: Accepts::Exactly };

/// Whether a tool can be used, after an attempt to install it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Ready {
    Yes,
    /// With the reason, to be said aloud.
    No(String),
}

/// Looks for the tool and installs it by `cargo install --locked` when it isn't there.
pub(crate) fn ensure(runner: &Runner, tool: &Tool) -> Result<Ready, Error> {
    if is_installed(runner, tool) {
        return Ok(Ready::Yes);
    }
    let package = format!("cargo-{}", tool.name);
    eprintln!("{package} {} is not installed; building it takes minutes, once", tool.version);
    let mut install = runner.cargo(["install", "--locked", "--version", tool.version]);
    install.arg(&package);
    if runner::passes(&mut install)? && is_installed(runner, tool) {
        return Ok(Ready::Yes);
    }
    Ok(Ready::No(format!("{package} {} could not be installed", tool.version)))
}

fn is_installed(runner: &Runner, tool: &Tool) -> bool {
    let found = runner::output(&mut runner.cargo([tool.name, "--version"]));
    found.is_ok_and(|text| serves(tool, &text))
}

/// Judges the output of `cargo <tool> --version`.
fn serves(tool: &Tool, output: &str) -> bool {
    let (Some(found), Some(wanted)) = (version(output), version(tool.version)) else {
        return false;
    };
    match tool.accepts {
        Accepts::Exactly => found == wanted,
        Accepts::OrNewer => found >= wanted,
    }
}

/// The first `major.minor.patch` in a text; a suffix such as `-dev` or `+dfsg1` is ignored.
pub(crate) fn version(text: &str) -> Option<[u64; 3]> {
    text.split_whitespace().find_map(|word| {
        let mut parts = word.split(['.', '-', '+']).map(str::parse::<u64>);
        Some([parts.next()?.ok()?, parts.next()?.ok()?, parts.next()?.ok()?])
    })
}

/// For commands that take no arguments: an argument is an error, not ignored.
pub(crate) fn no_arguments(command: &'static str, args: &[String]) -> Result<(), Error> {
    match args.first() {
        None => Ok(()),
        Some(argument) => Err(Error::Argument { command, argument: argument.clone() }),
    }
}
