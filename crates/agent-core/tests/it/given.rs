//! Short names for what the tests are made of.
#![expect(clippy::unwrap_used, reason = "a fixture that cannot be made fails the test")]

use agent_core::{
    Arguments, AssistantMessage, CallId, ContentBlock, Message, MessageId, NoteMessage, RawJson, StopReason, ToolCall,
    ToolResultMessage, UserMessage,
};

pub(crate) fn id(n: u128) -> MessageId {
    MessageId::from_bits(n)
}

pub(crate) fn call(message: u128, block: u32) -> CallId {
    CallId::new(id(message), block)
}

pub(crate) fn raw(text: &str) -> RawJson {
    RawJson::parse(text).unwrap()
}

pub(crate) fn user(n: u128) -> Message {
    UserMessage::text(id(n), format!("user {n}")).into()
}

/// An answer of one text block and then this many calls, at the blocks from 1 on.
pub(crate) fn answer(n: u128, calls: u32) -> Message {
    let mut content = vec![ContentBlock::text(format!("answer {n}"))];
    content.extend((0..calls).map(|i| tool_call(&format!("tool{i}"))));
    let reason = if calls == 0 { StopReason::EndTurn } else { StopReason::ToolUse };
    AssistantMessage::new(id(n), content, reason).into()
}

pub(crate) fn tool_call(name: &str) -> ContentBlock {
    ContentBlock::ToolCall(ToolCall::new(name, Arguments::empty()))
}

pub(crate) fn result(n: u128, of: CallId) -> Message {
    ToolResultMessage::new(id(n), of, "tool", vec![format!("result {n}").into()]).into()
}

/// A note; without content the model is not shown it.
pub(crate) fn note(n: u128, content: &[&str]) -> Message {
    NoteMessage::new(id(n), "test").content(content.iter().map(|&t| t.into()).collect()).into()
}
