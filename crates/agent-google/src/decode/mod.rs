//! Reads an answer: server-sent events, one JSON object, or a list of them, from bytes cut anywhere.

mod blocks;
mod chunk;
mod partial;
mod usage;

use std::borrow::Cow;

use agent_core::{
    ByteString, Decoder, Events, ModelEvent, Origin, ProviderError, SseDecoder, StopReason, UnterminatedEvent,
};
use bytes::Bytes;
use serde_json::value::RawValue;

use self::{
    blocks::Blocks,
    chunk::{Candidate, Chunk, Feedback},
    usage::Tally,
};
use crate::{
    PROTOCOL,
    error::{cut, in_stream, protocol, text_of},
};

/// How many bytes an answer may have that does not come as events.
const MAX_WHOLE: usize = 64 * 1024 * 1024;

/// Reads one answer of `streamGenerateContent` or `generateContent`.
///
/// - What is not known is skipped (fields) or kept as it is (parts, metadata).
/// - The end of the bytes is the end of the answer once a finish reason has come; before that it is an error of kind
///   `Network`, since the connection broke.
/// - A prompt that was blocked is a refusal. A call that the vendor could not read ends the answer in an error.
pub struct GoogleDecoder {
    format: Format,
    blocks: Blocks,
    tally: Tally,
    started: bool,
    stop: Option<(StopReason, Option<ByteString>)>,
    /// The answer is whole; what follows is not read.
    done: bool,
    /// The bytes have ended: the last event may be cut off, or only lack its blank line.
    ending: bool,
}

enum Format {
    /// Nothing but white space has come, held back.
    Unknown(Vec<u8>),
    Events(Box<SseDecoder>),
    Whole(Vec<u8>),
}

impl std::fmt::Debug for GoogleDecoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GoogleDecoder").field("provider", &self.blocks.origin.provider).finish_non_exhaustive()
    }
}

impl GoogleDecoder {
    pub(crate) fn new(provider: &str) -> Self {
        Self {
            format: Format::Unknown(Vec::new()),
            blocks: Blocks::new(Origin::new(PROTOCOL, provider, "")),
            tally: Tally::default(),
            started: false,
            stop: None,
            done: false,
            ending: false,
        }
    }

    fn drain(&mut self, events: &mut Events) -> Result<(), ProviderError> {
        while let Format::Events(sse) = &mut self.format {
            let Some(event) = sse.next_event() else { break };
            let event = match event {
                Err(_) if self.ending => break,
                event => event.map_err(|e| protocol("the stream of events cannot be read").with_source(e))?,
            };
            match event.data.trim() {
                _ if self.done => {}
                "" => {}
                // A word of another protocol, which gateways close with.
                "[DONE]" if self.stop.is_some() => self.end(events)?,
                "[DONE]" => {}
                _ => self.chunk(&event.data, events)?,
            }
        }
        Ok(())
    }

