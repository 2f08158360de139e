//! Reads an answer: server-sent events, or one JSON object, from bytes cut anywhere.

use agent_core::{
    AnswerReader, BlockStart, ByteString, Decoder, Events, ModelEvent, Origin, ProviderError, ProviderErrorKind,
    StopReason, classify, json_literal, json_string as string,
};
use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use serde_json::value::RawValue;

use super::{
    RESPONSES_PROTOCOL,
    event::{Event, Item, Response},
    slots::{Kind, Slots},
    usage,
};
use crate::{chat::share, repeat::Template};

/// How many shapes of events are remembered: text, reasoning, a call.
const SHAPES: usize = 4;

/// Reads one answer of Responses, streamed or whole.
///
/// Items are told apart by place and id. The answer ends with `response.completed`, `response.incomplete`,
/// `response.failed` or `error`; bytes that end before it are an error of kind `Network`, since the connection broke.
pub struct ResponsesDecoder {
    pub(super) origin: Origin,
    answer: AnswerReader,
    /// What an event of a known shape adds to which block.
    shapes: Vec<(Adds, u32, Template)>,
    started: bool,
    next: u32,
    pub(super) slots: Slots,
    pub(super) refused: bool,
    done: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Adds {
    Text,
    Thinking,
    Arguments(usize),
}

impl std::fmt::Debug for ResponsesDecoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ResponsesDecoder").field("provider", &self.origin.provider).finish_non_exhaustive()
    }
}

impl ResponsesDecoder {
    pub(crate) fn new(provider: &str) -> Self {
        Self {
            origin: Origin::new(RESPONSES_PROTOCOL, provider, ""),
            answer: AnswerReader::new(),
            shapes: Vec::new(),
            started: false,
            next: 0,
            slots: Slots::default(),
            refused: false,
            done: false,
        }
    }

    fn drain(&mut self, events: &mut Events) -> Result<(), ProviderError> {
        while let Some(event) = self.answer.next_event() {
            let data = event?.data;
            if self.done {
                continue;
            }
            let known = self
                .shapes
                .iter()
                .find_map(|(adds, block, template)| Some((*adds, *block, template.read(&data, json_literal)?)));
            match known {
                Some((adds, block, text)) => self.add(adds, block, share(&data, &text), events),
                // LiteLLM closes with a word of the other protocol.
                None if matches!(data.trim(), "" | "[DONE]") => {}
                None => self.event(&data, events)?,
            }
        }
        Ok(())
    }

    pub(super) fn add(&mut self, adds: Adds, block: u32, text: ByteString, events: &mut Events) {
        if text.is_empty() {
            return;
        }
        events.push(match adds {
            Adds::Text => ModelEvent::TextDelta { block, text },
            Adds::Thinking => ModelEvent::ThinkingDelta { block, text },
            Adds::Arguments(at) => {
                if let Some(slot) = self.slots.get_mut(at) {
                    slot.streamed.push_str(&text);
                }
                ModelEvent::ArgumentsDelta { block, json: text }
            }
        });
    }

