//! The blocks of an answer while they arrive, numbered in the order in which they begin.

use std::mem;

use agent_core::{
    BlockStart, ByteString, ContentBlock, Events, ModelEvent, OpaqueBlock, Origin, ProviderError, RawJson,
};
use serde_json::value::RawValue;

use super::{
    event::{Delta, Start, Text},
    fast::{Adds, Step},
    opaque::{MAX_OPAQUE, Opaque},
    protocol, share,
};

pub(super) struct Blocks {
    origin: Origin,
    open: Vec<Open>,
    next: u32,
}

/// A block that has begun and not ended.
struct Open {
    /// The vendor's number.
    index: u64,
    /// Our number.
    block: u32,
    kind: Kind,
}

enum Kind {
    Text {
        citations: Vec<String>,
    },
    Thinking,
    Call {
        /// Arguments that came whole with the start; they count if no other ones come.
        input: Option<String>,
    },
    /// It comes out whole when it ends. The vendor begins no block while one of these is open.
    Opaque(Opaque),
}

impl Blocks {
    pub(super) fn new(origin: Origin) -> Self {
        Self { origin, open: Vec::new(), next: 0 }
    }

    pub(super) fn has_open_call(&self) -> bool {
        self.open.iter().any(|open| matches!(open.kind, Kind::Call { .. }))
    }

