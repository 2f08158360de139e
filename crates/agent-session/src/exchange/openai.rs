//! Message arrays of the shape that OpenAI's Chat Completions API takes.

use std::collections::HashMap;

use agent_core::{
    Arguments, AssistantMessage, CallId, ContentBlock, DocumentBlock, IdSource, MediaSource, Message, MessageId,
    NoteMessage, StopReason, ThinkingBlock, ToolCall, ToolResultMessage, UserMessage,
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{ExchangeError, Exported, Foreign, Losses, media};

const FORMAT: &str = "message array of the Chat Completions API";

#[derive(Deserialize)]
struct Request {
    messages: Vec<Box<RawValue>>,
}

#[derive(Deserialize)]
struct In {
    role: String,
    #[serde(default)]
    content: Option<ContentIn>,
    #[serde(default)]
    tool_calls: Option<Vec<CallIn>>,
    #[serde(default)]
    function_call: Option<FunctionIn>,
    #[serde(default)]
    tool_call_id: Option<String>,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    refusal: Option<String>,
    #[serde(default, alias = "reasoning")]
    reasoning_content: Option<String>,
    #[serde(default)]
    audio: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum ContentIn {
    Text(String),
    Parts(Vec<PartIn>),
}

#[derive(Deserialize)]
struct PartIn {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    refusal: Option<String>,
    #[serde(default)]
    image_url: Option<ImageIn>,
    #[serde(default)]
    file: Option<FileIn>,
}

#[derive(Deserialize)]
struct ImageIn {
    url: String,
}

#[derive(Deserialize)]
struct FileIn {
    #[serde(default)]
    file_id: Option<String>,
    #[serde(default)]
    file_data: Option<String>,
    #[serde(default)]
    filename: Option<String>,
}

#[derive(Deserialize)]
struct CallIn {
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    function: Option<FunctionIn>,
}

#[derive(Deserialize)]
struct FunctionIn {
    name: String,
    #[serde(default)]
    arguments: String,
}

/// Reads an array of messages, or a request body that has one, in the shape of OpenAI's Chat Completions API.
///
/// ```
/// let mut ids = agent_core::IdSource::seeded(1);
/// let text = r#"[{"role":"system","content":"Be brief."},{"role":"user","content":"Hello"}]"#;
/// let foreign = agent_session::read_openai_messages(text, &mut ids)?;
/// assert_eq!(foreign.system.as_deref(), Some("Be brief."));
/// assert_eq!(foreign.messages[0].text(), "Hello");
/// # Ok::<(), agent_session::ExchangeError>(())
/// ```
///
/// # Errors
/// [`ExchangeError::Format`].
pub fn read_openai_messages(text: &str, ids: &mut IdSource) -> Result<Foreign, ExchangeError> {
    let raw: Vec<Box<RawValue>> = match text.trim_start().starts_with('{') {
        true => serde_json::from_str::<Request>(text).map_err(ExchangeError::format(FORMAT))?.messages,
        false => serde_json::from_str(text).map_err(ExchangeError::format(FORMAT))?,
    };
    let mut reader = Reader { ids, calls: HashMap::new(), found: Foreign::default(), losses: Losses::default() };
    for (at, message) in raw.iter().enumerate() {
        let message = serde_json::from_str(message.get()).map_err(ExchangeError::format(FORMAT))?;
        reader.take(at, message);
    }
    reader.found.losses = reader.losses.0;
    Ok(reader.found)
}

struct Reader<'a> {
    ids: &'a mut IdSource,
    /// Ours by the vendor's, with the tool; the latest counts.
    calls: HashMap<String, (CallId, String)>,
    found: Foreign,
    losses: Losses,
}

impl Reader<'_> {
    fn take(&mut self, at: usize, message: In) {
        let id = self.ids.message(0);
        match message.role.as_str() {
            "system" | "developer" => self.system(at, id, message),
            "user" => {
                let content = self.content(at, message.content);
                if message.name.is_some() {
                    self.losses.at(at, "the name of the user");
                }
                self.found.messages.push(UserMessage::new(id, content).into());
            }
            "assistant" => self.assistant(at, id, message),
            "tool" | "function" => {
                let named = message.tool_call_id.or(message.name).unwrap_or_default();
                let Some((call, tool)) = self.calls.get(&named).cloned() else {
                    return self.losses.at(at, format!("the result of `{named}`, which nobody called"));
                };
                let content = self.content(at, message.content);
                self.found.messages.push(ToolResultMessage::new(id, call, tool, content).into());
            }
            other => self.losses.at(at, format!("the whole message: its role is `{other}`")),
        }
    }

    fn system(&mut self, at: usize, id: MessageId, message: In) {
        let content = self.content(at, message.content);
        if self.found.messages.is_empty() {
            let texts: Vec<&str> = content.iter().filter_map(ContentBlock::as_text).collect();
            let before = self.found.system.take().map(|before| before + "\n\n").unwrap_or_default();
            self.found.system = Some(before + &texts.join("\n"));
        } else {
            self.losses.at(at, "the rank of a later system message: it is a note");
            self.found.messages.push(NoteMessage::new(id, "system").content(content).into());
        }
    }

    fn assistant(&mut self, at: usize, id: MessageId, message: In) {
        let mut content = Vec::new();
        if let Some(text) = message.reasoning_content.filter(|text| !text.is_empty()) {
            content.push(ContentBlock::Thinking(ThinkingBlock::new(text)));
        }
        content.extend(self.content(at, message.content));
        let mut stop = StopReason::EndTurn;
        if let Some(refusal) = message.refusal.filter(|text| !text.is_empty()) {
            content.push(ContentBlock::text(refusal));
            stop = StopReason::Refusal;
        }
        if message.audio.is_some() {
            self.losses.at(at, "audio");
        }
        let old =
            message.function_call.map(|function| CallIn { id: Some(function.name.clone()), function: Some(function) });
        for call in message.tool_calls.into_iter().flatten().chain(old) {
            let Some(function) = call.function else {
                self.losses.at(at, "a tool call that is no function");
                continue;
            };
            let block = content.len().try_into().unwrap_or(u32::MAX);
            let mut ours = ToolCall::new(&function.name, Arguments::from_text(function.arguments));
            if let Some(vendor) = call.id {
                self.calls.insert(vendor.clone(), (CallId::new(id, block), function.name));
                ours = ours.vendor_id(vendor);
            }
            content.push(ContentBlock::ToolCall(ours));
            stop = StopReason::ToolUse;
        }
        self.found.messages.push(AssistantMessage::new(id, content, stop).into());
    }

    fn content(&mut self, at: usize, content: Option<ContentIn>) -> Vec<ContentBlock> {
        let parts = match content {
            None => return Vec::new(),
            Some(ContentIn::Text(text)) if text.is_empty() => return Vec::new(),
            Some(ContentIn::Text(text)) => return vec![ContentBlock::text(text)],
            Some(ContentIn::Parts(parts)) => parts,
        };
        let mut blocks = Vec::with_capacity(parts.len());
        for part in parts {
            let block = match part {
                PartIn { text: Some(text), .. } | PartIn { refusal: Some(text), .. } => Some(ContentBlock::text(text)),
                PartIn { image_url: Some(image), .. } => Some(media::image_at(&image.url)),
                PartIn { file: Some(file), .. } => document(file),
                _ => None,
            };
            match block {
                Some(block) => blocks.push(block),
                None => self.losses.at(at, format!("a part of the type `{}`", part.kind)),
            }
        }
        blocks
    }
}

