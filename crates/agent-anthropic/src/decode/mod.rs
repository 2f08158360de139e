//! Reads an answer: server-sent events, or one JSON message, from bytes cut anywhere.
//!
//! The event reference is <https://docs.claude.com/en/docs/build-with-claude/streaming>.

mod blocks;
mod event;
mod fast;
mod opaque;
mod usage;

use std::borrow::Cow;

use agent_core::{
    AnswerReader, ByteString, Decoder, Events, JsonMembers, ModelEvent, Origin, ProviderError, ProviderErrorKind,
    StopReason, Usage, classify,
};
use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use serde_json::value::RawValue;

use self::{
    blocks::Blocks,
    event::{Event, Head, StopDetails, Text},
    usage::Tally,
};
use crate::PROTOCOL;

/// Reads one answer of the Messages API, streamed or whole, and the answer of the token counter.
///
/// - What is not known is skipped (events, deltas, fields) or kept as it is (blocks).
/// - A second `message_start` begins the message anew: an upstream that retried splices it in.
/// - The end of the bytes is the end of the answer once a stop reason has come and no tool call is open; before that
///   it is an error of kind `Network`, since the connection broke.
pub struct AnthropicDecoder {
    provider: String,
    answer: AnswerReader,
    blocks: Blocks,
    tally: Tally,
    stop: Option<(StopReason, Option<ByteString>)>,
    /// The answer is whole; what follows is not read.
    done: bool,
}

impl std::fmt::Debug for AnthropicDecoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AnthropicDecoder").field("provider", &self.provider).finish_non_exhaustive()
    }
}

impl AnthropicDecoder {
    pub(crate) fn new(provider: &str) -> Self {
        Self {
            provider: provider.to_owned(),
            answer: AnswerReader::new(),
            blocks: Blocks::new(Origin::new(PROTOCOL, provider, "")),
            tally: Tally::default(),
            stop: None,
            done: false,
        }
    }

    fn drain(&mut self, events: &mut Events) -> Result<(), ProviderError> {
        while let Some(event) = self.answer.next_event() {
            let event = event?;
            self.event(&event.data, events)?;
        }
        Ok(())
    }

    fn event(&mut self, data: &ByteString, events: &mut Events) -> Result<(), ProviderError> {
        if self.done || fast::step(data).is_some_and(|step| self.blocks.step(&step, data, events)) {
            return Ok(());
        }
        // LiteLLM closes with a word of another protocol.
        if matches!(data.trim(), "" | "[DONE]") {
            return Ok(());
        }
        let event: Event<'_> = match serde_json::from_str(data) {
            Ok(event) => event,
            Err(error) => {
                // A kind that is not known may have fields of any type.
                let kind = JsonMembers::read(data).and_then(|members| members.text("type"));
                let known = |kind: &str| kind.starts_with("content_block") || kind.starts_with("message_");
                return if kind.is_some_and(|kind| !known(&kind)) {
                    Ok(())
                } else {
                    Err(not_understood(data.as_bytes(), error))
                };
            }
        };
        let delta = event.delta.unwrap_or_default();
        match &*event.kind.0 {
            "content_block_delta" => self.blocks.delta(event.index.0, &delta, data, events)?,
            "content_block_start" => self.blocks.start(event.index.0, event.content_block, data, events)?,
            "content_block_stop" => self.blocks.stop(event.index.0, events)?,
            "message_start" => self.begin(event.message, data, events),
            "message_delta" => {
                self.report(event.usage, events);
                self.stopped(&delta.stop_reason.0, delta.stop_details);
            }
            "message_stop" => self.end(events)?,
            "error" => return Err(in_stream(data.as_bytes())),
            // Gateways send their errors without saying so.
            "" if JsonMembers::read(data).is_some_and(|members| members.value("error").is_some()) => {
                return Err(in_stream(data.as_bytes()));
            }
            _ => {}
        }
        Ok(())
    }

    fn begin(&mut self, message: Option<&RawValue>, data: &ByteString, events: &mut Events) {
        let head: Head<'_> = message.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default();
        self.blocks = Blocks::new(Origin::new(PROTOCOL, &*self.provider, &*head.model.0));
        (self.tally, self.stop) = (Tally::default(), None);
        let some = |text: &Text<'_>| Some(share(data, text)).filter(|text| !text.is_empty());
        events.push(ModelEvent::Start { response_id: some(&head.id), model: some(&head.model) });
        self.report(head.usage, events);
    }

    fn report(&mut self, usage: Option<&RawValue>, events: &mut Events) {
        if let Some(raw) = usage.filter(|raw| raw.get() != "null") {
            self.tally.report(raw);
            events.push(ModelEvent::Usage(self.tally.usage()));
        }
    }

    fn stopped(&mut self, reason: &str, details: Option<&RawValue>) {
        if reason.is_empty() {
            return;
        }
        let details: Option<StopDetails<'_>> = details.and_then(|raw| serde_json::from_str(raw.get()).ok());
        let reason = stop_reason(reason);
        let detail = details.filter(|_| reason == StopReason::Refusal).and_then(|details| {
            let StopDetails { category, explanation } = details;
            [explanation.0, category.0].into_iter().find(|text| !text.is_empty())
        });
        self.stop = Some((reason, detail.map(|text| ByteString::from(text.into_owned()))));
    }

    fn end(&mut self, events: &mut Events) -> Result<(), ProviderError> {
        let Some((reason, detail)) = self.stop.take() else {
            let text = "the answer ended without a stop reason";
            return Err(ProviderError::new(ProviderErrorKind::Network, text));
        };
        self.blocks.close(events)?;
        events.push(ModelEvent::Stop { reason, detail });
        self.done = true;
        Ok(())
    }

    /// Reads a whole message, or an error that came in its place (gateways send one under a status of success).
    fn whole(&mut self, text: &ByteString, events: &mut Events) -> Result<(), ProviderError> {
        let head: Head<'_> = serde_json::from_str(text).map_err(|e| not_understood(text.as_bytes(), e))?;
        if let (Some(tokens), "") = (head.input_tokens.0, &*head.kind.0) {
            events.push(ModelEvent::Usage(Usage::new(tokens, 0)));
            events.push(ModelEvent::Stop { reason: StopReason::EndTurn, detail: None });
            self.done = true;
            return Ok(());
        }
        if head.kind.0 != "message" {
            return Err(in_stream(text.as_bytes()));
        }
        let raw: Option<&RawValue> = serde_json::from_str(text).ok();
        self.begin(raw, text, events);
        let content = head.content.and_then(|raw| serde_json::from_str::<Vec<&RawValue>>(raw.get()).ok());
        for (index, block) in (0..).zip(content.unwrap_or_default()) {
            self.blocks.start(Some(index), Some(block), text, events)?;
            self.blocks.stop(Some(index), events)?;
        }
        self.stopped(&head.stop_reason.0, head.stop_details);
        self.end(events)
    }
}

