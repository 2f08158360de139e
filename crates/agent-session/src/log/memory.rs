//! A log in memory.

use std::{
    collections::{HashMap, HashSet},
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use agent_core::BoxFuture;

use super::{Acknowledged, Batch, SessionLog, Swept};
use crate::{BlobId, EntryId, Place, Record, RecordHead, SessionError, Stored};

/// The records of one session, for as long as the process lives.
#[derive(Default)]
pub(crate) struct MemoryLog {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    records: Vec<Kept>,
    blobs: HashMap<BlobId, Arc<[u8]>>,
    writer: Writer,
}

/// Whether somebody may write.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) enum Writer {
    #[default]
    None,
    Open,
}

/// A record without its number, which is its place.
pub(crate) struct Kept {
    id: EntryId,
    place: Place,
    kind: Arc<str>,
    stored: Stored,
}

impl Kept {
    pub(crate) fn head(&self, seq: u64) -> RecordHead<'_> {
        RecordHead::new(seq, self.id, self.place, &self.kind, &self.stored.blobs)
    }

    pub(crate) fn data(&self) -> &str {
        self.stored.data.get()
    }
}

impl MemoryLog {
    /// Looks at all records, and lets one writer in.
    pub(crate) fn open<T>(&self, look: impl FnOnce(&[Kept]) -> T) -> Option<T> {
        let mut inner = self.lock();
        if inner.writer == Writer::Open {
            return None;
        }
        inner.writer = Writer::Open;
        Some(look(&inner.records))
    }

    /// Looks at all records.
    pub(crate) fn look<T>(&self, look: impl FnOnce(&[Kept]) -> T) -> T {
        look(&self.lock().records)
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The writer's end of a log in memory; it is given back when it is closed or dropped.
#[derive(Debug)]
pub(crate) struct MemoryWriter {
    log: Arc<MemoryLog>,
    closed: Mutex<Closed>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Closed {
    Yes,
    No,
}

impl MemoryWriter {
    pub(crate) fn new(log: Arc<MemoryLog>) -> Self {
        Self { log, closed: Mutex::new(Closed::No) }
    }

    fn end(&self) {
        let mut closed = self.closed.lock().unwrap_or_else(PoisonError::into_inner);
        if *closed == Closed::No {
            *closed = Closed::Yes;
            self.log.lock().writer = Writer::None;
        }
    }

    fn read_now(&self, seqs: &[u64]) -> Result<Vec<Stored>, SessionError> {
        let inner = self.log.lock();
        let find = |seq: &u64| {
            let at = usize::try_from(seq.checked_sub(1)?).ok()?;
            inner.records.get(at).map(|kept| kept.stored.clone())
        };
        let missing = || SessionError::Diverged {
            expected: seqs.iter().copied().max().unwrap_or_default(),
            found: inner.records.len().try_into().unwrap_or(u64::MAX),
        };
        seqs.iter().map(find).collect::<Option<Vec<_>>>().ok_or_else(missing)
    }
}

impl SessionLog for MemoryWriter {
    fn append(&self, batch: &Batch) -> Result<Acknowledged, SessionError> {
        if *self.closed.lock().unwrap_or_else(PoisonError::into_inner) == Closed::Yes {
            return Err(SessionError::Closed);
        }
        let mut inner = self.log.lock();
        let found = inner.records.len().try_into().unwrap_or(u64::MAX);
        if batch.expected != found {
            return Err(SessionError::Diverged { expected: batch.expected, found });
        }
        inner.blobs.extend(batch.blobs.iter().map(|blob| (blob.id, blob.content.clone())));
        let kept = batch.records.iter().cloned().map(|record| {
            let Record { id, place, kind, blobs, data, .. } = record;
            Kept { id, place, kind, stored: Stored::new(data, blobs) }
        });
        inner.records.extend(kept);
        Ok(Acknowledged::now(Ok(())))
    }

    fn read(&self, seqs: Vec<u64>) -> BoxFuture<'static, Result<Vec<Stored>, SessionError>> {
        Box::pin(std::future::ready(self.read_now(&seqs)))
    }

    fn blob(&self, id: BlobId) -> BoxFuture<'static, Result<Vec<u8>, SessionError>> {
        let content = self.log.lock().blobs.get(&id).map(|content| content.to_vec());
        Box::pin(std::future::ready(content.ok_or(SessionError::Blob { id })))
    }

    fn sweep(&self, keep: HashSet<BlobId>) -> BoxFuture<'static, Result<Swept, SessionError>> {
        let mut swept = Swept::default();
        self.log.lock().blobs.retain(|id, content| {
            let kept = keep.contains(id);
            if !kept {
                swept.blobs += 1;
                swept.bytes += u64::try_from(content.len()).unwrap_or(u64::MAX);
            }
            kept
        });
        Box::pin(std::future::ready(Ok(swept)))
    }

    fn close(&self) -> BoxFuture<'static, Result<(), SessionError>> {
        self.end();
        Box::pin(std::future::ready(Ok(())))
    }
}

impl Drop for MemoryWriter {
    fn drop(&mut self) {
        self.end();
    }
}

impl fmt::Debug for MemoryLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = self.lock();
        f.debug_struct("MemoryLog").field("records", &inner.records.len()).finish_non_exhaustive()
    }
}
