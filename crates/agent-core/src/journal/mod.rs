//! The write-ahead journal: what a run has to write before it goes on.
//!
//! Intent before effect, settle after effect, each acknowledged before the next effect that depends
//! on it. A paused or crashed run is its records; there is no second format.

mod record;

use std::sync::Arc;

pub use self::record::{
    ApprovalAnswer, CallEnd, CallIntent, CallStart, JournalRecord, RecordBody, RunEnding, ToolIntent, Verdict,
};
use crate::{BoxError, BoxFuture};

/// Where records are kept.
///
/// ```
/// use agent_core::{Journal, JournalRecord, RecordBody};
/// use agent_testkit::MemoryJournal;
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let journal = MemoryJournal::new();
/// let started = JournalRecord::conversation(RecordBody::ConversationStarted { version: 0 });
/// journal.append(vec![started.clone()]).await?;
/// assert_eq!(journal.load().await?.records(), [started]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).map_err(|e| e.to_string())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Journal: Send + Sync {
    /// Writes records, all or none.
    ///
    /// They are accepted in order at the call; the future resolves when they are acknowledged, that
    /// is when they survive what the journal promises to survive. Dropping the future does not take
    /// them back.
    ///
    /// # Errors
    /// [`JournalError`]; nothing may depend on the records then.
    fn append(&self, records: Vec<JournalRecord>) -> BoxFuture<'static, Result<(), JournalError>>;

    /// The records of the active path, oldest first. Dropping the future leaves the journal as it
    /// was.
    ///
    /// # Errors
    /// [`JournalError`] where they cannot be read.
    fn load(&self) -> BoxFuture<'_, Result<Branch, JournalError>>;
}

/// The records of one path through a session, oldest first.
#[derive(Debug, Clone, Default)]
pub struct Branch(Arc<[JournalRecord]>);

impl Branch {
    /// A path of these records.
    pub fn new(records: impl Into<Arc<[JournalRecord]>>) -> Self {
        Self(records.into())
    }

    /// The records.
    pub fn records(&self) -> &[JournalRecord] {
        &self.0
    }
}

/// A journal that could not be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// The records were not written.
    #[error("the journal could not be written; the run stops before its next effect")]
    Write {
        /// The cause.
        source: BoxError,
    },
    /// The records could not be read.
    #[error("the journal could not be read")]
    Read {
        /// The cause.
        source: BoxError,
    },
    /// Somebody else writes to the same journal.
    #[error("another writer holds the journal; close it, or open a fork")]
    Locked,
    /// The journal was closed.
    #[error("the journal is closed")]
    Closed,
}
