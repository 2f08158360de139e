//! The history as the vendor's messages, each a piece of its own.

use std::{borrow::Cow, sync::Arc};

use agent_core::{
    AssistantMessage, Block, CallId, ChainHash, ContentBlock, JsonMembers, Loss, Message, MessageId, MessageWalk,
    ModelFacts, Origin, ProviderError, RawJson, TokenBound, ToolResultMessage, ViewEntry,
};
use serde::Serialize;
use serde_json::value::RawValue;

use super::media::{Part, file_part, image_part};
use crate::{
    ChatWire,
    json::write,
    replay::{ReasoningReplay, goes_back, replay_of},
};

/// The states of the walk: what stands before.
const SOMETHING: u64 = 1;
const RESULT: u64 = 2;
/// A turn with so many results to come.
const OPEN: u64 = 16;

pub(super) struct Encoder<'a> {
    pub(super) wire: &'a ChatWire,
    pub(super) facts: &'a ModelFacts,
    pub(super) has_tools: bool,
    pub(super) has_system: bool,
    pub(super) target: Origin,
    /// The results of the turn so far that hold media, with their versions. A view holds whole turns only, so that none
    /// of them was walked for an earlier request.
    media: Vec<(u64, Arc<Message>)>,
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
        #[serde(skip_serializing_if = "Option::is_none")]
        reasoning_details: Option<&'a RawValue>,
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
    #[serde(skip_serializing_if = "Option::is_none")]
    extra_content: Option<&'a RawValue>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    /// JSON in a string.
    arguments: Cow<'a, str>,
}

impl<'a> Encoder<'a> {
    pub(super) fn new(wire: &'a ChatWire, facts: &'a ModelFacts, target: Origin) -> Self {
        Self { wire, facts, has_tools: false, has_system: false, target, media: Vec::new() }
    }