    fn event(&mut self, data: &ByteString, events: &mut Events) -> Result<(), ProviderError> {
        let event: Event<'_> = serde_json::from_str(data).map_err(|e| {
            protocol("the answer is not the JSON that the protocol has").with_body(data.as_bytes()).with_source(e)
        })?;
        let id = event.item_id.and_then(string);
        let (place, id) = (event.output_index, id.as_deref());
        let kind = event.kind.and_then(string).unwrap_or_default();
        match kind.strip_prefix("response.").unwrap_or(&kind) {
            "created" | "in_progress" | "queued" => self.begin(event.response, data, events),
            "output_item.added" => {
                self.shapes.clear();
                if let Some(raw) = event.item {
                    self.item_added(place, raw, data, events);
                }
            }
            "output_item.done" => {
                self.shapes.clear();
                if let Some(raw) = event.item {
                    self.item_done(place, raw, data, events);
                }
            }
            "output_text.delta" => self.say(&event, data, place, id, events),
            "refusal.delta" => {
                self.refused = true;
                self.say(&event, data, place, id, events);
            }
            "refusal.done" => self.refused = true,
            "reasoning_summary_text.delta" | "reasoning_text.delta" => self.think(&event, data, place, id, events),
            "function_call_arguments.delta" => self.argue(&event, data, place, id, events),
            "function_call_arguments.done" => {
                if let (Some(at), Some(text)) =
                    (self.slots.find(place, id, Some(Kind::Call)), event.arguments.and_then(string))
                {
                    self.complete(at, &text, events);
                }
            }
            "custom_tool_call_input.delta" => {
                let at = self.slots.find(place, id, Some(Kind::Custom));
                if let (Some(at), Some(text)) = (at, event.delta.and_then(string)) {
                    self.custom(at, &text, events);
                }
            }
            "completed" | "incomplete" | "failed" | "done" | "cancelled" => {
                let raw = event.response.ok_or_else(|| protocol("the answer ended without a response"))?;
                self.end(raw, data, events)?;
            }
            "error" => return Err(in_stream(data.as_bytes())),
            // Gateways send their errors without saying so.
            "" if data.contains("\"error\"") => return Err(in_stream(data.as_bytes())),
            _ => {}
        }
        Ok(())
    }

    fn begin(&mut self, raw: Option<&RawValue>, data: &ByteString, events: &mut Events) {
        if std::mem::replace(&mut self.started, true) {
            return;
        }
        let response: Response<'_> = raw.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default();
        let text = |raw: Option<&RawValue>| {
            raw.and_then(string).map(|text| share(data, &text)).filter(|text| !text.is_empty())
        };
        let model = text(response.model);
        if let Some(model) = &model {
            self.origin.model = model.to_string();
        }
        events.push(ModelEvent::Start { response_id: text(response.id), model });
    }

    pub(super) fn new_block(&mut self, at: usize, part: u64, start: BlockStart, events: &mut Events) -> u32 {
        // Some gateways begin without saying so.
        self.begin(None, &ByteString::new(), events);
        let block = self.next;
        self.next = self.next.saturating_add(1);
        if let Some(slot) = self.slots.get_mut(at) {
            slot.blocks.push((part, block));
        }
        events.push(ModelEvent::BlockStart { block, start });
        block
    }

    /// The block of a part of an item.
    pub(super) fn block_of(&mut self, at: usize, part: u64) -> Option<u32> {
        let slot = self.slots.get_mut(at)?;
        slot.blocks.iter().find(|(known, _)| *known == part).map(|(_, block)| *block)
    }

    pub(super) fn item_added(
        &mut self,
        place: Option<u64>,
        raw: &RawValue,
        data: &ByteString,
        events: &mut Events,
    ) -> usize {
        let item: Item<'_> = serde_json::from_str(raw.get()).unwrap_or_default();
        let text = |raw: Option<&RawValue>| raw.and_then(string).map(|text| share(data, &text));
        let kind = match item.kind.and_then(string).as_deref() {
            Some("message") => Kind::Message,
            Some("reasoning") => Kind::Reasoning,
            Some("function_call") => Kind::Call,
            Some("custom_tool_call") => Kind::Custom,
            _ => Kind::Other,
        };
        let id = item.id.and_then(string);
        let at = self.slots.open(place, id.as_deref(), kind);
        if matches!(kind, Kind::Call | Kind::Custom) {
            let vendor_id = text(item.call_id).filter(|id| !id.is_empty());
            let start = BlockStart::ToolCall { name: text(item.name).unwrap_or_default(), vendor_id };
            self.new_block(at, 0, start, events);
        }
        if let Some(arguments) = text(item.arguments).filter(|text| kind == Kind::Call && !text.is_empty()) {
            self.complete(at, &arguments, events);
        }
        at
    }

    fn say(&mut self, event: &Event<'_>, data: &ByteString, place: Option<u64>, id: Option<&str>, events: &mut Events) {
        let found = self.slots.find(place, id, Some(Kind::Message));
        let at = found.unwrap_or_else(|| self.slots.open(place, id, Kind::Message));
        let part = event.content_index.unwrap_or(0);
        let block = self.block_of(at, part).unwrap_or_else(|| self.new_block(at, part, BlockStart::Text, events));
        self.take(event.delta, Adds::Text, block, data, events);
    }

    fn think(
        &mut self,
        event: &Event<'_>,
        data: &ByteString,
        place: Option<u64>,
        id: Option<&str>,
        events: &mut Events,
    ) {
        let found = self.slots.find(place, id, Some(Kind::Reasoning));
        let at = found.unwrap_or_else(|| self.slots.open(place, id, Kind::Reasoning));
        let block = self.reasoning_block(at, events);
        let part = event.summary_index.or(event.content_index);
        let before = self.slots.get_mut(at).and_then(|slot| std::mem::replace(&mut slot.part, part));
        // Parts of a summary are paragraphs.
        if before.is_some() && before != part {
            self.add(Adds::Thinking, block, ByteString::from_static("\n\n"), events);
        }
        self.take(event.delta, Adds::Thinking, block, data, events);
    }

    pub(super) fn reasoning_block(&mut self, at: usize, events: &mut Events) -> u32 {
        let start = BlockStart::Thinking { origin: self.origin.clone(), encrypted: None };
        self.block_of(at, 0).unwrap_or_else(|| self.new_block(at, 0, start, events))
    }

    fn argue(
        &mut self,
        event: &Event<'_>,
        data: &ByteString,
        place: Option<u64>,
        id: Option<&str>,
        events: &mut Events,
    ) {
        let Some(at) = self.slots.find(place, id, Some(Kind::Call)) else { return };
        if let Some(block) = self.block_of(at, 0) {
            self.take(event.delta, Adds::Arguments(at), block, data, events);
        }
    }

    /// Adds a delta, and remembers the shape of its event.
    fn take(&mut self, delta: Option<&RawValue>, adds: Adds, block: u32, data: &ByteString, events: &mut Events) {
        let Some((raw, text)) = delta.and_then(|raw| Some((raw, string(raw)?))) else { return };
        self.add(adds, block, share(data, &text), events);
        if let Some(template) = Template::around(data, raw.get()) {
            self.shapes.truncate(SHAPES - 1);
            self.shapes.insert(0, (adds, block, template));
        }
    }

    fn end(&mut self, raw: &RawValue, data: &ByteString, events: &mut Events) -> Result<(), ProviderError> {
        let response: Response<'_> = serde_json::from_str(raw.get()).unwrap_or_default();
        let status = response.status.and_then(string).unwrap_or_default();
        if let Some(error) = response.error.filter(|raw| raw.get() != "null") {
            return Err(in_stream(format!("{{\"error\":{}}}", error.get()).as_bytes()));
        }
        if matches!(&*status, "failed" | "cancelled") {
            return Err(in_stream(data.as_bytes()));
        }
        self.begin(Some(raw), data, events);
        if self.slots.is_empty() {
            let output: Vec<&RawValue> =
                response.output.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default();
            for (place, item) in (0..).zip(output) {
                self.item_done(Some(place), item, data, events);
            }
        }
        events.extend(response.usage.and_then(usage::read).map(ModelEvent::Usage));
        let calls = || self.slots.iter().filter(|slot| matches!(slot.kind, Kind::Call | Kind::Custom));
        let cut = response.incomplete_details.and_then(|details| details.reason).and_then(string);
        let reason = match (&*status, cut.as_deref()) {
            _ if self.refused => StopReason::Refusal,
            (_, Some("content_filter")) => StopReason::Refusal,
            ("incomplete", _) | (_, Some(_)) => StopReason::MaxTokens,
            _ if calls().next().is_some() => StopReason::ToolUse,
            _ => StopReason::EndTurn,
        };
        // A call that was cut off may be half; what is not ended is not run.
        let ended = calls().filter(|slot| slot.done && !slot.cut).flat_map(|slot| &slot.blocks);
        let ended: Vec<u32> = ended.map(|(_, block)| *block).collect();
        events.extend(ended.into_iter().map(|block| ModelEvent::BlockEnd { block }));
        events.push(ModelEvent::Stop { reason, detail: None });
        self.done = true;
        Ok(())
    }
}

