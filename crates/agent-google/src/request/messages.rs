//! The history as the vendor's contents: two roles in turns, neighbours of one role merged, each block a piece of its
//! own.
//!
//! All results of a turn stand in one content, in the order of the calls: the vendor counts them, and finds those
//! without ids by their order (<https://ai.google.dev/gemini-api/docs/function-calling>).

use std::borrow::Cow;

use agent_core::{
    AssistantMessage, Block, CallId, ContentBlock, Loss, Message, MessageId, MessageWalk, ModelFacts, OpaqueBlock,
    Origin, ProviderError, ProviderErrorKind, RawJson, TextBlock, ThinkingBlock, TokenBound, ToolCall,
    ToolResultMessage, ViewEntry,
};

use super::parts::{self, Call, METADATA, Mark, Marks, NO_SIGNATURE, Outcome, Part, Response};
use crate::{
    json::Members,
    replay::{replays_to, speaks_with},
};

/// The states of the walk: which role's content is open.
pub(super) const USER: u64 = 1;
pub(super) const MODEL: u64 = 2;

/// What stands in for a message of a user that has nothing the vendor takes.
const NOTHING: &str = "(empty message)";

pub(super) struct Encoder<'a> {
    pub(super) target: Origin,
    pub(super) facts: &'a ModelFacts,
    /// Whether the model is of a generation before Gemini 3.
    pub(super) before_3: bool,
    /// Whether calls that another provider made get an id of ours: at the Gemini API, which wants results to say whose
    /// they are. Vertex finds them by their order.
    pub(super) invents_ids: bool,
    /// The calls of the newest answer of this walk, with the ids that they are sent with.
    pub(super) calls: Vec<(CallId, Option<String>)>,
}

/// What becomes of a block: parts and what their media cost, or why there are none.
enum Sent<'b> {
    Parts(Vec<Part<'b>>, TokenBound),
    /// As the vendor made it.
    Raw(&'b RawJson),
    Nothing,
    Lost(Cow<'static, str>),
}

impl<'b> From<Part<'b>> for Sent<'b> {
    fn from(part: Part<'b>) -> Self {
        Self::Parts(vec![part], TokenBound::ZERO)
    }
}

fn lost<'b>(what: &'static str) -> Sent<'b> {
    Sent::Lost(what.into())
}

