//! Conversations of every other protocol, handed to Gemini models: no request breaks a rule that the vendor documents.

use agent_core::{
    CallOptions, ContentBlock, ImageBlock, MediaSource, OpaqueBlock, Origin, RawJson, TextBlock, ThinkingBlock,
    ToolResultMessage,
};
use agent_google::GoogleWire;
use serde_json::{Value, json};

use crate::given::{MODEL, Talk, body, call_of};

const FORMAT: &str = "https://ai.google.dev/api/caching#Content";
const TURNS: &str = "https://ai.google.dev/gemini-api/docs/function-calling";
const SIGNED: &str = "https://ai.google.dev/gemini-api/docs/thought-signatures";
const MEDIA: &str = "https://ai.google.dev/gemini-api/docs/function-calling#multimodal";

/// What the vendor's pages say that it refuses: the rule that is broken, and where it stands.
fn broken_rules(contents: &Value, before_3: bool) -> Vec<(&'static str, &'static str)> {
    let mut broken = Vec::new();
    let mut rule = |holds: bool, rule: &'static str, page: &'static str| {
        if !holds {
            broken.push((rule, page));
        }
    };
    let contents = contents.as_array().unwrap();
    rule(contents.first().is_some_and(|first| first["role"] == "user"), "the user begins", TURNS);
    let of = |content: &Value, kind: &str| -> Vec<Value> {
        let parts = content["parts"].as_array().into_iter().flatten();
        parts.filter_map(|part| part.get(kind).cloned()).collect()
    };
    let mut asked: Vec<Value> = Vec::new();
    for content in contents {
        rule(content["role"] == "user" || content["role"] == "model", "a role is user or model", FORMAT);
        let parts = content["parts"].as_array().cloned().unwrap_or_default();
        rule(!parts.is_empty(), "a content has parts", FORMAT);
        for part in &parts {
            let beside = ["thought", "thoughtSignature", "videoMetadata", "mediaResolution", "partMetadata"];
            let data = part.as_object().unwrap().keys().filter(|name| !beside.contains(&name.as_str())).count();
            rule(data == 1, "a part has one kind of data", FORMAT);
        }
        let (calls, responses) = (of(content, "functionCall"), of(content, "functionResponse"));
        rule(calls.is_empty() || content["role"] == "model", "models call", TURNS);
        rule(responses.is_empty() || content["role"] == "user", "users answer calls", TURNS);
        rule(calls.iter().all(|call| call["args"].is_object()), "arguments are an object", FORMAT);
        rule(responses.iter().all(|answer| answer["response"].is_object()), "a response is an object", FORMAT);
        rule(!before_3 || responses.iter().all(|answer| answer.get("parts").is_none()), "no media in responses", MEDIA);
        let key = |value: &Value| (value["id"].clone(), value["name"].clone());
        let (wanted, given): (Vec<_>, Vec<_>) = (asked.iter().map(key).collect(), responses.iter().map(key).collect());
        rule(wanted == given, "each call has its response in the next content", TURNS);
        let first = parts.iter().find(|part| part.get("functionCall").is_some());
        let signed = first.is_none_or(|part| part["thoughtSignature"].is_string());
        rule(before_3 || signed, "the first call of a step is signed", SIGNED);
        asked = calls;
    }
    rule(asked.is_empty(), "each call has its response in the next content", TURNS);
    broken
}

fn json_of(text: &str) -> RawJson {
    RawJson::parse(text).unwrap()
}

