//! Messages of pi as messages of ours.

use std::collections::HashMap;

use agent_core::{
    Arguments, AssistantMessage, CallId, ContentBlock, ImageBlock, MediaSource, Message, MessageId, NoteMessage,
    Origin, RawJson, StopReason, ThinkingBlock, ToolCall, ToolResultMessage, Usage, UserMessage,
};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::exchange::Losses;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct MessageIn {
    role: String,
    #[serde(default)]
    content: Option<Box<RawValue>>,
    #[serde(default)]
    api: String,
    #[serde(default)]
    provider: String,
    #[serde(default)]
    model: String,
    #[serde(default)]
    usage: Option<UsageIn>,
    #[serde(default)]
    stop_reason: Option<String>,
    #[serde(default)]
    error_message: Option<String>,
    #[serde(default)]
    tool_call_id: Option<String>,
    #[serde(default)]
    tool_name: Option<String>,
    #[serde(default)]
    is_error: Option<bool>,
    #[serde(default)]
    details: Option<Box<RawValue>>,
    #[serde(default)]
    command: Option<String>,
    #[serde(default)]
    output: Option<String>,
    #[serde(default)]
    exclude_from_context: Option<bool>,
    #[serde(default)]
    custom_type: Option<String>,
    #[serde(default)]
    summary: Option<String>,
    #[serde(default)]
    timestamp: Option<f64>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct BlockIn {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    thinking: Option<String>,
    #[serde(default)]
    thinking_signature: Option<String>,
    #[serde(default)]
    data: Option<String>,
    #[serde(default)]
    mime_type: Option<String>,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    arguments: Option<Box<RawValue>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
struct UsageIn {
    input: f64,
    output: f64,
    cache_read: f64,
    cache_write: f64,
    cost: Option<Box<RawValue>>,
}

/// Reads messages; knows the calls of the file by the ids that pi has for them.
#[derive(Debug, Default)]
pub(super) struct Messages {
    calls: HashMap<String, (CallId, String)>,
    /// How many answers had a price, which is no part of a message here.
    pub(super) priced: usize,
    pub(super) losses: Losses,
}

impl Messages {
    /// A message, unless there is nothing of it to keep.
    pub(super) fn read(&mut self, line: usize, id: MessageId, ms: u64, raw: &RawValue) -> Option<Message> {
        let message: MessageIn = match serde_json::from_str(raw.get()) {
            Ok(message) => message,
            Err(error) => {
                self.losses.line(line, format!("a message that cannot be read: {error}"));
                return None;
            }
        };
        let ms = message.timestamp.map(whole).filter(|ms| *ms > 0).unwrap_or(ms);
        match message.role.as_str() {
            "user" => {
                let mut user = UserMessage::new(id, self.content(line, message.content.as_deref()));
                user.timestamp_ms = ms;
                Some(user.into())
            }
            "assistant" => Some(self.assistant(line, id, ms, message)),
            "toolResult" => self.result(line, id, ms, message),
            "bashExecution" => {
                let text = format!(
                    "The user ran `{}`:\n{}",
                    message.command.unwrap_or_default(),
                    message.output.unwrap_or_default()
                );
                let shown = message.exclude_from_context != Some(true);
                Some(note(id, ms, "pi.bashExecution", if shown { vec![text.into()] } else { Vec::new() }, Some(raw)))
            }
            "custom" | "hookMessage" => {
                let kind = format!("pi.{}", message.custom_type.as_deref().unwrap_or("custom"));
                Some(note(id, ms, &kind, self.content(line, message.content.as_deref()), None))
            }
            "branchSummary" | "compactionSummary" => {
                Some(note(id, ms, "summary", vec![message.summary.unwrap_or_default().into()], None))
            }
            other => {
                self.losses.line(line, format!("a message of the role `{other}`"));
                None
            }
        }
    }

    fn assistant(&mut self, line: usize, id: MessageId, ms: u64, message: MessageIn) -> Message {
        let origin = Origin::new(message.api, message.provider, message.model);
        let mut content = Vec::new();
        for block in self.blocks(line, message.content.as_deref()) {
            match (block.kind.as_str(), block.name) {
                ("thinking", _) => {
                    let mut thinking = ThinkingBlock::new(block.thinking.unwrap_or_default());
                    match block.thinking_signature {
                        Some(signature) if origin.protocol == "anthropic-messages" => {
                            thinking = thinking.signature(signature);
                        }
                        Some(_) => self.losses.line(line, format!("the signature of reasoning of {}", origin.protocol)),
                        None => {}
                    }
                    content.push(ContentBlock::Thinking(thinking.origin(origin.clone())));
                }
                ("toolCall", Some(name)) => {
                    let arguments = block.arguments.map_or_else(String::new, |arguments| arguments.get().to_owned());
                    let mut call = ToolCall::new(&name, Arguments::from_text(arguments));
                    if let Some(vendor) = block.id {
                        let at = content.len().try_into().unwrap_or(u32::MAX);
                        self.calls.insert(vendor.clone(), (CallId::new(id, at), name));
                        call = call.vendor_id(vendor);
                    }
                    content.push(ContentBlock::ToolCall(call));
                }
                _ => content.extend(self.block(line, BlockIn { name: None, ..block })),
            }
        }
        let stop = match message.stop_reason.as_deref() {
            None | Some("stop") => StopReason::EndTurn,
            Some("length") => StopReason::MaxTokens,
            Some("toolUse") => StopReason::ToolUse,
            Some("error") => StopReason::Error,
            Some("aborted") => StopReason::Cancelled,
            Some(other) => StopReason::from_name(other),
        };
        let mut answer = AssistantMessage::new(id, content, stop);
        (answer.origin, answer.error, answer.timestamp_ms) = (origin, message.error_message, ms);
        if let Some(usage) = message.usage {
            self.priced += usize::from(usage.cost.is_some());
            answer.usage = Usage::new(whole(usage.input), whole(usage.output));
            answer.usage.cache_read = whole(usage.cache_read);
            answer.usage.cache_write_5m = whole(usage.cache_write);
        }
        answer.into()
    }

    fn result(&mut self, line: usize, id: MessageId, ms: u64, message: MessageIn) -> Option<Message> {
        let named = message.tool_call_id.unwrap_or_default();
        let Some((call, tool)) = self.calls.get(&named).cloned() else {
            self.losses.line(line, format!("the result of `{named}`, which nobody called"));
            return None;
        };
        let content = self.content(line, message.content.as_deref());
        let mut result = ToolResultMessage::new(id, call, message.tool_name.unwrap_or(tool), content);
        (result.is_error, result.timestamp_ms) = (message.is_error.unwrap_or_default(), ms);
        result.details = message.details.and_then(|details| RawJson::parse(details.get()).ok());
        Some(result.into())
    }

    pub(super) fn content(&mut self, line: usize, content: Option<&RawValue>) -> Vec<ContentBlock> {
        self.blocks(line, content).into_iter().filter_map(|block| self.block(line, block)).collect()
    }

    /// Blocks; a string is one of text.
    fn blocks(&mut self, line: usize, content: Option<&RawValue>) -> Vec<BlockIn> {
        let Some(content) = content.map(RawValue::get) else { return Vec::new() };
        let read = match content.starts_with('"') {
            true => serde_json::from_str(&format!("[{{\"type\":\"text\",\"text\":{content}}}]")),
            false => serde_json::from_str(content),
        };
        read.unwrap_or_else(|error| {
            self.losses.line(line, format!("content that cannot be read: {error}"));
            Vec::new()
        })
    }

    fn block(&mut self, line: usize, block: BlockIn) -> Option<ContentBlock> {
        match (block.kind.as_str(), block.text, block.data) {
            ("text", Some(text), _) => (!text.is_empty()).then(|| ContentBlock::text(text)),
            ("image", _, Some(data)) => {
                let mut image = ImageBlock::new(MediaSource::Base64(data));
                image.media_type = block.mime_type;
                Some(ContentBlock::Image(image))
            }
            (kind, ..) => {
                self.losses.line(line, format!("a block of the type `{kind}`"));
                None
            }
        }
    }
}

pub(super) fn note(id: MessageId, ms: u64, kind: &str, content: Vec<ContentBlock>, data: Option<&RawValue>) -> Message {
    let mut note = NoteMessage::new(id, kind).content(content);
    note.data = data.and_then(|data| RawJson::parse(data.get()).ok());
    note.timestamp_ms = ms;
    note.into()
}

/// A count as JavaScript writes it.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "`as` saturates, which is what is wanted")]
fn whole(number: f64) -> u64 {
    number as u64
}
