//! One run of a program: bare, for CPU time and memory, or under callgrind, for instructions.

use std::{
    fs,
    path::PathBuf,
    process::{Command, Stdio},
};

use super::{
    client::{Client, Place},
    server::Server,
};
use crate::report::Error;

/// A program that takes longer hangs.
const SECONDS: &str = "900";
/// Loopback goes through no proxy.
const PROXIES: [&str; 6] = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"];

/// Runs programs against the server.
#[derive(Debug)]
pub(super) struct Bench<'a> {
    pub(super) place: &'a Place<'a>,
    pub(super) server: &'a Server,
    valgrind: bool,
    profiles: PathBuf,
    /// How often a time is taken; the median counts.
    rounds: usize,
}

/// What a run reported, or why there is nothing.
pub(super) type Outcome<T> = Result<T, String>;

/// The figures that a program printed.
#[derive(Debug)]
pub(super) struct Figures(Vec<(String, u64)>);

impl Figures {
    fn read(text: &str) -> Self {
        let pairs = text.split_whitespace().filter_map(|word| word.split_once('='));
        Self(pairs.filter_map(|(name, figure)| Some((name.to_owned(), figure.parse().ok()?))).collect())
    }

    pub(super) fn of(&self, name: &str) -> Outcome<u64> {
        let found = self.0.iter().find(|(known, _)| known == name);
        found.map(|(_, figure)| *figure).ok_or_else(|| format!("it did not report `{name}`"))
    }
}

impl<'a> Bench<'a> {
    pub(super) fn new(place: &'a Place<'a>, server: &'a Server, fast: bool) -> Result<Self, Error> {
        let profiles = place.target.join("callgrind");
        fs::create_dir_all(&profiles).map_err(|source| Error::Write { path: profiles.clone(), source })?;
        let mut version = Command::new("valgrind");
        let status = version.arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        let valgrind = status.is_ok_and(|status| status.success());
        Ok(Self { place, server, valgrind, profiles, rounds: if fast { 3 } else { 5 } })
    }

    /// Whether instructions can be counted.
    pub(super) fn counts(&self) -> bool {
        self.valgrind
    }

    /// Runs bare with these words, the server's port and these numbers: what it printed.
    pub(super) fn run(&self, client: &Client, words: &[&str], numbers: &[u64]) -> Outcome<Figures> {
        let mut command = self.place.kept("timeout");
        command.arg(SECONDS).arg(self.place.program(client.package));
        let (stdout, _) = self.output(command, words, numbers)?;
        Ok(Figures::read(&stdout))
    }

    /// The median of each figure over some runs; peers, whose runs take long, are run once.
    pub(super) fn median<const N: usize>(
        &self,
        client: &Client,
        run: impl Fn() -> Outcome<[f64; N]>,
    ) -> Outcome<[f64; N]> {
        let rounds = if client.is_own() { self.rounds } else { 1 };
        let runs = (0..rounds).map(|_| run()).collect::<Outcome<Vec<_>>>()?;
        Ok(std::array::from_fn(|figure| {
            let mut figures: Vec<f64> = runs.iter().filter_map(|run| run.get(figure).copied()).collect();
            figures.sort_by(f64::total_cmp);
            figures.get(rounds / 2).copied().unwrap_or_default()
        }))
    }

    /// Instructions in user space; the profile stays for `callgrind_annotate`.
    pub(super) fn count(&self, client: &Client, words: &[&str], numbers: &[u64]) -> Outcome<(u64, Figures)> {
        let numbered = numbers.iter().map(u64::to_string);
        let name: Vec<_> = words.iter().map(|word| (*word).to_owned()).chain(numbered).collect();
        let profile = self.profiles.join(format!("{}.{}.out", client.package, name.join("-")));
        let mut command = self.place.kept("timeout");
        command.args([SECONDS, "valgrind", "--tool=callgrind"]);
        command.arg(format!("--callgrind-out-file={}", profile.display()));
        command.arg(self.place.program(client.package));
        let (stdout, stderr) = self.output(command, words, numbers)?;
        let count = stderr.lines().find_map(|line| line.split_once("Collected :")?.1.trim().parse().ok());
        Ok((count.ok_or("valgrind reported no count")?, Figures::read(&stdout)))
    }

    fn output(&self, mut command: Command, words: &[&str], numbers: &[u64]) -> Outcome<(String, String)> {
        command.args(words).arg(self.server.port.to_string()).args(numbers.iter().map(u64::to_string));
        command.env("RUST_BACKTRACE", "0");
        for proxy in PROXIES {
            command.env_remove(proxy);
        }
        let done = command.output().map_err(|error| format!("could not start it: {error}"))?;
        let [stdout, stderr] = [done.stdout, done.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        if done.status.success() {
            return Ok((stdout, stderr));
        }
        let said = stderr.lines().rfind(|line| !line.trim().is_empty() && !line.starts_with("==")).unwrap_or("nothing");
        Err(format!("{}: {said:.200}", done.status))
    }
}

#[cfg(test)]
mod tests {
    //! Reading what a program reports.

    use super::Figures;

    #[test]
    fn figures_are_read_from_the_line_of_a_program() {
        let figures = Figures::read("text=262500 cpu_ns=35577820 none=x alone\n");
        assert_eq!(figures.of("text"), Ok(262_500));
        assert_eq!(figures.of("cpu_ns"), Ok(35_577_820));
        assert_eq!(figures.of("none"), Err("it did not report `none`".to_owned()));
        assert_eq!(figures.of("turns"), Err("it did not report `turns`".to_owned()));
    }
}
