//! `cargo xtask wasm`: builds the crates that must run on wasm32-unknown-unknown, with Debian's
//! compiler and its standard library from source, because the target's own isn't to be had here.

#[cfg(test)]
mod tests;

use std::{path::Path, process::Command};

use crate::{
    metadata::{self, Workspace},
    report::{Error, Fault, Report},
    runner::{self, Runner},
    tools,
};

/// Crates that must build for wasm; those that don't exist yet are left out.
const CRATES: &[&str] = &[
    "agent-core",
    "agent-loop",
    "agent-anthropic",
    "agent-openai",
    "agent-google",
    "agent-bedrock",
    "agent-web",
    "agent-mcp",
    "agent-compaction",
    "agent-models",
];

const PACKAGES: &[&str] = &["rustc-web", "cargo-web", "rust-web-src", "lld-22"];
const CARGO: &str = "/usr/bin/cargo";
const RUSTC: &str = "/usr/bin/rustc";
/// The workspace's `rust-version`; Debian has an older rustc-web without its security list.
const OLDEST: [u64; 3] = [1, 95, 0];

pub(crate) fn run(runner: &Runner, args: &[String]) -> Result<Report, Error> {
    tools::no_arguments("wasm", args)?;
    if let Some(reason) = prepare(runner)? {
        return Ok(Report::skipped(reason));
    }
    let workspace = metadata::load(runner)?;
    let crates = existing(&workspace, CRATES);
    let mut faults = Vec::new();
    for name in &crates {
        if !runner::passes(&mut build(runner, &workspace.target, name))? {
            let what = "does not build for wasm32-unknown-unknown, see above";
            let remedy = "keep threads, clocks, files and sockets out of it";
            faults.push(Fault::new(*name, what, remedy));
        }
    }
    let figures = format!("{} crates built, {} failed", crates.len() - faults.len(), faults.len());
    Ok(Report::new(figures, faults))
}

fn existing<'a>(workspace: &Workspace, table: &[&'a str]) -> Vec<&'a str> {
    let exists = |name: &&str| workspace.packages.iter().any(|package| package.name == *name);
    table.iter().copied().filter(exists).collect()
}

/// Installs what is missing; the reason when the machine can't build.
fn prepare(runner: &Runner) -> Result<Option<String>, Error> {
    if !Path::new("/usr/bin/dpkg-query").exists() {
        return Ok(Some("the packages are Debian's and this machine has no dpkg".to_owned()));
    }
    let missing: Vec<_> = PACKAGES.iter().copied().filter(|package| !is_installed(runner, package)).collect();
    if !missing.is_empty() {
        let names = missing.join(" ");
        let is_root = runner::output(runner.program("id").arg("-u")).is_ok_and(|id| id.trim() == "0");
        if !is_root {
            return Ok(Some(format!("missing {names}; as root: apt-get install {names}")));
        }
        println!("installing {names} (about 117 MB of Debian packages)");
        let mut update = runner.program("apt-get");
        update.args(["update", "-q"]);
        let mut install = runner.program("apt-get");
        install.args(["install", "-q", "-y", "--no-install-recommends"]).args(&missing);
        install.env("DEBIAN_FRONTEND", "noninteractive");
        if !runner::passes(&mut update)? || !runner::passes(&mut install)? {
            return Ok(Some(format!("apt-get could not install {names}, see above")));
        }
    }
    let found = runner::output(clean(&mut runner.program(RUSTC)).arg("--version"));
    Ok(too_old(&found.unwrap_or_default()))
}

/// The reason why a compiler with this `--version` doesn't serve.
fn too_old(output: &str) -> Option<String> {
    let found = tools::version(output);
    if found.is_some_and(|version| version >= OLDEST) {
        return None;
    }
    let [major, minor, patch] = OLDEST;
    let found = output.trim();
    Some(format!("{RUSTC} is `{found}`, needed is {major}.{minor}.{patch} or newer"))
}

fn is_installed(runner: &Runner, package: &str) -> bool {
    let mut query = runner.program("dpkg-query");
    query.args(["-W", "-f", "${db:Status-Status}", package]);
    runner::output(&mut query).is_ok_and(|status| status == "installed")
}

fn build(runner: &Runner, target: &Path, name: &str) -> Command {
    let mut command = runner.program(CARGO);
    command.args(["build", "--locked", "--lib", "-p", name]);
    command.args(["--target", "wasm32-unknown-unknown", "-Z", "build-std=std,panic_abort"]);
    clean(&mut command)
        .env("RUSTC_BOOTSTRAP", "1")
        .env("RUSTC", RUSTC)
        .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", "wasm-ld-22")
        .env("CARGO_TARGET_DIR", target.join("wasm"));
    command
}

/// Without what rustup's cargo sets for its children: Debian's programs would load rustup's
/// libraries.
fn clean(command: &mut Command) -> &mut Command {
    const INHERITED: &[&str] =
        &["LD_LIBRARY_PATH", "RUSTUP_TOOLCHAIN", "CARGO", "RUSTDOC", "RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER"];
    for name in INHERITED {
        command.env_remove(name);
    }
    command
}
