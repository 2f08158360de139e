//! A journal in memory whose process dies after a number of records.

use std::sync::{Arc, Mutex};

use agent_core::{BoxFuture, Branch, Journal, JournalError, JournalRecord};

/// When the process dies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Death {
    Never,
    /// When this many records are on the disk, before the last of them is acknowledged.
    After(usize),
    /// When this many records are acknowledged, before the next one is written.
    Before(usize),
}

/// Keeps records as lines; an append during which the process dies never resolves.
#[derive(Clone)]
pub(crate) struct CrashingJournal {
    lines: Arc<Mutex<Vec<String>>>,
    death: Death,
}

impl CrashingJournal {
    /// A journal that holds these lines.
    pub(crate) fn new(lines: Vec<String>, death: Death) -> Self {
        Self { lines: Arc::new(Mutex::new(lines)), death }
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        self.lines.lock().unwrap().clone()
    }

    pub(crate) fn records(&self) -> Vec<JournalRecord> {
        self.lines().iter().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

impl Journal for CrashingJournal {
    fn append(&self, records: Vec<JournalRecord>) -> BoxFuture<'static, Result<(), JournalError>> {
        let mut lines = self.lines.lock().unwrap();
        for record in &records {
            let full = match self.death {
                Death::Never => false,
                Death::After(limit) | Death::Before(limit) => lines.len() >= limit,
            };
            if full {
                return Box::pin(std::future::pending());
            }
            lines.push(serde_json::to_string(record).unwrap());
        }
        if self.death == Death::After(lines.len()) {
            return Box::pin(std::future::pending());
        }
        Box::pin(std::future::ready(Ok(())))
    }

    fn load(&self) -> BoxFuture<'_, Result<Branch, JournalError>> {
        Box::pin(std::future::ready(Ok(Branch::new(self.records()))))
    }
}
