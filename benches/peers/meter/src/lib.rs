//! What every client program is asked on its command line, and how it reports: CPU time, memory, figures.

use std::{fmt, time::Duration};

use rustix::{
    process::{Resource, Rlimit, getrlimit, setrlimit},
    time::{ClockId, clock_gettime},
};

/// What the tool `add` returns.
pub const SUM: &str = "3";
/// The description of the tool `add`.
pub const ADD: &str = "Add two numbers";
/// The schema of the tool `add`.
pub const SCHEMA: &str =
    r#"{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number"}},"required":["a","b"]}"#;
/// The description of the tool `write_file`, which the stream of Anthropic events calls.
pub const WRITE: &str = "Write a file";
/// The schema of the tool `write_file`.
pub const WRITE_SCHEMA: &str = concat!(
    r#"{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}},"#,
    r#""required":["path","content"]}"#
);
/// The system prompt of all runs.
pub const SYSTEM: &str = "You are helpful.";
/// The key that all clients send.
pub const KEY: &str = "k";

/// The protocol of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Api {
    /// OpenAI Chat Completions.
    OpenAi,
    /// Anthropic Messages.
    Anthropic,
}

/// What a client program is asked to do.
#[derive(Debug, Clone)]
pub enum Ask {
    /// Read one streamed answer to its end: `stream <api> <port> <events>`.
    Stream {
        /// The protocol.
        api: Api,
        /// The address, without the protocol's own path.
        base: String,
        /// Floors only: look for the wanted bytes instead of parsing.
        scan: bool,
    },
    /// One run of so many tool calls and a text: `turns <port> <calls>`.
    Turns {
        /// The address, without the protocol's own path.
        base: String,
    },
    /// A session of so many messages in a file: `session <file> <port> <entries>`. The port is nobody's.
    Session {
        /// The file, which is not there yet.
        file: std::path::PathBuf,
        /// How many messages.
        entries: u64,
    },
    /// Many runs of two tool calls and a text at once: `crowd <port> <runs> <delay in ms>`.
    Crowd {
        /// The addresses over which the runs are spread: one host has one limit of ports and connections.
        bases: Vec<String>,
        /// How many runs.
        runs: usize,
    },
}

/// Reads the command line.
///
/// # Panics
/// Where it asks for nothing that is known: the programs are started by `cargo xtask bench`.
pub fn ask() -> Ask {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    match *words.as_slice() {
        ["stream" | "scan", api, port, events] => {
            let (api, mode) = match api {
                "openai" => (Api::OpenAi, "s16"),
                "anthropic" => (Api::Anthropic, "a16"),
                other => panic!("no protocol `{other}`"),
            };
            Ask::Stream { api, base: format!("http://127.0.0.1:{port}/{mode}/{events}"), scan: words[0] == "scan" }
        }
        ["turns", port, calls] => Ask::Turns { base: format!("http://127.0.0.1:{port}/turn/{calls}/0") },
        ["crowd", port, runs, delay] => {
            let bases = (1..=16).map(|host| format!("http://127.0.0.{host}:{port}/turn/2/{delay}")).collect();
            Ask::Crowd { bases, runs: runs.parse().expect("a number of runs") }
        }
        ["session", file, _, entries] => {
            Ask::Session { file: file.into(), entries: entries.parse().expect("a number of messages") }
        }
        _ => panic!("usage: stream|scan API PORT EVENTS, turns PORT CALLS, crowd PORT RUNS DELAY, session FILE PORT N"),
    }
}

/// The text of each message of a session: 300 bytes.
pub fn message() -> String {
    ["A line of a message, as people write it: 50 bytes."; 6].concat()
}

/// The nanoseconds of a piece of work: the least of a few tries.
pub fn least<T>(tries: u32, mut work: impl FnMut() -> T) -> u64 {
    let one = |_| {
        let start = std::time::Instant::now();
        std::hint::black_box(work());
        u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX)
    };
    (0..tries).map(one).min().unwrap_or_default()
}

/// CPU time and memory since it was started.
#[derive(Debug)]
pub struct Meter {
    cpu: Duration,
    resident: u64,
}

impl Meter {
    /// Starts here. Also lets the process open as many files as it may.
    pub fn start() -> Self {
        let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
        let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
        Self { cpu: cpu(), resident: status("VmRSS:") }
    }

    /// Prints the figures of the program and those of the process: one line of `name=number`.
    pub fn report(&self, figures: &[(&str, u64)]) {
        let cpu = u64::try_from((cpu() - self.cpu).as_nanos()).unwrap_or(u64::MAX);
        let grown = status("VmHWM:").saturating_sub(self.resident);
        for (name, figure) in figures.iter().chain(&[("cpu_ns", cpu), ("grown_bytes", grown)]) {
            print!("{name}={figure} ");
        }
        println!();
    }
}

/// Ends the program with the reason where a run did not go as it must.
pub fn check<T, E: fmt::Debug>(result: Result<T, E>) -> T {
    result.unwrap_or_else(|error| {
        // Some errors hold the whole conversation.
        eprintln!("the run failed: {:.300}", format!("{error:?}"));
        std::process::exit(1)
    })
}

/// CPU time of all threads of this process, in user and kernel.
fn cpu() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.try_into().unwrap_or(0), time.tv_nsec.try_into().unwrap_or(0))
}

/// A field of `/proc/self/status`, in bytes.
fn status(field: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(field));
    line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0) * 1024
}
