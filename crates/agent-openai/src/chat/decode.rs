//! Reads an answer: server-sent events, or one JSON object, from bytes cut anywhere.

use std::borrow::Cow;

use agent_core::{
    BlockStart, ByteString, Decoder, Events, ModelEvent, Origin, ProviderError, ProviderErrorKind, SseDecoder,
    StopReason, classify,
};
use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use serde_json::value::RawValue;

use super::{
    calls::Calls,
    chunk::{Chunk, Delta, ListPart},
    usage,
};
use crate::{PROTOCOL, json::string};

/// How many bytes an answer may have that does not come as events.
const MAX_WHOLE: usize = 64 * 1024 * 1024;

/// Reads one answer of Chat Completions, streamed or whole.
///
/// The end of the bytes is the end of the answer once a finish reason has come, and `[DONE]` with it where the vendor
/// sends one; before that it is an error of kind `Network`, since the connection broke.
pub struct ChatDecoder {
    origin: Origin,
    ends_without_done: bool,
    format: Format,
    started: bool,
    next: u32,
    text: Option<u32>,
    thinking: Option<u32>,
    calls: Calls,
    refused: bool,
    reason: Option<StopReason>,
    done: bool,
}

enum Format {
    /// Nothing but white space has come, held back.
    Unknown(Vec<u8>),
    Events(Box<SseDecoder>),
    Whole(Vec<u8>),
}

impl std::fmt::Debug for ChatDecoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ChatDecoder").field("provider", &self.origin.provider).finish_non_exhaustive()
    }
}

impl ChatDecoder {
    pub(crate) fn new(provider: &str, ends_without_done: bool) -> Self {
        Self {
            origin: Origin::new(PROTOCOL, provider, ""),
            ends_without_done,
            format: Format::Unknown(Vec::new()),
            started: false,
            next: 0,
            text: None,
            thinking: None,
            calls: Calls::default(),
            refused: false,
            reason: None,
            done: false,
        }
    }

    fn drain(&mut self, events: &mut Events) -> Result<(), ProviderError> {
        while let Format::Events(sse) = &mut self.format {
            let Some(event) = sse.next_event() else { break };
            let event = event.map_err(|e| protocol("the stream of events cannot be read").with_source(e))?;
            match event.data.trim() {
                _ if self.done => {}
                "" => {}
                "[DONE]" => self.end(events)?,
                _ => self.chunk(&event.data, events)?,
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
        let mut counted = chunk.usage.or(chunk.x_groq.and_then(|groq| groq.usage));
        // Several answers are never asked for.
        if let Some(choice) = chunk.choices.unwrap_or_default().first() {
            if let Some(delta) = choice.delta.as_ref().or(choice.message.as_ref()) {
                self.delta(delta, data, events);
            }
            counted = counted.or(choice.usage);
            if let Some(reason) = choice.finish_reason.and_then(string).filter(|reason| !reason.is_empty()) {
                if reason == "error" {
                    return Err(in_stream(data.as_bytes()));
                }
                self.reason = Some(stop_reason(&reason));
            }
        }
        if let Some(usage) = counted.and_then(usage::read) {
            events.push(ModelEvent::Usage(usage));
        }
        Ok(())
    }

    fn delta(&mut self, delta: &Delta<'_>, data: &ByteString, events: &mut Events) {
        let reasoning = [delta.reasoning_content, delta.reasoning].into_iter().flatten().find_map(string);
        if let Some(text) = reasoning.filter(|text| !text.is_empty()) {
            self.think(share(data, &text), events);
        }
        match delta.content.map(|raw| (string(raw), raw)) {
            Some((Some(text), _)) => self.say(share(data, &text), events),
            Some((None, raw)) => {
                for part in serde_json::from_str::<Vec<ListPart<'_>>>(raw.get()).unwrap_or_default() {
                    for thought in part.thinking.iter().flatten().filter_map(|part| part.text).filter_map(string) {
                        self.think(share(data, &thought), events);
                    }
                    if let Some(text) = part.text.and_then(string) {
                        self.say(share(data, &text), events);
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
                self.next = self.next.saturating_add(1);
                // What is said behind a call is a text of its own.
                (self.text, self.thinking) = (None, None);
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
        let detail = None;
        events.push(ModelEvent::Stop { reason, detail });
        self.done = true;
        Ok(())
    }

    fn whole(&mut self, bytes: Vec<u8>, events: &mut Events) -> Result<(), ProviderError> {
        let text = match String::from_utf8(bytes) {
            Ok(text) => ByteString::from(text),
            Err(e) => return Err(protocol("the answer is not UTF-8").with_source(e.utf8_error())),
        };
        if serde_json::from_str::<&RawValue>(&text).is_err_and(|e| e.is_eof()) {
            return Err(cut());
        }
        self.chunk(&text, events)?;
        match self.reason {
            Some(_) => self.end(events),
            // An error in some gateway's words, or something else altogether.
            None => Err(in_stream(text.as_bytes())),
        }
    }
}

impl Decoder for ChatDecoder {
    fn feed(&mut self, bytes: Bytes, events: &mut Events) -> Result<(), ProviderError> {
        if let Format::Unknown(held) = &mut self.format {
            // No line of an event stream begins with a bracket, so headers need not be believed.
            match bytes.iter().find(|byte| !byte.is_ascii_whitespace()) {
                None if held.len() < 1024 => {
                    held.extend_from_slice(&bytes);
                    return Ok(());
                }
                Some(b'{' | b'[') => self.format = Format::Whole(std::mem::take(held)),
                _ => {
                    let mut sse = Box::new(SseDecoder::new());
                    sse.push(std::mem::take(held).into());
                    self.format = Format::Events(sse);
                }
            }
        }
        match &mut self.format {
            Format::Events(sse) => sse.push(bytes),
            Format::Whole(whole) | Format::Unknown(whole) => {
                if whole.len().saturating_add(bytes.len()) > MAX_WHOLE {
                    return Err(protocol(&format!("the answer has more than {MAX_WHOLE} bytes")));
                }
                whole.extend_from_slice(&bytes);
            }
        }
        self.drain(events)
    }

    fn finish(&mut self, events: &mut Events) -> Result<(), ProviderError> {
        match &mut self.format {
            Format::Unknown(_) => return Err(cut()),
            Format::Whole(whole) => {
                let whole = std::mem::take(whole);
                return if self.done { Ok(()) } else { self.whole(whole, events) };
            }
            Format::Events(sse) => sse.finish(),
        }
        self.drain(events)?;
        match (self.done, &self.reason) {
            (true, _) => Ok(()),
            (false, Some(_)) if self.ends_without_done => self.end(events),
            _ => Err(cut()),
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
pub(super) fn share(data: &ByteString, text: &Cow<'_, str>) -> ByteString {
    match text {
        Cow::Borrowed(text) => data.slice_ref(text),
        Cow::Owned(text) => ByteString::from(text.as_str()),
    }
}

fn protocol(text: &str) -> ProviderError {
    ProviderError::new(ProviderErrorKind::Protocol, text)
}

fn cut() -> ProviderError {
    ProviderError::new(ProviderErrorKind::Network, "the connection ended before the answer did")
}

/// An error that comes in an answer, sorted as one with a status is.
fn in_stream(body: &[u8]) -> ProviderError {
    classify(StatusCode::OK, &HeaderMap::new(), body)
}
