//! What many tests need: decoding, conversations, requests as JSON.

use agent_anthropic::AnthropicWire;
use agent_core::{
    Assembler, AssistantMessage, CallOptions, ContentBlock, ContextView, Decoder, Encoded, Events, IdSource, Message,
    ModelCall, ModelEvent, Origin, ProviderError, StopReason, Transcript, Usage, UserMessage, Wire,
};
use bytes::Bytes;
use http::HeaderMap;
use serde_json::{Value, json};

/// Reads an answer from pieces of bytes.
pub(crate) fn decode(pieces: impl IntoIterator<Item = Bytes>) -> Result<AssistantMessage, ProviderError> {
    let mut decoder = AnthropicWire::new().decoder(&HeaderMap::new());
    let mut assembler = Assembler::new(IdSource::seeded(1).message(0));
    let mut events = Events::new();
    let mut take = |events: &mut Events| {
        while let Some(event) = events.pop() {
            assembler.push(&event).unwrap_or_else(|e| panic!("{e}: {event:?}"));
        }
    };
    for piece in pieces {
        let result = decoder.feed(piece, &mut events);
        take(&mut events);
        result?;
    }
    let result = decoder.finish(&mut events);
    take(&mut events);
    result?;
    assert!(assembler.is_stopped(), "an answer without an error has stopped");
    Ok(assembler.finish())
}

/// All events of a stream that is read at once.
pub(crate) fn events(text: &str) -> (Vec<ModelEvent>, Result<(), ProviderError>) {
    let mut decoder = AnthropicWire::new().decoder(&HeaderMap::new());
    let mut events = Events::new();
    let result = decoder.feed(Bytes::from(text.to_owned()), &mut events);
    let result = result.and_then(|()| decoder.finish(&mut events));
    (std::iter::from_fn(|| events.pop()).collect(), result)
}

/// A stream of these events.
pub(crate) fn sse(events: &[Value]) -> String {
    events.iter().map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or(""))).collect()
}

/// A stream that begins and ends well around these events.
pub(crate) fn answer(events: &[Value], stop: &str) -> String {
    let usage = json!({"input_tokens": 10, "output_tokens": 1});
    let message = json!({"id": "msg_1", "type": "message", "model": "claude-sonnet-5", "usage": usage});
    let mut all = vec![json!({"type": "message_start", "message": message})];
    all.extend_from_slice(events);
    all.push(json!({"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 5}}));
    all.push(json!({"type": "message_stop"}));
    sse(&all)
}

/// The events of one block.
pub(crate) fn block(index: u64, start: Value, deltas: &[Value]) -> Vec<Value> {
    let mut all = vec![json!({"type": "content_block_start", "index": index, "content_block": start})];
    all.extend(deltas.iter().map(|delta| json!({"type": "content_block_delta", "index": index, "delta": delta})));
    all.push(json!({"type": "content_block_stop", "index": index}));
    all
}

pub(crate) fn usage(input: u64, output: u64) -> Usage {
    Usage::new(input, output)
}

/// A conversation that tests add to.
pub(crate) struct Talk {
    pub(crate) transcript: Transcript,
    pub(crate) ids: IdSource,
    pub(crate) model: &'static str,
}

impl Talk {
    pub(crate) fn new() -> Self {
        Self { transcript: Transcript::new(), ids: IdSource::seeded(7), model: "claude-sonnet-5" }
    }

    pub(crate) fn user(&mut self, content: Vec<ContentBlock>) -> &mut Self {
        let id = self.ids.message(0);
        self.transcript.append(Message::from(UserMessage::new(id, content))).unwrap();
        self
    }

    pub(crate) fn says(&mut self, text: &str) -> &mut Self {
        self.user(vec![ContentBlock::text(text)])
    }

    pub(crate) fn origin(&self) -> Origin {
        AnthropicWire::new().origin(self.model)
    }

    pub(crate) fn assistant(&mut self, content: Vec<ContentBlock>, stop: StopReason) -> AssistantMessage {
        let origin = self.origin();
        self.assistant_of(origin, content, stop)
    }

    pub(crate) fn assistant_of(
        &mut self,
        origin: Origin,
        content: Vec<ContentBlock>,
        stop: StopReason,
    ) -> AssistantMessage {
        let mut message = AssistantMessage::new(self.ids.message(0), content, stop);
        message.origin = origin;
        self.transcript.append(Message::from(message.clone())).unwrap();
        message
    }

    pub(crate) fn call(&self) -> ModelCall {
        self.call_with(CallOptions::new(self.model))
    }

    pub(crate) fn call_with(&self, options: CallOptions) -> ModelCall {
        ModelCall::new(options, ContextView::of(&self.transcript).unwrap())
    }
}

pub(crate) fn body(encoded: &Encoded) -> Value {
    serde_json::from_slice(&encoded.segments.to_bytes()).expect("the body is JSON")
}

/// The body of a call, without cache markers, and the losses.
pub(crate) fn request(wire: &AnthropicWire, call: &ModelCall) -> (Value, Vec<String>) {
    let encoded = wire.encode(call).unwrap();
    assert_eq!(encoded.segments.content_length(), encoded.segments.to_bytes().len() as u64);
    let mut json = body(&encoded);
    unmark(&mut json);
    (json, encoded.losses.iter().map(|loss| loss.what.to_string()).collect())
}

pub(crate) fn unmark(json: &mut Value) {
    match json {
        Value::Object(map) => {
            map.remove("cache_control");
            map.values_mut().for_each(unmark);
        }
        Value::Array(items) => items.iter_mut().for_each(unmark),
        _ => {}
    }
}

/// The kinds of the blocks of each message, with its role.
pub(crate) fn shape(body: &Value) -> Vec<(String, Vec<String>)> {
    let kinds = |message: &Value| {
        let content = message["content"].as_array().unwrap();
        content.iter().map(|block| block["type"].as_str().unwrap().to_owned()).collect()
    };
    let messages = body["messages"].as_array().unwrap();
    messages.iter().map(|message| (message["role"].as_str().unwrap().to_owned(), kinds(message))).collect()
}
