//! What can be wrong with a session.

use std::{io, path::PathBuf, sync::Arc};

use agent_core::{BoxError, JournalError, MessageId, TranscriptError, ViewError};

use crate::{BlobId, EntryId, SessionId};

/// Why something cannot be done with a session.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// A file or folder cannot be used.
    #[error("cannot {what} {}", path.display())]
    Io {
        /// What was tried.
        what: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// Somebody else writes to the session.
    #[error("another writer holds the session {place}; close it there, open it for reading, or fork it")]
    Locked {
        /// The file or the id.
        place: String,
    },
    /// There is a session already.
    #[error("there is a session at {place} already; open it, or take another name")]
    Exists {
        /// The file or the id.
        place: String,
    },
    /// There is no session.
    #[error("there is no session at {place}")]
    NotFound {
        /// The file or the id.
        place: String,
    },
    /// Several sessions have an id that begins or ends so.
    #[error("{sessions} sessions have an id that begins or ends with `{part}`; type more of it")]
    Ambiguous {
        /// What was typed.
        part: String,
        /// How many there are.
        sessions: usize,
    },
    /// A file without a whole header: not a session, or one whose making was cut off before the first record.
    #[error("{place} holds no session: its first line is no header; create one, or name another file")]
    NoHeader {
        /// The file.
        place: String,
    },
    /// A newer version wrote the session.
    #[error("the session has format version {found}, this version reads up to {known}; update to open it")]
    Version {
        /// The version found.
        found: u32,
        /// The newest version that is read.
        known: u32,
    },
    /// A record is not what was written.
    #[error("{place} is damaged in line {line}, at byte {offset}; `salvage` copies what is whole")]
    Damaged {
        /// The file or the id.
        place: String,
        /// The line, from 1; the header is line 1.
        line: u64,
        /// Where the line begins, in bytes from the beginning of the file.
        offset: u64,
        /// What is wrong.
        source: Fault,
    },
    /// The session has other records than the writer knows.
    #[error("the session has {found} records where {expected} were expected; somebody else wrote to it: open it anew")]
    Diverged {
        /// How many the writer knew of.
        expected: u64,
        /// How many there are.
        found: u64,
    },
    /// The file is not as the writer left it.
    #[error("{place} was changed by somebody else, past its lock; open it anew")]
    Changed {
        /// The file.
        place: String,
    },
    /// The session was opened for reading.
    #[error("the session is open for reading only")]
    ReadOnly,
    /// The session was closed.
    #[error("the session is closed")]
    Closed,
    /// An earlier write failed, so nothing can be written behind it.
    #[error("a write to the session failed, and nothing can be written behind it; open it anew")]
    Failed {
        /// That failure.
        source: Arc<SessionError>,
    },
    /// More waits to be written than may.
    #[error("more than {limit} {what} wait to be written; wait for an append before the next one")]
    Backlog {
        /// What is counted.
        what: &'static str,
        /// How much may wait.
        limit: u64,
    },
    /// Something is larger than it may be.
    #[error("{what} has {bytes} bytes, at most {limit} are allowed; raise the limit in the settings of the session")]
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// How large it is.
        bytes: u64,
        /// How large it may be.
        limit: u64,
    },
    /// The session has no such entry in its tree.
    #[error("the session has no entry {id} in its tree")]
    UnknownEntry {
        /// The entry.
        id: EntryId,
    },
    /// The session has no such checkpoint.
    #[error("the session has no checkpoint `{name}`")]
    UnknownCheckpoint {
        /// The name.
        name: String,
    },
    /// No message of that id was put in on the current path.
    #[error("the current path has no input with the id {id}; seek its branch first")]
    UnknownMessage {
        /// The message.
        id: MessageId,
    },
    /// A kind that is not the application's to write.
    #[error("an application's kind has a dot and does not begin with `session.`; `{kind}` is not one")]
    Kind {
        /// The kind.
        kind: String,
    },
    /// The entry is no compaction of the current path.
    #[error("the entry {id} is no compaction of the current path")]
    NotACompaction {
        /// The entry.
        id: EntryId,
    },
    /// What a model would be shown is not valid.
    #[error("the compaction {id} cannot be made there; undo what depends on it first")]
    View {
        /// The edit that does not fit.
        id: EntryId,
        /// Why.
        source: ViewError,
    },
    /// The messages of a path are no transcript.
    #[error("the entry {id} does not follow from the ones before")]
    Transcript {
        /// The entry.
        id: EntryId,
        /// Why.
        source: TranscriptError,
    },
    /// A payload is not what its kind says.
    #[error("the payload of the entry {id} cannot be read")]
    Payload {
        /// The entry.
        id: EntryId,
        /// Why.
        source: BoxError,
    },
    /// Something cannot be written as JSON.
    #[error("a record cannot be written as JSON")]
    Encode {
        /// Why.
        source: BoxError,
    },
    /// A blob is gone or has other bytes.
    #[error("the blob {id} is missing or damaged")]
    Blob {
        /// The blob.
        id: BlobId,
    },
    /// A session cannot be copied onto one that holds records.
    #[error("the session {id} holds records already; copy into a new one")]
    NotEmpty {
        /// The session.
        id: SessionId,
    },
    /// A store of another kind failed.
    #[error("the store of the session failed")]
    Store {
        /// The cause.
        source: BoxError,
    },
}

/// What is wrong with a record.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// The bytes are not those that were written.
    #[error("the checksum does not fit its bytes")]
    Checksum,
    /// The checksum fits, and the line is no record.
    #[error("the line is no record of this format")]
    Syntax,
    /// A record is missing, doubled, or in another place.
    #[error("the record has number {found} where {expected} follows")]
    Sequence {
        /// The number that follows.
        expected: u64,
        /// The number found.
        found: u64,
    },
    /// Two records of one id.
    #[error("the id {id} stands there twice")]
    DuplicateId {
        /// The id.
        id: EntryId,
    },
    /// A parent that is not an earlier entry of the tree, so also every cycle.
    #[error("the parent {parent} is no earlier entry of the tree")]
    UnknownParent {
        /// The number of the parent.
        parent: u64,
    },
    /// A record of the store's own names an entry that is not there.
    #[error("it names the entry {id}, which is not there")]
    UnknownEntry {
        /// The entry.
        id: EntryId,
    },
    /// A line that has more bytes than a record may.
    #[error("the line has more than {limit} bytes")]
    TooLong {
        /// How many it may have.
        limit: u64,
    },
    /// More records than can be numbered.
    #[error("more than {limit} records")]
    TooMany {
        /// How many there may be.
        limit: u64,
    },
}

impl SessionError {
    pub(crate) fn io(what: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { what, path, source }
    }

    pub(crate) fn into_journal(self, writing: Writing) -> JournalError {
        match self {
            Self::Locked { .. } => JournalError::Locked,
            Self::Closed => JournalError::Closed,
            other if writing == Writing::Yes => JournalError::Write { source: other.into() },
            other => JournalError::Read { source: other.into() },
        }
    }
}

/// Whether an error comes from writing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Writing {
    Yes,
    No,
}
