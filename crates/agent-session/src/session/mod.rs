//! A session: the tree over a log.

mod blobs;
mod compaction;
mod copy;
mod journal;
mod moves;
mod read;
pub(crate) mod write;

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use agent_core::IdSource;

pub use self::{compaction::Compaction, journal::SessionJournal, moves::Rewound};
use crate::{Entry, EntryId, Header, Index, Opened, Recovered, SessionError, SessionId, SessionLog, Settings};

/// A session: a tree of records, of which one path leads to the head. A clone is the same session.
///
/// ```
/// use agent_core::{IdSource, Journal, JournalRecord, RecordBody, UserMessage};
/// use agent_session::{MemorySessions, SessionStore};
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let session = MemorySessions::new().create().await?;
/// let said = |text| RecordBody::MessageAppended(UserMessage::text(IdSource::from_hash_keys().message(0), text).into());
/// let first = session.append(vec![JournalRecord::conversation(said("Hello"))]).await?;
/// session.checkpoint("greeted").await?;
/// session.append(vec![JournalRecord::conversation(said("Tell me a story"))]).await?;
/// session.seek_checkpoint("greeted").await?;
/// session.append(vec![JournalRecord::conversation(said("Tell me a joke"))]).await?;
/// assert_eq!(session.branch_tips().len(), 2);
/// assert_eq!(session.path().iter().map(|entry| entry.id).next(), first.first().copied());
/// assert_eq!(session.journal().load().await?.records().len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).map_err(|e| e.to_string())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Session {
    shared: Arc<Shared>,
}

struct Shared {
    header: Header,
    log: Arc<dyn SessionLog>,
    recovered: Recovered,
    settings: Settings,
    /// Never held over an await.
    state: Mutex<State>,
}

struct State {
    index: Index,
    ids: IdSource,
}

impl Session {
    /// The session that a store opened.
    pub fn new(opened: Opened, settings: Settings) -> Self {
        let Opened { header, index, log, recovered } = opened;
        let state = Mutex::new(State { index, ids: settings.ids() });
        Self { shared: Arc::new(Shared { header, log, recovered, settings, state }) }
    }

    /// Its name.
    pub fn id(&self) -> SessionId {
        self.shared.header.id
    }

    /// Its first line.
    pub fn header(&self) -> &Header {
        &self.shared.header
    }

    /// What was found when it was opened.
    pub fn recovered(&self) -> &Recovered {
        &self.shared.recovered
    }

    /// How many records it holds, those outside the tree included.
    pub fn len(&self) -> u64 {
        self.state().index.len()
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The entry that the next one follows; `None` at the beginning.
    pub fn head(&self) -> Option<EntryId> {
        let state = self.state();
        state.index.id_of(state.index.head())
    }

    /// An entry of the tree.
    pub fn entry(&self, id: EntryId) -> Option<Entry> {
        let state = self.state();
        state.index.entry_number(id).and_then(|seq| state.index.entry(seq))
    }

    /// The entries of the tree in the order in which they were written. O(records).
    pub fn entries(&self) -> Vec<Entry> {
        self.state().index.entries().collect()
    }

    /// The entries from the beginning to the head. O(path).
    pub fn path(&self) -> Vec<Entry> {
        let state = self.state();
        entries(&state.index, state.index.head())
    }

    /// The entries from the beginning to one of them. O(path).
    ///
    /// # Errors
    /// [`SessionError::UnknownEntry`].
    pub fn path_to(&self, id: EntryId) -> Result<Vec<Entry>, SessionError> {
        let state = self.state();
        let to = number(&state.index, id)?;
        Ok(entries(&state.index, to))
    }

    /// The entries that nothing follows, oldest first: the ends of the branches. O(records).
    pub fn branch_tips(&self) -> Vec<Entry> {
        let state = self.state();
        state.index.tips().into_iter().filter_map(|seq| state.index.entry(seq)).collect()
    }

    /// The names and the entries that have them.
    pub fn labels(&self) -> Vec<(String, EntryId)> {
        let state = self.state();
        let labels = state.index.labels().iter();
        labels.filter_map(|(name, seq)| Some((name.clone(), state.index.id_of(*seq)?))).collect()
    }

    /// A journal that goes on at the head; see [`SessionJournal`].
    pub fn journal(&self) -> SessionJournal {
        let tip = self.state().index.head();
        SessionJournal::new(self.clone(), tip)
    }

    /// Ends writing: resolves when everything accepted is written and another writer may open the session. Appends fail
    /// afterwards. Dropping the future does not stop it.
    ///
    /// # Errors
    /// The failure of an earlier write.
    pub async fn close(&self) -> Result<(), SessionError> {
        self.shared.log.close().await
    }

    pub(crate) fn now_ms(&self) -> u64 {
        self.shared.settings.now_ms()
    }

    pub(crate) fn new_ids(&self) -> IdSource {
        self.shared.settings.ids()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn entries(index: &Index, to: u32) -> Vec<Entry> {
    index.path(to).into_iter().filter_map(|seq| index.entry(seq)).collect()
}

fn number(index: &Index, id: EntryId) -> Result<u32, SessionError> {
    index.entry_number(id).ok_or(SessionError::UnknownEntry { id })
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("Session");
        debug.field("id", &self.id()).field("records", &self.len()).field("head", &self.head()).finish_non_exhaustive()
    }
}
