//! Conversations of every wire, handed to every wire: no request breaks a rule that its vendor documents.
//!
//! The histories have reasoning with foreign signatures, opaque blocks, images of users and of tools, parallel calls,
//! broken and empty arguments, failures, answers without anything in them.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests may fail so")]

use agent_anthropic::AnthropicWire;
use agent_core::{
    Arguments, AssistantMessage, CallOptions, ContentBlock, ContextView, Encoded, IdSource, ImageBlock, MediaSource,
    Message, MessageId, ModelCall, ModelFacts, OpaqueBlock, Origin, RawJson, StopReason, TextBlock, ThinkingBlock,
    ToolCall, ToolResultMessage, ToolSet, ToolSpec, Transcript, UserMessage, Wire,
};
use agent_google::GoogleWire;
use agent_openai::{ChatWire, Profile, ResponsesWire};
use agent_testkit::{Vendor, broken_rules};
use serde_json::Value;

/// A wire with a model, and what its vendor says of requests.
struct Target {
    name: &'static str,
    model: &'static str,
    vendor: Vendor,
    origin: Origin,
    encode: Box<dyn Fn(&ModelCall) -> Encoded>,
}

fn target(name: &'static str, model: &'static str, vendor: Vendor, wire: impl Wire) -> Target {
    let origin = wire.origin(model);
    let encode = move |call: &ModelCall| wire.encode(call).unwrap_or_else(|error| panic!("{name}: {error}"));
    Target { name, model, vendor, origin, encode: Box::new(encode) }
}

fn chat(profile: &str) -> ChatWire {
    ChatWire::of(Profile::named(profile).unwrap()).model(ModelFacts::new(profile, "m"))
}

fn targets() -> Vec<Target> {
    vec![
        target("messages", "claude-sonnet-5", Vendor::Messages, AnthropicWire::new()),
        target("chat", "gpt-5.5", Vendor::Chat, chat("openai")),
        target("deepseek", "deepseek-v4-pro", Vendor::Chat, chat("deepseek")),
        target("openrouter", "some/model", Vendor::Chat, chat("openrouter")),
        target("responses", "gpt-6-sol", Vendor::Responses, ResponsesWire::openai()),
        target("azure", "mine", Vendor::Responses, ResponsesWire::azure("https://mine.openai.azure.com").unwrap()),
        target("gemini", "gemini-3.1-pro-preview", Vendor::Gemini3, GoogleWire::gemini()),
        target("gemini 2", "gemini-2.5-flash", Vendor::Gemini2, GoogleWire::gemini()),
        target("vertex", "gemini-3.1-pro-preview", Vendor::Gemini3, GoogleWire::vertex("p", "global")),
    ]
}

fn json(text: &str) -> RawJson {
    RawJson::parse(text).unwrap()
}

fn image() -> ContentBlock {
    ContentBlock::Image(ImageBlock::new(MediaSource::Base64("aGk=".into())).media_type("image/png"))
}

