//! The toy protocol: JSON in, server-sent events out; merges neighbours as Anthropic's does.

use std::{sync::Arc, time::Duration};

use agent_core::{
    Block, BlockStart, BoxFuture, CacheOrder, ContentBlock, Credential, Decoder, Encoded, Events, HttpProvider,
    MarkerSlot, Message, MessageWalk, ModelCall, ModelEvent, Origin, ProviderError, ProviderErrorKind, Section,
    Segments, SegmentsBuilder, SseDecoder, StopReason, Timer, TokenBound, ToolSpec, Usage, ViewEntry, Wire,
};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Request, request::Parts};
use serde_json::{Value, json};

use super::Server;

const USER: u64 = 1;
const ASSISTANT: u64 = 2;

/// The protocol, for one address.
#[derive(Debug, Default)]
pub(crate) struct ToyWire {
    /// Whether a cache marker stands behind the last message.
    pub(crate) markers: bool,
}

/// A provider over a server in this process.
pub(crate) fn provider(server: &Server) -> HttpProvider<ToyWire> {
    let timer = Arc::new(StandingClock);
    let credential = Arc::new(Credential::ApiKey("toy-key".into()));
    HttpProvider::new(ToyWire { markers: true }, server.client(), credential, timer)
}

/// A clock that stands still; nothing here waits.
pub(crate) struct StandingClock;

impl Timer for StandingClock {
    fn now_ms(&self) -> u64 {
        1_000
    }

    fn sleep(&self, _: Duration) -> BoxFuture<'static, ()> {
        Box::pin(std::future::pending())
    }
}

impl Wire for ToyWire {
    type Decoder = ToyDecoder;

    fn origin(&self, model: &str) -> Origin {
        Origin::new("toy", "toy", model)
    }

    fn encode(&self, call: &ModelCall) -> Result<Encoded, ProviderError> {
        let options = &call.options;
        let (parts, ()) = Request::post("https://toy.example/v1/chat").body(()).unwrap().into_parts();
        let max_tokens = options.max_output.unwrap_or(100);
        let mut body = SegmentsBuilder::new(CacheOrder::ToolsFirst).identity(options.model.as_bytes()).push(
            Section::Irrelevant,
            "{\"max_tokens\":",
            Block::new(max_tokens.to_string()),
        );
        if let Some(temperature) = options.temperature {
            body = body.push(Section::MessageOption, ",\"temperature\":", Block::new(temperature.to_string()));
        }
        let tools = call.cache.section(0, call.tools.hash().bits(), || {
            let block = |spec: &ToolSpec| {
                let json =
                    json!({"name": spec.name(), "schema": spec.schema(), "text": spec.description()}).to_string();
                Block::new(json.strip_suffix('}').unwrap().to_owned()).close("}")
            };
            Ok::<_, ProviderError>(call.tools.specs().iter().map(block).collect())
        })?;
        let system = options.system.iter().map(|part| Block::new(json!(part).to_string()));
        let lists = [
            (Section::Tools, ",\"tools\":[", tools.to_vec()),
            (Section::System, "],\"system\":[", system.collect::<Vec<_>>()),
        ];
        for (section, bracket, blocks) in lists {
            body = body.push(Section::Irrelevant, "", Block::new(bracket));
            for (i, block) in blocks.into_iter().enumerate() {
                body = body.push(section, if i == 0 { "" } else { "," }, block);
            }
        }
        body = body.push(Section::Irrelevant, "", Block::new("],\"messages\":["));
        let messages = call.cache.messages(0, &call.view, encode_message)?;
        let open = messages.pieces().len();
        let losses = messages.losses().clone();
        body = body.messages(messages);
        if let (true, Some(last)) = (self.markers, open.checked_sub(1)) {
            body = body.marker(MarkerSlot::Message(last), ",\"cache\":true");
        }
        if let Some(note) = &call.note {
            body = body.tail(",", &Block::new(json!({"type": "text", "text": &**note}).to_string()));
        }
        let mut encoded = Encoded::new(parts, body.end(if open > 0 { "]}]}" } else { "]}" }).finish());
        encoded.overhead = TokenBound::AtMost(8);
        encoded.max_output = Some(max_tokens);
        encoded.losses.messages = losses;
        Ok(encoded)
    }

    fn authorize(&self, parts: &mut Parts, _: &Segments, credential: &Credential, _: u64) -> Result<(), ProviderError> {
        let Credential::ApiKey(key) = credential else {
            return Err(ProviderError::new(ProviderErrorKind::Auth, format!("the toy cannot use {credential}")));
        };
        let mut value = HeaderValue::from_str(key.expose()).unwrap();
        value.set_sensitive(true);
        parts.headers.insert("x-api-key", value);
        Ok(())
    }

