//! What the handles of a conversation share. No lock is held over an await, nor while code of others runs.

use std::{
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use agent_core::{
    BoxFuture, IdSource, Journal, JournalError, JournalRecord, Log, Message, MessageId, Money, PieceCache, Segments,
    Timer, Usage,
};

use super::Inbox;
use crate::{Queued, State, contain};

pub(crate) struct Shared {
    inner: Mutex<Inner>,
    pub(crate) inbox: Arc<Inbox>,
}

pub(crate) struct Inner {
    /// `None` while a run has it.
    state: Option<Box<State>>,
    pub(crate) journal: Option<Arc<dyn Journal>>,
    pub(crate) ids: IdSource,
    /// An append that was on its way when its run was dropped.
    pending: Option<Pending>,
    /// What a history brought that no journal has yet.
    pub(crate) unwritten: Vec<JournalRecord>,
    pub(crate) cache: PieceCache,
    /// The pieces of the last request, for the byte at which the next one parts from it.
    pub(crate) last: Option<Segments>,

    // What can be seen from outside at any time.
    pub(crate) messages: Log<Arc<Message>>,
    pub(crate) queued: Vec<Queued>,
    pub(crate) usage: Usage,
    pub(crate) spent: Money,
}

/// Records that were accepted by the journal and not acknowledged yet.
pub(crate) struct Pending {
    pub(crate) records: Vec<JournalRecord>,
    pub(crate) append: BoxFuture<'static, Result<(), JournalError>>,
}

/// The state of a conversation, out of it for as long as this lives.
pub(crate) struct Taken {
    shared: Arc<Shared>,
    state: Option<Box<State>>,
    pending: Option<Pending>,
}

impl Shared {
    pub(super) fn new(state: State, journal: Option<Arc<dyn Journal>>, ids: IdSource) -> Self {
        let mut inner = Inner {
            state: None,
            journal,
            ids,
            pending: None,
            unwritten: Vec::new(),
            cache: PieceCache::new(),
            last: None,
            messages: Log::new(),
            queued: Vec::new(),
            usage: Usage::ZERO,
            spent: Money::ZERO,
        };
        inner.show(&state);
        inner.state = Some(Box::new(state));
        Self { inner: Mutex::new(inner), inbox: Arc::default() }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks at the state; `None` while a run has it.
    pub(super) fn with_state<T>(&self, look: impl FnOnce(&State) -> T) -> Option<T> {
        self.lock().state.as_deref().map(look)
    }

    pub(super) fn is_running(&self) -> bool {
        self.lock().state.is_none()
    }

    pub(super) fn take(self: &Arc<Self>) -> Option<Taken> {
        let mut inner = self.lock();
        let state = inner.state.take()?;
        Some(Taken { shared: self.clone(), state: Some(state), pending: inner.pending.take() })
    }

    pub(crate) fn new_message(&self, timer: &dyn Timer) -> MessageId {
        let now = timer.now_ms();
        self.lock().ids.message(now)
    }
}

impl Inner {
    /// Shows the state as it is now.
    pub(crate) fn show(&mut self, state: &State) {
        if self.messages.len() != state.transcript().messages().len() {
            self.messages = state.transcript().messages().clone();
        }
        (self.usage, self.spent) = (state.usage(), state.spent());
        if self.queued != state.queued() {
            self.queued = state.queued().to_vec();
        }
    }
}

impl Taken {
    pub(super) fn state(&self) -> &State {
        static EMPTY: std::sync::LazyLock<State> = std::sync::LazyLock::new(State::default);
        self.state.as_deref().unwrap_or(&EMPTY)
    }

    /// Waits for what was on its way when an earlier run was dropped.
    pub(crate) async fn settle_pending(&mut self) {
        if let Some(pending) = &mut self.pending {
            let written = pending.append.as_mut().await;
            let records = self.pending.take().map(|pending| pending.records).unwrap_or_default();
            if written.is_ok() {
                self.apply(records);
            }
        }
    }

    /// Writes records, and applies them when they are acknowledged.
    pub(super) async fn write(&mut self, records: Vec<JournalRecord>) -> Result<(), JournalError> {
        let journal = self.shared.lock().journal.clone();
        if let Some(journal) = journal {
            let mut all = mem::take(&mut self.shared.lock().unwritten);
            all.extend(records.iter().cloned());
            let append = contain::append(&*journal, all);
            self.pending = Some(Pending { records, append });
            if let Some(pending) = &mut self.pending {
                let written = pending.append.as_mut().await;
                let records = self.pending.take().map(|pending| pending.records).unwrap_or_default();
                written?;
                self.apply(records);
            }
        } else {
            self.apply(records);
        }
        Ok(())
    }

    fn apply(&mut self, records: Vec<JournalRecord>) {
        for record in records {
            if let Some(state) = &mut self.state {
                // These records were made for this state.
                let applied = state.apply(record);
                debug_assert!(applied.is_ok(), "an accepted record fits: {applied:?}");
            }
        }
    }

    /// The state, for a machine; [`give`](Self::give) brings it back.
    pub(crate) fn lend(&mut self) -> State {
        self.state.take().map(|state| *state).unwrap_or_default()
    }

    /// Takes the state back, with an append that is on its way.
    pub(crate) fn give(&mut self, state: State, pending: Option<Pending>) {
        self.state = Some(Box::new(state));
        self.pending = pending;
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        if let Some(state) = self.state.take() {
            let mut inner = self.shared.lock();
            inner.show(&state);
            inner.state = Some(state);
            inner.pending = self.pending.take();
        }
    }
}
