//! What tests are made of.

use agent_core::{
    Assembler, AssistantMessage, CallOptions, ContextView, Decoder, Events, IdSource, Message, ModelCall,
    ProviderError, RawJson, StopReason, ToolCall, ToolResultMessage, ToolSet, ToolSpec, Transcript, UserMessage, Wire,
};
use agent_openai::ChatWire;
use bytes::Bytes;
use http::HeaderMap;
use serde_json::Value;

/// The wire of a profile; where nobody knows the address, at some address.
pub(crate) fn of(name: &str) -> ChatWire {
    let profile = agent_openai::Profile::named(name).unwrap();
    let nowhere = profile.base.is_empty();
    let wire = ChatWire::of(profile);
    if nowhere { wire.at("http://localhost:1/v1").unwrap() } else { wire }
}

pub(crate) fn decode_with(
    wire: &ChatWire,
    pieces: impl IntoIterator<Item = Bytes>,
) -> Result<AssistantMessage, ProviderError> {
    let mut decoder = wire.decoder(&HeaderMap::new());
    let mut assembler = Assembler::new(IdSource::seeded(1).message(0)).origin(wire.origin("asked"));
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
    decode_with(&ChatWire::of(agent_openai::Profile::compatible()), pieces)
}

/// Events of these data, and the end that OpenAI sends.
pub(crate) fn stream(data: &[&str]) -> Bytes {
    let events = data.iter().map(|data| format!("data: {data}\n\n")).collect::<String>();
    Bytes::from(format!("{events}data: [DONE]\n\n"))
}

pub(crate) fn body(wire: &ChatWire, call: &ModelCall) -> Value {
    let encoded = wire.encode(call).unwrap();
    serde_json::from_slice(&encoded.segments.to_bytes()).unwrap()
}

pub(crate) fn tools() -> ToolSet {
    let schema = RawJson::parse(r#"{"type":"object","properties":{"city":{"type":"string"}}}"#).unwrap();
    ToolSet::new(vec![ToolSpec::new("weather", "Tells the weather.", schema).unwrap()]).unwrap()
}

/// A conversation with so many tool turns.
pub(crate) struct Talk {
    pub(crate) transcript: Transcript,
    ids: IdSource,
}

impl Talk {
    pub(crate) fn new() -> Self {
        let mut talk = Self { transcript: Transcript::new(), ids: IdSource::seeded(2) };
        talk.user("What is the weather in Paris?");
        talk
    }

    pub(crate) fn push(&mut self, message: impl Into<Message>) {
        self.transcript.append(message.into()).unwrap();
    }

    pub(crate) fn id(&mut self) -> agent_core::MessageId {
        self.ids.message(0)
    }

    pub(crate) fn user(&mut self, text: &str) {
        let id = self.id();
        self.push(UserMessage::text(id, text));
    }

    pub(crate) fn user_blocks(&mut self, blocks: Vec<agent_core::ContentBlock>) {
        let id = self.id();
        self.push(UserMessage::new(id, blocks));
    }

    pub(crate) fn tool_turn(&mut self, wire: &ChatWire, thinking: &str) {
        let call = ToolCall::new("weather", agent_core::Arguments::from_text(r#"{"city": "Paris"}"#));
        let id = self.id();
        let blocks = vec![agent_core::ThinkingBlock::new(thinking).into(), "Let me look.".into(), call.into()];
        let mut answer = AssistantMessage::new(id, blocks, StopReason::ToolUse);
        answer.origin = wire.origin("asked");
        let call = answer.tool_calls().next().unwrap().0;
        self.push(answer);
        let id = self.id();
        self.push(ToolResultMessage::new(id, call, "weather", vec!["Sunny.".into()]));
    }

    pub(crate) fn call(&self, options: CallOptions) -> ModelCall {
        ModelCall::new(options, ContextView::of(&self.transcript).unwrap()).tools(tools())
    }
}
