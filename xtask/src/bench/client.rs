//! The programs of `benches/peers`: which there are, what each can do, and how they are built.

use std::{ffi::OsStr, fs, path::PathBuf, process::Command};

use crate::{
    report::Error,
    runner::{self, Runner},
};

/// Package and program of the server.
pub(super) const SERVER: &str = "peers-server";
const MANIFEST: &str = "benches/peers/Cargo.toml";

/// A program that is measured; a floor that reads in two ways has two rows.
#[derive(Debug)]
pub(super) struct Client {
    /// What `--only` calls it.
    pub(super) key: &'static str,
    /// What the tables call it.
    pub(super) name: &'static str,
    /// The package and its program.
    pub(super) package: &'static str,
    /// The word that makes it read a stream.
    pub(super) stream: &'static str,
    /// The protocols whose streams it reads.
    pub(super) speaks: &'static [&'static str],
    /// Whether it runs tools in a loop.
    pub(super) turns: bool,
    /// The most runs at once that are worth waiting for; 0 is none.
    pub(super) crowd: u64,
    /// Whether it keeps sessions in files.
    pub(super) sessions: bool,
    /// The program whose size is told; its package has the same name.
    pub(super) hello: Option<&'static str>,
}

const BOTH: &[&str] = &["openai", "anthropic"];

pub(super) const CLIENTS: &[Client] = &[
    Client {
        key: "floor",
        name: "floor",
        package: "peers-floor",
        stream: "stream",
        speaks: BOTH,
        turns: true,
        crowd: u64::MAX,
        sessions: true,
        hello: None,
    },
    Client {
        key: "floor",
        name: "floor that searches",
        package: "peers-floor",
        stream: "scan",
        speaks: BOTH,
        turns: false,
        crowd: 0,
        sessions: false,
        hello: None,
    },
    Client {
        key: "ours",
        name: OURS,
        package: "peers-mainspring",
        stream: "stream",
        speaks: BOTH,
        turns: true,
        crowd: u64::MAX,
        sessions: true,
        hello: Some("hello-mainspring"),
    },
    Client {
        key: "yoagent",
        name: "yoagent 0.26.6",
        package: "peers-yoagent",
        stream: "stream",
        speaks: BOTH,
        turns: true,
        // 10,000 take it four minutes.
        crowd: 1_000,
        sessions: true,
        hello: Some("hello-yoagent"),
    },
    Client {
        key: "rig",
        name: "rig 0.46.0",
        package: "peers-rig",
        stream: "stream",
        speaks: BOTH,
        turns: true,
        crowd: u64::MAX,
        sessions: false,
        hello: Some("hello-rig"),
    },
    Client {
        key: "genai",
        name: "genai 0.7.2",
        package: "peers-genai",
        stream: "stream",
        speaks: BOTH,
        turns: true,
        crowd: u64::MAX,
        sessions: false,
        hello: Some("hello-genai"),
    },
    Client {
        key: "async-openai",
        name: "async-openai 0.43.0",
        package: "peers-async-openai",
        stream: "stream",
        speaks: &["openai"],
        turns: false,
        crowd: 0,
        sessions: false,
        hello: Some("hello-async-openai"),
    },
];

/// The row whose figures have targets.
pub(super) const OURS: &str = "mainspring";

impl Client {
    /// What is built before anything of it is measured. The small program of a peer comes along, as building its crates
    /// twice takes minutes; ours is built alone, as its crates are judged.
    pub(super) fn packages(&self) -> Vec<&'static str> {
        let hello = self.hello.filter(|_| !self.is_own());
        [Some(self.package), hello].into_iter().flatten().collect()
    }

    /// Whether it is ours or the floor: one that fails is a fault.
    pub(super) fn is_own(&self) -> bool {
        matches!(self.key, "ours" | "floor")
    }
}

/// Where the programs are built and lie.
#[derive(Debug)]
pub(super) struct Place<'a> {
    pub(super) runner: &'a Runner,
    /// The target folder of the peers' workspace.
    pub(super) target: PathBuf,
    /// The processor for the server and the clients; `None` where they cannot be kept on one.
    pub(super) processor: Option<String>,
}

impl Place<'_> {
    /// A program that stays on the processor of all others here. What the kernel does for a client that sends depends on
    /// where the server reads: on two processors its share of the CPU time varies threefold.
    pub(super) fn kept(&self, program: impl AsRef<OsStr>) -> Command {
        match &self.processor {
            Some(processor) => {
                let mut command = Command::new("taskset");
                command.args(["-c", processor]).arg(program);
                command
            }
            None => Command::new(program),
        }
    }

    /// Builds packages and nothing else, so that features of others do not reach them.
    pub(super) fn builds(&self, packages: &[&str]) -> Result<bool, Error> {
        let mut command = self.runner.cargo(["build", "--release", "--locked", "-j2", "--ignore-rust-version"]);
        command.args(["--manifest-path", MANIFEST, "--target-dir"]).arg(&self.target);
        command.args(packages.iter().flat_map(|package| ["-p", package]));
        runner::passes(&mut command)
    }

    /// A program that was built.
    pub(super) fn program(&self, name: &str) -> PathBuf {
        self.target.join("release").join(name)
    }

    /// How many crates a package brings to a normal build, build scripts and macros included, itself not counted.
    pub(super) fn crates(&self, package: &str) -> Result<u64, Error> {
        let mut command = self.runner.cargo(["tree", "--locked", "-e", "normal,build", "--prefix", "none"]);
        command.args(["--manifest-path", MANIFEST, "-p", package, "--format", "{p}"]);
        let text = runner::output(&mut command)?;
        let mut crates: Vec<_> = text.lines().filter_map(unit).collect();
        crates.sort_unstable();
        crates.dedup();
        Ok(crates.iter().skip(1).map(|_| 1).sum())
    }
}

/// The last processor on which this process may run, where `taskset` is there to keep others on it.
pub(super) fn processor() -> Option<String> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let allowed = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    let last = allowed.rsplit([',', '-']).next()?.trim().to_owned();
    let taskset = Command::new("taskset").args(["-c", &last, "true"]).status();
    taskset.is_ok_and(|status| status.success()).then_some(last)
}

/// Name and version of a line like `serde v1.0.229 (proc-macro)`.
fn unit(line: &str) -> Option<(&str, &str)> {
    let mut words = line.split_whitespace();
    Some((words.next()?, words.next()?))
}

#[cfg(test)]
mod tests {
    //! Reading the lines of cargo, and the table.

    use super::{CLIENTS, OURS, unit};

    #[test]
    fn a_crate_is_its_name_and_version() {
        assert_eq!(unit("serde_derive v1.0.229 (proc-macro) (*)"), Some(("serde_derive", "v1.0.229")));
        assert_eq!(unit("agent-core v0.1.0 (/work/main/crates/agent-core)"), Some(("agent-core", "v0.1.0")));
        assert_eq!(unit(""), None);
    }

    #[test]
    fn every_program_has_a_package() {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../benches/peers");
        for client in CLIENTS {
            let folders = [client.package.strip_prefix("peers-"), client.hello];
            for folder in folders.into_iter().flatten().map(|name| name.replacen("hello-", "hello/", 1)) {
                let manifest = std::fs::read_to_string(format!("{root}/{folder}/Cargo.toml")).unwrap_or_default();
                let names = client.packages().into_iter().chain(client.hello);
                assert!(names.into_iter().any(|name| manifest.contains(&format!("name = \"{name}\""))), "{folder}");
            }
        }
        assert_eq!(CLIENTS.iter().filter(|client| client.name == OURS).count(), 1);
    }
}
