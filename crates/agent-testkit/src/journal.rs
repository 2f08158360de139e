//! A journal in memory that can be cut, crashed and told to fail.

use std::{
    collections::VecDeque,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use agent_core::{BoxFuture, Branch, Journal, JournalError, JournalRecord, RawJson};

use crate::Gate;

/// A [`Journal`] that keeps its records as lines of JSON, so that every test passes through the
/// format; a clone is the same journal.
///
/// ```
/// use agent_core::{Journal, JournalRecord, RecordBody};
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let journal = agent_testkit::MemoryJournal::new();
/// let started = JournalRecord::conversation(RecordBody::ConversationStarted { version: 0 });
/// journal.append(vec![started.clone()]).await?;
/// assert_eq!(journal.lines(), [r#"{"body":{"conversationStarted":{"version":0}}}"#]);
/// assert_eq!(journal.records()?, [started]);
/// assert!(journal.cut_after(0).is_empty());
/// # Ok::<(), agent_core::JournalError>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Default)]
pub struct MemoryJournal(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    lines: Vec<String>,
    crash: Option<(usize, Crash)>,
    append_errors: VecDeque<JournalError>,
    load_errors: VecDeque<JournalError>,
    held: Option<Gate>,
}

/// What appends do after a crash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Crash {
    /// They fail with [`JournalError::Closed`].
    Fail,
    /// They never resolve, as in a process that is gone.
    Hang,
}

/// What becomes of an append, decided at the call.
enum Accepted {
    Written(Option<Gate>),
    Failed(JournalError),
    Hangs,
}

impl MemoryJournal {
    /// An empty journal.
    pub fn new() -> Self {
        Self::default()
    }

    /// A journal that holds these lines, whole or damaged.
    pub fn from_lines(lines: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let lines = lines.into_iter().map(Into::into).collect();
        Self(Arc::new(Mutex::new(State { lines, ..State::default() })))
    }

    /// Another journal that holds the first `count` records and none of the faults: what is found
    /// after a kill behind that record.
    pub fn cut_after(&self, count: usize) -> Self {
        Self::from_lines(self.lock().lines.iter().take(count).cloned())
    }

    /// Crashes once `count` records are acknowledged: a later append, and one that would hold more
    /// records than that, writes nothing, and fails or hangs.
    pub fn crash_after(&self, count: usize, crash: Crash) {
        self.lock().crash = Some((count, crash));
    }

    /// Lets one append fail and write nothing; several calls line up.
    pub fn fail_append(&self, error: JournalError) {
        self.lock().append_errors.push_back(error);
    }

    /// Lets one load fail; several calls line up.
    pub fn fail_load(&self, error: JournalError) {
        self.lock().load_errors.push_back(error);
    }

    /// Acknowledges later appends only when the gate opens; they are written at once.
    pub fn hold(&self, gate: &Gate) {
        self.lock().held = Some(gate.clone());
    }

    /// How many records it holds.
    pub fn len(&self) -> usize {
        self.lock().lines.len()
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The records as they are stored.
    pub fn lines(&self) -> Vec<String> {
        self.lock().lines.clone()
    }

    /// The records, read anew from their lines.
    ///
    /// # Errors
    /// [`JournalError::Read`] where a line is no record.
    pub fn records(&self) -> Result<Vec<JournalRecord>, JournalError> {
        let read = |line: &String| serde_json::from_str(line).map_err(|e| JournalError::Read { source: e.into() });
        self.lock().lines.iter().map(read).collect()
    }

    fn accept(&self, records: &[JournalRecord]) -> Accepted {
        let written: Result<Vec<_>, _> = records.iter().map(RawJson::of).collect();
        let mut state = self.lock();
        if let Some((count, crash)) = state.crash
            && state.lines.len().saturating_add(records.len()) > count
        {
            // A crash is for good: a smaller append does not slip in behind it.
            state.crash = Some((0, crash));
            return match crash {
                Crash::Fail => Accepted::Failed(JournalError::Closed),
                Crash::Hang => Accepted::Hangs,
            };
        }
        if let Some(error) = state.append_errors.pop_front() {
            return Accepted::Failed(error);
        }
        match written {
            Ok(lines) => {
                state.lines.extend(lines.iter().map(|line| line.get().to_owned()));
                Accepted::Written(state.held.clone())
            }
            Err(e) => Accepted::Failed(JournalError::Write { source: e.into() }),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Journal for MemoryJournal {
    fn append(&self, records: Vec<JournalRecord>) -> BoxFuture<'static, Result<(), JournalError>> {
        let accepted = self.accept(&records);
        Box::pin(async move {
            match accepted {
                Accepted::Written(None) => Ok(()),
                Accepted::Written(Some(gate)) => {
                    gate.pass().await;
                    Ok(())
                }
                Accepted::Failed(error) => Err(error),
                Accepted::Hangs => std::future::pending().await,
            }
        })
    }

    fn load(&self) -> BoxFuture<'_, Result<Branch, JournalError>> {
        let failed = self.lock().load_errors.pop_front();
        let loaded = failed.map_or_else(|| self.records().map(Branch::new), Err);
        Box::pin(std::future::ready(loaded))
    }
}

impl fmt::Debug for MemoryJournal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.lock().lines).finish()
    }
}
