//! The history as the vendor's messages, each a piece of its own.

use std::borrow::Cow;

use agent_core::{
    AssistantMessage, Block, CallId, ChainHash, ContentBlock, DocumentBlock, ImageBlock, Loss, MediaSource, Message,
    MessageId, MessageWalk, ModelFacts, ProviderError, TokenBound, ToolResultMessage, ViewEntry,
};
use serde::Serialize;

use crate::{
    ChatWire,
    json::write,
    replay::{ReasoningReplay, replay_of},
};

/// The states of the walk: what stands before.
const SOMETHING: u64 = 1;
const RESULT: u64 = 2;

/// What an image costs at most in tokens, where no facts say so.
const IMAGE_TOKENS: u64 = 5_000;

pub(super) struct Encoder<'a> {
    pub(super) wire: &'a ChatWire,
    pub(super) facts: &'a ModelFacts,
    pub(super) has_tools: bool,
    pub(super) has_system: bool,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Part<'a> {
    Text { text: &'a str },
    ImageUrl { image_url: Url<'a> },
    File { file: File<'a> },
}

#[derive(Serialize)]
struct Url<'a> {
    url: Cow<'a, str>,
}

#[derive(Serialize)]
struct File<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    filename: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file_data: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file_id: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Content<'a> {
    Text(Cow<'a, str>),
    Parts(Vec<Part<'a>>),
}

#[derive(Serialize)]
#[serde(tag = "role", rename_all = "lowercase")]
enum Out<'a> {
    User {
        content: Content<'a>,
    },
    Assistant {
        content: Cow<'a, str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        reasoning_content: Option<String>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<Call<'a>>,
    },
    Tool {
        tool_call_id: Cow<'a, str>,
        content: Content<'a>,
    },
}

#[derive(Serialize)]
struct Call<'a> {
    id: Cow<'a, str>,
    r#type: &'static str,
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    /// JSON in a string.
    arguments: Cow<'a, str>,
}

