//! What lasts between prompts.

mod handle;
mod inbox;
mod recovery;
mod shared;

use std::{fmt, sync::Arc};

use agent_core::{
    ApprovalAnswer, CallId, IdSource, Journal, JournalError, JournalRecord, Log, Message, Money, RecordBody, Repair,
    RunEnding, Transcript, Usage, UserMessage,
};

pub use self::{
    handle::{QueueFull, RunHandle},
    recovery::{Interrupted, LostCall, Recourse, Recovery},
};
pub(crate) use self::{
    inbox::Inbox,
    shared::{Pending, Shared, Taken},
};
use crate::{Agent, Begin, Queued, Run, State, StateError, run::Driver};

/// A conversation: its history, its queues, what it cost, and where all that is kept. A clone is the same conversation.
///
/// One run at a time; the way in for everybody else is [`handle`](Self::handle).
#[derive(Clone)]
pub struct Conversation {
    agent: Agent,
    shared: Arc<Shared>,
}

/// A run of the conversation is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a run of this conversation is on; wait for it, steer it, or cancel it")]
#[non_exhaustive]
pub struct Busy;

/// Why a conversation cannot be taken up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The journal cannot be read.
    #[error("the conversation cannot be read")]
    Journal(#[from] JournalError),
    /// The journal holds a record that does not follow from the ones before.
    #[error("the conversation is damaged; open a copy of its journal that ends before the record")]
    State(#[from] StateError),
}

/// Why a run cannot be resumed, or an approval not answered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResumeError {
    /// A run is on.
    #[error(transparent)]
    Busy(#[from] Busy),
    /// The last run has ended.
    #[error("there is no run to resume; the last one has ended")]
    NothingToResume,
    /// Nobody is asked about this call.
    #[error("the call {call} waits for no answer; it was answered, skipped, or has expired")]
    NotAsked {
        /// The call.
        call: CallId,
    },
    /// The answer cannot be written.
    #[error("the answer cannot be written")]
    Journal(#[from] JournalError),
}

/// What a run begins with: a text, a message, or several.
#[derive(Debug, Clone)]
pub struct Prompt(PromptOf);

#[derive(Debug, Clone)]
enum PromptOf {
    Text(String),
    Messages(Vec<Message>),
}

impl From<&str> for Prompt {
    fn from(text: &str) -> Self {
        Self(PromptOf::Text(text.to_owned()))
    }
}

impl From<String> for Prompt {
    fn from(text: String) -> Self {
        Self(PromptOf::Text(text))
    }
}

impl From<Message> for Prompt {
    fn from(message: Message) -> Self {
        Self(PromptOf::Messages(vec![message]))
    }
}

impl From<Vec<Message>> for Prompt {
    fn from(messages: Vec<Message>) -> Self {
        Self(PromptOf::Messages(messages))
    }
}

impl Conversation {
    /// An empty conversation that is kept in memory only.
    pub fn new(agent: &Agent) -> Self {
        Self::with(agent, State::default(), None, IdSource::from_hash_keys())
    }

    /// A conversation that goes on from a foreign history, with what had to be repaired in it. Kept in memory, unless
    /// a [`journal`](Self::journal) is given.
    pub fn from_messages(agent: &Agent, messages: impl IntoIterator<Item = Message>) -> (Self, Vec<Repair>) {
        let mut ids = IdSource::from_hash_keys();
        let (transcript, repairs) = Transcript::load(messages, &mut ids, agent.0.timer.now_ms());
        let (mut state, mut unwritten) = (State::default(), Vec::new());
        let started = JournalRecord::conversation(RecordBody::ConversationStarted { version: crate::state::VERSION });
        let messages = transcript.messages().iter().map(|message| Message::clone(message));
        let appended = messages.map(|message| JournalRecord::conversation(RecordBody::MessageAppended(message)));
        for record in std::iter::once(started).chain(appended) {
            unwritten.push(record.clone());
            // The transcript has just accepted the same messages in the same order.
            let applied = state.apply(record);
            debug_assert!(applied.is_ok(), "a repaired history fits: {applied:?}");
        }
        let conversation = Self::with(agent, state, None, ids);
        conversation.shared.lock().unwritten = unwritten;
        (conversation, repairs)
    }

    /// A conversation as its journal has it. What a crash left open is settled when the next run begins. Dropping the
    /// future leaves the journal as it was.
    ///
    /// # Errors
    /// [`OpenError`] where the journal cannot be read or is damaged.
    pub async fn from_journal(agent: &Agent, journal: Arc<dyn Journal>) -> Result<Self, OpenError> {
        let branch = journal.load().await?;
        let state = State::replay(branch.records())?;
        Ok(Self::with(agent, state, Some(journal), IdSource::from_hash_keys()))
    }

    fn with(agent: &Agent, state: State, journal: Option<Arc<dyn Journal>>, ids: IdSource) -> Self {
        Self { agent: agent.clone(), shared: Arc::new(Shared::new(state, journal, ids)) }
    }

    /// Keeps the conversation in a journal from now on. Meant for a new conversation: of an old one the journal gets
    /// what [`from_messages`](Self::from_messages) brought, not what runs did since.
    #[must_use]
    pub fn journal(self, journal: Arc<dyn Journal>) -> Self {
        self.shared.lock().journal = Some(journal);
        self
    }

    /// Draws ids from this seed: for tests, whose ids are to be the same each time.
    #[must_use]
    pub fn seeded(self, seed: u64) -> Self {
        self.shared.lock().ids = IdSource::seeded(seed);
        self
    }

    /// A conversation that begins where this one is, with the same history and nothing of its runs; kept in memory only.
    /// A run that is on is not in it, beyond what it had acknowledged.
    ///
    /// # Errors
    /// [`Busy`] while a turn of a run is open.
    pub fn fork(&self) -> Result<Self, Busy> {
        let state = self.shared.with_state(Clone::clone).ok_or(Busy)?;
        Ok(Self::with(&self.agent, state, None, IdSource::from_hash_keys()))
    }

    /// The agent.
    pub fn agent(&self) -> &Agent {
        &self.agent
    }

    /// The same conversation with another agent, from the next run on: another model, other tools.
    #[must_use]
    pub fn with_agent(&self, agent: &Agent) -> Self {
        Self { agent: agent.clone(), shared: self.shared.clone() }
    }

    /// The history as of now, also during a run. O(1).
    pub fn messages(&self) -> Log<Arc<Message>> {
        self.shared.lock().messages.clone()
    }

    /// The state, while no run is on.
    ///
    /// # Errors
    /// [`Busy`] while one is.
    pub fn state(&self) -> Result<State, Busy> {
        self.shared.with_state(Clone::clone).ok_or(Busy)
    }

    /// What waits in the queues, also during a run.
    pub fn queued(&self) -> Vec<Queued> {
        self.shared.lock().queued.clone()
    }

    /// The tokens of all calls so far.
    pub fn usage(&self) -> Usage {
        self.shared.lock().usage
    }

    /// What all calls so far count for, with calls whose end was lost at their worst case: what a budget is opened
    /// with.
    pub fn spent(&self) -> Money {
        self.shared.lock().spent
    }

    /// The way in from elsewhere.
    pub fn handle(&self) -> RunHandle {
        RunHandle::new(self.shared.clone(), self.agent.0.timer.clone())
    }

    /// Begins a run with a prompt. What an earlier run left open is settled first; nothing happens before the run is
    /// polled. Dropping the run ends it; what it had begun is settled by the next one.
    ///
    /// # Errors
    /// [`Busy`] while a run is on.
    pub fn run(&self, prompt: impl Into<Prompt>) -> Result<Run, Busy> {
        let messages = match prompt.into().0 {
            PromptOf::Text(text) => vec![UserMessage::text(self.shared.new_message(&*self.agent.0.timer), text).into()],
            PromptOf::Messages(messages) => messages,
        };
        self.begin(Begin::Prompt(messages))
    }

    /// Goes on with a run that was paused, dropped, or cut off by a crash: nothing that was settled runs again.
    ///
    /// # Errors
    /// [`ResumeError`] while a run is on, and where none is left.
    pub fn resume(&self) -> Result<Run, ResumeError> {
        match self.shared.with_state(State::is_unfinished) {
            None => Err(Busy.into()),
            Some(false) => Err(ResumeError::NothingToResume),
            Some(true) => Ok(self.begin(Begin::Resume)?),
        }
    }

    fn begin(&self, begin: Begin) -> Result<Run, Busy> {
        let taken = self.shared.take().ok_or(Busy)?;
        Ok(Run::new(Driver::new(self.agent.clone(), self.shared.clone(), taken, begin, None)))
    }

    /// Answers an approval, whether a run waits for it or not. Where none does, the answer is in the journal when the
    /// future resolves, and [`resume`](Self::resume) acts on it; dropping the future does not take it back.
    ///
    /// # Errors
    /// [`ResumeError::NotAsked`] where nobody is asked about the call, [`ResumeError::Journal`] where it cannot be
    /// written.
    pub async fn answer(&self, call: CallId, answer: ApprovalAnswer) -> Result<(), ResumeError> {
        let Some(mut taken) = self.shared.take() else {
            return self.handle().answer(call, answer).map_err(|_| ResumeError::Busy(Busy));
        };
        taken.settle_pending().await;
        let now_ms = self.agent.0.timer.now_ms();
        let waits = taken.state().approvals.get(call).is_some_and(|asked| asked.is_open(now_ms));
        if !waits {
            return Err(ResumeError::NotAsked { call });
        }
        let run = taken.state().run().map(|run| run.id);
        let mut record = JournalRecord::conversation(RecordBody::ApprovalGiven { call, answer });
        record.run = run;
        taken.write(vec![record]).await?;
        Ok(())
    }

    /// How the last run ended; `None` while one is on, and before the first.
    pub fn last_ending(&self) -> Option<RunEnding> {
        self.shared.with_state(|state| state.run().and_then(|run| run.ending.clone())).flatten()
    }
}

impl fmt::Debug for Conversation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (messages, busy) = (self.messages().len(), self.shared.with_state(|_| ()).is_none());
        f.debug_struct("Conversation").field("messages", &messages).field("busy", &busy).finish_non_exhaustive()
    }
}
