//! The history as the vendor's items, each a piece of its own.

use std::borrow::Cow;

use agent_core::{
    AssistantMessage, Block, CallId, ContentBlock, DocumentBlock, ImageBlock, JsonMembers, Loss, MediaSource, Message,
    MessageId, MessageWalk, ModelFacts, Origin, ProviderError, RawJson, TokenBound, ToolResultMessage, ViewEntry,
};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::{json::write, replay::goes_back};

/// What an image costs at most in tokens, where no facts say so.
const IMAGE_TOKENS: u64 = 5_000;

pub(super) struct Encoder<'a> {
    pub(super) facts: &'a ModelFacts,
    pub(super) target: Origin,
}

#[derive(Serialize)]
#[serde(tag = "type")]
enum Part<'a> {
    #[serde(rename = "input_text")]
    Text { text: &'a str },
    #[serde(rename = "input_image")]
    Image { detail: &'static str, image_url: Cow<'a, str> },
    #[serde(rename = "input_file")]
    File {
        #[serde(skip_serializing_if = "Option::is_none")]
        filename: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        file_data: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        file_url: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        file_id: Option<&'a str>,
    },
}

#[derive(Serialize)]
#[serde(untagged)]
enum Content<'a> {
    Text(Cow<'a, str>),
    Parts(Vec<Part<'a>>),
}

#[derive(Serialize)]
struct Given<'a> {
    role: &'static str,
    content: Content<'a>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Item<'a> {
    Message {
        id: &'a RawValue,
        role: &'static str,
        status: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        phase: Option<&'a RawValue>,
        content: [Said<'a>; 1],
    },
    FunctionCall {
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<&'a RawValue>,
        call_id: String,
        name: &'a str,
        /// JSON in a string.
        arguments: Cow<'a, str>,
    },
    CustomToolCall {
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<&'a RawValue>,
        call_id: String,
        name: &'a str,
        input: Cow<'a, str>,
    },
    FunctionCallOutput {
        call_id: String,
        output: Content<'a>,
    },
    CustomToolCallOutput {
        call_id: String,
        output: Content<'a>,
    },
}

#[derive(Serialize)]
struct Said<'a> {
    r#type: &'static str,
    text: &'a str,
    annotations: Option<&'a RawValue>,
}

/// The states of the walk: whether something stands before, and whether the call that is answered takes text.
const SOMETHING: u64 = 1;

impl Encoder<'_> {
    pub(super) fn message(&self, walk: &mut MessageWalk, entry: &ViewEntry) -> Result<(), ProviderError> {
        match &**entry.message() {
            Message::Assistant(answer) => self.answer(walk, answer),
            Message::ToolResult(result) => self.result(walk, result),
            message => {
                let (content, bound) = self.given(walk, message.id(), message.content(), true);
                put(walk, 0, bound, || write(&Given { role: "user", content }))
            }
        }
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
        let can = &self.facts.abilities;
        for block in blocks {
            let media = match block {
                ContentBlock::Text(text) if text.text.trim().is_empty() => continue,
                ContentBlock::Text(text) => {
                    parts.push(Part::Text { text: &text.text });
                    continue;
                }
                ContentBlock::Image(image) if images && can.images => {
                    self.image(image).ok_or("an image from a source that the vendor does not take")
                }
                ContentBlock::Document(file) if images && can.documents => {
                    self.file(file).ok_or("a document from a source that the vendor does not take")
                }
                ContentBlock::Image(_) => Err("an image, which the model does not read"),
                ContentBlock::Document(_) => Err("a document, which the model does not read"),
                _ => Err("a block of another provider"),
            };
            match media {
                Ok((part, cost)) => {
                    bound = bound.plus(cost);
                    parts.push(part);
                }
                Err(what) => walk.loss(Loss::message(id, format!("{what}; it is left out"))),
            }
        }
        let content = match parts.as_slice() {
            [] => Content::Text("".into()),
            [Part::Text { text }] => Content::Text((*text).into()),
            _ => Content::Parts(parts),
        };
        (content, bound)
    }

    fn image<'b>(&self, image: &'b ImageBlock) -> Option<(Part<'b>, TokenBound)> {
        let known = TokenBound::AtMost(self.facts.max_image_tokens.unwrap_or(IMAGE_TOKENS));
        Some(match &image.source {
            MediaSource::Url(url) => {
                (Part::Image { detail: "auto", image_url: Cow::Borrowed(url) }, TokenBound::Unknown)
            }
            MediaSource::Base64(data) => {
                let kind = image.media_type.as_deref().unwrap_or("image/png");
                let image_url = format!("data:{kind};base64,{data}").into();
                (Part::Image { detail: "auto", image_url }, known)
            }
            _ => return None,
        })
    }

    fn file<'b>(&self, file: &'b DocumentBlock) -> Option<(Part<'b>, TokenBound)> {
        let (mut filename, mut file_data, mut file_url, mut file_id) = (file.name.as_deref(), None, None, None);
        match &file.source {
            MediaSource::FileId(id) => (filename, file_id) = (None, Some(id.as_str())),
            MediaSource::Url(url) => (filename, file_url) = (None, Some(url.as_str())),
            MediaSource::Base64(data) => {
                let kind = file.media_type.as_deref().unwrap_or("application/pdf");
                file_data = Some(format!("data:{kind};base64,{data}"));
            }
            _ => return None,
        }
        let bound = self.facts.context_window.map_or(TokenBound::Unknown, TokenBound::AtMost);
        Some((Part::File { filename, file_data, file_url, file_id }, bound))
    }

    fn answer(&self, walk: &mut MessageWalk, answer: &AssistantMessage) -> Result<(), ProviderError> {
        // An id without the reasoning that led to it is refused, so that both go back or neither.
        let kept = |block: &ContentBlock| match block {
            ContentBlock::Thinking(block) => block.signature.is_some() && self.facts.abilities.reasoning,
            _ => true,
        };
        let ours = goes_back(&answer.origin, &self.target) && answer.content.iter().all(kept);
        // A reasoning item without what it led to is refused.
        let last = answer.content.iter().rposition(|block| match block {
            ContentBlock::Text(text) => !text.text.is_empty(),
            ContentBlock::ToolCall(_) | ContentBlock::Opaque(_) => true,
            _ => false,
        });
        let mut told = None;
        for (index, block) in (0u32..).zip(&answer.content) {
            let followed = last.is_some_and(|last| u32::try_from(last).is_ok_and(|last| index < last));
            let lost = match block {
                ContentBlock::Text(text) if text.text.is_empty() => continue,
                ContentBlock::Text(text) => {
                    let tag = Tag::of(text.metadata.as_ref().filter(|_| ours));
                    // The parts of one message are messages here; its id may stand once. Without an id it is what
                    // somebody says that the model has said.
                    let id = tag.id.filter(|id| told.replace(id.get()) != Some(id.get()));
                    let Some(id) = id else {
                        let content = Content::Text(Cow::Borrowed(&text.text));
                        put(walk, index, TokenBound::ZERO, || write(&Given { role: "assistant", content }))?;
                        continue;
                    };
                    let annotations = tag.annotations.or_else(|| serde_json::from_str("[]").ok());
                    let content = [Said { r#type: "output_text", text: &text.text, annotations }];
                    let item = Item::Message { id, role: "assistant", status: "completed", phase: tag.phase, content };
                    put(walk, index, TokenBound::ZERO, || write(&item))?;
                    continue;
                }
                ContentBlock::Thinking(block) => {
                    let origin = block.origin.as_ref().unwrap_or(&answer.origin);
                    match &block.signature {
                        Some(item) if goes_back(origin, &self.target) && self.facts.abilities.reasoning => {
                            // It comes from a file that somebody may have changed: what is no item would break the body.
                            let is_item = item.trim_start().starts_with('{')
                                && serde_json::from_str::<serde::de::IgnoredAny>(item).is_ok();
                            if followed && is_item {
                                put(walk, index, TokenBound::ZERO, || Ok(item.clone()))?;
                                continue;
                            }
                            if is_item {
                                "reasoning that nothing follows; it is left out"
                            } else {
                                "reasoning that is damaged; it is left out"
                            }
                        }
                        _ if goes_back(origin, &self.target) => continue,
                        None if block.text.trim().is_empty() && block.encrypted.is_none() => continue,
                        _ => "reasoning of another model; it is left out",
                    }
                }
                ContentBlock::ToolCall(call) => {
                    let tag = Tag::of(call.metadata.as_ref().filter(|_| ours));
                    let call_id = CallId::new(answer.id, index).to_string();
                    let arguments = call.arguments.replay();
                    let item = match tag.custom.then(|| custom_input(&arguments)).flatten() {
                        Some(input) => {
                            Item::CustomToolCall { id: tag.id, call_id, name: &call.name, input: input.into() }
                        }
                        None => Item::FunctionCall { id: tag.id, call_id, name: &call.name, arguments },
                    };
                    put(walk, index, TokenBound::ZERO, || write(&item))?;
                    continue;
                }
                ContentBlock::Opaque(block) if block.origin().is_some_and(|origin| goes_back(origin, &self.target)) => {
                    put(walk, index, TokenBound::ZERO, || Ok(block.data().get().to_owned()))?;
                    continue;
                }
                ContentBlock::Opaque(_) => "a block of another model; it is left out",
                _ => "a block that the vendor has no place for; it is left out",
            };
            walk.loss(Loss::message(answer.id, lost));
        }
        // Whether a call takes text decides how its result is sent: one bit for each of the first calls.
        let takes_text = (0u64..62).zip(&answer.content).filter(|(_, block)| match block {
            ContentBlock::ToolCall(call) => {
                let tag = Tag::of(call.metadata.as_ref().filter(|_| ours));
                tag.custom && custom_input(&call.arguments.replay()).is_some()
            }
            _ => false,
        });
        let bits = takes_text.fold(0, |bits, (index, _)| bits | 1 << index);
        walk.set_state(bits << 1 | SOMETHING);
        Ok(())
    }

    fn result(&self, walk: &mut MessageWalk, result: &ToolResultMessage) -> Result<(), ProviderError> {
        let (content, bound) = self.given(walk, result.id, &result.content, true);
        // The protocol has no mark for a failure.
        let output = match content {
            Content::Text(text) if result.is_error && !text.to_ascii_lowercase().starts_with("error") => {
                Content::Text(format!("Error: {text}").into())
            }
            content => content,
        };
        let call_id = result.call.to_string();
        let custom = walk.state().checked_shr(result.call.block().saturating_add(1)).unwrap_or(0) & 1 == 1;
        let item = match custom {
            true => Item::CustomToolCallOutput { call_id, output },
            false => Item::FunctionCallOutput { call_id, output },
        };
        let state = walk.state();
        put(walk, 0, bound, || write(&item))?;
        walk.set_state(state | SOMETHING);
        Ok(())
    }
}

/// Puts an item behind the ones before.
fn put(
    walk: &mut MessageWalk,
    index: u32,
    bound: TokenBound,
    text: impl FnOnce() -> Result<String, ProviderError>,
) -> Result<(), ProviderError> {
    let lead = if walk.state() == 0 { "" } else { "," };
    walk.set_state(walk.state() | SOMETHING);
    walk.block(index, 0, lead, || {
        let text = text()?;
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

/// What the decoder kept of an item.
#[derive(Default)]
struct Tag<'a> {
    id: Option<&'a RawValue>,
    annotations: Option<&'a RawValue>,
    phase: Option<&'a RawValue>,
    custom: bool,
}

impl<'a> Tag<'a> {
    fn of(metadata: Option<&'a RawJson>) -> Self {
        let Some(members) = metadata.and_then(|raw| JsonMembers::read(raw.get())) else { return Self::default() };
        Self {
            id: members.value("itemId").filter(|raw| raw.get().len() > 2 && raw.get().starts_with('"')),
            annotations: members.value("annotations"),
            phase: members.value("phase"),
            custom: members.value("custom").is_some_and(|raw| raw.get() == "true"),
        }
    }
}

/// The text that a call of a custom tool was made with.
fn custom_input(arguments: &str) -> Option<String> {
    JsonMembers::read(arguments)?.text("input").map(Cow::into_owned)
}
