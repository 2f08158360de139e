//! A turn whose tool calls wait for their results.

use std::sync::Arc;

use super::TranscriptError;
use crate::{
    id::{CallId, MessageId},
    message::{AssistantMessage, Message, ToolCall},
};

/// An assistant message with calls, and the results that have come in.
///
/// Only a [`Transcript`](crate::Transcript) holds one; it ends when the last call is answered.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenTurn {
    answer: Arc<Message>,
    results: Vec<(CallId, Option<Arc<Message>>)>,
}

impl OpenTurn {
    pub(super) fn new(message: &Arc<Message>) -> Option<Self> {
        let Message::Assistant(answer) = &**message else { return None };
        let results = answer.tool_calls().map(|(id, _)| (id, None)).collect();
        Some(Self { answer: message.clone(), results })
    }

    /// The assistant message that made the calls.
    pub fn assistant(&self) -> Option<&AssistantMessage> {
        match &*self.answer {
            Message::Assistant(answer) => Some(answer),
            _ => None,
        }
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

    pub(super) fn holds(&self, id: MessageId) -> bool {
        self.results().any(|result| result.id() == id)
    }

    pub(super) fn is_answered(&self) -> bool {
        self.unanswered().next().is_none()
    }

    pub(super) fn answer(&mut self, message: Arc<Message>) -> Result<(), TranscriptError> {
        let Message::ToolResult(result) = &*message else { return Ok(()) };
        let call = result.call;
        match self.results.iter_mut().find(|(id, _)| *id == call) {
            None => Err(TranscriptError::NoSuchCall { call }),
            Some((_, Some(_))) => Err(TranscriptError::AlreadyAnswered { call }),
            Some((_, slot)) => {
                *slot = Some(message);
                Ok(())
            }
        }
    }

    pub(super) fn into_results(self) -> Vec<Arc<Message>> {
        self.results.into_iter().filter_map(|(_, result)| result).collect()
    }
}
