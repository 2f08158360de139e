//! Message arrays of the shape that Anthropic's Messages API takes.

mod read;

use agent_core::{AssistantMessage, ContentBlock, MediaSource, Message};
use serde::Serialize;
use serde_json::value::RawValue;

pub use self::read::read_anthropic_messages;
use super::{ExchangeError, Exported, Losses, import::CallNames, media};

const FORMAT: &str = "message array of the Messages API";

#[derive(Serialize)]
struct Out {
    role: &'static str,
    content: Vec<BlockOut>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum BlockOut {
    Text {
        text: String,
    },
    Image {
        source: SourceOut,
    },
    Document {
        source: SourceOut,
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<String>,
    },
    Thinking {
        thinking: String,
        signature: String,
    },
    RedactedThinking {
        data: String,
    },
    ToolUse {
        id: String,
        name: String,
        input: Box<RawValue>,
    },
    ToolResult {
        tool_use_id: String,
        content: Vec<BlockOut>,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
    },
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum SourceOut {
    Base64 { media_type: String, data: String },
    Url { url: String },
    File { file_id: String },
}

/// Writes messages as an array of the shape that Anthropic's Messages API takes: results of one turn and the input behind
/// them are one user message.
///
/// Reasoning that Anthropic did not sign and blocks of other providers have no place there.
///
/// # Errors
/// [`ExchangeError::Format`] does not happen here; the JSON is made of text.
pub fn anthropic_messages<'a>(messages: impl IntoIterator<Item = &'a Message>) -> Result<Exported, ExchangeError> {
    let (mut losses, mut names) = (Losses::default(), CallNames::default());
    let mut out: Vec<Out> = Vec::new();
    for (at, message) in messages.into_iter().enumerate() {
        let (role, content) = match message {
            Message::Assistant(answer) => ("assistant", assistant(at, answer, &mut names, &mut losses)?),
            Message::ToolResult(result) => {
                let content = blocks(at, &result.content, &mut losses);
                let tool_use_id = names.of(result.call);
                ("user", vec![BlockOut::ToolResult { tool_use_id, content, is_error: result.is_error }])
            }
            Message::Note(note) if note.content.is_empty() => {
                losses.at(at, format!("a note of the kind `{}`, which models are not shown", note.kind));
                continue;
            }
            other => {
                if let Message::Note(note) = other {
                    losses.at(at, format!("that this is a note of the kind `{}`", note.kind));
                }
                ("user", blocks(at, other.content(), &mut losses))
            }
        };
        match out.last_mut().filter(|last| last.role == role) {
            Some(last) => last.content.extend(content),
            None if content.is_empty() => losses.at(at, "a message without content"),
            None => out.push(Out { role, content }),
        }
    }
    let text = serde_json::to_string(&out).map_err(ExchangeError::format(FORMAT))?;
    Ok(Exported { text, losses: losses.0 })
}

fn assistant(
    at: usize,
    answer: &AssistantMessage,
    names: &mut CallNames,
    losses: &mut Losses,
) -> Result<Vec<BlockOut>, ExchangeError> {
    let mut calls = answer.tool_calls();
    let mut out = Vec::with_capacity(answer.content.len());
    for block in &answer.content {
        match block {
            ContentBlock::ToolCall(_) => {
                let Some((id, call)) = calls.next() else { continue };
                let input = RawValue::from_string(call.arguments.replay().into_owned());
                let input = input.map_err(ExchangeError::format(FORMAT))?;
                out.push(BlockOut::ToolUse { id: names.name(id, call), name: call.name.clone(), input });
            }
            ContentBlock::Thinking(thinking) => match (&thinking.signature, &thinking.encrypted) {
                (Some(signature), _) if is_of_anthropic(thinking.origin.as_ref()) => {
                    out.push(BlockOut::Thinking { thinking: thinking.text.clone(), signature: signature.clone() });
                }
                (None, Some(data)) if is_of_anthropic(thinking.origin.as_ref()) => {
                    out.push(BlockOut::RedactedThinking { data: data.clone() });
                }
                _ => losses.at(at, "reasoning that Anthropic did not sign"),
            },
            other => out.extend(blocks(at, std::slice::from_ref(other), losses)),
        }
    }
    Ok(out)
}

fn is_of_anthropic(origin: Option<&agent_core::Origin>) -> bool {
    origin.is_some_and(|origin| origin.protocol == read::PROTOCOL)
}

fn blocks(at: usize, blocks: &[ContentBlock], losses: &mut Losses) -> Vec<BlockOut> {
    let mut out = Vec::with_capacity(blocks.len());
    for block in blocks {
        match block {
            // The API refuses an empty one.
            ContentBlock::Text(block) if block.text.trim().is_empty() => {}
            ContentBlock::Text(block) => out.push(BlockOut::Text { text: block.text.clone() }),
            ContentBlock::Image(image) => {
                out.push(BlockOut::Image { source: source(&image.source, image.media_type.as_deref(), "image/png") });
            }
            ContentBlock::Document(document) => out.push(BlockOut::Document {
                source: source(&document.source, document.media_type.as_deref(), "application/pdf"),
                title: document.name.clone(),
            }),
            other => losses.at(at, format!("{}, which has no place there", media::named(other))),
        }
    }
    out
}

fn source(source: &MediaSource, media_type: Option<&str>, default: &str) -> SourceOut {
    match source {
        MediaSource::Url(url) => SourceOut::Url { url: url.clone() },
        MediaSource::FileId(id) => SourceOut::File { file_id: id.clone() },
        MediaSource::Base64(data) => {
            SourceOut::Base64 { media_type: media_type.unwrap_or(default).to_owned(), data: data.clone() }
        }
        _ => SourceOut::Url { url: String::new() },
    }
}
