//! One run: processes that are killed, until one comes to the end.

use std::{
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::Duration,
};

use agent_session::SyncPolicy;

use super::{
    Broken, Counter, Error, Judge, Look, When,
    child::{DONE, Orders},
    judge::Said,
};

/// How a process dies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Die {
    /// Not at all.
    Never,
    /// By itself, at a moment of an append.
    At(When, u64),
    /// By a signal from outside, after this time.
    After(Duration),
    /// By a signal from outside, when it has said so many things.
    Said(usize),
}

/// How a process went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Went {
    pub acknowledged: u64,
    /// How many appends were acknowledged.
    pub appends: u64,
    pub done: bool,
    pub killed: bool,
    /// What it said on standard error, where it failed by itself.
    pub failed: Option<String>,
}

/// A run in a folder.
#[derive(Debug)]
pub struct Trial<'a> {
    pub program: &'a Path,
    pub folder: PathBuf,
    pub counter: &'a Counter,
    pub turns: usize,
    pub sync: SyncPolicy,
    pub broken: Option<Broken>,
}

impl Trial<'_> {
    /// Starts a process, and kills it.
    pub fn process(&self, die: Die) -> Result<Went, Error> {
        let at = if let Die::At(when, count) = die { Some((when, count)) } else { None };
        let orders = Orders {
            folder: self.folder.display().to_string(),
            server: self.counter.address(),
            turns: self.turns,
            sync: self.sync,
            die: at,
            broken: self.broken,
        };
        let mut command = Command::new(self.program);
        command.arg("child").args(orders.arguments()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let (sender, lines) = mpsc::sync_channel(4096);
        let output = child.stdout.take().ok_or("no standard output")?;
        let reader = thread::spawn(move || {
            BufReader::new(output).lines().map_while(Result::ok).for_each(|line| _ = sender.send(line));
        });
        let mut said = Vec::new();
        match die {
            Die::Never | Die::At(..) => {}
            Die::Said(count) => {
                said.extend(lines.iter().take(count));
                kill(&mut child)?;
            }
            Die::After(time) => {
                let start = std::time::Instant::now();
                loop {
                    match lines.recv_timeout(time.saturating_sub(start.elapsed())) {
                        Ok(line) => said.push(line),
                        Err(RecvTimeoutError::Disconnected) => break,
                        Err(RecvTimeoutError::Timeout) => {
                            kill(&mut child)?;
                            break;
                        }
                    }
                }
            }
        }
        said.extend(lines);
        _ = reader.join();
        let output = child.wait_with_output()?;
        let killed = std::os::unix::process::ExitStatusExt::signal(&output.status) == Some(9);
        let fails = !killed && !output.status.success();
        let numbers: Vec<u64> = said.iter().filter_map(|line| line.strip_prefix("ack ")?.parse().ok()).collect();
        Ok(Went {
            acknowledged: numbers.iter().copied().max().unwrap_or(0),
            appends: numbers.len().try_into().unwrap_or(u64::MAX),
            done: said.iter().any(|line| line == DONE),
            killed,
            failed: fails.then(|| String::from_utf8_lossy(&output.stderr).into_owned()),
        })
    }

    /// Kills a process for each death, looks at what it left, and lets the last one come to its end. Returns how the
    /// first one went.
    pub fn run(&self, deaths: &[Die], judge: &mut Judge) -> Result<Went, Error> {
        fs::create_dir_all(&self.folder)?;
        let runtime = tokio::runtime::Builder::new_current_thread().build()?;
        let (mut before, mut first, mut what) = (Look::default(), None, String::new());
        let mut acknowledged = 0;
        for die in deaths.iter().copied().chain([Die::Never]) {
            what = format!("{what}{}{die:?}", if what.is_empty() { "" } else { ", then " });
            let went = self.process(die)?;
            judge.kills += u64::from(went.killed);
            if let Some(error) = &went.failed {
                judge.note(&what, format!("the process failed: {error}"));
            }
            acknowledged = went.acknowledged.max(acknowledged);
            let look = match runtime.block_on(Look::at(&self.folder, self.turns, self.counter)) {
                Ok(look) => look,
                Err(error) => {
                    judge.unreadable(&what, &error);
                    judge.end(&what, &Look::default(), Said::Nothing);
                    return Ok(first.unwrap_or(went));
                }
            };
            judge.compare(&what, acknowledged, &before, &look);
            let is_over = die == Die::Never || (!went.killed && went.done);
            if is_over {
                judge.end(&what, &look, if went.done { Said::Done } else { Said::Nothing });
                fs::remove_dir_all(&self.folder)?;
                return Ok(first.unwrap_or(went));
            }
            first.get_or_insert(went);
            before = look;
        }
        Err("a run without a last process".into())
    }
}

/// A process that is gone already is no error.
fn kill(child: &mut Child) -> std::io::Result<()> {
    match child.kill() {
        Err(error) if error.kind() == std::io::ErrorKind::InvalidInput => Ok(()),
        done => done,
    }
}