impl Encoder<'_> {
    pub(super) fn message(&mut self, walk: &mut MessageWalk, entry: &ViewEntry) -> Result<(), ProviderError> {
        match &**entry.message() {
            Message::Assistant(answer) => self.answer(walk, answer),
            Message::ToolResult(result) => self.result(walk, result),
            message => {
                let mut sent = false;
                for (index, block) in (0..).zip(message.content()) {
                    sent |= put(walk, USER, index, message.id(), self.given(block))?;
                }
                if !sent {
                    let note = format!("it has nothing that the vendor takes; `{NOTHING}` is sent");
                    walk.loss(Loss::message(message.id(), note));
                    put(walk, USER, u32::MAX, message.id(), Part::text(NOTHING).into())?;
                }
                Ok(())
            }
        }
    }

    /// A block that a user, a note or a tool gives.
    fn given<'b>(&self, block: &'b ContentBlock) -> Sent<'b> {
        let media = |found: Option<(Part<'b>, TokenBound)>| match found {
            Some((part, bound)) => Sent::Parts(vec![part], bound),
            None => lost("a file from a source that the vendor does not take; it is left out"),
        };
        match block {
            ContentBlock::Text(text) if text.text.trim().is_empty() => Sent::Nothing,
            ContentBlock::Text(text) => Part::text(&text.text).into(),
            ContentBlock::Image(_) if !self.facts.abilities.images => {
                lost("an image, which the model does not read; it is left out")
            }
            ContentBlock::Document(_) if !self.facts.abilities.documents => {
                lost("a document, which the model does not read; it is left out")
            }
            ContentBlock::Image(image) => media(Part::image(image, self.facts)),
            ContentBlock::Document(file) => media(Part::document(file, self.facts)),
            ContentBlock::Opaque(block) => self.opaque(block, block.origin()),
            _ => lost("a block that only a model makes; it is left out"),
        }
    }

    fn opaque<'b>(&self, block: &'b OpaqueBlock, origin: Option<&Origin>) -> Sent<'b> {
        let fields = Members::read(block.data().get()).unwrap_or_default();
        let only = |names: &[&str]| fields.0.iter().all(|(name, _)| names.contains(&&**name));
        match origin {
            // What stood beside the parts, and the signature of an image, which goes with it.
            Some(origin) if speaks_with(origin, &self.target) && only(&METADATA) => Sent::Nothing,
            Some(origin) if speaks_with(origin, &self.target) && only(&["thoughtSignature"]) => Sent::Nothing,
            Some(origin) if replays_to(origin, &self.target) => Sent::Raw(block.data()),
            _ => lost("a block of another model; it is left out"),
        }
    }

    fn answer(&mut self, walk: &mut MessageWalk, answer: &AssistantMessage) -> Result<(), ProviderError> {
        let provider = speaks_with(&answer.origin, &self.target);
        let ours = replays_to(&answer.origin, &self.target);
        // Either all calls of an answer have an id or none has.
        let has_ids = answer.tool_calls().any(|(_, call)| call.vendor_id.is_some());
        let id = |own: CallId, call: &ToolCall| match &call.vendor_id {
            Some(id) if provider => Some(id.clone()),
            _ if self.invents_ids && (has_ids || !provider) => Some(own.to_string()),
            _ => None,
        };
        self.calls = answer.tool_calls().map(|(own, call)| (own, id(own, call))).collect();
        let mut first_call = true;
        for (index, block) in (0u32..).zip(&answer.content) {
            let sent = match block {
                ContentBlock::Text(block) => text(block, ours),
                ContentBlock::Thinking(block) => self.thinking(block, &answer.origin),
                ContentBlock::ToolCall(call) => {
                    let first = std::mem::replace(&mut first_call, false);
                    self.call(call, CallId::new(answer.id, index), ours, first)?
                }
                ContentBlock::Image(image) if ours => {
                    let signature = usize::try_from(index).ok().and_then(|at| answer.content.get(at.checked_add(1)?));
                    let signature = match signature {
                        Some(ContentBlock::Opaque(next)) => Members::read(next.data().get()),
                        _ => None,
                    };
                    let signature = signature.and_then(|fields| fields.text("thoughtSignature"));
                    match Part::image(image, self.facts) {
                        Some((part, bound)) => Sent::Parts(vec![part.signed(signature)], bound),
                        None => lost("an image from a source that the vendor does not take; it is left out"),
                    }
                }
                ContentBlock::Opaque(block) => {
                    self.opaque(block, block.origin().map(|origin| made_by(Some(origin), &answer.origin)))
                }
                _ => lost("media of another model, which the vendor takes from users only; it is left out"),
            };
            put(walk, MODEL, index, answer.id, sent)?;
        }
        Ok(())
    }

    fn thinking<'b>(&self, block: &'b ThinkingBlock, answer: &Origin) -> Sent<'b> {
        let ours = replays_to(made_by(block.origin.as_ref(), answer), &self.target);
        match &block.signature {
            Some(signature) if ours => {
                let part = Part { thought: Some(true), ..Part::text(&block.text) };
                part.signed(Some(signature.into())).into()
            }
            // A summary, which the vendor does not want back.
            None if ours => Sent::Nothing,
            None if block.text.trim().is_empty() && block.encrypted.is_none() => Sent::Nothing,
            _ => lost("reasoning of another model; it is left out"),
        }
    }

    fn call<'b>(&self, call: &'b ToolCall, id: CallId, ours: bool, first: bool) -> Result<Sent<'b>, ProviderError> {
        let metadata = call.metadata.as_ref().filter(|_| ours).and_then(|raw| Members::read(raw.get()));
        let signature = metadata.and_then(|fields| fields.text("thoughtSignature"));
        // Of calls side by side the vendor signs the first, and refuses a first one without.
        let signature = signature.or_else(|| (first && !self.before_3).then_some(NO_SIGNATURE.into()));
        let args = RawJson::parse(call.arguments.replay()).map_err(|e| {
            ProviderError::new(ProviderErrorKind::InvalidRequest, "the arguments of a call are no JSON").with_source(e)
        })?;
        let id = self.id_of(id).map(Cow::Owned);
        let part = Part { function_call: Some(Call { id, name: &call.name, args }), ..Part::default() };
        Ok(part.signed(signature).into())
    }

    fn result(&mut self, walk: &mut MessageWalk, result: &ToolResultMessage) -> Result<(), ProviderError> {
        let (mut texts, mut media, mut bound) = (Vec::new(), Vec::new(), TokenBound::ZERO);
        for block in &result.content {
            let is_image = matches!(block, ContentBlock::Image(_));
            let sent = match block {
                ContentBlock::Text(text) if text.text.is_empty() => Sent::Nothing,
                ContentBlock::Text(text) => {
                    texts.push(text.text.as_str());
                    Sent::Nothing
                }
                _ if is_image && !self.facts.abilities.tool_images => {
                    lost("an image of a tool, which the model does not read; it is left out")
                }
                block => self.given(block),
            };
            match sent {
                Sent::Parts(more, cost) => {
                    media.extend(more);
                    bound = bound.plus(cost);
                }
                Sent::Lost(what) => walk.loss(Loss::message(result.id, what)),
                Sent::Nothing => {}
                Sent::Raw(_) => walk.loss(Loss::message(result.id, "a part that no result may hold; it is left out")),
            }
        }
        let text = match texts.as_slice() {
            [text] => Cow::Borrowed(*text),
            texts => Cow::Owned(texts.join("\n")),
        };
        let response = if result.is_error { Outcome::Error(text) } else { Outcome::Output(text) };
        let id = self.id_of(result.call).map(Cow::Owned);
        // Inside of the result where the model takes it, else beside it.
        let (inside, beside) = if self.before_3 { (Vec::new(), media) } else { (media, Vec::new()) };
        let function_response = Some(Response { id, name: &result.tool_name, response, parts: inside });
        let mut all = vec![Part { function_response, ..Part::default() }];
        all.extend(beside);
        put(walk, USER, 0, result.id, Sent::Parts(all, bound)).map(drop)
    }

    /// The id that a call is sent with, if it is with one. A view has whole turns: what answers a call is encoded right behind
    /// it.
    fn id_of(&self, call: CallId) -> Option<String> {
        self.calls.iter().find(|(known, _)| *known == call).and_then(|(_, id)| id.clone())
    }
}

