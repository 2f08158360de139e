//! Going about in the tree. Every move is a record, so it is found again after a restart.

use agent_core::{JournalRecord, Message, MessageId, RawJson, RecordBody};
use serde::Serialize;

use super::{Session, SessionJournal, State, number, write::Draft};
use crate::{EntryId, SessionError, record::kind};

/// Where an input was, before which the head stands now.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Rewound {
    /// The input, to be changed and run again.
    pub message: Message,
    /// The head now; `None` at the beginning.
    pub head: Option<EntryId>,
}

#[derive(Serialize)]
struct Moved {
    to: Option<EntryId>,
}

#[derive(Serialize)]
struct Labelled<'a> {
    name: &'a str,
    entry: Option<EntryId>,
}

impl Session {
    /// Moves the head to an entry: the next one follows it. What stood behind it stays, as a branch.
    ///
    /// Journals that are open stay where they are. Nothing happens before the first poll; dropping the future later
    /// does not take the move back.
    ///
    /// # Errors
    /// [`SessionError::UnknownEntry`], or where it cannot be written.
    pub async fn seek(&self, to: EntryId) -> Result<(), SessionError> {
        let acknowledged = {
            let mut state = self.state();
            let to = number(&state.index, to)?;
            self.move_head(&mut state, to)?
        };
        acknowledged.await
    }

    /// A journal that goes on behind an entry, for a second conversation. The head stays until it writes.
    ///
    /// # Errors
    /// [`SessionError::UnknownEntry`].
    pub fn fork(&self, at: EntryId) -> Result<SessionJournal, SessionError> {
        let at = number(&self.state().index, at)?;
        Ok(SessionJournal::new(self.clone(), at))
    }

    /// Gives the head a name, and returns the entry. A name that was given before moves.
    ///
    /// # Errors
    /// [`SessionError::UnknownCheckpoint`] in a session without entries, or where it cannot be written.
    pub async fn checkpoint(&self, name: &str) -> Result<EntryId, SessionError> {
        let head = self.head().ok_or_else(|| unknown(name))?;
        self.label(name, head).await?;
        Ok(head)
    }

    /// Moves the head to the entry of that name, and returns it.
    ///
    /// # Errors
    /// [`SessionError::UnknownCheckpoint`], or as [`seek`](Self::seek).
    pub async fn seek_checkpoint(&self, name: &str) -> Result<EntryId, SessionError> {
        let id = {
            let state = self.state();
            state.index.labels().get(name).and_then(|seq| state.index.id_of(*seq)).ok_or_else(|| unknown(name))?
        };
        self.seek(id).await?;
        Ok(id)
    }

    /// Gives an entry a name. An entry can have several; a name that was given before moves.
    ///
    /// # Errors
    /// [`SessionError::UnknownEntry`], or where it cannot be written.
    pub async fn label(&self, name: &str, entry: EntryId) -> Result<(), SessionError> {
        number(&self.state().index, entry)?;
        self.write_outside(kind::LABEL, &Labelled { name, entry: Some(entry) }).await
    }

    /// Takes a name away.
    ///
    /// # Errors
    /// [`SessionError::UnknownCheckpoint`], or where it cannot be written.
    pub async fn unlabel(&self, name: &str) -> Result<(), SessionError> {
        if !self.state().index.labels().contains_key(name) {
            return Err(unknown(name));
        }
        self.write_outside(kind::LABEL, &Labelled { name, entry: None }).await
    }

    /// Moves the head before an input of the current path, so that it can be changed and run again: the next run of a
    /// conversation on [`journal`](Self::journal) begins a new branch there. For the first input of a run the head goes
    /// before the run. O(path).
    ///
    /// # Errors
    /// [`SessionError::UnknownMessage`], or where something cannot be read or written.
    pub async fn rewind(&self, message: MessageId) -> Result<Rewound, SessionError> {
        let head = self.state().index.head();
        let (records, _) = self.records_to(head).await?;
        let is_it =
            |record: &JournalRecord| matches!(&record.body, RecordBody::MessageAppended(m) if m.id() == message);
        let at = records.iter().rposition(|(_, record)| is_it(record));
        let at = at.ok_or(SessionError::UnknownMessage { id: message })?;
        let (before, found) = records.split_at(at);
        let Some((id, JournalRecord { body: RecordBody::MessageAppended(message), .. })) = found.first() else {
            return Err(SessionError::UnknownMessage { id: message });
        };
        // The input that a run began with goes with the run.
        let starts = before.last().filter(|(_, record)| matches!(record.body, RecordBody::RunStarted));
        let first = starts.map_or(*id, |(start, _)| *start);
        let acknowledged = {
            let mut state = self.state();
            let first = number(&state.index, first)?;
            let to = state.index.parent_of(first).unwrap_or_default();
            self.move_head(&mut state, to)?
        };
        acknowledged.await?;
        Ok(Rewound { message: message.clone(), head: self.head() })
    }

    fn move_head(&self, state: &mut State, to: u32) -> Result<crate::log::Acknowledged, SessionError> {
        if state.index.head() == to {
            return Ok(crate::log::Acknowledged::now(Ok(())));
        }
        let moved = Moved { to: state.index.id_of(to) };
        let draft = Draft::outside(kind::HEAD, json(&moved)?);
        Ok(self.commit(state, to, vec![draft])?.acknowledged)
    }

    pub(super) async fn write_outside<T: Serialize>(&self, kind: &str, data: &T) -> Result<(), SessionError> {
        let draft = Draft::outside(kind, json(data)?);
        let acknowledged = {
            let mut state = self.state();
            let head = state.index.head();
            self.commit(&mut state, head, vec![draft])?.acknowledged
        };
        acknowledged.await
    }
}

pub(super) fn json<T: Serialize>(value: &T) -> Result<RawJson, SessionError> {
    RawJson::of(value).map_err(|source| SessionError::Encode { source: source.into() })
}

fn unknown(name: &str) -> SessionError {
    SessionError::UnknownCheckpoint { name: name.to_owned() }
}