/// What a model of this origin says in its turn.
fn answer(origin: &Origin, turn: usize) -> Vec<ContentBlock> {
    let mut text = TextBlock::new("Let me look.");
    text.metadata = Some(json(r#"{"citations":[{"url":"x"}],"thoughtSignature":"foreign"}"#));
    let call = |name: &str, arguments: &str| {
        let mut call = ToolCall::new(name, Arguments::from_text(arguments)).vendor_id(format!("call:{turn}/{name}"));
        call.metadata = Some(json(r#"{"thoughtSignature":"foreign"}"#));
        ContentBlock::from(call)
    };
    let signed = ThinkingBlock::new("Hm.").signature("foreign").origin(origin.clone());
    let hidden = ThinkingBlock::new("").encrypted("foreign").origin(origin.clone());
    let opaque = OpaqueBlock::new(origin.clone(), json(r#"{"type":"web_search_call","id":"foreign"}"#));
    let all = [
        vec![signed.into(), text.into(), call("weather", r#"{"city":"Paris"}"#), call("weather", r#"{"city":"Ro"#)],
        vec![hidden.into(), ContentBlock::Opaque(opaque), call("weather", "{}")],
        vec![image(), "Here.".into()],
        vec![ThinkingBlock::new("Nothing but a thought.").origin(origin.clone()).into()],
        vec![call("gone", ""), "And:".into(), call("weather", "[1]"), call("weather", "null")],
        vec!["".into(), " ".into()],
    ];
    all.into_iter().nth(turn % 6).unwrap()
}

struct Talk {
    transcript: Transcript,
    ids: IdSource,
}

impl Talk {
    /// Turns of these origins, each after the other.
    fn of(origins: &[&Origin]) -> Self {
        let mut talk = Self { transcript: Transcript::new(), ids: IdSource::seeded(3) };
        let id = talk.id();
        talk.push(UserMessage::new(id, vec!["What is this?".into(), image()]));
        for turn in 0..24 {
            let origin = origins[turn % origins.len()];
            let content = answer(origin, turn);
            let calls = content.iter().any(|block| matches!(block, ContentBlock::ToolCall(_)));
            let stop = if calls { StopReason::ToolUse } else { StopReason::EndTurn };
            let mut said = AssistantMessage::new(talk.id(), content, stop);
            said.origin = origin.clone();
            talk.push(said.clone());
            for (at, (call, of)) in said.tool_calls().enumerate() {
                let content = if at == 2 { vec![] } else { vec!["Sunny.".into(), image()] };
                let id = talk.id();
                let mut result = ToolResultMessage::new(id, call, &*of.name, content);
                result.is_error = at % 2 == 1;
                talk.push(result);
            }
            if turn % 3 == 2 {
                let id = talk.id();
                talk.push(UserMessage::text(id, "Go on."));
            }
        }
        talk
    }

    fn id(&mut self) -> MessageId {
        self.ids.message(0)
    }

    fn push(&mut self, message: impl Into<Message>) {
        self.transcript.append(message.into()).unwrap();
    }

    fn call(&self, model: &str) -> ModelCall {
        let schema = json(r#"{"type":"object","properties":{"city":{"type":"string"}}}"#);
        let tools = ToolSet::new(vec![ToolSpec::new("weather", "Tells the weather.", schema).unwrap()]).unwrap();
        let options = CallOptions::new(model).max_output(100).system("You help.");
        ModelCall::new(options, ContextView::of(&self.transcript).unwrap()).tools(tools)
    }
}

fn judge(what: &str, talk: &Talk, to: &Target) {
    let encoded = (to.encode)(&talk.call(to.model));
    let text = String::from_utf8(encoded.segments.to_bytes().to_vec()).unwrap();
    let body: Value = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{what} -> {}: {e}: {text}", to.name));
    let broken = broken_rules(to.vendor, &body);
    assert!(broken.is_empty(), "{what} -> {}: {broken:?}\n{body}", to.name);
    // What only its maker can read goes nowhere else.
    assert!(!text.contains("foreign"), "{what} -> {}: {body:#}", to.name);
    for word in ["What is this?", "Sunny.", "Go on.", "Here."] {
        assert!(text.contains(word), "{what} -> {} lost {word}", to.name);
    }
}

#[test]
fn every_wire_takes_the_histories_of_every_other() {
    let all = targets();
    for from in &all {
        let talk = Talk::of(&[&from.origin]);
        // What a wire has read itself is in `model_switch.rs`, from real streams.
        for to in all.iter().filter(|to| to.origin != from.origin) {
            judge(from.name, &talk, to);
        }
    }
}

#[test]
fn every_wire_takes_a_history_that_went_through_all_others() {
    let all = targets();
    for to in &all {
        let others: Vec<&Origin> = all.iter().map(|from| &from.origin).filter(|origin| **origin != to.origin).collect();
        judge("all others in turns", &Talk::of(&others), to);
    }
}

#[test]
fn reasoning_that_was_damaged_in_a_file_breaks_no_request() {
    for to in targets() {
        let encoded = (to.encode)(&Talk::of(&[&to.origin]).call(to.model));
        let body = serde_json::from_slice::<Value>(&encoded.segments.to_bytes());
        assert!(body.is_ok(), "{}: {body:?}", to.name);
    }
}
