//! Many sessions in one SQLite file.

mod backend;

use std::{
    collections::HashSet,
    fmt, fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use agent_core::BoxFuture;

use self::backend::{Database, Rows};
use super::{
    Acknowledged, Batch, Opened, SessionLog, Swept,
    jsonl::{SyncPolicy, backend::lock},
    worker::{By, Worker, blocking},
};
use crate::{
    BlobId, Header, Hit, Session, SessionError, SessionId, SessionStore, Settings, Stored, Summary, search::Needle,
};

/// Many sessions in one SQLite file, in write-ahead mode. A clone is the same place.
///
/// One thread does the work of all its open sessions, appends of one moment in one transaction; it ends when the last
/// of them is dropped. Other processes may use the file at the same time; each session has one writer, whose lock is a
/// file in `name.locks` beside it, so that it ends with its process.
#[derive(Debug, Clone)]
pub struct SqliteSessions {
    worker: Arc<Worker<Database>>,
    locks: PathBuf,
    settings: Settings,
}

impl SqliteSessions {
    /// Opens the file, or makes it. With [`SyncPolicy::Os`] acknowledged records survive the end of the process, with
    /// [`SyncPolicy::Always`] a loss of power. Dropping the future closes it.
    ///
    /// # Errors
    /// [`SessionError::Version`] where a newer version made it; [`SessionError::Store`] where it is no such file.
    pub async fn open(path: impl Into<PathBuf>, sync: SyncPolicy) -> Result<Self, SessionError> {
        let path = path.into();
        let locks = path.with_extension("locks");
        let (worker, ()) = Worker::start(move || Ok((Database::open(&path, sync)?, ()))).await?;
        Ok(Self { worker: Arc::new(worker), locks, settings: Settings::default() })
    }

    /// The same place with other settings for the sessions opened from now on.
    #[must_use]
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    async fn open_session(&self, id: SessionId) -> Result<Session, SessionError> {
        let held = hold(&self.locks, id).await?;
        let (header, index, number) = self.worker.call(move |database| database.load(id)).await?;
        let state = Mutex::new(Held::Open { lock: held, records: index.len() });
        let log = SqliteLog { worker: self.worker.clone(), id, number, state };
        Ok(Session::new(Opened::new(header, index, Arc::new(log)), self.settings.clone()))
    }
}

/// Takes the lock of a session.
async fn hold(locks: &Path, id: SessionId) -> Result<fs::File, SessionError> {
    let locks = locks.to_path_buf();
    blocking(move || {
        fs::create_dir_all(&locks).map_err(SessionError::io("make", &locks))?;
        let path = lock_of(&locks, id);
        let file = fs::OpenOptions::new().append(true).create(true).open(&path);
        let file = file.map_err(SessionError::io("open", &path))?;
        match lock(&file, &path) {
            Err(SessionError::Locked { .. }) => Err(SessionError::Locked { place: id.to_string() }),
            other => other.map(|()| file),
        }
    })
    .await
}

fn lock_of(locks: &Path, id: SessionId) -> PathBuf {
    locks.join(id.to_string())
}

impl SessionStore for SqliteSessions {
    fn create_with(&self, header: Header) -> BoxFuture<'_, Result<Session, SessionError>> {
        Box::pin(async move {
            let id = header.id;
            self.worker.call(move |database| database.create(&header)).await?;
            self.open_session(id).await
        })
    }

    fn new_header(&self) -> Header {
        self.settings.new_header()
    }

    fn open(&self, id: SessionId) -> BoxFuture<'_, Result<Session, SessionError>> {
        Box::pin(async move {
            // Before a lock file is made for it.
            self.worker.call(move |database| database.number(id)).await?;
            self.open_session(id).await
        })
    }

    fn list(&self) -> BoxFuture<'_, Result<Vec<Summary>, SessionError>> {
        self.worker.call(|database| database.list())
    }

    fn delete(&self, id: SessionId) -> BoxFuture<'_, Result<(), SessionError>> {
        Box::pin(async move {
            self.worker.call(move |database| database.number(id)).await?;
            let held = hold(&self.locks, id).await?;
            let path = lock_of(&self.locks, id);
            let deleted = self.worker.call(move |database| {
                database.delete(id)?;
                fs::remove_file(&path).map_err(SessionError::io("remove", &path))
            });
            let deleted = deleted.await;
            drop(held);
            deleted
        })
    }

    fn search(&self, text: &str, limit: usize) -> BoxFuture<'_, Result<Vec<Hit>, SessionError>> {
        let (text, needle) = (text.to_owned(), Needle::new(text));
        self.worker.call(move |database| database.search(&text, &needle, limit))
    }
}

/// The writer's end of one session.
struct SqliteLog {
    worker: Arc<Worker<Database>>,
    id: SessionId,
    number: i64,
    state: Mutex<Held>,
}

enum Held {
    Open { lock: fs::File, records: u64 },
    Closed,
}

impl SqliteLog {
    /// Lets the lock go behind everything that was accepted.
    fn end(&self) -> BoxFuture<'static, Result<(), SessionError>> {
        let held = std::mem::replace(&mut *self.state.lock().unwrap_or_else(PoisonError::into_inner), Held::Closed);
        match held {
            Held::Open { lock, .. } => self.worker.call(move |_| {
                drop(lock);
                Ok(())
            }),
            Held::Closed => Box::pin(std::future::ready(Ok(()))),
        }
    }
}

impl SessionLog for SqliteLog {
    fn append(&self, batch: &Batch) -> Result<Acknowledged, SessionError> {
        let mut held = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let Held::Open { records, .. } = &mut *held else { return Err(SessionError::Closed) };
        if batch.expected != *records {
            return Err(SessionError::Diverged { expected: batch.expected, found: *records });
        }
        let count = u64::try_from(batch.records.len()).unwrap_or(u64::MAX);
        let data = batch.records.iter().map(|record| record.data.get().len());
        let bytes = data.chain(batch.blobs.iter().map(|blob| blob.content.len())).sum();
        let acknowledged = self.worker.write(Rows { session: self.number, batch: batch.clone() }, bytes, By::Thread)?;
        *records += count;
        Ok(acknowledged)
    }

    fn read(&self, seqs: Vec<u64>) -> BoxFuture<'static, Result<Vec<Stored>, SessionError>> {
        let (id, number) = (self.id, self.number);
        self.worker.call(move |database| database.read(id, number, &seqs))
    }

    fn blob(&self, id: BlobId) -> BoxFuture<'static, Result<Vec<u8>, SessionError>> {
        self.worker.call(move |database| database.blob(id))
    }

    fn sweep(&self, _: HashSet<BlobId>) -> BoxFuture<'static, Result<Swept, SessionError>> {
        // Blobs and the records that need them are written in one transaction, so what no session uses is garbage.
        self.worker.call(|database| database.sweep())
    }

    fn close(&self) -> BoxFuture<'static, Result<(), SessionError>> {
        self.end()
    }
}

impl Drop for SqliteLog {
    fn drop(&mut self) {
        // The job is accepted at the call; nobody waits for it.
        drop(self.end());
    }
}

impl fmt::Debug for SqliteLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteLog").field("id", &self.id).field("worker", &self.worker).finish_non_exhaustive()
    }
}
