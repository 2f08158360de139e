//! The history as the vendor's messages: two roles in turns, neighbours of one role merged.
//!
//! All results of a turn stand first in one user message, and what the user says after them behind: results in
//! messages of their own teach the model not to call in parallel
//! (<https://docs.claude.com/en/docs/agents-and-tools/tool-use/implement-tool-use>).

use std::borrow::Cow;

use agent_core::{
    AssistantMessage, CallId, ContentBlock, JsonMembers, Loss, Message, MessageId, MessageWalk, ModelFacts,
    OpaqueBlock, Origin, ProviderError, RawJson, StopReason, ThinkingBlock, ToolCall, ToolResultMessage, ViewEntry,
};
use serde_json::value::RawValue;

use super::{
    blocks::{Content, JsonText, Out},
    media,
};
use crate::{
    replay::{replays_to, speaks_with},
    wire::ForeignThinking,
};

/// The states of the walk: which role's message is open.
pub(super) const USER: u64 = 1;
pub(super) const ASSISTANT: u64 = 2;

/// What stands in for a message of a user that has nothing the vendor takes.
const NOTHING: &str = "(empty message)";

pub(super) struct Encoder<'a> {
    pub(super) target: Origin,
    pub(super) facts: &'a ModelFacts,
    pub(super) foreign: ForeignThinking,
    /// The calls of the newest answer, whose results follow it.
    pub(super) calls: Vec<OpenCall>,
}

pub(super) struct OpenCall {
    call: CallId,
    id: String,
    toolset: Option<String>,
}

/// What becomes of a block: it is sent, there is nothing to send, or it cannot be sent.
type Outcome<'b> = Result<Option<Out<'b>>, Cow<'static, str>>;

