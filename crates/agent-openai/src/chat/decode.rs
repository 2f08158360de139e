//! Reads an answer: server-sent events, or one JSON object, from bytes cut anywhere.

use std::borrow::Cow;

use agent_core::{
    AnswerReader, BlockStart, ByteString, ContentBlock, Decoder, Events, ModelEvent, OpaqueBlock, Origin,
    ProviderError, ProviderErrorKind, StopReason, classify, json_string as string,
};
use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use serde_json::value::RawValue;

use super::{
    calls::Calls,
    chunk::{Choice, Chunk, Delta, ListPart},
    details::Details,
    repeat::{Adds, Shapes},
    spoken::{Listener, Spoken},
    usage,
};
use crate::{ChatWire, PROTOCOL};

/// Reads one answer of Chat Completions, streamed or whole.
///
/// The end of the bytes is the end of the answer once a finish reason has come, and `[DONE]` with it where the vendor
/// sends one; before that it is an error of kind `Network`, since the connection broke.
pub struct ChatDecoder {
    origin: Origin,
    ends_without_done: bool,
    answer: AnswerReader,
    shapes: Shapes,
    listener: Option<Listener>,
    started: bool,
    next: u32,
    text: Option<u32>,
    thinking: Option<u32>,
    calls: Calls,
    details: Details,
    refused: bool,
    reason: Option<StopReason>,
    done: bool,
}

impl std::fmt::Debug for ChatDecoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ChatDecoder").field("provider", &self.origin.provider).finish_non_exhaustive()
    }
}

impl ChatDecoder {
    pub(crate) fn new(wire: &ChatWire) -> Self {
        Self {
            origin: Origin::new(PROTOCOL, &*wire.server.provider, ""),
            ends_without_done: wire.profile.ends_without_done,
            answer: AnswerReader::new(),
            shapes: Shapes::default(),
            listener: wire.text_syntax.map(Listener::new),
            started: false,
            next: 0,
            text: None,
            thinking: None,
            calls: Calls::default(),
            details: Details::default(),
            refused: false,
            reason: None,
            done: false,
        }
    }

