//! What is known of a session without its payloads: the tree, the head, the names, the blobs in use.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use serde::Deserialize;

use crate::{BlobId, EntryId, Fault, Place, RecordHead, record::kind};

/// Stands for a parent where there is none, because the record is not in the tree.
const OUTSIDE: u32 = u32::MAX;

/// The index of a session: 32 bytes a record, built by a store while it reads.
#[derive(Debug, Default)]
pub struct Index {
    /// The record with number n is at n - 1.
    nodes: Vec<Node>,
    kinds: Vec<Arc<str>>,
    kind_numbers: HashMap<Arc<str>, u32>,
    /// Where ids do not grow, as after a merge or with a clock that was set back, a map; else a binary search does.
    by_id: Option<HashMap<EntryId, u32>>,
    head: u32,
    labels: BTreeMap<String, u32>,
    /// With their sizes.
    blobs: HashMap<BlobId, u64>,
    blob_bytes: u64,
}

#[derive(Debug, Clone, Copy)]
struct Node {
    id: EntryId,
    parent: u32,
    kind: u32,
}

/// An entry of the tree, without its payload.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Entry {
    /// Its name.
    pub id: EntryId,
    /// Its number in the session.
    pub seq: u64,
    /// The entry that it follows; `None` at the beginning.
    pub parent: Option<EntryId>,
    /// What kind of record it is.
    pub kind: Arc<str>,
}

#[derive(Deserialize)]
struct Moved {
    to: Option<EntryId>,
}

#[derive(Deserialize)]
struct Labelled {
    name: String,
    entry: Option<EntryId>,
}

impl Index {
    /// The index of a session without records.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next record in; `data` is its payload as stored, looked at only for the session's own kinds.
    ///
    /// # Errors
    /// [`Fault`] where the record does not follow; the index is as it was then.
    pub fn push(&mut self, record: &RecordHead<'_>, data: impl AsRef<[u8]>) -> Result<(), Fault> {
        let expected = self.len() + 1;
        if record.seq != expected {
            return Err(Fault::Sequence { expected, found: record.seq });
        }
        let too_many = Fault::TooMany { limit: u64::from(OUTSIDE - 1) };
        let seq = u32::try_from(record.seq).ok().filter(|seq| *seq < OUTSIDE).ok_or(too_many)?;
        let parent = match record.place {
            Place::Outside => OUTSIDE,
            Place::Below(parent) => self.in_tree(parent).ok_or(Fault::UnknownParent { parent })?,
        };
        // As long as all ids have grown, the last one is the greatest.
        let grows = self.by_id.is_none() && self.nodes.last().is_none_or(|last| last.id < record.id);
        if !grows && self.number(record.id).is_some() {
            return Err(Fault::DuplicateId { id: record.id });
        }
        if record.kind.starts_with(kind::OWN) {
            self.take_own(record.kind, data.as_ref())?;
        }
        if !grows && self.by_id.is_none() {
            let numbered = self.nodes.iter().zip(1..).map(|(node, seq)| (node.id, seq));
            self.by_id = Some(numbered.collect());
        }
        if let Some(by_id) = &mut self.by_id {
            by_id.insert(record.id, seq);
        }
        let kind = self.kind_number(record.kind);
        self.nodes.push(Node { id: record.id, parent, kind });
        if parent != OUTSIDE {
            self.head = seq;
        }
        for blob in record.blobs {
            if self.blobs.insert(blob.sha256, blob.bytes).is_none() {
                self.blob_bytes = self.blob_bytes.saturating_add(blob.bytes);
            }
        }
        Ok(())
    }

