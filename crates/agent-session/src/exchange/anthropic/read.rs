//! Reads message arrays of Anthropic's shape.

use std::collections::HashMap;

use agent_core::{
    Arguments, AssistantMessage, CallId, ContentBlock, DocumentBlock, IdSource, ImageBlock, MediaSource, MessageId,
    OpaqueBlock, Origin, RawJson, StopReason, ThinkingBlock, ToolCall, ToolResultMessage, UserMessage,
};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::FORMAT;
use crate::exchange::{ExchangeError, Foreign, Losses};

/// What signed reasoning is of.
pub(super) const PROTOCOL: &str = "anthropic-messages";

#[derive(Deserialize)]
struct Request {
    messages: Vec<In>,
    #[serde(default)]
    system: Option<Box<RawValue>>,
    #[serde(default)]
    model: Option<String>,
}

#[derive(Deserialize)]
struct In {
    role: String,
    content: Box<RawValue>,
}

#[derive(Deserialize)]
struct BlockIn {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    thinking: Option<String>,
    #[serde(default)]
    signature: Option<String>,
    #[serde(default)]
    data: Option<String>,
    #[serde(default)]
    source: Option<Box<RawValue>>,
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    input: Option<Box<RawValue>>,
    #[serde(default)]
    tool_use_id: Option<String>,
    #[serde(default)]
    content: Option<Box<RawValue>>,
    #[serde(default)]
    is_error: Option<bool>,
}

#[derive(Deserialize)]
struct SourceIn {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    media_type: Option<String>,
    #[serde(default)]
    data: Option<String>,
    #[serde(default)]
    url: Option<String>,
    #[serde(default)]
    file_id: Option<String>,
}

/// Reads an array of messages, or a request body that has one, in the shape of Anthropic's Messages API. Results of tools
/// become messages of their own.
///
/// # Errors
/// [`ExchangeError::Format`].
pub fn read_anthropic_messages(text: &str, ids: &mut IdSource) -> Result<Foreign, ExchangeError> {
    let request: Request = match text.trim_start().starts_with('{') {
        true => serde_json::from_str(text).map_err(ExchangeError::format(FORMAT))?,
        false => {
            let messages = serde_json::from_str(text).map_err(ExchangeError::format(FORMAT))?;
            Request { messages, system: None, model: None }
        }
    };
    let origin = Origin::new(PROTOCOL, "anthropic", request.model.unwrap_or_default());
    let (found, losses) = (Foreign::default(), Losses::default());
    let mut reader = Reader { ids, origin, calls: HashMap::new(), found, losses };
    if let Some(system) = request.system {
        let blocks = reader.blocks(0, &raw_blocks(&system)?);
        let texts: Vec<&str> = blocks.iter().filter_map(ContentBlock::as_text).collect();
        reader.found.system = Some(texts.join("\n"));
    }
    for (at, message) in request.messages.iter().enumerate() {
        let blocks = raw_blocks(&message.content)?;
        match message.role.as_str() {
            "assistant" => reader.assistant(at, &blocks),
            "user" => reader.user(at, &blocks)?,
            other => reader.losses.at(at, format!("the whole message: its role is `{other}`")),
        }
    }
    reader.found.losses = reader.losses.0;
    Ok(reader.found)
}

/// Blocks, each with its text. A string is one block of text.
type Blocks = Vec<(BlockIn, Box<RawValue>)>;

fn raw_blocks(content: &RawValue) -> Result<Blocks, ExchangeError> {
    let raw: Vec<Box<RawValue>> = if content.get().starts_with('"') {
        let text = format!("[{{\"type\":\"text\",\"text\":{}}}]", content.get());
        serde_json::from_str(&text).map_err(ExchangeError::format(FORMAT))?
    } else if content.get() == "null" {
        Vec::new()
    } else {
        serde_json::from_str(content.get()).map_err(ExchangeError::format(FORMAT))?
    };
    let read = |raw: Box<RawValue>| Ok((serde_json::from_str(raw.get()).map_err(ExchangeError::format(FORMAT))?, raw));
    raw.into_iter().map(read).collect()
}

struct Reader<'a> {
    ids: &'a mut IdSource,
    origin: Origin,
    /// Ours by the vendor's, with the tool.
    calls: HashMap<String, (CallId, String)>,
    found: Foreign,
    losses: Losses,
}

