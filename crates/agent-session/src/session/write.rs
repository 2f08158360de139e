//! The one way in which records enter a session.

use std::sync::Arc;

use agent_core::{BoxFuture, JournalRecord, RawJson};

use super::{Session, State};
use crate::{
    Batch, Blob, BlobRef, EntryId, Place, Record, SessionError, Stored,
    blob::{Spilled, spill},
    log::Acknowledged,
    record::kind,
};

/// A payload that is about to become a record.
pub(crate) struct Draft {
    /// Of a copy; others get a new one.
    id: Option<EntryId>,
    kind: Arc<str>,
    data: RawJson,
    refs: Vec<BlobRef>,
    blobs: Vec<Blob>,
    in_tree: InTree,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum InTree {
    Yes,
    No,
}

impl Draft {
    /// A record of the tree.
    pub(crate) fn entry(kind: &str, data: RawJson) -> Self {
        Self { id: None, kind: kind.into(), data, refs: Vec::new(), blobs: Vec::new(), in_tree: InTree::Yes }
    }

    /// A record beside the tree.
    pub(super) fn outside(kind: &str, data: RawJson) -> Self {
        Self { in_tree: InTree::No, ..Self::entry(kind, data) }
    }

    /// An entry of another session, as it is stored there.
    pub(super) fn copied(id: EntryId, kind: &Arc<str>, stored: Stored, blobs: Vec<Blob>) -> Self {
        let Stored { data, blobs: refs } = stored;
        Self { id: Some(id), kind: kind.clone(), data, refs, blobs, in_tree: InTree::Yes }
    }

    /// With an id, which no record of the session has.
    pub(crate) fn named(mut self, id: EntryId) -> Self {
        self.id = Some(id);
        self
    }

    /// Its id, where it has one already.
    pub(crate) fn id(&self) -> Option<EntryId> {
        self.id
    }

    /// With a blob that the payload does not show.
    pub(super) fn naming(mut self, blob: Blob) -> Self {
        self.refs.push(blob.reference(None));
        self.blobs.push(blob);
        self
    }
}

/// Records that were accepted.
pub(super) struct Accepted {
    pub(super) ids: Vec<EntryId>,
    pub(super) acknowledged: Acknowledged,
}

impl Session {
    /// Puts records behind the head, all or none, and moves the head to the last. They are accepted in order at the
    /// call; the future resolves when they are acknowledged, and dropping it does not take them back. O(new records).
    ///
    /// # Errors
    /// [`SessionError`]; nothing may depend on the records then.
    pub fn append(&self, records: Vec<JournalRecord>) -> BoxFuture<'static, Result<Vec<EntryId>, SessionError>> {
        self.accept(|_| Ok(()), journal_drafts(records))
    }

