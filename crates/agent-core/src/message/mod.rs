//! Messages, the blocks they are made of, and what a model's answer cost.
//!
//! The serde form is the persistence format (camelCase, tagged, version 0): it is never sent to a
//! provider, whose wire has types of its own.

mod arguments;
mod block;
mod origin;
mod stop_reason;
mod usage;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser::SerializeMap};
use serde_json::value::RawValue;

pub use self::{
    arguments::{ArgumentFault, Arguments},
    block::{ContentBlock, DocumentBlock, ImageBlock, MediaSource, OpaqueBlock, TextBlock, ThinkingBlock, ToolCall},
    origin::Origin,
    stop_reason::StopReason,
    usage::Usage,
};
use crate::{
    id::{CallId, MessageId},
    json::{Extra, Fields, JsonError, RawJson, persisted},
};

persisted! {
    /// What a user said.
    pub struct UserMessage as "user message" {
        /// Names the message.
        required id: MessageId = "id",
        /// Text, images and documents.
        required content: Vec<ContentBlock> = "content",
        /// When it was made, in milliseconds since the Unix epoch.
        optional timestamp_ms: u64 = "timestampMs",
    }
}

persisted! {
    /// What a model answered.
    pub struct AssistantMessage as "assistant message" {
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
}

persisted! {
    /// What a tool answered.
    pub struct ToolResultMessage as "tool result" {
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
}

persisted! {
    /// Something that neither the user nor the model said: a nudge of the loop, a summary, an entry
    /// of the application.
    ///
    /// A note with content is shown to the model in the place of a user message; one without is not
    /// shown at all.
    pub struct NoteMessage as "note" {
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

/// One entry of a conversation.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Message {
    /// What a user said.
    User(UserMessage),
    /// What a model answered.
    Assistant(AssistantMessage),
    /// What a tool answered.
    ToolResult(ToolResultMessage),
    /// A note.
    Note(NoteMessage),
}

impl Message {
    /// Names the message.
    pub fn id(&self) -> MessageId {
        match self {
            Self::User(m) => m.id,
            Self::Assistant(m) => m.id,
            Self::ToolResult(m) => m.id,
            Self::Note(m) => m.id,
        }
    }

    /// The blocks of the message.
    pub fn content(&self) -> &[ContentBlock] {
        match self {
            Self::User(m) => &m.content,
            Self::Assistant(m) => &m.content,
            Self::ToolResult(m) => &m.content,
            Self::Note(m) => &m.content,
        }
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
        match self {
            Self::User(m) => m.id = id,
            Self::Assistant(m) => m.id = id,
            Self::ToolResult(m) => m.id = id,
            Self::Note(m) => m.id = id,
        }
    }

    fn from_raw(raw: &RawValue) -> Result<Self, JsonError> {
        let mut fields = Fields::parse("message", raw)?;
        let role: String = fields.required("role")?;
        Ok(match role.as_str() {
            "user" => Self::User(UserMessage::read(fields)?),
            "assistant" => Self::Assistant(AssistantMessage::read(fields)?),
            "toolResult" => Self::ToolResult(ToolResultMessage::read(fields)?),
            "note" => Self::Note(NoteMessage::read(fields)?),
            _ => return Err(JsonError::UnknownRole { role }),
        })
    }
}

impl UserMessage {
    /// A message of these blocks.
    pub fn new(id: MessageId, content: Vec<ContentBlock>) -> Self {
        Self { id, content, timestamp_ms: 0, extra: Extra::default() }
    }

    /// A message of one text block.
    pub fn text(id: MessageId, text: impl Into<String>) -> Self {
        Self::new(id, vec![ContentBlock::text(text)])
    }
}

impl AssistantMessage {
    /// An answer of these blocks.
    pub fn new(id: MessageId, content: Vec<ContentBlock>, stop_reason: StopReason) -> Self {
        Self {
            id,
            content,
            stop_reason,
            origin: Origin::default(),
            usage: Usage::ZERO,
            response_id: None,
            error: None,
            timestamp_ms: 0,
            extra: Extra::default(),
        }
    }

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
    /// The answer to a call.
    pub fn new(id: MessageId, call: CallId, tool_name: impl Into<String>, content: Vec<ContentBlock>) -> Self {
        Self {
            id,
            call,
            tool_name: tool_name.into(),
            content,
            is_error: false,
            details: None,
            timestamp_ms: 0,
            extra: Extra::default(),
        }
    }

    /// The answer to a call that failed or never ran.
    pub fn error(id: MessageId, call: CallId, tool_name: impl Into<String>, text: impl Into<String>) -> Self {
        let mut result = Self::new(id, call, tool_name, vec![ContentBlock::text(text)]);
        result.is_error = true;
        result
    }
}

impl NoteMessage {
    /// A note of a kind, which models are not shown until it has content.
    pub fn new(id: MessageId, kind: impl Into<String>) -> Self {
        Self { id, kind: kind.into(), content: Vec::new(), data: None, timestamp_ms: 0, extra: Extra::default() }
    }

    /// Sets what the model is shown.
    #[must_use]
    pub fn content(mut self, content: Vec<ContentBlock>) -> Self {
        self.content = content;
        self
    }
}

macro_rules! message_from {
    ($($variant:ident($type:ty)),*) => {$(
        impl From<$type> for Message {
            fn from(message: $type) -> Self {
                Self::$variant(message)
            }
        }
    )*};
}
message_from!(User(UserMessage), Assistant(AssistantMessage), ToolResult(ToolResultMessage), Note(NoteMessage));

impl Serialize for Message {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("role", self.role())?;
        match self {
            Self::User(m) => m.write(&mut map)?,
            Self::Assistant(m) => m.write(&mut map)?,
            Self::ToolResult(m) => m.write(&mut map)?,
            Self::Note(m) => m.write(&mut map)?,
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Message {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Self::from_raw(&raw).map_err(de::Error::custom)
    }
}

pub(crate) fn is_call(block: &ContentBlock) -> bool {
    matches!(block, ContentBlock::ToolCall(_))
}
