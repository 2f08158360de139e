//! The journal of the process: says what was acknowledged, kills at a moment, and can be broken for a test of the judge.

use std::{
    io::Write,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use agent_core::{BoxFuture, Branch, Journal, JournalError, JournalRecord, RecordBody};
use agent_session::{Medium, SessionJournal};

use super::Error;

/// A moment of an append at which the process kills itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// Nothing is written.
    Before,
    /// It is accepted, and may be written or not.
    Accepted,
    /// It is acknowledged.
    Acknowledged,
    /// Half of its bytes are in the file.
    Torn,
}

impl When {
    pub const ALL: [Self; 4] = [Self::Before, Self::Accepted, Self::Acknowledged, Self::Torn];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Before => "before",
            Self::Accepted => "accepted",
            Self::Acknowledged => "acknowledged",
            Self::Torn => "torn",
        }
    }

    pub(super) fn named(name: &str) -> Result<Self, Error> {
        let found = Self::ALL.into_iter().find(|when| when.as_str() == name);
        found.ok_or_else(|| format!("no such moment: {name}").into())
    }
}

/// A guard that is broken, so that one sees that the judge finds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Broken {
    /// Records are acknowledged before they are written.
    Acknowledge,
    /// A resumed process does not know of the last results.
    Settle,
    /// A tool that appends says that twice is as good as once.
    Replay,
    /// A resumed process forgets the last record that it wrote.
    Load,
}

impl Broken {
    pub const ALL: [Self; 4] = [Self::Acknowledge, Self::Settle, Self::Replay, Self::Load];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Acknowledge => "acknowledge",
            Self::Settle => "settle",
            Self::Replay => "replay",
            Self::Load => "load",
        }
    }

    /// The guard of this name.
    pub fn named(name: &str) -> Result<Self, Error> {
        let found = Self::ALL.into_iter().find(|broken| broken.as_str() == name);
        let names = Self::ALL.map(Self::as_str).join(", ");
        found.ok_or_else(|| format!("no guard `{name}` to break; there are {names}").into())
    }
}

pub(super) fn die() {
    let own = rustix::process::getpid();
    _ = rustix::process::kill_process(own, rustix::process::Signal::KILL);
}

/// A count that runs down to the moment.
#[derive(Debug, Clone)]
pub(super) struct Fuse {
    when: Option<When>,
    left: Arc<AtomicU64>,
}

impl Fuse {
    pub(super) fn new(at: Option<(When, u64)>) -> Self {
        Self { when: at.map(|(when, _)| when), left: Arc::new(AtomicU64::new(at.map_or(0, |(_, count)| count))) }
    }

    /// One moment of these kinds is there; whether it is the last one.
    fn burns_down(&self, kinds: &[When]) -> bool {
        let counts = self.when.is_some_and(|when| kinds.contains(&when));
        counts && self.left.fetch_sub(1, Ordering::SeqCst) == 1
    }
}

/// Says what was acknowledged, and dies when its time has come.
pub(super) struct Mortal {
    pub(super) under: SessionJournal,
    pub(super) fuse: Fuse,
    pub(super) broken: Option<Broken>,
    /// What a broken journal has acknowledged and not written.
    pub(super) held: Mutex<Vec<JournalRecord>>,
}

impl Mortal {
    fn say(&self, count: u64) {
        // Without `println`'s buffer: what was said before a kill is heard.
        _ = writeln!(std::io::stdout().lock(), "ack {count}");
    }
}

impl Journal for Mortal {
    fn append(&self, mut records: Vec<JournalRecord>) -> BoxFuture<'static, Result<(), JournalError>> {
        let last = self.fuse.burns_down(&[When::Before, When::Accepted, When::Acknowledged]);
        let now = |when| last && self.fuse.when == Some(when);
        if now(When::Before) {
            die();
        }
        if self.broken == Some(Broken::Acknowledge) {
            let count = u64::try_from(records.len()).unwrap_or_default();
            let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::swap(&mut *held, &mut records);
            self.say(self.under.session().len() + u64::try_from(records.len()).unwrap_or_default() + count);
        }
        let written = self.under.append(records);
        let count = self.under.session().len();
        if now(When::Accepted) {
            die();
        }
        let (dies, quiet) = (now(When::Acknowledged), self.broken == Some(Broken::Acknowledge));
        Box::pin(async move {
            written.await?;
            if !quiet {
                _ = writeln!(std::io::stdout().lock(), "ack {count}");
            }
            if dies {
                die();
            }
            Ok(())
        })
    }

    fn load(&self) -> BoxFuture<'_, Result<Branch, JournalError>> {
        Box::pin(async {
            let branch = self.under.load().await?;
            let records = branch.records();
            let is_settled = |record: &JournalRecord| matches!(record.body, RecordBody::ToolSettled { .. });
            let keep = match self.broken {
                Some(Broken::Settle) => records.iter().rposition(is_settled),
                Some(Broken::Load) => records.len().checked_sub(1),
                _ => None,
            };
            let kept = keep.and_then(|keep| records.get(..keep));
            Ok(kept.map_or_else(|| branch.clone(), |kept| Branch::new(kept.to_vec())))
        })
    }
}

/// A file that takes half of a write, and then the process is gone.
pub(super) struct TornFile {
    pub(super) under: Box<dyn Medium>,
    pub(super) fuse: Fuse,
}

impl Medium for TornFile {
    fn size(&mut self) -> std::io::Result<u64> {
        self.under.size()
    }

    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.under.read_at(offset, buffer)
    }

    fn append(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        if self.fuse.burns_down(&[When::Torn]) {
            self.under.append(bytes.get(..bytes.len() / 2).unwrap_or_default())?;
            die();
        }
        self.under.append(bytes)
    }

    fn truncate(&mut self, size: u64) -> std::io::Result<()> {
        self.under.truncate(size)
    }

    fn sync(&mut self) -> std::io::Result<()> {
        self.under.sync()
    }
}