    fn drain(&mut self, events: &mut Events) -> Result<(), ProviderError> {
        while let Some(event) = self.answer.next_event() {
            let data = event?.data;
            if self.done {
                continue;
            }
            match self.shapes.read(&data) {
                Some((Adds::Text, text)) => self.speak(share(&data, &text), events),
                Some((Adds::Thinking, text)) => self.think(share(&data, &text), events),
                Some((Adds::Arguments(block), text)) => self.calls.add(block, share(&data, &text), events),
                None => match data.trim() {
                    "" => {}
                    "[DONE]" => self.end(events)?,
                    _ => match self.shapes.choices::<Vec<Choice<'_>>>(&data) {
                        Some(choices) => self.choice(&choices, false, &data, events)?,
                        None => self.chunk(&data, events)?,
                    },
                },
            }
        }
        Ok(())
    }

    fn chunk(&mut self, data: &ByteString, events: &mut Events) -> Result<(), ProviderError> {
        let chunk: Chunk<'_> = serde_json::from_str(data).map_err(|e| {
            protocol("the answer is not the JSON that the protocol has").with_body(data.as_bytes()).with_source(e)
        })?;
        if chunk.error.is_some_and(|error| error.get() != "null") {
            return Err(in_stream(data.as_bytes()));
        }
        if !self.started {
            self.started = true;
            let text = |raw: Option<&RawValue>| raw.and_then(string).map(|text| share(data, &text));
            let (response_id, model) = (text(chunk.id), text(chunk.model).filter(|model| !model.is_empty()));
            if let Some(model) = &model {
                self.origin.model = model.to_string();
            }
            events.push(ModelEvent::Start { response_id: response_id.filter(|id| !id.is_empty()), model });
        }
        let counted = chunk.usage.or(chunk.x_groq.and_then(|groq| groq.usage)).filter(|raw| raw.get() != "null");
        if let Some(raw) = chunk.choices {
            if counted.is_none() {
                self.shapes.learn_around(data, raw.get());
            }
            let choices: Vec<Choice<'_>> = serde_json::from_str(raw.get()).unwrap_or_default();
            self.choice(&choices, counted.is_some(), data, events)?;
        }
        if let Some(usage) = counted.and_then(usage::read) {
            events.push(ModelEvent::Usage(usage));
        }
        Ok(())
    }

    /// Several answers are never asked for, so that the first choice is all. With `counted`, what it counts was counted.
    fn choice(
        &mut self,
        choices: &[Choice<'_>],
        counted: bool,
        data: &ByteString,
        events: &mut Events,
    ) -> Result<(), ProviderError> {
        let Some(choice) = choices.first() else { return Ok(()) };
        if let Some(delta) = choice.delta.as_ref().or(choice.message.as_ref()) {
            self.delta(delta, data, events);
        }
        if let Some(reason) = choice.finish_reason.and_then(string).filter(|reason| !reason.is_empty()) {
            if reason == "error" {
                return Err(in_stream(data.as_bytes()));
            }
            self.reason = Some(stop_reason(&reason));
        }
        match choice.usage.filter(|raw| raw.get() != "null") {
            Some(raw) if !counted => events.extend(usage::read(raw).map(ModelEvent::Usage)),
            None if !counted => self.learn(choice, data),
            _ => {}
        }
        Ok(())
    }

    /// Remembers the shape of a chunk that adds to one thing and does nothing else.
    fn learn(&mut self, choice: &Choice<'_>, data: &ByteString) {
        let is_set = |raw: &&RawValue| !matches!(raw.get(), "null" | "\"\"");
        let Some(delta) = choice.delta.as_ref().filter(|_| choice.finish_reason.filter(is_set).is_none()) else {
            return;
        };
        let texts =
            [(delta.content, Adds::Text), (delta.reasoning_content, Adds::Thinking), (delta.reasoning, Adds::Thinking)];
        let mut texts = texts.into_iter().filter_map(|(raw, adds)| Some((raw.filter(is_set)?, adds)));
        let calls = delta.tool_calls.as_deref().unwrap_or_default();
        let rest = [delta.refusal, delta.reasoning_details].into_iter().flatten().any(|raw| is_set(&raw));
        let only = match (texts.next(), texts.next(), calls) {
            (Some(text), None, []) if !rest => Some(text),
            (None, None, [call]) if !rest => self.calls.only_adds(call).and_then(|block| {
                let arguments = call.function.as_ref()?.arguments.filter(is_set)?;
                Some((arguments, Adds::Arguments(block)))
            }),
            _ => None,
        };
        if let Some((raw, adds)) = only.filter(|(raw, _)| raw.get().starts_with('"')) {
            self.shapes.learn(data, raw.get(), adds);
        }
    }

    fn delta(&mut self, delta: &Delta<'_>, data: &ByteString, events: &mut Events) {
        let detailed = delta.reasoning_details.map(|raw| self.details.take(raw)).unwrap_or_default();
        let reasoning = [delta.reasoning_content, delta.reasoning].into_iter().flatten().filter_map(string);
        match reasoning.into_iter().find(|text| !text.is_empty()) {
            Some(text) => self.think(share(data, &text), events),
            None if detailed.is_empty() => {}
            None => self.think(detailed.into(), events),
        }
        match delta.content.map(|raw| (string(raw), raw)) {
            Some((Some(text), _)) => self.speak(share(data, &text), events),
            Some((None, raw)) => {
                for part in serde_json::from_str::<Vec<ListPart<'_>>>(raw.get()).unwrap_or_default() {
                    for thought in part.thinking.iter().flatten().filter_map(|part| part.text).filter_map(string) {
                        self.think(share(data, &thought), events);
                    }
                    if let Some(text) = part.text.and_then(string) {
                        self.speak(share(data, &text), events);
                    }
                }
            }
            None => {}
        }
        if let Some(text) = delta.refusal.and_then(string).filter(|text| !text.is_empty()) {
            self.refused = true;
            self.say(share(data, &text), events);
        }
        for call in delta.tool_calls.iter().flatten() {
            if self.calls.take(call, self.next, data, events) {
                self.called();
            }
        }
    }

    /// A call took a block: what is said behind it is a text of its own.
    fn called(&mut self) {
        self.next = self.next.saturating_add(1);
        (self.text, self.thinking) = (None, None);
        self.shapes.forget_calls();
    }

    /// Text, in which there may be more than text.
    fn speak(&mut self, text: ByteString, events: &mut Events) {
        match &mut self.listener {
            None => self.say(text, events),
            Some(listener) => {
                let found = listener.hear(&text);
                self.heard(found, events);
            }
        }
    }

    fn heard(&mut self, found: Vec<Spoken>, events: &mut Events) {
        for one in found {
            match one {
                Spoken::Text(text) => self.say(text.into(), events),
                Spoken::Thought(text) => self.think(text.into(), events),
                Spoken::Call { name, arguments } => {
                    self.calls.whole(name, arguments, self.next, events);
                    self.called();
                }
            }
        }
    }

    fn begin(&mut self, start: BlockStart, events: &mut Events) -> u32 {
        let block = self.next;
        self.next = self.next.saturating_add(1);
        events.push(ModelEvent::BlockStart { block, start });
        block
    }

    fn say(&mut self, text: ByteString, events: &mut Events) {
        if text.is_empty() {
            return;
        }
        let block = match self.text {
            Some(block) => block,
            None => self.begin(BlockStart::Text, events),
        };
        self.text = Some(block);
        events.push(ModelEvent::TextDelta { block, text });
    }

    fn think(&mut self, text: ByteString, events: &mut Events) {
        if text.is_empty() {
            return;
        }
        let block = match self.thinking {
            Some(block) => block,
            None => {
                let start = BlockStart::Thinking { origin: self.origin.clone(), encrypted: None };
                self.begin(start, events)
            }
        };
        self.thinking = Some(block);
        events.push(ModelEvent::ThinkingDelta { block, text });
    }

    fn end(&mut self, events: &mut Events) -> Result<(), ProviderError> {
        let found = self.listener.as_mut().map(Listener::finish);
        self.heard(found.unwrap_or_default(), events);
        let Some(reason) = self.reason.take() else {
            return Err(ProviderError::new(ProviderErrorKind::Network, "the answer ended without a finish reason"));
        };
        let reason = match reason {
            _ if self.refused => StopReason::Refusal,
            StopReason::EndTurn if !self.calls.blocks().is_empty() => StopReason::ToolUse,
            reason => reason,
        };
        // A call of an answer that was cut off may be half; what is not ended is not run without arguments.
        if reason != StopReason::MaxTokens {
            self.calls.blocks().iter().for_each(|block| events.push(ModelEvent::BlockEnd { block: *block }));
        }
        if let Some(data) = self.details.finish() {
            let start = BlockStart::Whole(ContentBlock::Opaque(OpaqueBlock::new(self.origin.clone(), data)));
            let block = self.begin(start, events);
            events.push(ModelEvent::BlockEnd { block });
        }
        events.push(ModelEvent::Stop { reason, detail: None });
        self.done = true;
        Ok(())
    }
}

