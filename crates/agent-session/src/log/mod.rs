//! Where the records of one session are kept.

pub(crate) mod jsonl;
pub(crate) mod memory;
#[cfg(feature = "sqlite")]
pub(crate) mod sqlite;
mod worker;

use std::{
    collections::HashSet,
    fmt,
    path::PathBuf,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use agent_core::BoxFuture;

use crate::{Blob, BlobId, Header, Index, Record, SessionError, Stored};

/// The records of one session and its blobs, in order. [`Session`](crate::Session) makes a tree of them.
///
/// Calls take effect in the order in which they are made, so what was accepted before can be read at once.
pub trait SessionLog: Send + Sync + fmt::Debug {
    /// Accepts records, all or none. The future resolves when they survive what the log promises; dropping it does not
    /// take them back.
    ///
    /// # Errors
    /// At the call: nothing was accepted. From the future: nothing may depend on the records, and the log accepts no
    /// more. [`SessionError::Diverged`] where the log does not hold `expected` records.
    fn append(&self, batch: &Batch) -> Result<Acknowledged, SessionError>;

    /// The payloads of records by their numbers, in the order asked for. Dropping the future changes nothing.
    ///
    /// # Errors
    /// [`SessionError`] where one cannot be read.
    fn read(&self, seqs: Vec<u64>) -> BoxFuture<'static, Result<Vec<Stored>, SessionError>>;

    /// The content of a blob. Dropping the future changes nothing.
    ///
    /// # Errors
    /// [`SessionError::Blob`] where it is missing or has other bytes.
    fn blob(&self, id: BlobId) -> BoxFuture<'static, Result<Vec<u8>, SessionError>>;

    /// Removes the blobs that are not kept, and what crashes left. Dropping the future does not stop it.
    ///
    /// # Errors
    /// [`SessionError`] where a folder cannot be used.
    fn sweep(&self, keep: HashSet<BlobId>) -> BoxFuture<'static, Result<Swept, SessionError>>;

    /// Ends writing: resolves when everything accepted is written and the session is free for another writer. Dropping
    /// the future does not stop it.
    ///
    /// # Errors
    /// The failure of an earlier write.
    fn close(&self) -> BoxFuture<'static, Result<(), SessionError>>;
}

/// Resolves when records are acknowledged. Dropping it does not take them back.
#[must_use = "nothing may depend on records that are not acknowledged"]
pub struct Acknowledged(Outcome);

enum Outcome {
    /// Until it was asked for.
    Now(Option<Result<(), SessionError>>),
    Later(BoxFuture<'static, Result<(), SessionError>>),
}

impl Acknowledged {
    /// What is known at once.
    pub fn now(written: Result<(), SessionError>) -> Self {
        Self(Outcome::Now(Some(written)))
    }

    /// What is known when a future resolves.
    pub fn later(written: impl Future<Output = Result<(), SessionError>> + Send + 'static) -> Self {
        Self(Outcome::Later(Box::pin(written)))
    }
}

impl Future for Acknowledged {
    type Output = Result<(), SessionError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut self.0 {
            Outcome::Now(written) => Poll::Ready(written.take().unwrap_or(Ok(()))),
            Outcome::Later(written) => written.as_mut().poll(cx),
        }
    }
}

impl fmt::Debug for Acknowledged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Acknowledged")
    }
}

/// Records that are written together.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Batch {
    /// How many records the log holds before them.
    pub expected: u64,
    /// The records.
    pub records: Vec<Record>,
    /// The blobs that they need; they are there before the records are.
    pub blobs: Vec<Blob>,
}

impl Batch {
    /// Records behind `expected` others, and the blobs that they need.
    pub fn new(expected: u64, records: Vec<Record>, blobs: Vec<Blob>) -> Self {
        Self { expected, records, blobs }
    }
}

/// What a sweep removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Swept {
    /// How many blobs.
    pub blobs: u64,
    /// How many bytes they had.
    pub bytes: u64,
}

impl Swept {
    /// So many blobs with so many bytes.
    pub fn new(blobs: u64, bytes: u64) -> Self {
        Self { blobs, bytes }
    }
}

/// A session as its store opened it.
#[derive(Debug)]
#[non_exhaustive]
pub struct Opened {
    /// Its first line.
    pub header: Header,
    /// Its records without their payloads.
    pub index: Index,
    /// Where they are.
    pub log: Arc<dyn SessionLog>,
    /// What was found and mended.
    pub recovered: Recovered,
}

impl Opened {
    /// A session that was whole.
    pub fn new(header: Header, index: Index, log: Arc<dyn SessionLog>) -> Self {
        let recovered = Recovered { records: index.len(), torn: None };
        Self { header, index, log, recovered }
    }
}

/// What was found when a session was opened.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Recovered {
    /// How many whole records there are.
    pub records: u64,
    /// The end of the file that was no whole record.
    pub torn: Option<Torn>,
}

/// An end that a crash left: of a record that was never acknowledged.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Torn {
    /// The line in which it begins, from 1; the header is line 1.
    pub line: u64,
    /// Where it begins, in bytes from the beginning of the file.
    pub offset: u64,
    /// How many bytes were cut, or left out where the session is open for reading.
    pub bytes: u64,
    /// Where they were put, where they are more than the end of one line.
    pub kept: Option<PathBuf>,
}

impl fmt::Display for Recovered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} records", self.records)?;
        match &self.torn {
            None => Ok(()),
            Some(Torn { line, offset, bytes, .. }) => {
                write!(f, "; the last {bytes} bytes, in line {line} at byte {offset}, were cut: a write was broken off")
            }
        }
    }
}
