//! A log in a file of lines of JSON, with a folder of blobs beside it.

pub(super) mod backend;
mod folder;
mod load;
mod medium;
mod salvage;

use std::{
    collections::HashSet,
    fmt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use agent_core::BoxFuture;

use self::backend::{Access, File, Lines, Open};
pub use self::{folder::JsonlFolder, medium::Medium, salvage::Salvaged};
use super::{
    Acknowledged, Batch, Opened, Recovered, SessionLog, Swept,
    worker::{By, Worker},
};
use crate::{BlobId, Header, Session, SessionError, Settings, Stored, line};

/// When records are acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum SyncPolicy {
    /// When the system has them: they survive the end of the process, also by `kill -9`.
    #[default]
    Os,
    /// When they are on the disk: they survive a loss of power.
    Always,
}

/// The most bytes that are written by whoever appends them, instead of by the session's thread.
const QUICK: usize = 64 << 10;

/// Puts something between a session and its file.
type Wrap = Arc<dyn Fn(Box<dyn Medium>) -> Box<dyn Medium> + Send + Sync>;

/// A file that holds a session: `name.jsonl`, with its blobs in `name.blobs`. The format stands in
/// `docs/formats/session.md`.
///
/// Each open session has a thread that does the file work, and ends when the session is closed or dropped. Only a short
/// append under [`SyncPolicy::Os`] is written at once, by whoever makes it: the system takes it over without a disk.
///
/// ```
/// use agent_core::{Journal, JournalRecord, RecordBody};
/// use agent_session::{JsonlFile, SyncPolicy};
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// # let folder = std::env::temp_dir().join(format!("session-doc-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// let file = JsonlFile::new(folder.join("today.jsonl")).sync(SyncPolicy::Always);
/// let session = file.open_or_create().await?;
/// session.append(vec![JournalRecord::conversation(RecordBody::RunStarted)]).await?;
/// session.close().await?;
/// let session = file.open().await?;
/// assert_eq!(session.recovered().to_string(), "1 records");
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).map_err(|e| e.to_string())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct JsonlFile {
    path: PathBuf,
    sync: SyncPolicy,
    settings: Settings,
    wrap: Option<Wrap>,
}

impl JsonlFile {
    /// The file at a path.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), sync: SyncPolicy::Os, settings: Settings::default(), wrap: None }
    }

    /// Sets when records are acknowledged.
    #[must_use]
    pub fn sync(mut self, sync: SyncPolicy) -> Self {
        self.sync = sync;
        self
    }

    /// Sets the limits of the session.
    #[must_use]
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// Puts something between the session and its file: for tests, a fault.
    #[must_use]
    pub fn wrap(mut self, wrap: impl Fn(Box<dyn Medium>) -> Box<dyn Medium> + Send + Sync + 'static) -> Self {
        self.wrap = Some(Arc::new(wrap));
        self
    }

    /// The path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes the session. A file whose making was broken off is made anew. Dropping the future may leave an empty
    /// session behind.
    ///
    /// # Errors
    /// [`SessionError::Exists`] where the file holds anything else.
    pub async fn create(&self, header: Header) -> Result<Session, SessionError> {
        self.start(Open::Create(header)).await
    }

    /// Opens the session for writing: cuts an end that a crash left, and says so in [`Session::recovered`]. Dropping
    /// the future closes it.
    ///
    /// # Errors
    /// [`SessionError::NotFound`], [`SessionError::Locked`], [`SessionError::NoHeader`], [`SessionError::Version`],
    /// [`SessionError::Damaged`].
    pub async fn open(&self) -> Result<Session, SessionError> {
        self.start(Open::Write).await
    }

    /// Opens the session, or makes it where there is none.
    ///
    /// # Errors
    /// As [`open`](Self::open) and [`create`](Self::create).
    pub async fn open_or_create(&self) -> Result<Session, SessionError> {
        self.start(Open::WriteOrCreate(self.settings.new_header())).await
    }

    /// Opens the session for reading, also while another process writes to it: what is whole by now. Nothing is
    /// changed; appends fail with [`SessionError::ReadOnly`].
    ///
    /// # Errors
    /// As [`open`](Self::open), but for the lock.
    pub async fn read(&self) -> Result<Session, SessionError> {
        self.start(Open::Read).await
    }

    async fn start(&self, how: Open) -> Result<Session, SessionError> {
        let (file, access) = (self.clone(), how.access());
        let (worker, loaded) = Worker::start(move || File::open(&file, how)).await?;
        let load::Loaded { header, index, starts, torn, .. } = loaded;
        let recovered = Recovered { records: index.len(), torn };
        let place = self.path.display().to_string();
        let limit = line_limit(&self.settings);
        let log = JsonlLog { worker, starts: Mutex::new(starts), place, limit, access, sync: self.sync };
        let mut opened = Opened::new(header, index, Arc::new(log));
        opened.recovered = recovered;
        Ok(Session::new(opened, self.settings.clone()))
    }
}

