//! Payloads, read when somebody asks.

use std::collections::HashMap;

use agent_core::{Branch, JournalRecord, RawJson, RecordBody};
use serde::Deserialize;

use super::{Session, number};
use crate::{Entry, EntryId, SessionError, Stored, blob::restore, record::kind};

/// How many payloads are read at a time, so that a reader holds no more than that twice and lets others have their turn.
const PAGE: usize = 256;

/// What a record says about a compaction.
#[derive(Deserialize)]
struct Edited {
    edit: EntryId,
    shown: bool,
}

impl Session {
    /// The payload of an entry, blobs put back. Dropping the future changes nothing.
    ///
    /// # Errors
    /// [`SessionError::UnknownEntry`], or where it cannot be read.
    pub async fn payload(&self, id: EntryId) -> Result<RawJson, SessionError> {
        let seq = number(&self.state().index, id)?;
        let stored = self.shared.log.read(vec![seq.into()]).await?;
        let stored = stored.into_iter().next().ok_or(SessionError::UnknownEntry { id })?;
        self.whole(id, stored).await
    }

    /// The journal record of an entry; `None` for an entry of another kind.
    ///
    /// # Errors
    /// As [`payload`](Self::payload), and where the payload is no record.
    pub async fn record(&self, id: EntryId) -> Result<Option<JournalRecord>, SessionError> {
        let entry = self.entry(id).ok_or(SessionError::UnknownEntry { id })?;
        if !is_journal(&entry.kind) {
            return Ok(None);
        }
        let payload = self.payload(id).await?;
        parse(id, &payload).map(Some)
    }

    /// The journal records of many entries, in the order asked for; `None` for entries of another kind. Dropping the
    /// future changes nothing.
    ///
    /// # Errors
    /// As [`record`](Self::record).
    pub async fn records(&self, entries: &[Entry]) -> Result<Vec<Option<JournalRecord>>, SessionError> {
        let mut records = Vec::with_capacity(entries.len());
        for page in entries.chunks(PAGE) {
            let wanted: Vec<&Entry> = page.iter().filter(|entry| is_journal(&entry.kind)).collect();
            let stored = self.shared.log.read(wanted.iter().map(|entry| entry.seq).collect()).await?;
            let mut stored = stored.into_iter();
            for entry in page {
                if !is_journal(&entry.kind) {
                    records.push(None);
                } else if let Some(next) = stored.next() {
                    records.push(Some(parse(entry.id, &self.whole(entry.id, next).await?)?));
                }
            }
        }
        Ok(records)
    }

    /// The journal records from the beginning to an entry, those of undone compactions left out: what a conversation
    /// is made of. O(path). Dropping the future changes nothing.
    ///
    /// # Errors
    /// [`SessionError`] where one cannot be read.
    pub async fn branch(&self, to: EntryId) -> Result<Branch, SessionError> {
        let to = number(&self.state().index, to)?;
        self.branch_to(to).await
    }

    pub(super) async fn branch_to(&self, to: u32) -> Result<Branch, SessionError> {
        let (mut records, edits) = self.records_to(to).await?;
        if edits.values().any(|shown| !shown) {
            records.retain(|(id, record)| {
                !matches!(record.body, RecordBody::ViewEdited(_)) || edits.get(id).copied().unwrap_or(true)
            });
        }
        Ok(Branch::new(records.into_iter().map(|(_, record)| record).collect::<Vec<_>>()))
    }

    /// The journal records up to an entry, and which compactions were undone or made again.
    pub(super) async fn records_to(&self, to: u32) -> Result<(Vec<(EntryId, JournalRecord)>, Edits), SessionError> {
        let mut wanted = Vec::new();
        {
            let state = self.state();
            for seq in state.index.path(to) {
                let (Some(id), Some(kind)) = (state.index.id_of(seq), state.index.kind_of(seq)) else { continue };
                if is_journal(kind) {
                    wanted.push((seq, id, IsEdit::No));
                } else if &**kind == kind::EDIT {
                    wanted.push((seq, id, IsEdit::Yes));
                }
            }
        }
        let (mut records, mut edits) = (Vec::with_capacity(wanted.len()), Edits::new());
        for page in wanted.chunks(PAGE) {
            let seqs = page.iter().map(|(seq, ..)| u64::from(*seq)).collect();
            let stored = self.shared.log.read(seqs).await?;
            for ((_, id, is_edit), stored) in page.iter().zip(stored) {
                let payload = self.whole(*id, stored).await?;
                match is_edit {
                    IsEdit::No => records.push((*id, parse(*id, &payload)?)),
                    IsEdit::Yes => {
                        let edited: Edited = parse(*id, &payload)?;
                        edits.insert(edited.edit, edited.shown);
                    }
                }
            }
        }
        Ok((records, edits))
    }

    /// A payload with its blobs put back.
    async fn whole(&self, id: EntryId, stored: Stored) -> Result<RawJson, SessionError> {
        if stored.blobs.iter().all(|place| place.at.is_none()) {
            return Ok(stored.data);
        }
        let mut contents = Vec::with_capacity(stored.blobs.len());
        for place in &stored.blobs {
            contents.push(match place.at {
                Some(_) => self.shared.log.blob(place.sha256).await?,
                None => Vec::new(),
            });
        }
        let unreadable = |source| SessionError::Payload { id, source };
        let whole = restore(stored.data.get(), &stored.blobs, &contents)
            .ok_or_else(|| unreadable("its blobs do not fit".into()))?;
        RawJson::parse(whole).map_err(|source| unreadable(source.into()))
    }
}

/// Compactions by their entries, and whether they are in force.
pub(super) type Edits = HashMap<EntryId, bool>;

#[derive(Debug, Clone, Copy)]
enum IsEdit {
    Yes,
    No,
}

/// The kinds without a dot are those of journal records, known or not.
fn is_journal(kind: &str) -> bool {
    !kind.contains('.')
}

pub(super) fn parse<'a, T: Deserialize<'a>>(id: EntryId, payload: &'a RawJson) -> Result<T, SessionError> {
    payload.read().map_err(|source| SessionError::Payload { id, source: source.into() })
}