impl Encoder<'_> {
    pub(super) fn message(&mut self, walk: &mut MessageWalk, entry: &ViewEntry) -> Result<(), ProviderError> {
        match &**entry.message() {
            Message::Assistant(message) => self.answer(walk, message),
            Message::ToolResult(message) => self.result(walk, message),
            message => {
                let mut sent = false;
                for (index, block) in (0..).zip(message.content()) {
                    sent |= self.put(walk, USER, index, message.id(), self.given(block))?;
                }
                if !sent {
                    let note = format!("it has nothing that the vendor takes; `{NOTHING}` is sent");
                    walk.loss(Loss::message(message.id(), note));
                    self.put(walk, USER, u32::MAX, message.id(), Ok(Some(Out::text(NOTHING))))?;
                }
                Ok(())
            }
        }
    }

    /// Puts a block, or reports why not; says whether there is one.
    fn put(
        &self,
        walk: &mut MessageWalk,
        role: u64,
        index: u32,
        message: MessageId,
        outcome: Outcome<'_>,
    ) -> Result<bool, ProviderError> {
        let out = match outcome {
            Ok(Some(out)) => out,
            Ok(None) => return Ok(false),
            Err(what) => {
                walk.loss(Loss::message(message, what));
                return Ok(false);
            }
        };
        let lead = lead(walk.state(), role);
        walk.set_state(role);
        walk.block(index, 0, lead, || out.encode(self.facts))?;
        Ok(true)
    }

    /// A block that a user, a note or a tool gives.
    fn given<'b>(&self, block: &'b ContentBlock) -> Outcome<'b> {
        match block {
            ContentBlock::Text(block) => Ok(text(&block.text, None)),
            ContentBlock::Image(_) if !self.facts.abilities.images => {
                Err("an image, which the model does not read; it is left out".into())
            }
            ContentBlock::Document(_) if !self.facts.abilities.documents => {
                Err("a document, which the model does not read; it is left out".into())
            }
            ContentBlock::Image(block) => media::image(block).map(Some).map_err(Cow::Owned),
            ContentBlock::Document(block) => media::document(block).map(Some).map_err(Cow::Owned),
            ContentBlock::Opaque(block) => self.opaque(block),
            ContentBlock::Thinking(_) => Err("reasoning that no model said; it is left out".into()),
            ContentBlock::ToolCall(_) => Err("a tool call that no model made; it is left out".into()),
            _ => Err("a block that the wire does not know; it is left out".into()),
        }
    }

    fn opaque<'b>(&self, block: &'b OpaqueBlock) -> Outcome<'b> {
        match block.origin() {
            Some(origin) if replays_to(origin, &self.target) => Ok(Some(Out::Opaque(block.data()))),
            _ => Err("a block of another provider; it is left out".into()),
        }
    }

    fn answer(&mut self, walk: &mut MessageWalk, answer: &AssistantMessage) -> Result<(), ProviderError> {
        let ours = speaks_with(&answer.origin, &self.target);
        self.calls = answer.tool_calls().map(|(id, call)| open_call(id, call, ours)).collect();
        let indexed = (0u32..).zip(&answer.content);
        let mut outcomes: Vec<_> = indexed.map(|(index, block)| self.said(answer, index, block, ours)).collect();
        // An answer must not end in thinking, as one does that was cut off behind it; a paused one goes on.
        if answer.stop_reason != StopReason::Paused {
            for outcome in outcomes.iter_mut().rev() {
                match outcome {
                    Ok(Some(Out::Thinking { .. } | Out::RedactedThinking { .. })) => {
                        *outcome = Err("reasoning that nothing follows; it is left out".into());
                    }
                    Ok(Some(_)) => break,
                    _ => {}
                }
            }
        }
        for (index, outcome) in (0..).zip(outcomes) {
            self.put(walk, ASSISTANT, index, answer.id, outcome)?;
        }
        Ok(())
    }

    /// A block that a model said.
    fn said<'b>(&self, answer: &'b AssistantMessage, index: u32, block: &'b ContentBlock, ours: bool) -> Outcome<'b> {
        match block {
            ContentBlock::Text(block) => {
                let metadata = block.metadata.as_ref().filter(|_| ours).map(RawJson::get);
                Ok(text(&block.text, metadata.and_then(JsonMembers::read).and_then(|m| m.value("citations"))))
            }
            ContentBlock::Thinking(block) => self.thinking(block, &answer.origin),
            ContentBlock::ToolCall(call) => {
                let metadata = call.metadata.as_ref().filter(|_| ours).map(RawJson::get).and_then(JsonMembers::read);
                let field = |name| metadata.as_ref().and_then(|members| members.value(name));
                Ok(Some(Out::ToolUse {
                    id: wire_id(CallId::new(answer.id, index), call, ours),
                    name: &call.name,
                    input: JsonText(call.arguments.replay()),
                    caller: field("caller"),
                    toolset_name: field("toolset_name"),
                }))
            }
            ContentBlock::Opaque(block) if is_dangling(block, answer) => {
                Err("a server tool's call that was cut off; it is left out".into())
            }
            ContentBlock::Opaque(block) => self.opaque(block),
            _ => Err("media of a model, which the vendor takes from users only; it is left out".into()),
        }
    }

    fn thinking<'b>(&self, block: &'b ThinkingBlock, answer: &Origin) -> Outcome<'b> {
        let ours = replays_to(block.origin.as_ref().unwrap_or(answer), &self.target);
        match (&block.encrypted, &block.signature) {
            (Some(data), _) if ours => Ok(Some(Out::RedactedThinking { data })),
            (None, Some(signature)) if ours => Ok(Some(Out::Thinking { thinking: &block.text, signature })),
            (Some(_), _) => Err("reasoning that only another model can read; it is left out".into()),
            _ if block.text.trim().is_empty() => Err("the signature of another model; it is left out".into()),
            _ if self.foreign == ForeignThinking::Text => {
                let text = format!("<thinking>\n{}\n</thinking>", block.text);
                Ok(Some(Out::Text { text: text.into(), citations: None }))
            }
            _ => Err("reasoning that this model did not sign; it is left out".into()),
        }
    }

    fn result(&mut self, walk: &mut MessageWalk, result: &ToolResultMessage) -> Result<(), ProviderError> {
        let mut blocks = Vec::new();
        for block in &result.content {
            let image = matches!(block, ContentBlock::Image(_));
            let outcome = match self.given(block) {
                Ok(_) if image && !self.facts.abilities.tool_images => {
                    Err("an image of a tool, which the model does not read; it is left out".into())
                }
                outcome => outcome,
            };
            match outcome {
                Ok(block) => blocks.extend(block),
                Err(what) => walk.loss(Loss::message(result.id, what)),
            }
        }
        let known = self.calls.iter().find(|call| call.call == result.call);
        let id = known.map_or_else(|| result.call.to_string(), |call| call.id.clone());
        let content = match blocks.pop() {
            None => None,
            Some(Out::Text { text, .. }) if blocks.is_empty() => Some(Content::Text(text)),
            Some(last) => {
                blocks.push(last);
                Some(Content::Blocks(blocks))
            }
        };
        let toolset_name = known.and_then(|call| call.toolset.as_deref());
        let out = Out::ToolResult { tool_use_id: id.into(), content, is_error: result.is_error, toolset_name };
        self.put(walk, USER, 0, result.id, Ok(Some(out))).map(drop)
    }
}