    /// The same, if the session holds `expected` records: what [`len`](Self::len) said when the caller looked.
    ///
    /// # Errors
    /// [`SessionError::Diverged`] where it holds others by now.
    pub fn append_expecting(
        &self,
        expected: u64,
        records: Vec<JournalRecord>,
    ) -> BoxFuture<'static, Result<Vec<EntryId>, SessionError>> {
        let check = |state: &State| match state.index.len() {
            found if found == expected => Ok(()),
            found => Err(SessionError::Diverged { expected, found }),
        };
        self.accept(check, journal_drafts(records))
    }

    /// Puts an entry of the application behind the head. Its kind has a dot in it (`myapp.bookmark`); a conversation
    /// that is read back from the session does not see it.
    ///
    /// # Errors
    /// [`SessionError::Kind`], or as [`append`](Self::append).
    pub fn append_entry(&self, kind: &str, data: RawJson) -> BoxFuture<'static, Result<EntryId, SessionError>> {
        let foreign = kind.contains('.') && !kind.starts_with(kind::OWN);
        let error = || SessionError::Kind { kind: kind.to_owned() };
        let drafts = if foreign { Ok(vec![Draft::entry(kind, data)]) } else { Err(error()) };
        let written = self.accept(|_| Ok(()), drafts);
        Box::pin(async move { written.await?.first().copied().ok_or(SessionError::Closed) })
    }

    fn accept(
        &self,
        check: impl FnOnce(&State) -> Result<(), SessionError>,
        drafts: Result<Vec<Draft>, SessionError>,
    ) -> BoxFuture<'static, Result<Vec<EntryId>, SessionError>> {
        let spilled = drafts.and_then(|drafts| self.spill(drafts));
        let accepted = spilled.and_then(|drafts| {
            let mut state = self.state();
            check(&state)?;
            let head = state.index.head();
            self.commit(&mut state, head, drafts)
        });
        Box::pin(async move {
            let accepted = accepted?;
            accepted.acknowledged.await?;
            Ok(accepted.ids)
        })
    }

    /// Puts drafts behind an entry, or at the beginning.
    pub(crate) async fn append_below(&self, below: Option<EntryId>, drafts: Vec<Draft>) -> Result<(), SessionError> {
        let drafts = self.spill(drafts)?;
        let accepted = {
            let mut state = self.state();
            let below = below.map_or(Ok(0), |id| super::number(&state.index, id))?;
            self.commit(&mut state, below, drafts)?
        };
        accepted.acknowledged.await
    }

    /// Takes long strings out of payloads, and refuses what is too large.
    pub(super) fn spill(&self, drafts: Vec<Draft>) -> Result<Vec<Draft>, SessionError> {
        let settings = &self.shared.settings;
        let inline = usize::try_from(settings.inline).unwrap_or(usize::MAX);
        let spill = |mut draft: Draft| {
            let spilled = spill(draft.data, inline).map_err(|source| SessionError::Encode { source: source.into() })?;
            let Spilled { data, refs, blobs } = spilled;
            (draft.data, draft.blobs) = (data, [draft.blobs, blobs].concat());
            draft.refs.extend(refs);
            within("a record", draft.data.get().len(), settings.record)?;
            draft.blobs.iter().try_for_each(|blob| within("a blob", blob.content.len(), settings.blob))?;
            Ok(draft)
        };
        drafts.into_iter().map(spill).collect()
    }

    /// Numbers and names records below `parent` and gives them to the log.
    pub(super) fn commit(&self, state: &mut State, parent: u32, drafts: Vec<Draft>) -> Result<Accepted, SessionError> {
        let now_ms = self.shared.settings.now_ms();
        let expected = state.index.len();
        let (mut seq, mut below) = (expected, u64::from(parent));
        let (mut records, mut blobs) = (Vec::with_capacity(drafts.len()), Vec::new());
        for draft in drafts {
            seq += 1;
            let id = draft.id.unwrap_or_else(|| {
                loop {
                    let id = EntryId::new(&mut state.ids, now_ms);
                    if !state.index.contains(id) {
                        break id;
                    }
                }
            });
            let place = match draft.in_tree {
                InTree::Yes => Place::Below(std::mem::replace(&mut below, seq)),
                InTree::No => Place::Outside,
            };
            blobs.extend(draft.blobs);
            records.push(Record { seq, id, place, kind: draft.kind, blobs: draft.refs, data: draft.data });
        }
        let ids = records.iter().map(|record| record.id).collect();
        if records.is_empty() {
            return Ok(Accepted { ids, acknowledged: Acknowledged::now(Ok(())) });
        }
        let new = blobs.iter().filter(|blob| !state.index.blobs().contains_key(&blob.id)).map(Blob::len);
        let bytes = new.fold(state.index.blob_bytes(), u64::saturating_add);
        if bytes > self.shared.settings.blobs && !blobs.is_empty() {
            let limit = self.shared.settings.blobs;
            return Err(SessionError::TooLarge { what: "the blobs of the session", bytes, limit });
        }
        let batch = Batch::new(expected, records, blobs);
        let acknowledged = self.shared.log.append(&batch)?;
        for record in &batch.records {
            // They were numbered and named for this place just now.
            let pushed = state.index.push(&record.head(), record.data.get());
            debug_assert!(pushed.is_ok(), "an accepted record follows: {pushed:?}");
        }
        Ok(Accepted { ids, acknowledged })
    }
}

pub(super) fn journal_drafts(records: Vec<JournalRecord>) -> Result<Vec<Draft>, SessionError> {
    let encode = |record: JournalRecord| {
        let data = RawJson::of(&record).map_err(|source| SessionError::Encode { source: source.into() })?;
        Ok(Draft::entry(record.body.kind(), data))
    };
    records.into_iter().map(encode).collect()
}

pub(super) fn within(what: &'static str, bytes: usize, limit: u64) -> Result<(), SessionError> {
    match bytes.try_into().unwrap_or(u64::MAX) {
        bytes if bytes > limit => Err(SessionError::TooLarge { what, bytes, limit }),
        _ => Ok(()),
    }
}