impl Reader<'_> {
    fn user(&mut self, at: usize, blocks: &[(BlockIn, Box<RawValue>)]) -> Result<(), ExchangeError> {
        let is_result = |(block, _): &&(BlockIn, Box<RawValue>)| block.kind == "tool_result";
        for (block, _) in blocks.iter().filter(is_result) {
            let named = block.tool_use_id.clone().unwrap_or_default();
            let Some((call, tool)) = self.calls.get(&named).cloned() else {
                self.losses.at(at, format!("the result of `{named}`, which nobody called"));
                continue;
            };
            let content = match &block.content {
                Some(content) => self.blocks(at, &raw_blocks(content)?),
                None => Vec::new(),
            };
            let mut result = ToolResultMessage::new(self.ids.message(0), call, tool, content);
            result.is_error = block.is_error.unwrap_or_default();
            self.found.messages.push(result.into());
        }
        let mut content = Vec::new();
        for (block, raw) in blocks.iter().filter(|block| !is_result(block)) {
            content.extend(self.block(at, block, raw));
        }
        if !content.is_empty() {
            self.found.messages.push(UserMessage::new(self.ids.message(0), content).into());
        }
        Ok(())
    }

    fn assistant(&mut self, at: usize, blocks: &[(BlockIn, Box<RawValue>)]) {
        let (id, mut content, mut stop) = (self.ids.message(0), Vec::new(), StopReason::EndTurn);
        for (block, raw) in blocks {
            match block.kind.as_str() {
                "tool_use" => {
                    stop = StopReason::ToolUse;
                    content.push(self.call(id, content.len(), block));
                }
                "thinking" => {
                    let mut thinking = ThinkingBlock::new(block.thinking.clone().unwrap_or_default());
                    thinking.signature = block.signature.clone().filter(|signature| !signature.is_empty());
                    content.push(ContentBlock::Thinking(thinking.origin(self.origin.clone())));
                }
                "redacted_thinking" => {
                    let thinking = ThinkingBlock::new("").encrypted(block.data.clone().unwrap_or_default());
                    content.push(ContentBlock::Thinking(thinking.origin(self.origin.clone())));
                }
                _ => content.extend(self.block(at, block, raw)),
            }
        }
        self.found.messages.push(AssistantMessage::new(id, content, stop).into());
    }

    fn call(&mut self, id: MessageId, at: usize, block: &BlockIn) -> ContentBlock {
        let name = block.name.clone().unwrap_or_default();
        let input = block.input.as_ref().map_or_else(String::new, |input| input.get().to_owned());
        let mut call = ToolCall::new(&name, Arguments::from_text(input));
        if let Some(vendor) = &block.id {
            self.calls.insert(vendor.clone(), (CallId::new(id, at.try_into().unwrap_or(u32::MAX)), name));
            call = call.vendor_id(vendor);
        }
        ContentBlock::ToolCall(call)
    }

    fn blocks(&mut self, at: usize, blocks: &[(BlockIn, Box<RawValue>)]) -> Vec<ContentBlock> {
        blocks.iter().filter_map(|(block, raw)| self.block(at, block, raw)).collect()
    }

    fn block(&mut self, at: usize, block: &BlockIn, raw: &RawValue) -> Option<ContentBlock> {
        // Of a search result it is a text.
        let source = block.source.as_ref().and_then(|source| serde_json::from_str::<SourceIn>(source.get()).ok());
        match (block.kind.as_str(), &source) {
            ("text", _) => return block.text.clone().filter(|text| !text.is_empty()).map(ContentBlock::text),
            ("image", Some(source)) => {
                if let Some(found) = media(source) {
                    let mut image = ImageBlock::new(found);
                    image.media_type.clone_from(&source.media_type);
                    return Some(ContentBlock::Image(image));
                }
            }
            ("document", Some(SourceIn { kind, data: Some(text), .. })) if kind == "text" => {
                self.losses.at(at, "that a text was a document");
                return Some(ContentBlock::text(text));
            }
            ("document", Some(source)) => {
                if let Some(found) = media(source) {
                    let mut document = DocumentBlock::new(found);
                    document.media_type.clone_from(&source.media_type);
                    document.name.clone_from(&block.title);
                    return Some(ContentBlock::Document(document));
                }
            }
            // What a server tool did: it goes back to this provider only.
            (kind, _) if kind.ends_with("_tool_result") || kind.starts_with("server_tool") => {
                let data = RawJson::parse(raw.get()).ok()?;
                return Some(ContentBlock::Opaque(OpaqueBlock::new(self.origin.clone(), data)));
            }
            _ => {}
        }
        self.losses.at(at, format!("a block of the type `{}`", block.kind));
        None
    }
}

fn media(source: &SourceIn) -> Option<MediaSource> {
    let SourceIn { data, url, file_id, .. } = source;
    let in_place = data.clone().map(MediaSource::Base64);
    in_place.or_else(|| url.clone().map(MediaSource::Url)).or_else(|| file_id.clone().map(MediaSource::FileId))
}
