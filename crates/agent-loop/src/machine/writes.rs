//! Records on their way to the journal: one append at a time, and what comes meanwhile goes together with the next.

use std::sync::Arc;

use agent_core::{JournalRecord, RecordBody};

use super::EffectId;

#[derive(Debug, Default)]
pub(super) struct Writes {
    /// The append that is not acknowledged yet.
    sent: Option<(EffectId, Arc<Vec<JournalRecord>>)>,
    batch: Option<Arc<Vec<JournalRecord>>>,
    waiting: Vec<JournalRecord>,
}

impl Writes {
    pub(super) fn push(&mut self, record: JournalRecord) {
        // Mostly one at a time, and records are large.
        self.waiting.reserve_exact(1);
        self.waiting.push(record);
    }

    /// Whether everything is acknowledged.
    pub(super) fn is_idle(&self) -> bool {
        self.sent.is_none() && self.waiting.is_empty()
    }

    /// The records that are not acknowledged yet.
    pub(super) fn on_the_way(&self) -> impl Iterator<Item = &RecordBody> {
        let sent = self.sent.iter().flat_map(|(_, batch)| batch.iter());
        sent.chain(&self.waiting).map(|record| &record.body)
    }

    pub(super) fn next_batch(&mut self) -> Option<Arc<Vec<JournalRecord>>> {
        if self.sent.is_some() || self.waiting.is_empty() {
            return None;
        }
        let batch = Arc::new(std::mem::take(&mut self.waiting));
        self.batch = Some(batch.clone());
        Some(batch)
    }

    pub(super) fn sent(&mut self, id: EffectId) {
        self.sent = self.batch.take().map(|batch| (id, batch));
    }

    /// The records of an append that has ended.
    pub(super) fn acknowledged(&mut self, id: EffectId) -> Option<Vec<JournalRecord>> {
        let (_, batch) = self.sent.take_if(|(sent, _)| *sent == id)?;
        Some(Arc::try_unwrap(batch).unwrap_or_else(|shared| shared.to_vec()))
    }
}
