//! What tests are made of.

use agent_core::{
    Arguments, Assembler, AssistantMessage, CallOptions, ContentBlock, ContextView, Decoder, Events, IdSource, Message,
    MessageId, ModelCall, ProviderError, RawJson, StopReason, ToolCall, ToolResultMessage, ToolSet, ToolSpec,
    Transcript, UserMessage, Wire,
};
use agent_google::GoogleWire;
use bytes::Bytes;
use http::HeaderMap;
use serde_json::Value;

pub(crate) const MODEL: &str = "gemini-3.8-flash";

/// The message that an answer makes.
pub(crate) fn decode_with(
    wire: &GoogleWire,
    pieces: impl IntoIterator<Item = Bytes>,
) -> Result<AssistantMessage, ProviderError> {
    let mut decoder = wire.decoder(&HeaderMap::new());
    let mut assembler = Assembler::new(IdSource::seeded(1).message(0)).origin(wire.origin(MODEL));
    let mut events = Events::new();
    let mut take = |events: &mut Events| -> Result<(), ProviderError> {
        while let Some(event) = events.pop() {
            assembler.push(&event)?;
        }
        Ok(())
    };
    for piece in pieces {
        decoder.feed(piece, &mut events)?;
        take(&mut events)?;
    }
    decoder.finish(&mut events)?;
    take(&mut events)?;
    assert!(assembler.is_stopped(), "it ended without a stop");
    Ok(assembler.finish())
}

pub(crate) fn decode(pieces: impl IntoIterator<Item = Bytes>) -> Result<AssistantMessage, ProviderError> {
    decode_with(&GoogleWire::gemini(), pieces)
}

/// Events of these data.
pub(crate) fn stream(data: &[&str]) -> Bytes {
    Bytes::from(data.iter().map(|data| format!("data: {data}\r\n\r\n")).collect::<String>())
}

/// A chunk of these parts.
pub(crate) fn parts(parts: &str) -> String {
    format!(
        r#"{{"candidates":[{{"content":{{"role":"model","parts":[{parts}]}},"index":0}}],"modelVersion":"{MODEL}"}}"#
    )
}

pub(crate) const STOP: &str = r#"{"candidates":[{"finishReason":"STOP","index":0}]}"#;

pub(crate) fn body(wire: &GoogleWire, call: &ModelCall) -> Value {
    let encoded = wire.encode(call).unwrap();
    serde_json::from_slice(&encoded.segments.to_bytes()).unwrap()
}

pub(crate) fn losses(wire: &GoogleWire, call: &ModelCall) -> Vec<String> {
    wire.encode(call).unwrap().losses.iter().map(|loss| loss.what.to_string()).collect()
}

pub(crate) fn raw(text: &str) -> RawJson {
    RawJson::parse(text).unwrap()
}

pub(crate) fn tools() -> ToolSet {
    let schema = raw(r#"{"type":"object","properties":{"city":{"type":"string"}}}"#);
    ToolSet::new(vec![ToolSpec::new("weather", "Tells the weather.", schema).unwrap()]).unwrap()
}

pub(crate) fn call_of(name: &str, arguments: &str) -> ToolCall {
    ToolCall::new(name, Arguments::from_text(arguments))
}

/// A conversation.
pub(crate) struct Talk {
    pub(crate) transcript: Transcript,
    ids: IdSource,
}

impl Talk {
    pub(crate) fn new() -> Self {
        let mut talk = Self { transcript: Transcript::new(), ids: IdSource::seeded(1) };
        talk.user("What is the weather in Paris?");
        talk
    }

    pub(crate) fn push(&mut self, message: impl Into<Message>) {
        self.transcript.append(message.into()).unwrap();
    }

    pub(crate) fn id(&mut self) -> MessageId {
        self.ids.message(0)
    }

    pub(crate) fn user(&mut self, text: &str) {
        let id = self.id();
        self.push(UserMessage::text(id, text));
    }

    /// An answer as this wire's decoder reads it.
    pub(crate) fn answers(&mut self, wire: &GoogleWire, data: &[&str]) -> AssistantMessage {
        let mut answer = decode_with(wire, [stream(data)]).unwrap();
        answer.id = self.id();
        self.push(answer.clone());
        answer
    }

    /// An answer of these blocks by the model of this origin.
    pub(crate) fn says(&mut self, origin: agent_core::Origin, blocks: Vec<ContentBlock>) -> AssistantMessage {
        let has_calls = blocks.iter().any(|block| matches!(block, ContentBlock::ToolCall(_)));
        let reason = if has_calls { StopReason::ToolUse } else { StopReason::EndTurn };
        let mut answer = AssistantMessage::new(self.id(), blocks, reason);
        answer.origin = origin;
        self.push(answer.clone());
        answer
    }

    /// Answers every call of an answer with this text.
    pub(crate) fn results(&mut self, answer: &AssistantMessage, text: &str) {
        for (id, call) in answer.tool_calls() {
            let message = self.id();
            self.push(ToolResultMessage::new(message, id, &*call.name, vec![text.into()]));
        }
    }

    pub(crate) fn call(&self, options: CallOptions) -> ModelCall {
        ModelCall::new(options, ContextView::of(&self.transcript).unwrap()).tools(tools())
    }

    pub(crate) fn plain_call(&self, options: CallOptions) -> ModelCall {
        ModelCall::new(options, ContextView::of(&self.transcript).unwrap())
    }
}
