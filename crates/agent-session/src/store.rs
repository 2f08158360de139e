//! Many sessions in one place.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use agent_core::BoxFuture;

use crate::{
    Header, Hit, Index, Opened, Session, SessionError, SessionId, Settings,
    log::memory::{MemoryLog, MemoryWriter},
    search::{Needle, title_of},
};

/// A place that keeps sessions. [`conformance`](crate::conformance) says what holds for each.
pub trait SessionStore: Send + Sync {
    /// Makes a session with this header. Dropping the future may leave an empty one behind.
    ///
    /// # Errors
    /// [`SessionError::Exists`] where there is one of that id.
    fn create_with(&self, header: Header) -> BoxFuture<'_, Result<Session, SessionError>>;

    /// Makes a session with a new id.
    ///
    /// # Errors
    /// [`SessionError`] where it cannot be written.
    fn create(&self) -> BoxFuture<'_, Result<Session, SessionError>> {
        self.create_with(self.new_header())
    }

    /// The header of a session that is not made yet, with a new id.
    fn new_header(&self) -> Header;

    /// Opens a session for writing. Dropping the future closes it.
    ///
    /// # Errors
    /// [`SessionError::NotFound`]; [`SessionError::Locked`] while somebody else has it open.
    fn open(&self, id: SessionId) -> BoxFuture<'_, Result<Session, SessionError>>;

    /// The sessions, newest first.
    ///
    /// # Errors
    /// [`SessionError`] where the place cannot be read.
    fn list(&self) -> BoxFuture<'_, Result<Vec<Summary>, SessionError>>;

    /// The session whose id ends or begins with this, in any case: what people type of an id. Its end tells sessions of
    /// one moment apart.
    ///
    /// # Errors
    /// [`SessionError::NotFound`]; [`SessionError::Ambiguous`] where several do.
    fn find<'a>(&'a self, part: &'a str) -> BoxFuture<'a, Result<Summary, SessionError>> {
        Box::pin(async move {
            let part = part.trim().to_ascii_uppercase();
            let fits = |summary: &Summary| {
                let id = summary.header.id.to_string();
                !part.is_empty() && (id.starts_with(&part) || id.ends_with(&part))
            };
            let mut found = self.list().await?.into_iter().filter(fits);
            match (found.next(), found.count()) {
                (Some(one), 0) => Ok(one),
                (Some(_), others) => Err(SessionError::Ambiguous { part, sessions: others + 1 }),
                (None, _) => Err(SessionError::NotFound { place: part }),
            }
        })
    }

    /// Removes a session with its blobs.
    ///
    /// # Errors
    /// [`SessionError::NotFound`]; [`SessionError::Locked`] while somebody has it open.
    fn delete(&self, id: SessionId) -> BoxFuture<'_, Result<(), SessionError>>;

    /// The entries whose message has this text in it, in any case; newest session first, at most `limit`. Strings that
    /// are kept in blobs are not looked into, nor are sessions that are damaged.
    ///
    /// # Errors
    /// [`SessionError`] where the place cannot be read.
    fn search(&self, text: &str, limit: usize) -> BoxFuture<'_, Result<Vec<Hit>, SessionError>>;
}

/// A session in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// Its first line.
    pub header: Header,
    /// How many bytes it takes, blobs left out.
    pub bytes: u64,
    /// When it was written to last, in milliseconds since the Unix epoch; when it was made, where nobody knows.
    pub changed_ms: u64,
    /// How its first input begins; `None` where there is none, or it is long and kept in a blob.
    pub title: Option<String>,
}

impl Summary {
    /// A session with this header, of so many bytes.
    pub fn new(header: Header, bytes: u64) -> Self {
        let changed_ms = header.created_ms;
        Self { header, bytes, changed_ms, title: None }
    }

    /// Says when it was written to last.
    #[must_use]
    pub fn changed_ms(self, changed_ms: u64) -> Self {
        Self { changed_ms, ..self }
    }

    /// Says how it begins.
    #[must_use]
    pub fn title(self, title: impl Into<String>) -> Self {
        Self { title: Some(title.into()), ..self }
    }
}

type Logs = BTreeMap<SessionId, (Header, Arc<MemoryLog>)>;