    /// What stands between the message before and this one.
    pub(super) fn lead(&self, before: u64, is_assistant: bool) -> &'static str {
        match before {
            0 if self.has_system => ",",
            0 => "",
            RESULT | OPEN.. if self.wire.profile.assistant_after_results && !is_assistant => {
                ",{\"role\":\"assistant\",\"content\":\"\"},"
            }
            _ => ",",
        }
    }

    pub(super) fn message(&mut self, walk: &mut MessageWalk, entry: &ViewEntry) -> Result<(), ProviderError> {
        match &**entry.message() {
            Message::Assistant(answer) => {
                let out = self.answer(walk, answer);
                let calls = u64::try_from(answer.tool_calls().count()).unwrap_or_default();
                self.put(walk, &out, (0, 0), TokenBound::ZERO)?;
                self.media.clear();
                walk.set_state(if calls > 0 { OPEN.saturating_add(calls) } else { SOMETHING });
            }
            Message::ToolResult(result) => self.result(walk, entry, result)?,
            message => {
                let (content, bound) = self.given(walk, message.id(), message.content(), None);
                self.put(walk, &Out::User { content }, (0, 0), bound)?;
                walk.set_state(SOMETHING);
            }
        }
        Ok(())
    }

    /// Puts a message behind the one before, as the block `key` of its own message.
    fn put(
        &self,
        walk: &mut MessageWalk,
        out: &Out<'_>,
        key: (u32, u64),
        bound: TokenBound,
    ) -> Result<(), ProviderError> {
        // Results of one turn stand together.
        let joins = matches!(out, Out::Assistant { .. } | Out::Tool { .. });
        let lead = self.lead(walk.state(), joins);
        // Whether the instructions stand before decides the first lead, so it is part of the block's context.
        let context = key.1 << 1 | u64::from(self.has_system);
        walk.block(key.0, context, lead, || {
            let text = write(out)?;
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

    /// What a user, a note or a tool gives, and what its media cost at most. With `later`, media are put there.
    fn given<'b>(
        &self,
        walk: &mut MessageWalk,
        id: MessageId,
        blocks: &'b [ContentBlock],
        mut later: Option<&mut Vec<Part<'b>>>,
    ) -> (Content<'b>, TokenBound) {
        let (mut parts, mut bound) = (Vec::new(), TokenBound::ZERO);
        let mut lose = |what: &'static str| walk.loss(Loss::message(id, what));
        for block in blocks {
            let (part, cost) = match block {
                ContentBlock::Text(text) if text.text.trim().is_empty() => continue,
                ContentBlock::Text(text) => {
                    parts.push(Part::Text { text: Cow::Borrowed(&text.text) });
                    continue;
                }
                ContentBlock::Image(image) if self.facts.abilities.images => match image_part(image, self.facts) {
                    Some(part) => part,
                    None => {
                        lose("an image from a source that the vendor does not take; it is left out");
                        continue;
                    }
                },
                ContentBlock::Document(file) if self.facts.abilities.documents => match file_part(file, self.facts) {
                    Some(part) => part,
                    None => {
                        lose("a document from a source that the vendor does not take; it is left out");
                        continue;
                    }
                },
                ContentBlock::Image(_) => {
                    lose("an image, which the model does not read; it is left out");
                    continue;
                }
                ContentBlock::Document(_) => {
                    lose("a document, which the model does not read; it is left out");
                    continue;
                }
                _ => {
                    lose("a block of another provider; it is left out");
                    continue;
                }
            };
            match &mut later {
                Some(later) => later.push(part),
                None => {
                    bound = bound.plus(cost);
                    parts.push(part);
                }
            }
        }
        let content = match parts.as_slice() {
            [] => Content::Text("".into()),
            [Part::Text { text }] => Content::Text(text.clone()),
            _ => Content::Parts(parts),
        };
        (content, bound)
    }

    fn answer<'b>(&self, walk: &mut MessageWalk, answer: &'b AssistantMessage) -> Out<'b> {
        let (provider, ours) = (self.wire.server.provider.as_str(), goes_back(&answer.origin, &self.target));
        let (mut texts, mut reasoning, mut tool_calls) = (Vec::new(), String::new(), Vec::new());
        let mut reasoning_details = None;
        let member = |raw: &'b RawJson, name: &str| JsonMembers::read(raw.get()).and_then(|all| all.value(name));
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
                    let metadata = call.metadata.as_ref().filter(|_| ours);
                    let extra_content = metadata.and_then(|raw| member(raw, "extra_content"));
                    tool_calls.push(Call { id, r#type: "function", function, extra_content });
                }
                ContentBlock::Opaque(block) => {
                    let ours = block.origin().is_some_and(|origin| goes_back(origin, &self.target));
                    match member(block.data(), "reasoning_details") {
                        Some(raw) if ours && self.wire.profile.reasoning_details => reasoning_details = Some(raw),
                        _ => walk.loss(Loss::message(answer.id, "a block of another model; it is left out")),
                    }
                }
                _ => walk.loss(Loss::message(answer.id, "a block that the vendor has no place for; it is left out")),
            }
        }
        let content = match texts.as_slice() {
            [text] => Cow::Borrowed(*text),
            texts => Cow::Owned(texts.join("\n")),
        };
        let reasoning_content = Some(reasoning).filter(|text| !text.is_empty());
        Out::Assistant { content, reasoning_content, reasoning_details, tool_calls }
    }

    fn result(
        &mut self,
        walk: &mut MessageWalk,
        entry: &ViewEntry,
        result: &ToolResultMessage,
    ) -> Result<(), ProviderError> {
        let mut later = Vec::new();
        let in_place = self.wire.profile.tool_images;
        let (content, bound) =
            self.given(walk, result.id, &result.content, if in_place { None } else { Some(&mut later) });
        let content = match content {
            Content::Parts(parts) if !in_place => {
                let texts = parts.iter().filter_map(|part| match part {
                    Part::Text { text } => Some(&**text),
                    _ => None,
                });
                Content::Text(texts.collect::<Vec<_>>().join("\n").into())
            }
            content => content,
        };
        // The protocol has no mark for a failure.
        let content = match content {
            Content::Text(text) if result.is_error && !text.to_ascii_lowercase().starts_with("error") => {
                Content::Text(format!("Error: {text}").into())
            }
            Content::Text(text) if text.is_empty() && !later.is_empty() => {
                Content::Text("The result is in the message below.".into())
            }
            content => content,
        };
        let tool_call_id = self.call_id(result.call);
        if !later.is_empty() {
            self.media.push((entry.version(), entry.message().clone()));
        }
        self.put(walk, &Out::Tool { tool_call_id, content }, (0, 0), bound)?;
        let left = walk.state().saturating_sub(OPEN + 1);
        walk.set_state(if left > 0 { OPEN + left } else { RESULT });
        if left == 0 && !self.media.is_empty() {
            self.show(walk)?;
        }
        Ok(())
    }

    /// The media of a turn's results, which the protocol does not allow in them, in a message of the user behind them.
    fn show(&mut self, walk: &mut MessageWalk) -> Result<(), ProviderError> {
        let (mut parts, mut bound, mut key) = (Vec::new(), TokenBound::ZERO, ChainHash::default());
        let shown = std::mem::take(&mut self.media);
        for (version, message) in &shown {
            let Message::ToolResult(result) = &**message else { continue };
            key = key.then(ChainHash::of(&[&result.id.bits().to_le_bytes(), &version.to_le_bytes()]));
            parts.push(Part::Text { text: format!("From the result of `{}`:", result.tool_name).into() });
            for block in &result.content {
                let part = match block {
                    ContentBlock::Image(image) => image_part(image, self.facts),
                    ContentBlock::Document(file) => file_part(file, self.facts),
                    _ => None,
                };
                if let Some((part, cost)) = part {
                    bound = bound.plus(cost);
                    parts.push(part);
                }
            }
        }
        let context = u64::try_from(key.bits() >> 65).unwrap_or_default();
        self.put(walk, &Out::User { content: Content::Parts(parts) }, (1, context), bound)?;
        walk.set_state(SOMETHING);
        Ok(())
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
