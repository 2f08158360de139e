//! A turn whose tool calls wait for their results.

use std::sync::Arc;

use super::TranscriptError;
use crate::{AssistantMessage, CallId, Message, ToolCall};

/// An assistant message with calls, and the results that have come in.
///
/// Only a [`Transcript`](crate::Transcript) holds one; it ends when the last call is answered.
///
/// ```
/// use agent_core::{Arguments, AssistantMessage, IdSource, Message, StopReason, ToolCall, Transcript, UserMessage};
/// let mut ids = IdSource::seeded(1);
/// let mut transcript = Transcript::new();
/// transcript.append(Message::from(UserMessage::text(ids.message(0), "What time is it?")))?;
/// let call = ToolCall::new("clock", Arguments::empty());
/// transcript.append(Message::from(AssistantMessage::new(ids.message(0), vec![call.into()], StopReason::ToolUse)))?;
/// let turn = transcript.open_turn().ok_or("the call waits")?;
/// let waiting: Vec<_> = turn.unanswered().filter_map(|id| turn.call(id)).map(|call| call.name.as_str()).collect();
/// assert_eq!(waiting, ["clock"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct OpenTurn {
    answer: Arc<Message>,
    results: Vec<(CallId, Option<Arc<Message>>)>,
}

impl OpenTurn {
    pub(super) fn new(answer: &Arc<Message>) -> Option<Self> {
        let mut turn = Self { answer: answer.clone(), results: Vec::new() };
        turn.results = turn.assistant()?.tool_calls().map(|(id, _)| (id, None)).collect();
        (!turn.results.is_empty()).then_some(turn)
    }

    /// The assistant message that made the calls.
    pub fn assistant(&self) -> Option<&AssistantMessage> {
        if let Message::Assistant(answer) = &*self.answer { Some(answer) } else { None }
    }

    /// The call with this id.
    pub fn call(&self, id: CallId) -> Option<&ToolCall> {
        self.assistant()?.tool_call(id)
    }

    /// The calls without a result, in call order.
    pub fn unanswered(&self) -> impl Iterator<Item = CallId> {
        self.results.iter().filter_map(|(id, result)| result.is_none().then_some(*id))
    }

    /// The results that have come in, in call order.
    pub fn results(&self) -> impl Iterator<Item = &Arc<Message>> {
        self.results.iter().filter_map(|(_, result)| result.as_ref())
    }

    pub(super) fn answer(&mut self, call: CallId, result: Arc<Message>) -> Result<(), TranscriptError> {
        match self.results.iter_mut().find(|(id, _)| *id == call) {
            None => return Err(TranscriptError::NoSuchCall { call }),
            Some((_, Some(_))) => return Err(TranscriptError::AlreadyAnswered { call }),
            Some((_, slot)) => *slot = Some(result),
        }
        Ok(())
    }
}