    fn chunk(&mut self, data: &ByteString, events: &mut Events) -> Result<(), ProviderError> {
        let chunk: Chunk<'_> = match serde_json::from_str(data) {
            // The last event, cut off: whether the answer was whole before it is asked behind it.
            Err(_) if self.ending => return Ok(()),
            chunk => chunk.map_err(|e| {
                protocol("the answer is not the JSON that the protocol has").with_body(data.as_bytes()).with_source(e)
            })?,
        };
        if chunk.error.is_some_and(|error| error.get() != "null") {
            // Behind the end of the answer it changes nothing.
            return if self.stop.is_some() { Ok(()) } else { Err(in_stream(data.as_bytes())) };
        }
        if !self.started {
            self.started = true;
            let text = |raw| text_of(raw).map(|text| share(data, &text));
            let (response_id, model) = (text(chunk.response_id), text(chunk.model_version));
            if let Some(model) = &model {
                self.blocks.origin.model = model.to_string();
            }
            events.push(ModelEvent::Start { response_id, model });
        }
        // Several answers are never asked for.
        if let Some(candidate) = chunk.candidates.as_deref().unwrap_or_default().first() {
            let parts = candidate.content.as_ref().and_then(|content| content.parts.as_deref()).unwrap_or_default();
            for part in parts {
                self.blocks.part(part, data, events)?;
            }
            self.blocks.metadata(candidate)?;
            self.finished(candidate);
        }
        if let Some(feedback) = &chunk.prompt_feedback {
            self.blocked(feedback);
        }
        if let Some(usage) = chunk.usage_metadata.and_then(|raw| self.tally.report(raw)) {
            events.push(ModelEvent::Usage(usage));
        }
        Ok(())
    }

    fn finished(&mut self, candidate: &Candidate<'_>) {
        let Some(name) = text_of(candidate.finish_reason).filter(|name| name != "FINISH_REASON_UNSPECIFIED") else {
            return;
        };
        let message = text_of(candidate.finish_message);
        let reason = stop_reason(&name);
        let detail = match (&reason, message) {
            (StopReason::EndTurn | StopReason::MaxTokens, _) => None,
            (StopReason::Refusal, Some(message)) => Some(message.into_owned()),
            (_, Some(message)) => Some(format!("{name}: {message}")),
            (StopReason::Refusal | StopReason::Error, None) => Some(name.into_owned()),
            _ => None,
        };
        self.stop = Some((reason, detail.map(ByteString::from)));
    }

    fn blocked(&mut self, feedback: &Feedback<'_>) {
        let Some(name) = text_of(feedback.block_reason).filter(|name| name != "BLOCKED_REASON_UNSPECIFIED") else {
            return;
        };
        let message = text_of(feedback.block_reason_message);
        let detail = message.map_or_else(|| format!("the prompt was blocked: {name}"), Cow::into_owned);
        self.stop = Some((StopReason::Refusal, Some(detail.into())));
    }

    fn end(&mut self, events: &mut Events) -> Result<(), ProviderError> {
        let (reason, detail) = self.stop.take().ok_or_else(cut)?;
        self.blocks.finish(events);
        // Calls have no reason of their own.
        let reason = match reason {
            StopReason::EndTurn if self.blocks.has_calls() => StopReason::ToolUse,
            StopReason::ToolUse if !self.blocks.has_calls() => StopReason::EndTurn,
            reason => reason,
        };
        events.push(ModelEvent::Stop { reason, detail });
        self.done = true;
        Ok(())
    }

    fn whole(&mut self, bytes: Vec<u8>, events: &mut Events) -> Result<(), ProviderError> {
        let text = match String::from_utf8(bytes) {
            Ok(text) => ByteString::from(text),
            Err(e) => return Err(protocol("the answer is not UTF-8").with_source(e.utf8_error())),
        };
        let raw: &RawValue = serde_json::from_str(&text).map_err(|e| {
            if e.is_eof() { cut() } else { protocol("the answer is no JSON").with_body(text.as_bytes()).with_source(e) }
        })?;
        match serde_json::from_str::<Vec<&RawValue>>(raw.get()) {
            Ok(chunks) => {
                for chunk in chunks {
                    self.chunk(&text.slice_ref(chunk.get()), events)?;
                }
            }
            Err(_) => self.chunk(&text, events)?,
        }
        match self.stop {
            Some(_) => self.end(events),
            // An error in some gateway's words, or something else altogether.
            None => Err(in_stream(text.as_bytes())),
        }
    }
}

impl Decoder for GoogleDecoder {
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
                    let sse = SseDecoder::new().with_unterminated_event(UnterminatedEvent::Dispatch);
                    let mut sse = Box::new(sse);
                    sse.push(std::mem::take(held).into());
                    self.format = Format::Events(sse);
                }
            }
        }
        match &mut self.format {
            Format::Events(sse) => sse.push(bytes),
            Format::Whole(whole) | Format::Unknown(whole) => {
                if whole.len().saturating_add(bytes.len()) > MAX_WHOLE {
                    return Err(protocol(format!("the answer has more than {MAX_WHOLE} bytes")));
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
        self.ending = true;
        self.drain(events)?;
        if self.done { Ok(()) } else { self.end(events) }
    }
}

/// Core's word for a finish reason (<https://ai.google.dev/api/generate-content#FinishReason>); one that is not known
/// stays as it is.
fn stop_reason(name: &str) -> StopReason {
    match name {
        "STOP" => StopReason::EndTurn,
        "MAX_TOKENS" => StopReason::MaxTokens,
        // No word of the vendor's, but of some that imitate it.
        "FUNCTION_CALL" => StopReason::ToolUse,
        "SAFETY"
        | "RECITATION"
        | "LANGUAGE"
        | "BLOCKLIST"
        | "PROHIBITED_CONTENT"
        | "SPII"
        | "MODEL_ARMOR"
        | "IMAGE_SAFETY"
        | "IMAGE_PROHIBITED_CONTENT"
        | "IMAGE_RECITATION" => StopReason::Refusal,
        "MALFORMED_FUNCTION_CALL"
        | "UNEXPECTED_TOOL_CALL"
        | "TOO_MANY_TOOL_CALLS"
        | "MALFORMED_RESPONSE"
        | "MISSING_THOUGHT_SIGNATURE"
        | "NO_IMAGE"
        | "IMAGE_OTHER" => StopReason::Error,
        other => StopReason::Other(other.to_owned()),
    }
}

/// A text as a slice of the event that it stands in, or as itself where its escapes had to be undone.
#[expect(clippy::ptr_arg, reason = "whether it is borrowed is the question")]
fn share(data: &ByteString, text: &Cow<'_, str>) -> ByteString {
    match text {
        Cow::Borrowed(text) => data.slice_ref(text),
        Cow::Owned(text) => ByteString::from(text.as_str()),
    }
}