/// What a model of this origin says, as its wire would have read it.
fn answer_of(origin: &Origin, turn: usize) -> Vec<ContentBlock> {
    let mut text = TextBlock::new("Let me look.");
    text.metadata =
        Some(json_of(r#"{"citations":[{"url":"x"}],"thoughtSignatures":[{"from":0,"to":3,"signature":"f"}]}"#));
    let call = |name: &str, arguments: &str| {
        let mut call = call_of(name, arguments).vendor_id(format!("call_{turn}"));
        call.metadata = Some(json_of(r#"{"thoughtSignature":"foreign","caller":"x"}"#));
        ContentBlock::from(call)
    };
    let image = ImageBlock::new(MediaSource::Base64("aGk=".into())).media_type("image/png");
    let signed = ThinkingBlock::new("Hm.").signature("foreign").origin(origin.clone());
    let hidden = ThinkingBlock::new("").encrypted("foreign").origin(origin.clone());
    let opaque =
        OpaqueBlock::new(origin.clone(), json_of(r#"{"type":"web_search_call","thoughtSignature":"foreign"}"#));
    let all = [
        vec![signed.into(), text.into(), call("weather", r#"{"city":"Paris"}"#), call("weather", r#"{"city":"Ro"#)],
        vec![hidden.into(), ContentBlock::Opaque(opaque), call("weather", "{}")],
        vec![ContentBlock::Image(image), "Here.".into()],
        vec![ThinkingBlock::new("Nothing but a thought.").origin(origin.clone()).into()],
        vec![call("other", ""), "And:".into(), call("weather", "[1]"), call("weather", "null")],
        vec!["".into(), " ".into()],
    ];
    all.into_iter().nth(turn % 6).unwrap()
}

#[test]
fn histories_of_every_protocol_are_sent_as_the_vendor_s_rules_want() {
    let origins = [
        Origin::new("anthropic-messages", "anthropic", "claude-sonnet-5"),
        Origin::new("openai-chat", "openrouter", "some/model"),
        Origin::new("openai-responses", "openai", "gpt-6-sol"),
        Origin::new("openai-responses", "azure", "deployment"),
        Origin::new("bedrock-converse", "bedrock", "amazon.nova-pro"),
        Origin::new("gemini", "google", "gemini-2.5-pro"),
        Origin::new("gemini", "vertex", "gemini-3.1-pro-preview"),
    ];
    let wires = [GoogleWire::gemini(), GoogleWire::vertex("p", "global")];
    for wire in &wires {
        for model in [MODEL, "gemini-2.5-flash"] {
            // Each alone, and all in turns.
            for alone in origins.iter().map(Some).chain([None]) {
                let mut talk = Talk::new();
                for turn in 0..24 {
                    let origin = alone.unwrap_or(&origins[turn % origins.len()]);
                    let answer = talk.says(origin.clone(), answer_of(origin, turn));
                    for (at, (id, call)) in answer.tool_calls().enumerate() {
                        let message = talk.id();
                        let image = ImageBlock::new(MediaSource::Base64("aGk=".into())).media_type("image/png");
                        let content = vec!["Sunny.".into(), ContentBlock::Image(image)];
                        let mut result = ToolResultMessage::new(message, id, &*call.name, content);
                        result.is_error = at % 2 == 1;
                        talk.push(result);
                    }
                    if turn % 3 == 2 {
                        talk.user("Go on.");
                    }
                }
                let sent = body(wire, &talk.call(CallOptions::new(model)));
                let found = broken_rules(&sent["contents"], model != MODEL);
                assert_eq!(found, [], "{model} {alone:?}: {}", sent["contents"]);
                assert!(!sent.to_string().contains("foreign"), "{model} {alone:?}: {}", sent["contents"]);
            }
        }
    }
}

#[test]
fn the_rules_reject_what_the_vendor_rejects() {
    let user = json!({"role": "user", "parts": [{"text": "Hi"}]});
    let call = |signature: Value| {
        let mut part = json!({"functionCall": {"name": "f", "args": {}}});
        if signature.is_string() {
            part["thoughtSignature"] = signature;
        }
        json!({"role": "model", "parts": [part]})
    };
    let response = json!({"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {}}}]});
    let good = json!([user, call(json!("s")), response]);
    assert_eq!(broken_rules(&good, false), []);
    let media = json!({"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {}, "parts": []}}]});
    let wrong = json!({"role": "user", "parts": [{"functionResponse": {"name": "f", "response": "x"}}]});
    let text =
        json!({"role": "model", "parts": [{"functionCall": {"name": "f", "args": "{}"}, "thoughtSignature": "s"}]});
    for (bad, rule) in [
        (json!([call(json!("s")), response]), "the user begins"),
        (json!([user, {"role": "tool", "parts": [{"text": "x"}]}]), "a role is user or model"),
        (json!([user, {"role": "model", "parts": []}]), "a content has parts"),
        (json!([{"role": "user", "parts": [{"text": "x", "inlineData": {}}]}]), "a part has one kind of data"),
        (json!([user, call(json!("s"))]), "each call has its response in the next content"),
        (json!([user, call(json!("s")), user]), "each call has its response in the next content"),
        (json!([user, response]), "each call has its response in the next content"),
        (json!([user, call(Value::Null), response]), "the first call of a step is signed"),
        (json!([user, call(json!("s")), wrong]), "a response is an object"),
        (json!([user, text, response]), "arguments are an object"),
    ] {
        let found = broken_rules(&bad, false);
        assert!(found.iter().any(|(name, page)| *name == rule && page.starts_with("https://")), "{rule}: {found:?}");
    }
    assert_eq!(broken_rules(&json!([user, call(Value::Null), media]), true), [("no media in responses", MEDIA)]);
}