/// Text, if it is more than white space: the vendor refuses blocks without any.
fn text<'b>(text: &'b str, citations: Option<&'b RawValue>) -> Option<Out<'b>> {
    (!text.trim().is_empty()).then_some(Out::Text { text: text.into(), citations })
}

fn open_call(id: CallId, call: &ToolCall, ours: bool) -> OpenCall {
    let metadata = call.metadata.as_ref().filter(|_| ours).map(RawJson::get).and_then(JsonMembers::read);
    let toolset = metadata.and_then(|members| members.text("toolset_name")).map(Cow::into_owned);
    OpenCall { call: id, id: wire_id(id, call, ours).into_owned(), toolset }
}

/// The vendor's own id where it gave one, since it makes them unique; else ours. Ids of compatible servers may come
/// twice in a conversation, which the vendor refuses.
fn wire_id(id: CallId, call: &ToolCall, ours: bool) -> Cow<'_, str> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let vendors = |vendor: &&str| vendor.starts_with("toolu_") && vendor.chars().all(fits);
    let known = call.vendor_id.as_deref().filter(|_| ours).filter(vendors);
    known.map_or_else(|| id.to_string().into(), Cow::Borrowed)
}

/// Whether a block is a server tool's call in an answer that was cut off before the tool's result came: the vendor
/// refuses a call without one.
fn is_dangling(block: &OpaqueBlock, answer: &AssistantMessage) -> bool {
    if !matches!(answer.stop_reason, StopReason::Error | StopReason::Cancelled) {
        return false;
    }
    let members = |block: &OpaqueBlock, name: &str| {
        JsonMembers::read(block.data().get()).and_then(|members| members.text(name).map(Cow::into_owned))
    };
    let is_call = members(block, "type").is_some_and(|kind| kind.ends_with("tool_use"));
    let id = members(block, "id");
    let answered = |other: &ContentBlock| match other {
        ContentBlock::Opaque(other) => id.is_some() && members(other, "tool_use_id") == id,
        _ => false,
    };
    is_call && !answer.content.iter().any(answered)
}

/// What stands between the block before and one of this role.
fn lead(before: u64, role: u64) -> &'static str {
    match (before, role) {
        (0, USER) => "{\"role\":\"user\",\"content\":[",
        (0, _) => "{\"role\":\"assistant\",\"content\":[",
        (before, now) if before == now => ",",
        (_, USER) => "]},{\"role\":\"user\",\"content\":[",
        _ => "]},{\"role\":\"assistant\",\"content\":[",
    }
}

/// What stands before a block that is behind the last message.
pub(super) fn note_lead(before: u64) -> &'static str {
    lead(before, USER)
}