impl Decoder for ChatDecoder {
    fn feed(&mut self, bytes: Bytes, events: &mut Events) -> Result<(), ProviderError> {
        self.answer.feed(bytes)?;
        self.drain(events)
    }

    fn finish(&mut self, events: &mut Events) -> Result<(), ProviderError> {
        if let Some(text) = self.answer.finish()? {
            self.chunk(&text, events)?;
            return match self.reason {
                Some(_) => self.end(events),
                // An error in some gateway's words, or something else altogether.
                None => Err(in_stream(text.as_bytes())),
            };
        }
        self.drain(events)?;
        match (self.done, &self.reason) {
            (true, _) => Ok(()),
            (false, Some(_)) if self.ends_without_done => self.end(events),
            _ => {
                let text = "the connection ended before the answer did";
                Err(ProviderError::new(ProviderErrorKind::Network, text))
            }
        }
    }
}

/// Core's word for a finish reason; one that is not known stays as it is.
fn stop_reason(name: &str) -> StopReason {
    match name {
        "stop" | "eos" | "end_turn" => StopReason::EndTurn,
        "length" | "max_tokens" => StopReason::MaxTokens,
        "tool_calls" | "function_call" => StopReason::ToolUse,
        "content_filter" | "sensitive" => StopReason::Refusal,
        other => StopReason::Other(other.to_owned()),
    }
}

/// A text as a slice of the event that it stands in, or as itself where its escapes had to be undone.
#[expect(clippy::ptr_arg, reason = "whether it is borrowed is the question")]
pub(crate) fn share(data: &ByteString, text: &Cow<'_, str>) -> ByteString {
    match text {
        Cow::Borrowed(text) => data.slice_ref(text),
        Cow::Owned(text) => ByteString::from(text.as_str()),
    }
}

fn protocol(text: &str) -> ProviderError {
    ProviderError::new(ProviderErrorKind::Protocol, text)
}

/// An error that comes in an answer, sorted as one with a status is.
fn in_stream(body: &[u8]) -> ProviderError {
    classify(StatusCode::OK, &HeaderMap::new(), body)
}
