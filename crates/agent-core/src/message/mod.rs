//! Messages, the blocks they are made of, and what a model's answer cost.
//!
//! The serde form is the persistence format (camelCase, tagged, version 0): it is never sent to a
//! provider, whose wire has types of its own.

mod arguments;
mod block;
mod stop_reason;
mod usage;

use serde::{Deserialize, Deserializer, Serialize, Serializer, ser::SerializeMap};
use serde_json::value::RawValue;

pub use self::{
    arguments::{ArgumentFault, Arguments},
    block::{
        ContentBlock, DocumentBlock, ImageBlock, MediaSource, OpaqueBlock, Origin, TextBlock, ThinkingBlock, ToolCall,
    },
    stop_reason::StopReason,
    usage::Usage,
};
use crate::{
    CallId, JsonError, MessageId, RawJson,
    json::{Fields, tagged},
    macros::setters,
};

tagged! {
    /// One entry of a conversation.
    ///
    /// ```
    /// use agent_core::{IdSource, Message, UserMessage};
    /// let message = Message::from(UserMessage::text(IdSource::seeded(1).message(0), "Hello"));
    /// assert_eq!((message.role(), message.text().as_str()), ("user", "Hello"));
    /// ```
    pub enum Message as "message" by "role" {}

    /// What a user said.
    User = "user": pub struct UserMessage as "user message" {
        /// A message of these blocks.
        new(id: MessageId, content: Vec<ContentBlock>);
        /// Names the message.
        required id: MessageId = "id",
        /// Text, images and documents.
        required content: Vec<ContentBlock> = "content",
        /// When it was made, in milliseconds since the Unix epoch.
        optional timestamp_ms: u64 = "timestampMs",
    }

    /// What a model answered.
    Assistant = "assistant": pub struct AssistantMessage as "assistant message" {
        /// An answer of these blocks.
        new(id: MessageId, content: Vec<ContentBlock>, stop_reason: StopReason);
        /// Names the message.
        required id: MessageId = "id",
        /// The blocks in the order in which the model made them; may be empty.
        required content: Vec<ContentBlock> = "content",
        /// Why the answer ended.
        required stop_reason: StopReason = "stopReason",
        /// Who answered.
        optional origin: Origin = "origin",
        /// What the call cost, in tokens.
        optional usage: Usage = "usage",
        /// The vendor's id of the response.
        optional response_id: Option<String> = "responseId",
        /// What went wrong, or why the model refused, in words.
        optional error: Option<String> = "error",
        /// When it was made, in milliseconds since the Unix epoch.
        optional timestamp_ms: u64 = "timestampMs",
    }

    /// What a tool answered.
    ToolResult = "toolResult": pub struct ToolResultMessage as "tool result" {
        /// The answer to a call.
        new(id: MessageId, call: CallId, tool_name: impl Into<String>, content: Vec<ContentBlock>);
        /// Names the message.
        required id: MessageId = "id",
        /// The call that this answers.
        required call: CallId = "call",
        /// The tool.
        required tool_name: String = "toolName",
        /// What the model is shown.
        required content: Vec<ContentBlock> = "content",
        /// Whether the tool failed.
        optional is_error: bool = "isError",
        /// For the application only; never shown to a model.
        optional details: Option<RawJson> = "details",
        /// When it was made, in milliseconds since the Unix epoch.
        optional timestamp_ms: u64 = "timestampMs",
    }

    /// Something that neither the user nor the model said: a nudge of the loop, a summary, an entry
    /// of the application.
    ///
    /// A note with content is shown to the model in the place of a user message; one without is not
    /// shown at all.
    Note = "note": pub struct NoteMessage as "note" {
        /// A note of a kind, which models are not shown until it has content.
        new(id: MessageId, kind: impl Into<String>);
        /// Names the message.
        required id: MessageId = "id",
        /// What kind of note, for example `summary`.
        required kind: String = "kind",
        /// What the model is shown, if anything.
        optional content: Vec<ContentBlock> = "content",
        /// For the application only.
        optional data: Option<RawJson> = "data",
        /// When it was made, in milliseconds since the Unix epoch.
        optional timestamp_ms: u64 = "timestampMs",
    }
}

/// The same of a message of any role.
macro_rules! each {
    ($message:expr, $m:ident => $value:expr) => {
        match $message {
            Message::User($m) => $value,
            Message::Assistant($m) => $value,
            Message::ToolResult($m) => $value,
            Message::Note($m) => $value,
        }
    };
}

impl Message {
    /// Names the message.
    pub fn id(&self) -> MessageId {
        each!(self, m => m.id)
    }

    /// The blocks of the message.
    pub fn content(&self) -> &[ContentBlock] {
        each!(self, m => &m.content)
    }

    /// The text blocks, joined with line feeds.
    pub fn text(&self) -> String {
        let texts: Vec<_> = self.content().iter().filter_map(ContentBlock::as_text).collect();
        texts.join("\n")
    }

    /// The role in files: `user`, `assistant`, `toolResult` or `note`.
    pub fn role(&self) -> &'static str {
        match self {
            Self::User(_) => "user",
            Self::Assistant(_) => "assistant",
            Self::ToolResult(_) => "toolResult",
            Self::Note(_) => "note",
        }
    }

    /// Whether a model is shown the message: everything but notes without content.
    pub fn is_shown(&self) -> bool {
        !matches!(self, Self::Note(note) if note.content.is_empty())
    }

    pub(crate) fn set_id(&mut self, id: MessageId) {
        each!(self, m => m.id = id)
    }

    fn unknown(role: String, _: Fields<'_>, _: &RawValue) -> Result<Self, JsonError> {
        Err(JsonError::UnknownRole { role })
    }
}

impl UserMessage {
    /// A message of one text block.
    pub fn text(id: MessageId, text: impl Into<String>) -> Self {
        Self::new(id, vec![ContentBlock::text(text)])
    }
}

impl AssistantMessage {
    /// The tool calls in order, each with its id.
    pub fn tool_calls(&self) -> impl Iterator<Item = (CallId, &ToolCall)> {
        (0u32..).zip(&self.content).filter_map(|(index, block)| match block {
            ContentBlock::ToolCall(call) => Some((CallId::new(self.id, index), call)),
            _ => None,
        })
    }

    /// The tool call with this id, if it is one of this message's.
    pub fn tool_call(&self, id: CallId) -> Option<&ToolCall> {
        let block = self.content.get(usize::try_from(id.block()).ok()?)?;
        match block {
            ContentBlock::ToolCall(call) if id.message() == self.id => Some(call),
            _ => None,
        }
    }
}

impl ToolResultMessage {
    /// The answer to a call that failed or never ran.
    pub fn error(id: MessageId, call: CallId, tool_name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { is_error: true, ..Self::new(id, call, tool_name, vec![ContentBlock::text(text)]) }
    }
}

setters!(NoteMessage {
    /// Sets what the model is shown.
    content(content: Vec<ContentBlock>) => content = content;
});

pub(crate) fn is_call(block: &ContentBlock) -> bool {
    matches!(block, ContentBlock::ToolCall(_))
}