    /// How many records there are.
    pub fn len(&self) -> u64 {
        self.nodes.len().try_into().unwrap_or(u64::MAX)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    fn take_own(&mut self, kind: &str, data: &[u8]) -> Result<(), Fault> {
        match kind {
            kind::HEAD => {
                let moved: Moved = serde_json::from_slice(data).map_err(|_| Fault::Syntax)?;
                self.head = moved.to.map_or(Ok(0), |to| self.named(to))?;
            }
            kind::LABEL => {
                let label: Labelled = serde_json::from_slice(data).map_err(|_| Fault::Syntax)?;
                match label.entry {
                    Some(entry) => self.labels.insert(label.name, self.named(entry)?),
                    None => self.labels.remove(&label.name),
                };
            }
            // Of a newer version, or looked at when a branch is read.
            _ => {}
        }
        Ok(())
    }

    fn named(&self, id: EntryId) -> Result<u32, Fault> {
        self.entry_number(id).ok_or(Fault::UnknownEntry { id })
    }

    fn kind_number(&mut self, kind: &str) -> u32 {
        // Mostly it is that of a record before.
        let recent = self.nodes.iter().rev().take(4).map(|node| node.kind);
        for number in recent {
            let known = usize::try_from(number).ok().and_then(|number| self.kinds.get(number));
            if known.is_some_and(|known| **known == *kind) {
                return number;
            }
        }
        if let Some(number) = self.kind_numbers.get(kind) {
            return *number;
        }
        let (kind, number): (Arc<str>, _) = (kind.into(), self.kinds.len().try_into().unwrap_or(u32::MAX));
        self.kinds.push(kind.clone());
        self.kind_numbers.insert(kind, number);
        number
    }

    fn node(&self, seq: u32) -> Option<&Node> {
        self.nodes.get(usize::try_from(seq.checked_sub(1)?).ok()?)
    }

    /// The number of something that can be a parent.
    fn in_tree(&self, seq: u64) -> Option<u32> {
        let seq = u32::try_from(seq).ok()?;
        (seq == 0 || self.node(seq).is_some_and(|node| node.parent != OUTSIDE)).then_some(seq)
    }

    fn number(&self, id: EntryId) -> Option<u32> {
        match &self.by_id {
            Some(by_id) => by_id.get(&id).copied(),
            None => {
                let at = self.nodes.binary_search_by_key(&id, |node| node.id).ok()?;
                u32::try_from(at + 1).ok()
            }
        }
    }

    /// The number of an entry of the tree.
    pub(crate) fn entry_number(&self, id: EntryId) -> Option<u32> {
        self.number(id).filter(|seq| self.node(*seq).is_some_and(|node| node.parent != OUTSIDE))
    }

    /// The number of the head; 0 at the beginning.
    pub(crate) fn head(&self) -> u32 {
        self.head
    }

    pub(crate) fn labels(&self) -> &BTreeMap<String, u32> {
        &self.labels
    }

    /// The blobs that records need, with their sizes.
    pub(crate) fn blobs(&self) -> &HashMap<BlobId, u64> {
        &self.blobs
    }

    pub(crate) fn blob_bytes(&self) -> u64 {
        self.blob_bytes
    }

    pub(crate) fn contains(&self, id: EntryId) -> bool {
        // A new one mostly is the greatest.
        if self.by_id.is_none() && self.nodes.last().is_none_or(|last| last.id < id) {
            return false;
        }
        self.number(id).is_some()
    }

    /// The name of a record.
    pub(crate) fn id_of(&self, seq: u32) -> Option<EntryId> {
        self.node(seq).map(|node| node.id)
    }

    /// The entry that an entry follows; `None` for what is not in the tree.
    pub(crate) fn parent_of(&self, seq: u32) -> Option<u32> {
        self.node(seq).map(|node| node.parent).filter(|parent| *parent != OUTSIDE)
    }

    pub(crate) fn kind_of(&self, seq: u32) -> Option<&Arc<str>> {
        self.kinds.get(usize::try_from(self.node(seq)?.kind).ok()?)
    }

    pub(crate) fn entry(&self, seq: u32) -> Option<Entry> {
        let node = self.node(seq).filter(|node| node.parent != OUTSIDE)?;
        let kind = self.kind_of(seq)?.clone();
        Some(Entry { id: node.id, seq: seq.into(), parent: self.id_of(node.parent), kind })
    }

    /// The numbers from the beginning to an entry. Parents come before their children, so this ends.
    pub(crate) fn path(&self, to: u32) -> Vec<u32> {
        let steps = std::iter::successors(Some(to), |seq| self.parent_of(*seq));
        let mut path: Vec<u32> = steps.take_while(|seq| *seq != 0).collect();
        path.reverse();
        path
    }

    /// The entries of the tree, oldest first.
    pub(crate) fn entries(&self) -> impl Iterator<Item = Entry> + '_ {
        (1..=u32::try_from(self.nodes.len()).unwrap_or(OUTSIDE)).filter_map(|seq| self.entry(seq))
    }

    /// The entries that nothing follows, oldest first.
    pub(crate) fn tips(&self) -> Vec<u32> {
        let mut followed = vec![false; self.nodes.len() + 1];
        for node in &self.nodes {
            if let Some(parent) = usize::try_from(node.parent).ok().and_then(|parent| followed.get_mut(parent)) {
                *parent = true;
            }
        }
        let numbered = self.nodes.iter().zip(1u32..).zip(followed.iter().skip(1));
        let tips = numbered.filter(|((node, _), followed)| node.parent != OUTSIDE && !**followed);
        tips.map(|((_, seq), _)| seq).collect()
    }
}