impl Decoder for ResponsesDecoder {
    fn feed(&mut self, bytes: Bytes, events: &mut Events) -> Result<(), ProviderError> {
        self.answer.feed(bytes)?;
        self.drain(events)
    }

    fn finish(&mut self, events: &mut Events) -> Result<(), ProviderError> {
        if let Some(text) = self.answer.finish()? {
            let raw: &RawValue = serde_json::from_str(&text)
                .map_err(|e| protocol("the answer is not JSON").with_body(text.as_bytes()).with_source(e))?;
            let response: Response<'_> = serde_json::from_str(raw.get()).unwrap_or_default();
            return match response.status {
                Some(_) => self.end(raw, &text, events),
                // An error in some gateway's words, or something else altogether.
                None => Err(in_stream(text.as_bytes())),
            };
        }
        self.drain(events)?;
        if self.done {
            return Ok(());
        }
        Err(ProviderError::new(ProviderErrorKind::Network, "the connection ended before the answer did"))
    }
}

fn protocol(text: &str) -> ProviderError {
    ProviderError::new(ProviderErrorKind::Protocol, text)
}

/// An error that comes in an answer, sorted as one with a status is.
fn in_stream(body: &[u8]) -> ProviderError {
    classify(StatusCode::OK, &HeaderMap::new(), body)
}
