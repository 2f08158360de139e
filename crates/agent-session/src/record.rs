//! A record as stores keep it, and the header of a session.

use std::sync::Arc;

use agent_core::RawJson;
use serde::{Deserialize, Serialize};

use crate::{BlobRef, EntryId, SessionId};

/// The format version that this crate writes, and the newest that it reads.
pub const FORMAT_VERSION: u32 = 1;

/// What the header of every session says it is.
pub(crate) const FORMAT: &str = "mainspring.session";

/// The kinds that are the session's own.
pub(crate) mod kind {
    /// What all of them begin with.
    pub(crate) const OWN: &str = "session.";
    /// The head moved: `{"to": id or null}`. Not in the tree.
    pub(crate) const HEAD: &str = "session.head";
    /// A name for an entry, or none any more: `{"name": …, "entry": id or null}`. Not in the tree.
    pub(crate) const LABEL: &str = "session.label";
    /// A blob that somebody holds a handle to: `{"name": …}`. Not in the tree.
    pub(crate) const BLOB: &str = "session.blob";
    /// A compaction is undone, or made again: `{"edit": id, "shown": bool}`. In the tree.
    pub(crate) const EDIT: &str = "session.edit";
}

/// The first line of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Header {
    format: String,
    /// The version of the format.
    pub version: u32,
    /// The session.
    pub id: SessionId,
    /// When it was made, in milliseconds since the Unix epoch.
    pub created_ms: u64,
    /// The folder that it was made in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The session that this one is a copy of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copy_of: Option<SessionId>,
}

impl Header {
    /// The header of a new session.
    pub fn new(id: SessionId) -> Self {
        let format = FORMAT.to_owned();
        Self { format, version: FORMAT_VERSION, id, created_ms: id.made_ms(), cwd: None, copy_of: None }
    }

    /// Says in which folder it was made.
    #[must_use]
    pub fn cwd(mut self, cwd: impl Into<String>) -> Self {
        self.cwd = Some(cwd.into());
        self
    }

    /// Says of which session it is a copy.
    #[must_use]
    pub fn copy_of(mut self, id: SessionId) -> Self {
        self.copy_of = Some(id);
        self
    }
}

/// Where a record stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Place {
    /// In the tree, below the record with this number; 0 is the beginning of the session.
    Below(u64),
    /// Not in the tree: it says something about the session.
    Outside,
}

/// A record on its way into a store.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Record {
    /// Its number, from 1, without gaps.
    pub seq: u64,
    /// Its name.
    pub id: EntryId,
    /// Where it stands.
    pub place: Place,
    /// What kind of record it is.
    pub kind: Arc<str>,
    /// The blobs that it needs.
    pub blobs: Vec<BlobRef>,
    /// Its payload as stored.
    pub data: RawJson,
}

/// What a store knows of a record without its payload.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct RecordHead<'a> {
    /// Its number.
    pub seq: u64,
    /// Its name.
    pub id: EntryId,
    /// Where it stands.
    pub place: Place,
    /// What kind of record it is.
    pub kind: &'a str,
    /// The blobs that it needs.
    pub blobs: &'a [BlobRef],
}

impl<'a> RecordHead<'a> {
    /// The head of a record with these values.
    pub fn new(seq: u64, id: EntryId, place: Place, kind: &'a str, blobs: &'a [BlobRef]) -> Self {
        Self { seq, id, place, kind, blobs }
    }
}

impl Record {
    /// The record without its payload.
    pub fn head(&self) -> RecordHead<'_> {
        RecordHead::new(self.seq, self.id, self.place, &self.kind, &self.blobs)
    }
}

/// A payload as stored.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Stored {
    /// The payload, with placeholders for what is in blobs.
    pub data: RawJson,
    /// Where the blobs go.
    pub blobs: Vec<BlobRef>,
}

impl Stored {
    /// A payload with these blobs.
    pub fn new(data: RawJson, blobs: Vec<BlobRef>) -> Self {
        Self { data, blobs }
    }
}
