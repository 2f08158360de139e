//! Compactions: what a model is shown of a path. They hide, they delete nothing, and they can be undone.

use agent_core::{BoxFuture, ContextView, JournalRecord, Message, RecordBody, ToolResultMessage, Transcript, ViewEdit};
use serde::Serialize;

use super::{
    Session, number,
    read::Edits,
    write::{Draft, journal_drafts},
};
use crate::{EntryId, SessionError, record::kind};

/// A compaction of a path.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Compaction {
    /// Its entry.
    pub id: EntryId,
    /// What it changes.
    pub edit: ViewEdit,
    /// Whether it is in force.
    pub is_shown: bool,
}

#[derive(Serialize)]
struct Edited {
    edit: EntryId,
    shown: bool,
}

impl Session {
    /// The compactions of the current path, oldest first. O(path).
    ///
    /// # Errors
    /// [`SessionError`] where something cannot be read.
    pub async fn compactions(&self) -> Result<Vec<Compaction>, SessionError> {
        let head = self.state().index.head();
        let (records, edits) = self.records_to(head).await?;
        let compaction = |(id, record): (EntryId, JournalRecord)| match record.body {
            RecordBody::ViewEdited(edit) => {
                Some(Compaction { id, edit, is_shown: edits.get(&id).copied().unwrap_or(true) })
            }
            _ => None,
        };
        Ok(records.into_iter().filter_map(compaction).collect())
    }

    /// Changes what a model is shown of the current path, and returns the entry. The tree keeps everything. For a
    /// conversation that is not on: it is read anew from [`journal`](Self::journal). O(path).
    ///
    /// # Errors
    /// [`SessionError::View`] where what is shown would not be valid, with the id of the head.
    pub async fn compact(&self, edit: ViewEdit) -> Result<EntryId, SessionError> {
        let head = self.state().index.head();
        let (mut records, edits) = self.records_to(head).await?;
        let record = JournalRecord::conversation(RecordBody::ViewEdited(edit));
        let at = self.state().index.id_of(head).unwrap_or(EntryId::from_bits(0));
        records.push((at, record.clone()));
        view(&records, &edits)?;
        let drafts = self.spill(journal_drafts(vec![record])?)?;
        let ids = self.append_at(head, drafts).await?;
        ids.first().copied().ok_or(SessionError::Closed)
    }

    /// Undoes a compaction of the current path: the model is shown again what it hid.
    ///
    /// # Errors
    /// [`SessionError::NotACompaction`]; [`SessionError::View`] with the id of a later compaction that depends on it.
    pub async fn undo_compaction(&self, id: EntryId) -> Result<(), SessionError> {
        self.set_shown(id, Shown::No).await
    }

    /// Makes an undone compaction again.
    ///
    /// # Errors
    /// As [`undo_compaction`](Self::undo_compaction).
    pub async fn redo_compaction(&self, id: EntryId) -> Result<(), SessionError> {
        self.set_shown(id, Shown::Yes).await
    }

    /// What a model is shown of the path to an entry.
    ///
    /// # Errors
    /// [`SessionError`] where the path cannot be read, or its messages are no transcript.
    pub async fn view(&self, to: EntryId) -> Result<(Transcript, ContextView), SessionError> {
        let to = number(&self.state().index, to)?;
        let (records, edits) = self.records_to(to).await?;
        view(&records, &edits)
    }

    async fn set_shown(&self, id: EntryId, shown: Shown) -> Result<(), SessionError> {
        let head = self.state().index.head();
        let (records, mut edits) = self.records_to(head).await?;
        let is_it = |(at, record): &(_, JournalRecord)| *at == id && matches!(record.body, RecordBody::ViewEdited(_));
        if !records.iter().any(is_it) {
            return Err(SessionError::NotACompaction { id });
        }
        let shown = shown == Shown::Yes;
        if edits.insert(id, shown).unwrap_or(true) == shown {
            return Ok(());
        }
        view(&records, &edits)?;
        let draft = Draft::entry(kind::EDIT, super::moves::json(&Edited { edit: id, shown })?);
        self.append_at(head, vec![draft]).await?;
        Ok(())
    }

    /// Puts entries behind what was looked at, unless the head has moved since.
    fn append_at(&self, head: u32, drafts: Vec<Draft>) -> BoxFuture<'static, Result<Vec<EntryId>, SessionError>> {
        let accepted = {
            let mut state = self.state();
            match state.index.head() {
                now if now == head => self.commit(&mut state, head, drafts),
                now => Err(SessionError::Diverged { expected: head.into(), found: now.into() }),
            }
        };
        Box::pin(async move {
            let accepted = accepted?;
            accepted.acknowledged.await?;
            Ok(accepted.ids)
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shown {
    Yes,
    No,
}

/// The messages of a path, and what is shown of them.
fn view(records: &[(EntryId, JournalRecord)], edits: &Edits) -> Result<(Transcript, ContextView), SessionError> {
    let (mut transcript, mut view) = (Transcript::new(), ContextView::default());
    for (id, record) in records {
        if let RecordBody::ViewEdited(edit) = &record.body {
            if edits.get(id).copied().unwrap_or(true) {
                view.apply(edit).map_err(|source| SessionError::View { id: *id, source })?;
            }
        } else if let Some(message) = message(record, &transcript) {
            transcript.append(message).map_err(|source| SessionError::Transcript { id: *id, source })?;
            if transcript.open_turn().is_none() {
                view.catch_up(&transcript).map_err(|source| SessionError::View { id: *id, source })?;
            }
        }
    }
    Ok((transcript, view))
}

/// The message that enters the history by a record.
fn message(record: &JournalRecord, transcript: &Transcript) -> Option<Message> {
    match &record.body {
        RecordBody::MessageAppended(message) => Some(message.clone()),
        RecordBody::CallSettled(end) => end.message.clone(),
        RecordBody::ToolSettled { call, message, output } => {
            let name = transcript.messages().iter().rev().find_map(|message| match &**message {
                Message::Assistant(answer) if answer.id == call.message() => {
                    answer.tool_calls().find(|(id, _)| id == call).map(|(_, call)| call.name.clone())
                }
                _ => None,
            });
            let mut result = ToolResultMessage::new(*message, *call, name?, output.content.clone());
            (result.is_error, result.details) = (output.is_error, output.details.clone());
            Some(result.into())
        }
        _ => None,
    }
}