fn document(file: FileIn) -> Option<ContentBlock> {
    let mut document = match (file.file_data, file.file_id) {
        (Some(data), _) => match media::data_url(&data) {
            Some((kind, base64)) => DocumentBlock::new(MediaSource::Base64(base64.to_owned())).media_type(kind),
            None => DocumentBlock::new(MediaSource::Base64(data)),
        },
        (None, Some(id)) => DocumentBlock::new(MediaSource::FileId(id)),
        (None, None) => return None,
    };
    document.name = file.filename;
    Some(ContentBlock::Document(document))
}

#[derive(Serialize)]
struct Out {
    role: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<String>,
    content: Option<ContentOut>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<CallOut>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum ContentOut {
    Text(String),
    Parts(Vec<PartOut>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum PartOut {
    Text { text: String },
    ImageUrl { image_url: UrlOut },
    File { file: FileOut },
}

#[derive(Serialize)]
struct UrlOut {
    url: String,
}

#[derive(Serialize)]
struct FileOut {
    #[serde(skip_serializing_if = "Option::is_none")]
    file_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file_data: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    filename: Option<String>,
}

#[derive(Serialize)]
struct CallOut {
    id: String,
    #[serde(rename = "type")]
    kind: &'static str,
    function: FunctionOut,
}

#[derive(Serialize)]
struct FunctionOut {
    name: String,
    arguments: String,
}

/// Writes messages as an array of the shape that OpenAI's Chat Completions API takes.
///
/// Reasoning, documents at an address, images in tool results and blocks of one provider have no place there.
///
/// # Errors
/// [`ExchangeError::Format`] does not happen here; the JSON is made of text.
pub fn openai_messages<'a>(messages: impl IntoIterator<Item = &'a Message>) -> Result<Exported, ExchangeError> {
    let mut losses = Losses::default();
    let mut names = super::import::CallNames::default();
    let mut out = Vec::new();
    for (at, message) in messages.into_iter().enumerate() {
        let written = match message {
            Message::Assistant(answer) => assistant(at, answer, &mut names, &mut losses),
            Message::ToolResult(result) => {
                if result.is_error {
                    losses.at(at, "the mark of a tool that failed");
                }
                let parts = parts(at, &result.content, OnlyText::Yes, &mut losses);
                let id = Some(names.of(result.call));
                Out { role: "tool", tool_call_id: id, content: Some(joined(parts)), tool_calls: Vec::new() }
            }
            Message::Note(note) if note.content.is_empty() => {
                losses.at(at, format!("a note of the kind `{}`, which models are not shown", note.kind));
                continue;
            }
            other => {
                if let Message::Note(note) = other {
                    losses.at(at, format!("that this is a note of the kind `{}`", note.kind));
                }
                let parts = parts(at, other.content(), OnlyText::No, &mut losses);
                Out { role: "user", tool_call_id: None, content: Some(joined(parts)), tool_calls: Vec::new() }
            }
        };
        out.push(written);
    }
    let text = serde_json::to_string(&out).map_err(ExchangeError::format(FORMAT))?;
    Ok(Exported { text, losses: losses.0 })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OnlyText {
    Yes,
    No,
}

fn assistant(at: usize, answer: &AssistantMessage, names: &mut super::import::CallNames, losses: &mut Losses) -> Out {
    let calls = answer.tool_calls().map(|(id, call)| CallOut {
        id: names.name(id, call),
        kind: "function",
        function: FunctionOut { name: call.name.clone(), arguments: call.arguments.replay().into_owned() },
    });
    let tool_calls: Vec<CallOut> = calls.collect();
    let rest: Vec<ContentBlock> =
        answer.content.iter().filter(|block| !matches!(block, ContentBlock::ToolCall(_))).cloned().collect();
    let parts = parts(at, &rest, OnlyText::Yes, losses);
    let content = if parts.is_empty() && !tool_calls.is_empty() { None } else { Some(joined(parts)) };
    Out { role: "assistant", tool_call_id: None, content, tool_calls }
}

fn parts(at: usize, blocks: &[ContentBlock], only_text: OnlyText, losses: &mut Losses) -> Vec<PartOut> {
    let mut parts = Vec::with_capacity(blocks.len());
    for block in blocks {
        let part = match block {
            ContentBlock::Text(block) => Some(PartOut::Text { text: block.text.clone() }),
            ContentBlock::Image(image) if only_text == OnlyText::No => match &image.source {
                MediaSource::Base64(data) => {
                    let url = media::to_data_url(image.media_type.as_deref().or(Some("image/png")), data);
                    Some(PartOut::ImageUrl { image_url: UrlOut { url } })
                }
                MediaSource::Url(url) => Some(PartOut::ImageUrl { image_url: UrlOut { url: url.clone() } }),
                _ => None,
            },
            ContentBlock::Document(document) if only_text == OnlyText::No => {
                let filename = document.name.clone();
                let (file_id, file_data) = match &document.source {
                    MediaSource::Base64(data) => (None, Some(media::to_data_url(document.media_type.as_deref(), data))),
                    MediaSource::FileId(id) => (Some(id.clone()), None),
                    _ => (None, None),
                };
                let is_there = file_id.is_some() || file_data.is_some();
                is_there.then_some(PartOut::File { file: FileOut { file_id, file_data, filename } })
            }
            _ => None,
        };
        match part {
            Some(part) => parts.push(part),
            None => losses.at(at, format!("{}, which has no place there", media::named(block))),
        }
    }
    parts
}

/// Text alone is a string: older servers know nothing else.
fn joined(parts: Vec<PartOut>) -> ContentOut {
    let texts: Option<Vec<&str>> =
        parts.iter().map(|part| if let PartOut::Text { text } = part { Some(text.as_str()) } else { None }).collect();
    match texts {
        Some(texts) => ContentOut::Text(texts.join("\n")),
        None => ContentOut::Parts(parts),
    }
}