impl Decoder for AnthropicDecoder {
    fn feed(&mut self, bytes: Bytes, events: &mut Events) -> Result<(), ProviderError> {
        self.answer.feed(bytes)?;
        self.drain(events)
    }

    fn finish(&mut self, events: &mut Events) -> Result<(), ProviderError> {
        if let Some(whole) = self.answer.finish()? {
            return self.whole(&whole, events);
        }
        self.drain(events)?;
        match (self.done, &self.stop) {
            (true, _) => Ok(()),
            (false, Some(_)) if !self.blocks.has_open_call() => self.end(events),
            _ => Err(cut()),
        }
    }
}

/// Core's word for a stop reason; one that is not known stays as it is.
fn stop_reason(name: &str) -> StopReason {
    match name {
        "end_turn" => StopReason::EndTurn,
        "tool_use" => StopReason::ToolUse,
        "max_tokens" => StopReason::MaxTokens,
        "stop_sequence" => StopReason::StopSequence,
        "refusal" => StopReason::Refusal,
        "model_context_window_exceeded" => StopReason::ContextWindow,
        "pause_turn" => StopReason::Paused,
        other => StopReason::Other(other.to_owned()),
    }
}

/// A text as a slice of the event that it stands in, or as itself where its escapes had to be undone.
fn share(data: &ByteString, text: &Text<'_>) -> ByteString {
    match &text.0 {
        Cow::Borrowed(text) => data.slice_ref(text),
        Cow::Owned(text) => ByteString::from(text.as_str()),
    }
}

fn protocol(text: &str) -> ProviderError {
    ProviderError::new(ProviderErrorKind::Protocol, text)
}

fn not_understood(body: &[u8], source: serde_json::Error) -> ProviderError {
    protocol("the answer is not the JSON that the protocol has").with_body(body).with_source(source)
}

fn cut() -> ProviderError {
    ProviderError::new(ProviderErrorKind::Network, "the connection ended before the answer did")
}

/// An error that comes in an answer, sorted as one with a status is.
fn in_stream(body: &[u8]) -> ProviderError {
    with_request_id(classify(StatusCode::OK, &HeaderMap::new(), body), body)
}

/// Adds the id of the request that an error's body names, where no header did.
pub(crate) fn with_request_id(error: ProviderError, body: &[u8]) -> ProviderError {
    let id = std::str::from_utf8(body).ok().and_then(JsonMembers::read).and_then(|members| members.text("request_id"));
    match id.filter(|_| error.request_id().is_none()) {
        Some(id) => error.with_request_id(id),
        None => error,
    }
}
