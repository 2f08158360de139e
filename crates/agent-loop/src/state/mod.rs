//! What a conversation is: the fold of its records, and nothing else.

mod apply;
mod queue;
mod run;

use std::{
    collections::{BTreeMap, HashSet},
    sync::Arc,
};

use agent_core::{
    ApprovalAnswer, AssistantMessage, CallId, CallIntent, CallStart, Chain, ContentBlock, ContextView, JournalRecord,
    Money, OpenTurn, ToolCall, ToolIntent, Transcript, TranscriptError, Usage, ViewError,
};

pub use self::{
    apply::Entered,
    queue::{Queue, Queued},
    run::RunProgress,
};
pub(crate) use self::{apply::VERSION, queue::kind, run::is_empty_answer};

/// The state of a conversation. It changes by [`apply`](Self::apply) only: live after a record is acknowledged, and on
/// resume. A clone is cheap, and the first append to one of two clones costs O(messages).
///
/// ```
/// use agent_core::{IdSource, JournalRecord, Message, RecordBody, UserMessage};
/// use agent_loop::State;
/// let mut ids = IdSource::seeded(1);
/// let message: Message = UserMessage::text(ids.message(0), "Hello").into();
/// let mut state = State::default();
/// state.apply(JournalRecord::new(ids.run(0), RecordBody::RunStarted))?;
/// state.apply(JournalRecord::conversation(RecordBody::MessageAppended(message)))?;
/// assert_eq!(state.transcript().messages().len(), 1);
/// assert!(state.is_unfinished());
/// # Ok::<(), agent_loop::StateError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct State {
    pub(crate) transcript: Transcript,
    pub(crate) view: ContextView,
    /// The chain and the usage of the last call that was answered.
    pub(crate) last: Option<LastCall>,
    /// A call that was started and not settled.
    pub(crate) open_call: Option<Box<CallStart>>,
    /// Tools that were intended and not settled.
    pub(crate) intents: BTreeMap<CallId, Box<ToolIntent>>,
    /// Calls that somebody was asked about and that did not begin.
    pub(crate) approvals: BTreeMap<CallId, Box<Asked>>,
    pub(crate) queue: Vec<Queued>,
    pub(crate) run: Option<RunProgress>,
    pub(crate) begun: bool,
    /// The ids that vendors gave to the calls of the history.
    vendor_ids: Arc<HashSet<String>>,
    usage: Usage,
    settled: Money,
    unpriced: bool,
}

/// The last call that was answered.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct LastCall {
    /// Of its request, where the provider shows it.
    pub(crate) chain: Option<Chain>,
    pub(crate) usage: Usage,
    /// How many bytes of content the history gained since.
    pub(crate) bytes_since: u64,
}

/// A call that waits for somebody, or for its turn after an answer.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Asked {
    /// The call as it was decided.
    pub intent: CallIntent,
    /// The answer; `None` while nobody gave one.
    pub answer: Option<ApprovalAnswer>,
    /// Whether the time for an answer is over.
    pub expired: bool,
}

impl Asked {
    /// Whether an answer at this time counts: the first one within the time for it does.
    pub(crate) fn is_open(&self, now_ms: u64) -> bool {
        self.answer.is_none() && !self.expired && self.intent.expires_ms.is_none_or(|at| now_ms < at)
    }
}

/// A record that does not follow from the ones before it: a damaged journal, or one of another program.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// The history cannot take a message.
    #[error("the record `{kind}` does not fit the history")]
    Transcript {
        /// The kind of the record.
        kind: &'static str,
        /// The cause.
        source: TranscriptError,
    },
    /// What the model is shown cannot be changed so.
    #[error("the record `{kind}` does not fit what the model is shown")]
    View {
        /// The kind of the record.
        kind: &'static str,
        /// The cause.
        source: ViewError,
    },
    /// A settle, an answer or a take without what it belongs to.
    #[error("the record `{kind}` belongs to {what}, which was never begun")]
    Unmatched {
        /// The kind of the record.
        kind: &'static str,
        /// What it names.
        what: String,
    },
    /// A format that this version cannot read.
    #[error("the journal has format version {found}, and this version reads up to {known}; use a newer Mainspring")]
    Version {
        /// The version that was found.
        found: u32,
        /// The newest that is known.
        known: u32,
    },
}

impl State {
    /// The state after these records.
    ///
    /// # Errors
    /// [`StateError`] at the first record that does not follow from the ones before.
    pub fn replay<'a>(records: impl IntoIterator<Item = &'a JournalRecord>) -> Result<Self, StateError> {
        let mut state = Self::default();
        for record in records {
            state.apply(record.clone())?;
        }
        Ok(state)
    }

    /// The history.
    pub fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    /// What the model is shown of it.
    pub fn view(&self) -> &ContextView {
        &self.view
    }

    /// What waits in the queues, oldest first.
    pub fn queued(&self) -> &[Queued] {
        &self.queue
    }

    /// The calls that wait for somebody's agreement.
    pub fn pending_approvals(&self) -> impl Iterator<Item = &CallIntent> {
        self.approvals.values().filter(|asked| asked.answer.is_none() && !asked.expired).map(|asked| &asked.intent)
    }

    /// The tokens of all calls of the conversation.
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// What all calls count for; one that was sent and never settled counts with what was reserved for it.
    pub fn spent(&self) -> Money {
        let open = self.open_call.as_ref().and_then(|call| call.reserved);
        self.settled.plus(open.unwrap_or_default())
    }

    /// Whether a call was made whose price is not known, so that [`spent`](Self::spent) is too low.
    pub fn is_unpriced(&self) -> bool {
        self.unpriced
    }

    /// The run that is on, or was last.
    pub fn run(&self) -> Option<&RunProgress> {
        self.run.as_ref()
    }

    /// Whether the last run did not end, or waits for answers.
    pub fn is_unfinished(&self) -> bool {
        self.run.as_ref().is_some_and(RunProgress::is_unfinished)
    }

    /// Takes the vendor's ids of calls away that the history has already, as of a server that counts anew in each
    /// answer: a wire makes one of our own id then. With two of them every later request would be refused.
    pub(crate) fn make_unique(&self, answer: &mut AssistantMessage) {
        for block in &mut answer.content {
            if let ContentBlock::ToolCall(call) = block {
                call.vendor_id.take_if(|id| self.vendor_ids.contains(id));
            }
        }
    }

    pub(crate) fn open_turn(&self) -> Option<&OpenTurn> {
        self.transcript.open_turn()
    }

    pub(crate) fn call(&self, id: CallId) -> Option<&ToolCall> {
        self.open_turn()?.call(id)
    }
}