/// The longest line: a record, and room for what stands around it.
fn line_limit(settings: &Settings) -> u64 {
    settings.record.saturating_mul(2).saturating_add(64 << 10)
}

impl fmt::Debug for JsonlFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, sync, settings, .. } = self;
        let mut debug = f.debug_struct("JsonlFile");
        debug.field("path", path).field("sync", sync).field("settings", settings).finish_non_exhaustive()
    }
}

/// The log of an open file.
struct JsonlLog {
    worker: Worker<File>,
    /// Where each record begins, and the end.
    starts: Mutex<Vec<u64>>,
    place: String,
    limit: u64,
    access: Access,
    sync: SyncPolicy,
}

impl JsonlLog {
    fn starts(&self) -> MutexGuard<'_, Vec<u64>> {
        self.starts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn bounds(&self, seqs: &[u64]) -> Option<Vec<(u64, u64)>> {
        let starts = self.starts();
        let bounds = seqs.iter().map(|seq| {
            let at = usize::try_from(seq.checked_sub(1)?).ok()?;
            Some((*starts.get(at)?, *starts.get(at + 1)?))
        });
        bounds.collect()
    }
}

impl SessionLog for JsonlLog {
    fn append(&self, batch: &Batch) -> Result<Acknowledged, SessionError> {
        if self.access == Access::Read {
            return Err(SessionError::ReadOnly);
        }
        let mut starts = self.starts();
        let (found, end) = match starts.split_last() {
            Some((end, starts)) => (starts.len().try_into().unwrap_or(u64::MAX), *end),
            None => (0, 0),
        };
        if batch.expected != found {
            return Err(SessionError::Diverged { expected: batch.expected, found });
        }
        let mut lines = Vec::new();
        let ends = batch.records.iter().map(|record| {
            let from = lines.len();
            line::write(record, &mut lines).map_err(|source| SessionError::Encode { source: source.into() })?;
            let bytes = u64::try_from(lines.len() - from).unwrap_or(u64::MAX);
            match bytes > self.limit {
                true => Err(SessionError::TooLarge { what: "a record", bytes, limit: self.limit }),
                false => Ok(end + u64::try_from(lines.len()).unwrap_or(u64::MAX)),
            }
        });
        let written = ends.collect::<Result<Vec<u64>, SessionError>>()?;
        let bytes = lines.len() + batch.blobs.iter().map(|blob| blob.content.len()).sum::<usize>();
        // What the system only has to take over is not worth another thread.
        let is_quick = self.sync == SyncPolicy::Os && batch.blobs.is_empty() && bytes <= QUICK;
        let by = if is_quick { By::Caller } else { By::Thread };
        let acknowledged = self.worker.write(Lines { at: end, lines, blobs: batch.blobs.clone() }, bytes, by)?;
        starts.extend(written);
        Ok(acknowledged)
    }

    fn read(&self, seqs: Vec<u64>) -> BoxFuture<'static, Result<Vec<Stored>, SessionError>> {
        let Some(bounds) = self.bounds(&seqs) else {
            let found = self.starts().len().saturating_sub(1).try_into().unwrap_or(u64::MAX);
            let expected = seqs.into_iter().max().unwrap_or_default();
            return Box::pin(std::future::ready(Err(SessionError::Diverged { expected, found })));
        };
        let place = self.place.clone();
        self.worker.call(move |file| file.read(&place, &seqs, &bounds))
    }

    fn blob(&self, id: BlobId) -> BoxFuture<'static, Result<Vec<u8>, SessionError>> {
        self.worker.call(move |file| file.blob(id))
    }

    fn sweep(&self, keep: HashSet<BlobId>) -> BoxFuture<'static, Result<Swept, SessionError>> {
        if self.access == Access::Read {
            return Box::pin(std::future::ready(Err(SessionError::ReadOnly)));
        }
        self.worker.call(move |file| file.sweep(&keep))
    }

    fn close(&self) -> BoxFuture<'static, Result<(), SessionError>> {
        self.worker.close()
    }
}

impl fmt::Debug for JsonlLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("JsonlLog");
        debug.field("place", &self.place).field("worker", &self.worker).finish_non_exhaustive()
    }
}