/// Sessions in memory, for as long as the process lives. A clone is the same place.
#[derive(Clone, Default)]
pub struct MemorySessions {
    settings: Settings,
    sessions: Arc<Mutex<Logs>>,
}

impl MemorySessions {
    /// A place without sessions.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same place with other settings for the sessions opened from now on.
    #[must_use]
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    fn lock(&self) -> MutexGuard<'_, Logs> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn find(&self, id: SessionId) -> Result<(Header, Arc<MemoryLog>), SessionError> {
        self.lock().get(&id).cloned().ok_or_else(|| SessionError::NotFound { place: id.to_string() })
    }

    fn open_now(&self, id: SessionId) -> Result<Session, SessionError> {
        let (header, log) = self.find(id)?;
        let index = log.open(|records| {
            let mut index = Index::new();
            for (seq, record) in (1..).zip(records) {
                index.push(&record.head(seq), record.data()).map_err(|source| SessionError::Damaged {
                    place: id.to_string(),
                    line: seq + 1,
                    offset: 0,
                    source,
                })?;
            }
            Ok::<_, SessionError>(index)
        });
        let index = index.ok_or_else(|| SessionError::Locked { place: id.to_string() })?;
        let writer = Arc::new(MemoryWriter::new(log));
        Ok(Session::new(Opened::new(header, index?, writer), self.settings.clone()))
    }
}

impl SessionStore for MemorySessions {
    fn create_with(&self, header: Header) -> BoxFuture<'_, Result<Session, SessionError>> {
        let id = header.id;
        let made = {
            let mut sessions = self.lock();
            match sessions.contains_key(&id) {
                true => Err(SessionError::Exists { place: id.to_string() }),
                false => {
                    sessions.insert(id, (header, Arc::default()));
                    Ok(())
                }
            }
        };
        Box::pin(std::future::ready(made.and_then(|()| self.open_now(id))))
    }

    fn new_header(&self) -> Header {
        self.settings.new_header()
    }

    fn open(&self, id: SessionId) -> BoxFuture<'_, Result<Session, SessionError>> {
        Box::pin(std::future::ready(self.open_now(id)))
    }

    fn list(&self) -> BoxFuture<'_, Result<Vec<Summary>, SessionError>> {
        let bytes = |log: &MemoryLog| {
            let lengths = log.look(|records| records.iter().map(|record| record.data().len()).sum::<usize>());
            lengths.try_into().unwrap_or(u64::MAX)
        };
        let summary = |(header, log): &(Header, Arc<MemoryLog>)| {
            let mut summary = Summary::new(header.clone(), bytes(log));
            log.look(|records| {
                summary.title = records
                    .iter()
                    .filter(|record| record.head(0).blobs.is_empty())
                    .find_map(|record| title_of(record.head(0).kind, record.data()));
                let changed = records.last().map(|record| record.head(0).id.made_ms());
                summary.changed_ms = changed.unwrap_or(header.created_ms);
            });
            summary
        };
        let sessions = self.lock();
        let listed = sessions.values().rev().map(summary).collect();
        Box::pin(std::future::ready(Ok(listed)))
    }

    fn delete(&self, id: SessionId) -> BoxFuture<'_, Result<(), SessionError>> {
        let deleted = self.find(id).and_then(|(_, log)| {
            log.open(|_| ()).ok_or_else(|| SessionError::Locked { place: id.to_string() })?;
            self.lock().remove(&id);
            Ok(())
        });
        Box::pin(std::future::ready(deleted))
    }

    fn search(&self, text: &str, limit: usize) -> BoxFuture<'_, Result<Vec<Hit>, SessionError>> {
        Box::pin(std::future::ready(Ok(self.search_now(text, limit))))
    }
}

impl MemorySessions {
    fn search_now(&self, text: &str, limit: usize) -> Vec<Hit> {
        let (needle, sessions) = (Needle::new(text), self.lock());
        let hits = sessions.iter().rev().flat_map(|(id, (_, log))| {
            log.look(|records| {
                let hits = records.iter().filter_map(|record| {
                    let head = record.head(0);
                    needle.hit(*id, head.id, head.kind, record.data())
                });
                hits.take(limit).collect::<Vec<_>>()
            })
        });
        hits.take(limit).collect()
    }
}

impl fmt::Debug for MemorySessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemorySessions").field("sessions", &self.lock().len()).finish_non_exhaustive()
    }
}