impl Encoder<'_> {
    /// What stands between the message before and this one.
    pub(super) fn lead(&self, before: u64, is_assistant: bool) -> &'static str {
        match before {
            0 if self.has_system => ",",
            0 => "",
            RESULT if self.wire.profile.assistant_after_results && !is_assistant => {
                ",{\"role\":\"assistant\",\"content\":\"\"},"
            }
            _ => ",",
        }
    }

    pub(super) fn message(&self, walk: &mut MessageWalk, entry: &ViewEntry) -> Result<(), ProviderError> {
        let (out, bound, is_result) = match &**entry.message() {
            Message::Assistant(answer) => (self.answer(walk, answer), TokenBound::ZERO, false),
            Message::ToolResult(result) => {
                let (out, bound) = self.result(walk, result);
                (out, bound, true)
            }
            message => {
                let (content, bound) = self.given(walk, message.id(), message.content(), true);
                (Out::User { content }, bound, false)
            }
        };
        let is_assistant = matches!(out, Out::Assistant { .. });
        // Results of one turn stand together.
        let lead = if is_result && walk.state() == RESULT { "," } else { self.lead(walk.state(), is_assistant) };
        // Whether the instructions stand before decides the first lead, so it is part of the block's context.
        let context = u64::from(self.has_system);
        walk.set_state(if is_result { RESULT } else { SOMETHING });
        walk.block(0, context, lead, || {
            let text = write(&out)?;
            let length = text.len();
            let block = Block::new(text);
            // Pictures and files cost what they cost, however long they are.
            Ok(if bound == TokenBound::ZERO {
                block
            } else {
                block.bound(TokenBound::bytes(length.min(16_384)).plus(bound))
            })
        })
    }

    /// What a user, a note or a tool gives, and what its media cost at most.
    fn given<'b>(
        &self,
        walk: &mut MessageWalk,
        id: MessageId,
        blocks: &'b [ContentBlock],
        images: bool,
    ) -> (Content<'b>, TokenBound) {
        let (mut parts, mut bound) = (Vec::new(), TokenBound::ZERO);
        let mut lose = |what: &'static str| walk.loss(Loss::message(id, what));
        for block in blocks {
            match block {
                ContentBlock::Text(text) if text.text.trim().is_empty() => {}
                ContentBlock::Text(text) => parts.push(Part::Text { text: &text.text }),
                ContentBlock::Image(image) if images && self.facts.abilities.images => match image_part(image) {
                    Some((part, cost)) => {
                        bound = bound.plus(
                            cost.unwrap_or(TokenBound::AtMost(self.facts.max_image_tokens.unwrap_or(IMAGE_TOKENS))),
                        );
                        parts.push(part);
                    }
                    None => lose("an image from a source that the vendor does not take; it is left out"),
                },
                ContentBlock::Image(_) => lose("an image, which cannot stand there; it is left out"),
                ContentBlock::Document(file) if images && self.facts.abilities.documents => match file_part(file) {
                    Some(part) => {
                        bound = bound.plus(self.facts.context_window.map_or(TokenBound::Unknown, TokenBound::AtMost));
                        parts.push(part);
                    }
                    None => lose("a document from a source that the vendor does not take; it is left out"),
                },
                ContentBlock::Document(_) => lose("a document, which cannot stand there; it is left out"),
                _ => lose("a block of another provider; it is left out"),
            }
        }
        let content = match parts.as_slice() {
            [] => Content::Text("".into()),
            [Part::Text { text }] => Content::Text((*text).into()),
            _ => Content::Parts(parts),
        };
        (content, bound)
    }

    fn answer<'b>(&self, walk: &mut MessageWalk, answer: &'b AssistantMessage) -> Out<'b> {
        let provider = self.wire.provider.as_str();
        let (mut texts, mut reasoning, mut tool_calls) = (Vec::new(), String::new(), Vec::new());
        for (index, block) in (0u32..).zip(&answer.content) {
            match block {
                ContentBlock::Text(text) if text.text.is_empty() => {}
                ContentBlock::Text(text) => texts.push(text.text.as_str()),
                ContentBlock::Thinking(block) => match replay_of(block, &answer.origin, &self.wire.profile, provider) {
                    ReasoningReplay::Verbatim if self.has_tools => reasoning.push_str(&block.text),
                    ReasoningReplay::Lost => {
                        walk.loss(Loss::message(answer.id, "reasoning of another model; it is left out"));
                    }
                    _ => {}
                },
                ContentBlock::ToolCall(call) => {
                    let id = self.call_id(CallId::new(answer.id, index));
                    let function = Function { name: &call.name, arguments: call.arguments.replay() };
                    tool_calls.push(Call { id, r#type: "function", function });
                }
                _ => walk.loss(Loss::message(answer.id, "a block that the vendor has no place for; it is left out")),
            }
        }
        let content = match texts.as_slice() {
            [text] => Cow::Borrowed(*text),
            texts => Cow::Owned(texts.join("\n")),
        };
        let reasoning_content = Some(reasoning).filter(|text| !text.is_empty());
        Out::Assistant { content, reasoning_content, tool_calls }
    }

    fn result<'b>(&self, walk: &mut MessageWalk, result: &'b ToolResultMessage) -> (Out<'b>, TokenBound) {
        let (content, bound) = self.given(walk, result.id, &result.content, self.wire.profile.tool_images);
        let content = match content {
            Content::Parts(parts) if !self.wire.profile.tool_images => {
                let texts =
                    parts.iter().filter_map(|part| if let Part::Text { text } = part { Some(*text) } else { None });
                Content::Text(texts.collect::<Vec<_>>().join("\n").into())
            }
            content => content,
        };
        // The protocol has no mark for a failure.
        let content = match content {
            Content::Text(text) if result.is_error && !text.to_ascii_lowercase().starts_with("error") => {
                Content::Text(format!("Error: {text}").into())
            }
            content => content,
        };
        let tool_call_id = self.call_id(result.call);
        (Out::Tool { tool_call_id, content }, bound)
    }

    /// The id of a call: always ours, which is unique in the conversation. Ids of compatible servers may come twice.
    fn call_id<'c>(&self, id: CallId) -> Cow<'c, str> {
        if !self.wire.profile.short_ids {
            return id.to_string().into();
        }
        // Nine letters and digits, of the whole id.
        let mut bits = ChainHash::of(&[id.to_string().as_bytes()]).bits();
        let digits = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
        let short = (0..9).filter_map(|_| {
            let at = usize::try_from(bits % 62).ok()?;
            bits /= 62;
            digits.get(at).map(|digit| char::from(*digit))
        });
        short.collect::<String>().into()
    }
}

fn image_part(image: &ImageBlock) -> Option<(Part<'_>, Option<TokenBound>)> {
    let (url, cost) = match &image.source {
        MediaSource::Url(url) => (Cow::Borrowed(url.as_str()), Some(TokenBound::Unknown)),
        MediaSource::Base64(data) => {
            let kind = image.media_type.as_deref().unwrap_or("image/png");
            (Cow::Owned(format!("data:{kind};base64,{data}")), None)
        }
        _ => return None,
    };
    Some((Part::ImageUrl { image_url: Url { url } }, cost))
}

fn file_part(file: &DocumentBlock) -> Option<Part<'_>> {
    let filename = file.name.as_deref();
    let part = match &file.source {
        MediaSource::FileId(id) => File { filename: None, file_data: None, file_id: Some(id) },
        MediaSource::Base64(data) => {
            let kind = file.media_type.as_deref().unwrap_or("application/pdf");
            File { filename, file_data: Some(format!("data:{kind};base64,{data}")), file_id: None }
        }
        _ => return None,
    };
    Some(Part::File { file: part })
}