    pub(super) fn start(
        &mut self,
        index: Option<u64>,
        raw: Option<&RawValue>,
        data: &ByteString,
        events: &mut Events,
    ) -> Result<(), ProviderError> {
        let Some(raw) = raw else { return Ok(()) };
        let start: Start<'_> = match serde_json::from_str(raw.get()) {
            Ok(start) => start,
            // No object, so no block.
            Err(_) => return Ok(()),
        };
        let index =
            index.unwrap_or_else(|| self.open.iter().map(|open| open.index + 1).max().unwrap_or(self.next.into()));
        // A number that is used again is another block, and an opaque block keeps its place.
        while let Some(at) = self.open.iter().position(|o| o.index == index || matches!(o.kind, Kind::Opaque(_))) {
            let open = self.open.remove(at);
            self.ended(open, events)?;
        }
        let block = self.next;
        let mut begin = |start| events.push(ModelEvent::BlockStart { block, start });
        let kind = match &*start.kind.0 {
            "text" => {
                begin(BlockStart::Text);
                push_text(&start.text, data, events, |text| ModelEvent::TextDelta { block, text });
                let known = start.citations.and_then(|raw| serde_json::from_str::<Vec<&RawValue>>(raw.get()).ok());
                Kind::Text { citations: known.iter().flatten().map(|raw| raw.get().to_owned()).collect() }
            }
            "thinking" => {
                begin(BlockStart::Thinking { origin: self.origin.clone(), encrypted: None });
                push_text(&start.thinking, data, events, |text| ModelEvent::ThinkingDelta { block, text });
                let signed = |signature| ModelEvent::SignatureDelta { block, signature };
                push_text(&start.signature, data, events, signed);
                Kind::Thinking
            }
            "redacted_thinking" => {
                let encrypted = Some(share(data, &start.data));
                begin(BlockStart::Thinking { origin: self.origin.clone(), encrypted });
                Kind::Thinking
            }
            "tool_use" => {
                let vendor_id = Some(share(data, &start.id)).filter(|id| !id.is_empty());
                begin(BlockStart::ToolCall { name: share(data, &start.name), vendor_id });
                if let Some(metadata) = call_metadata(&start) {
                    events.push(ModelEvent::Metadata { block, metadata });
                }
                let input = start.input.map(RawValue::get).filter(|input| !matches!(*input, "{}" | "null"));
                Kind::Call { input: input.map(str::to_owned) }
            }
            _ => Kind::Opaque(Opaque::new(raw)),
        };
        if !matches!(kind, Kind::Opaque(_)) {
            self.next = self.next.saturating_add(1);
        }
        self.open.push(Open { index, block, kind });
        Ok(())
    }

    /// Takes the most frequent deltas; `false` where it is none of them.
    pub(super) fn step(&mut self, step: &Step<'_>, data: &ByteString, events: &mut Events) -> bool {
        let Some(open) = self.open.iter_mut().rev().find(|open| open.index == step.index) else { return false };
        let block = open.block;
        match (&mut open.kind, step.adds) {
            (Kind::Text { .. }, Adds::Text) => {
                push_text(&step.text, data, events, |text| ModelEvent::TextDelta { block, text });
            }
            (Kind::Thinking, Adds::Thinking) => {
                push_text(&step.text, data, events, |text| ModelEvent::ThinkingDelta { block, text });
            }
            (Kind::Call { input: None }, Adds::Arguments) => {
                push_text(&step.text, data, events, |json| ModelEvent::ArgumentsDelta { block, json });
            }
            _ => return false,
        }
        true
    }

    pub(super) fn delta(
        &mut self,
        index: Option<u64>,
        delta: &Delta<'_>,
        data: &ByteString,
        events: &mut Events,
    ) -> Result<(), ProviderError> {
        let place = |open: &&mut Open| index.is_none_or(|index| open.index == index);
        let Some(open) = self.open.iter_mut().rev().find(place) else { return Ok(()) };
        let block = open.block;
        match (&mut open.kind, &*delta.kind.0) {
            (Kind::Text { .. }, "text_delta") => {
                push_text(&delta.text, data, events, |text| ModelEvent::TextDelta { block, text });
            }
            (Kind::Text { citations }, "citations_delta") => {
                citations.extend(delta.citation.map(|raw| raw.get().to_owned()));
            }
            (Kind::Thinking, "thinking_delta") => {
                push_text(&delta.thinking, data, events, |text| ModelEvent::ThinkingDelta { block, text });
            }
            (Kind::Thinking, "signature_delta") => {
                let signed = |signature| ModelEvent::SignatureDelta { block, signature };
                push_text(&delta.signature, data, events, signed);
            }
            (Kind::Call { input }, "input_json_delta") => {
                if !delta.partial_json.0.is_empty() {
                    *input = None;
                }
                push_text(&delta.partial_json, data, events, |json| ModelEvent::ArgumentsDelta { block, json });
            }
            (Kind::Opaque(opaque), _) => {
                let raw = agent_core::JsonMembers::read(data).and_then(|members| members.value("delta"));
                if raw.is_some_and(|raw| opaque.add(raw.get()).is_none()) {
                    return Err(protocol(&format!("a block has more than {MAX_OPAQUE} bytes")));
                }
            }
            // A delta that is not known, or that belongs to another kind of block.
            _ => {}
        }
        Ok(())
    }

    /// Ends a block; without a number none is ended.
    pub(super) fn stop(&mut self, index: Option<u64>, events: &mut Events) -> Result<(), ProviderError> {
        let Some(at) = self.open.iter().rposition(|open| Some(open.index) == index) else { return Ok(()) };
        let open = self.open.remove(at);
        self.ended(open, events)
    }

    /// Ends what is open when the answer ends.
    pub(super) fn close(&mut self, events: &mut Events) -> Result<(), ProviderError> {
        mem::take(&mut self.open).into_iter().try_for_each(|open| self.ended(open, events))
    }

    fn ended(&mut self, open: Open, events: &mut Events) -> Result<(), ProviderError> {
        let block = open.block;
        match open.kind {
            Kind::Text { citations } if !citations.is_empty() => {
                let text = format!("{{\"citations\":[{}]}}", citations.join(","));
                let metadata =
                    RawJson::parse(text).map_err(|e| protocol("citations that are no JSON").with_source(e))?;
                events.push(ModelEvent::Metadata { block, metadata });
            }
            Kind::Call { input: Some(json) } => events.push(ModelEvent::ArgumentsDelta { block, json: json.into() }),
            Kind::Text { .. } | Kind::Thinking | Kind::Call { input: None } => {}
            Kind::Opaque(opaque) => {
                // Numbered when it comes out: nothing has begun since it did.
                let block = self.next;
                self.next = self.next.saturating_add(1);
                let json = opaque.finish().ok_or_else(|| protocol("a block that is no JSON object"))?;
                let whole = BlockStart::Whole(ContentBlock::Opaque(OpaqueBlock::new(self.origin.clone(), json)));
                events.push(ModelEvent::BlockStart { block, start: whole });
                events.push(ModelEvent::BlockEnd { block });
                return Ok(());
            }
        }
        events.push(ModelEvent::BlockEnd { block });
        Ok(())
    }
}

/// Puts text out, if there is any.
fn push_text(text: &Text<'_>, data: &ByteString, events: &mut Events, event: impl FnOnce(ByteString) -> ModelEvent) {
    if !text.0.is_empty() {
        events.push(event(share(data, text)));
    }
}

/// What of a call the vendor wants back besides id, name and input: who called it (unless the model itself did), and
/// the toolset that it is of.
fn call_metadata(start: &Start<'_>) -> Option<RawJson> {
    let direct = |raw: &&RawValue| {
        agent_core::JsonMembers::read(raw.get()).is_some_and(|m| m.text("type").is_some_and(|t| t == "direct"))
    };
    let null = |raw: &&RawValue| raw.get() == "null";
    let caller = start.caller.filter(|raw| !direct(raw) && !null(raw));
    let toolset = start.toolset_name.filter(|raw| !null(raw));
    let fields = [("caller", caller), ("toolset_name", toolset)];
    let fields: Vec<_> =
        fields.iter().filter_map(|(name, raw)| Some(format!("\"{name}\":{}", (*raw)?.get()))).collect();
    if fields.is_empty() { None } else { RawJson::parse(format!("{{{}}}", fields.join(","))).ok() }
}