/// Who made a block of an answer. Servers that do not name their model leave it to the answer, which has the name that
/// was asked for.
fn made_by<'o>(block: Option<&'o Origin>, answer: &'o Origin) -> &'o Origin {
    block.filter(|own| !own.model.is_empty() || !speaks_with(own, answer)).unwrap_or(answer)
}

/// A text, cut into the parts that were signed where this model signed them.
fn text(block: &TextBlock, ours: bool) -> Sent<'_> {
    let whole = block.text.as_str();
    let plain = || if whole.trim().is_empty() { Sent::Nothing } else { Part::text(whole).into() };
    let marks = block.metadata.as_ref().filter(|_| ours).and_then(|raw| raw.read::<Marks>().ok());
    let Some(Marks { marks }) = marks.filter(|found| !found.marks.is_empty()) else { return plain() };
    let (mut parts, mut at) = (Vec::new(), 0);
    for Mark { from, to, signature } in marks {
        let (Some(before), Some(signed)) = (whole.get(at..from), whole.get(from..to)) else {
            return lost_marks(whole);
        };
        if !before.is_empty() {
            parts.push(Part::text(before));
        }
        parts.push(Part::text(signed).signed(Some(signature.into())));
        at = to;
    }
    if let Some(rest) = whole.get(at..).filter(|rest| !rest.is_empty()) {
        parts.push(Part::text(rest));
    }
    Sent::Parts(parts, TokenBound::ZERO)
}

/// A text that is no longer the one that was signed.
fn lost_marks(whole: &str) -> Sent<'_> {
    if whole.trim().is_empty() { Sent::Nothing } else { Part::text(whole).into() }
}

/// Puts a block, or reports why not; says whether there is one.
fn put(
    walk: &mut MessageWalk,
    role: u64,
    index: u32,
    message: MessageId,
    sent: Sent<'_>,
) -> Result<bool, ProviderError> {
    if let Sent::Lost(what) = &sent {
        walk.loss(Loss::message(message, what.clone()));
    }
    if matches!(sent, Sent::Lost(_) | Sent::Nothing) {
        return Ok(false);
    }
    let lead = lead(walk.state(), role);
    walk.set_state(role);
    walk.block(index, 0, lead, || match &sent {
        Sent::Parts(all, media) => parts::block(all, *media),
        Sent::Raw(raw) => Ok(Block::new(raw.get().to_owned())),
        Sent::Nothing | Sent::Lost(_) => Ok(Block::new("")),
    })?;
    Ok(true)
}

/// What stands between the block before and one of this role.
pub(super) fn lead(before: u64, role: u64) -> &'static str {
    match (before, role) {
        (0, USER) => "{\"role\":\"user\",\"parts\":[",
        (0, _) => "{\"role\":\"model\",\"parts\":[",
        (before, now) if before == now => ",",
        (_, USER) => "]},{\"role\":\"user\",\"parts\":[",
        _ => "]},{\"role\":\"model\",\"parts\":[",
    }
}
