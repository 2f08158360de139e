//! A history that cannot be invalid, and what a model is shown of it.
//!
//! A transcript only grows. A turn with tool calls stays open until each call has exactly one
//! result; its results enter the history together, in call order. There is no other way to make a
//! transcript than to append to one or to repair a foreign history into one.

mod log;
mod open_turn;
mod repair;
mod view;

use std::sync::Arc;

pub use self::{
    log::Log,
    open_turn::OpenTurn,
    repair::Repair,
    view::{ContextView, ViewEdit, ViewEntry, ViewError},
};
use crate::id::IdMap;
use crate::{CallId, IdSource, Message, MessageId, message::is_call};

/// An append-only history that every provider accepts.
///
/// Its invariants, after every call: message ids are unique; the first message that a model is
/// shown is not an assistant's; the results of an assistant's calls follow it at once, one for each
/// call, in call order; tool calls stand in assistant messages only.
///
/// A clone is O(1); the first append to one of two clones copies an index of O(messages).
///
/// ```
/// use agent_core::{
///     Arguments, AssistantMessage, ContentBlock, IdSource, Message, StopReason, ToolCall,
///     ToolResultMessage, Transcript, TranscriptError, UserMessage,
/// };
/// let mut ids = IdSource::seeded(1);
/// let mut transcript = Transcript::new();
/// transcript.append(Message::from(UserMessage::text(ids.message(0), "What is 1 + 2?")))?;
///
/// let call = ContentBlock::ToolCall(ToolCall::new("add", Arguments::from_text(r#"{"a":1,"b":2}"#)));
/// let answer = AssistantMessage::new(ids.message(0), vec![call], StopReason::ToolUse);
/// let (call, _) = answer.tool_calls().next().ok_or("no call")?;
/// transcript.append(Message::from(answer))?;
///
/// // The turn is open: nothing but the result can come next.
/// let early = Message::from(UserMessage::text(ids.message(0), "Hello?"));
/// assert!(matches!(transcript.append(early), Err(TranscriptError::OpenTurn { .. })));
/// let result = ToolResultMessage::new(ids.message(0), call, "add", vec!["3".into()]);
/// transcript.append(Message::from(result))?;
/// assert!(transcript.open_turn().is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Transcript {
    messages: Log<Arc<Message>>,
    index: Arc<IdMap<MessageId, usize>>,
    shown: bool,
    open: Option<OpenTurn>,
}

/// Why a message cannot be appended; the transcript is unchanged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TranscriptError {
    /// Calls wait for their results, which have to come first.
    #[error("{} tool calls wait for their results; answer them first", unanswered.len())]
    OpenTurn {
        /// The calls without a result, in call order.
        unanswered: Vec<CallId>,
    },
    /// A result for a call that does not wait for one.
    #[error("no tool call {call} waits for a result")]
    NoSuchCall {
        /// The call that the result names.
        call: CallId,
    },
    /// A second result for a call.
    #[error("the tool call {call} has a result already")]
    AlreadyAnswered {
        /// The call that the result names.
        call: CallId,
    },
    /// A message with the id of an earlier one.
    #[error("the transcript holds a message with the id {id} already")]
    DuplicateId {
        /// The id.
        id: MessageId,
    },
    /// An assistant message before anything that it could answer.
    #[error("a conversation cannot begin with an assistant message; append a user message first")]
    AssistantFirst,
    /// A tool call in a message that is not an assistant's.
    #[error("block {block} of the {role} message {id} is a tool call, which only a model makes")]
    MisplacedCall {
        /// The message.
        id: MessageId,
        /// Its role.
        role: &'static str,
        /// The block, from 0.
        block: usize,
    },
}

impl Transcript {
    /// An empty history.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes a transcript of a foreign or damaged history, with the list of what was changed.
    ///
    /// A history that a transcript wrote comes back unchanged, without repairs, unless its last turn was open: the
    /// calls of that one are answered. New ids are drawn
    /// from `ids` at `now_ms`, milliseconds since the Unix epoch.
    pub fn load(messages: impl IntoIterator<Item = Message>, ids: &mut IdSource, now_ms: u64) -> (Self, Vec<Repair>) {
        repair::load(messages.into_iter().collect(), ids, now_ms)
    }

    /// Appends a message.
    ///
    /// A result is held in the open turn until its siblings are there. Returns the messages that
    /// entered the history by this call: one, none (a result that waits), or all results of the
    /// turn, in call order.
    ///
    /// # Errors
    /// [`TranscriptError`] where the history would become invalid; nothing is changed then.
    pub fn append(&mut self, message: impl Into<Arc<Message>>) -> Result<Vec<Arc<Message>>, TranscriptError> {
        let message = message.into();
        self.check(&message)?;
        let entered = match (&*message, &mut self.open) {
            (Message::ToolResult(result), Some(open)) => {
                open.answer(result.call, message.clone())?;
                if open.unanswered().next().is_some() {
                    return Ok(Vec::new());
                }
                self.open.take().into_iter().flat_map(|open| open.results().cloned().collect::<Vec<_>>()).collect()
            }
            (Message::ToolResult(result), None) => return Err(TranscriptError::NoSuchCall { call: result.call }),
            (_, Some(open)) => return Err(TranscriptError::OpenTurn { unanswered: open.unanswered().collect() }),
            (_, None) => vec![message],
        };
        for message in &entered {
            self.open = OpenTurn::new(message);
            self.shown |= message.is_shown();
            Arc::make_mut(&mut self.index).insert(message.id(), self.messages.len());
            self.messages.push(message.clone());
        }
        Ok(entered)
    }

    fn check(&self, message: &Message) -> Result<(), TranscriptError> {
        let (id, role) = (message.id(), message.role());
        let held = self.open.as_ref().is_some_and(|open| open.results().any(|result| result.id() == id));
        if held || self.index.contains_key(&id) {
            return Err(TranscriptError::DuplicateId { id });
        }
        match message {
            Message::Assistant(_) if !self.shown => Err(TranscriptError::AssistantFirst),
            Message::Assistant(_) => Ok(()),
            other => match other.content().iter().position(is_call) {
                Some(block) => Err(TranscriptError::MisplacedCall { id, role, block }),
                None => Ok(()),
            },
        }
    }

    fn is_shown(&self) -> bool {
        self.shown
    }

    /// The turn that waits for results, if there is one.
    pub fn open_turn(&self) -> Option<&OpenTurn> {
        self.open.as_ref()
    }

    /// The messages, oldest first; the results that an open turn holds are not among them yet.
    pub fn messages(&self) -> &Log<Arc<Message>> {
        &self.messages
    }

    /// The message with this id.
    pub fn message(&self, id: MessageId) -> Option<&Arc<Message>> {
        self.messages.get(*self.index.get(&id)?)
    }
}

/// Two transcripts are equal when they hold equal messages and wait for the same results.
impl PartialEq for Transcript {
    fn eq(&self, other: &Self) -> bool {
        self.messages == other.messages && self.open == other.open
    }
}
