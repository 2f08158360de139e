//! A session as the journal of a conversation.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use agent_core::{BoxFuture, Branch, Journal, JournalError, JournalRecord};

use super::{Session, write::journal_drafts};
use crate::{EntryId, SessionError, error::Writing};

/// One branch of a session as a journal. A clone is the same journal.
///
/// It goes on where it is, whatever else is written to the session: two conversations on two branches do not get into
/// each other's history, and moving the head does not move a conversation that is on. The head follows whoever wrote
/// last.
#[derive(Clone)]
pub struct SessionJournal {
    session: Session,
    tip: Arc<Mutex<u32>>,
}

impl SessionJournal {
    pub(super) fn new(session: Session, tip: u32) -> Self {
        Self { session, tip: Arc::new(Mutex::new(tip)) }
    }

    /// The session.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// The entry that the next one follows; `None` at the beginning.
    pub fn tip(&self) -> Option<EntryId> {
        let tip = self.tip_number();
        self.session.state().index.id_of(tip)
    }

    fn tip_number(&self) -> u32 {
        *self.tip.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn accept(&self, records: Vec<JournalRecord>) -> Result<crate::log::Acknowledged, SessionError> {
        let drafts = self.session.spill(journal_drafts(records)?)?;
        let mut tip = self.tip.lock().unwrap_or_else(PoisonError::into_inner);
        let mut state = self.session.state();
        let accepted = self.session.commit(&mut state, *tip, drafts)?;
        if let Some(last) = accepted.ids.last().and_then(|id| state.index.entry_number(*id)) {
            *tip = last;
        }
        Ok(accepted.acknowledged)
    }
}

impl Journal for SessionJournal {
    fn append(&self, records: Vec<JournalRecord>) -> BoxFuture<'static, Result<(), JournalError>> {
        let accepted = self.accept(records);
        Box::pin(async move {
            let written = match accepted {
                Ok(acknowledged) => acknowledged.await,
                Err(error) => Err(error),
            };
            written.map_err(|error| error.into_journal(Writing::Yes))
        })
    }

    fn load(&self) -> BoxFuture<'_, Result<Branch, JournalError>> {
        let tip = self.tip_number();
        Box::pin(async move { self.session.branch_to(tip).await.map_err(|error| error.into_journal(Writing::No)) })
    }
}

impl fmt::Debug for SessionJournal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("SessionJournal");
        debug.field("session", &self.session.id()).field("tip", &self.tip()).finish_non_exhaustive()
    }
}
