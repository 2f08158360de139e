//! A turn whose tool calls wait for their results.

use std::sync::Arc;

use super::TranscriptError;
use crate::{AssistantMessage, CallId, Message, ToolCall};

/// An assistant message with calls, and the results that have come in.
///
/// Only a [`Transcript`](crate::Transcript) holds one; it ends when the last call is answered.
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