    fn decoder(&self, _: &HeaderMap) -> ToyDecoder {
        ToyDecoder { sse: SseDecoder::new(), blocks: 0, open: None, stopped: false }
    }
}

fn encode_message(walk: &mut MessageWalk, entry: &ViewEntry) -> Result<(), ProviderError> {
    let message = entry.message();
    let role = if matches!(**message, Message::Assistant(_)) { ASSISTANT } else { USER };
    if let Message::ToolResult(result) = &**message {
        let text = message.text();
        let block = json!({"call": result.call.to_string(), "result": text, "type": "result"});
        return put(walk, role, 0, &block);
    }
    for (index, block) in (0..).zip(message.content()) {
        let json = match block {
            ContentBlock::Text(block) => json!({"text": block.text, "type": "text"}),
            ContentBlock::ToolCall(call) => {
                let arguments: Value = serde_json::from_str(&call.arguments.replay()).unwrap();
                json!({"arguments": arguments, "call": format!("{}_{index}", message.id()), "name": call.name, "type": "call"})
            }
            _ => {
                walk.loss(agent_core::Loss::message(message.id(), "the toy speaks text only"));
                continue;
            }
        };
        put(walk, role, index, &json)?;
    }
    Ok(())
}

fn put(walk: &mut MessageWalk, role: u64, index: u32, json: &Value) -> Result<(), ProviderError> {
    let lead = match (walk.state(), role) {
        (0, USER) => "{\"role\":\"user\",\"content\":[",
        (0, _) => "{\"role\":\"assistant\",\"content\":[",
        (before, now) if before == now => ",",
        (_, USER) => "]},{\"role\":\"user\",\"content\":[",
        _ => "]},{\"role\":\"assistant\",\"content\":[",
    };
    walk.set_state(role);
    let text = json.to_string();
    walk.block(index, 0, lead, || Ok(Block::new(text.strip_suffix('}').unwrap().to_owned()).close("}")))
}

/// Reads `data: {"text"|"call"|"arguments"|"usage"|"error"|"stop": …}`.
pub(crate) struct ToyDecoder {
    sse: SseDecoder,
    blocks: u32,
    open: Option<&'static str>,
    stopped: bool,
}

impl ToyDecoder {
    fn block(&mut self, kind: &'static str, start: BlockStart, events: &mut Events) -> u32 {
        if self.open != Some(kind) || kind == "call" {
            self.open = Some(kind);
            events.push(ModelEvent::BlockStart { block: self.blocks, start });
            self.blocks += 1;
        }
        self.blocks - 1
    }

    fn drain(&mut self, events: &mut Events) -> Result<(), ProviderError> {
        while let Some(event) = self.sse.next_event() {
            let event = event.map_err(|e| ProviderError::new(ProviderErrorKind::Protocol, e.to_string()))?;
            let json: Value = serde_json::from_str(&event.data)
                .map_err(|e| ProviderError::new(ProviderErrorKind::Protocol, e.to_string()))?;
            if let Some(text) = json["text"].as_str() {
                let block = self.block("text", BlockStart::Text, events);
                events.push(ModelEvent::TextDelta { block, text: text.into() });
            } else if let Some(name) = json["call"].as_str() {
                let vendor_id = json["id"].as_str().map(Into::into);
                self.block("call", BlockStart::ToolCall { name: name.into(), vendor_id }, events);
            } else if let Some(more) = json["arguments"].as_str() {
                events.push(ModelEvent::ArgumentsDelta { block: self.blocks - 1, json: more.into() });
            } else if let Some(usage) = json["usage"].as_array() {
                let count = |at: usize| usage[at].as_u64().unwrap();
                let mut all = Usage::new(count(0), count(1));
                all.cache_read = count(2);
                events.push(ModelEvent::Usage(all));
            } else if let Some(reason) = json["stop"].as_str() {
                self.stopped = true;
                events.push(ModelEvent::Stop { reason: StopReason::from_name(reason), detail: None });
            } else if let Some(text) = json["error"].as_str() {
                return Err(ProviderError::new(ProviderErrorKind::Server, text));
            }
        }
        Ok(())
    }
}

impl Decoder for ToyDecoder {
    fn feed(&mut self, bytes: Bytes, events: &mut Events) -> Result<(), ProviderError> {
        self.sse.push(bytes);
        self.drain(events)
    }

    fn finish(&mut self, events: &mut Events) -> Result<(), ProviderError> {
        self.sse.finish();
        self.drain(events)?;
        if self.stopped {
            return Ok(());
        }
        Err(ProviderError::new(ProviderErrorKind::Network, "the answer ended before its end"))
    }
}
