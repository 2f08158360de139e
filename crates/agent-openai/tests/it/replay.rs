//! What goes back to a vendor because it wants it back, and in which place.

use agent_core::{
    AssistantMessage, CallOptions, ContentBlock, ImageBlock, MediaSource, ModelFacts, StopReason, ToolCall,
    ToolResultMessage, Wire,
};
use agent_openai::ChatWire;
use bytes::Bytes;
use serde_json::{Value, json};

use crate::given::{Talk, body, decode_with, of};

fn options() -> CallOptions {
    CallOptions::new("m").max_output(100)
}

fn answer(wire: &ChatWire, chunks: &[Value]) -> AssistantMessage {
    let body: String = chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
    decode_with(wire, [Bytes::from(body + "data: [DONE]\n\n")]).unwrap()
}

fn delta(delta: Value) -> Value {
    json!({"model": "m", "choices": [{"delta": delta, "finish_reason": null}]})
}

fn stop() -> Value {
    json!({"choices": [{"delta": {}, "finish_reason": "stop"}]})
}

/// The second message of a request that holds this answer.
fn sent_after(wire: &ChatWire, answer: AssistantMessage, model: &str) -> (Value, Vec<String>) {
    let mut talk = Talk::new();
    talk.push(answer);
    talk.user("And?");
    let call = talk.call(CallOptions::new(model));
    let losses = wire.encode(&call).unwrap().losses.iter().map(|loss| loss.what.to_string()).collect();
    (body(wire, &call)["messages"][1].clone(), losses)
}

#[test]
fn reasoning_details_go_back_as_they_came_to_the_model_that_made_them() {
    let wire = of("openrouter");
    let mut made = answer(
        &wire,
        &[
            delta(json!({"reasoning_details": [
            {"type": "reasoning.text", "text": "Let ", "format": "anthropic-claude-v1", "index": 0}]})),
            delta(json!({"reasoning_details": [{"type": "reasoning.text", "text": "me.", "index": 0}]})),
            delta(json!({"reasoning_details": [{"type": "reasoning.text", "signature": "sig", "index": 0}]})),
            delta(
                json!({"reasoning_details": [{"type": "reasoning.encrypted", "data": "abc", "id": "e", "index": 1}]}),
            ),
            delta(json!({"content": "Four."})),
            stop(),
        ],
    );
    made.origin = wire.origin("m");
    let thought = made.content.iter().find_map(|block| match block {
        ContentBlock::Thinking(block) => Some(block.text.clone()),
        _ => None,
    });
    assert_eq!(thought.as_deref(), Some("Let me."), "details are shown where no other field is");
    let (sent, losses) = sent_after(&wire, made.clone(), "m");
    assert_eq!(losses, Vec::<String>::new());
    assert_eq!(
        sent["reasoning_details"],
        json!([
            {"type": "reasoning.text", "text": "Let me.", "format": "anthropic-claude-v1", "index": 0, "signature": "sig"},
            {"type": "reasoning.encrypted", "data": "abc", "id": "e", "index": 1},
        ])
    );
    let (sent, losses) = sent_after(&wire, made.clone(), "another");
    assert_eq!((sent["reasoning_details"].clone(), losses.len()), (Value::Null, 1), "{losses:?}");
    let (sent, losses) = sent_after(&of("openai"), made, "m");
    assert_eq!((sent["reasoning_details"].clone(), losses.len()), (Value::Null, 2), "{losses:?}");
}

#[test]
fn a_variant_and_a_date_are_the_same_model() {
    let wire = of("openrouter");
    let details = json!({"reasoning_details": [{"type": "reasoning.encrypted", "data": "abc", "index": 0}]});
    let dated = json!({"model": "vendor/m-2026-08-01", "choices": [{"delta": details, "finish_reason": "stop"}]});
    let mut made = answer(&wire, &[dated]);
    made.origin.model = "vendor/m-2026-08-01".into();
    let (sent, _) = sent_after(&wire, made.clone(), "vendor/m:free");
    assert_eq!(sent["reasoning_details"][0]["data"], "abc");
    let (sent, _) = sent_after(&wire, made, "vendor/m-2");
    assert_eq!(sent["reasoning_details"], Value::Null);
}

#[test]
fn what_a_call_carries_goes_back_with_it() {
    let wire = of("compatible");
    let extra = json!({"google": {"thought_signature": "c2ln"}});
    let mut made = answer(
        &wire,
        &[
            delta(json!({"tool_calls": [
            {"index": 0, "id": "a", "function": {"name": "weather", "arguments": "{}"}, "extra_content": extra}]})),
            stop(),
        ],
    );
    made.origin = wire.origin("m");
    let call = made.tool_calls().next().unwrap().0;
    let mut talk = Talk::new();
    talk.push(made);
    let id = talk.id();
    talk.push(ToolResultMessage::new(id, call, "weather", vec!["Sunny.".into()]));
    let call = |model: &str| body(&wire, &talk.call(CallOptions::new(model)))["messages"][1]["tool_calls"][0].clone();
    assert_eq!(call("m")["extra_content"], extra);
    assert_eq!(call("another").get("extra_content"), None);
}

/// A conversation with a turn of three calls, of which two gave an image.
fn shown(wire: &ChatWire) -> Talk {
    let mut talk = Talk::new();
    let calls = (0..3).map(|_| ToolCall::new("weather", agent_core::Arguments::empty()).into()).collect();
    let id = talk.id();
    let mut answer = AssistantMessage::new(id, calls, StopReason::ToolUse);
    answer.origin = wire.origin("m");
    let calls: Vec<_> = answer.tool_calls().map(|(id, _)| id).collect();
    talk.push(answer);
    let image = || ImageBlock::new(MediaSource::Base64("iVBO".into())).media_type("image/png").into();
    let contents = [vec!["A map.".into(), image()], vec!["Sunny.".into()], vec![image()]];
    for (call, content) in calls.into_iter().zip(contents) {
        let id = talk.id();
        talk.push(ToolResultMessage::new(id, call, "weather", content));
    }
    talk
}

fn seeing(name: &str) -> ChatWire {
    let mut facts = ModelFacts::new(name, "m");
    facts.abilities.images = true;
    of(name).model(facts)
}

#[test]
fn images_of_results_follow_all_results_of_the_turn() {
    for name in ["openai", "ollama"] {
        let wire = seeing(name);
        let mut talk = shown(&wire);
        let sent = body(&wire, &talk.call(options()));
        let roles: Vec<_> = sent["messages"].as_array().unwrap().iter().map(|m| m["role"].as_str().unwrap()).collect();
        let between: &[&str] = if name == "ollama" { &["assistant"] } else { &[] };
        let expected = [&["user", "assistant", "tool", "tool", "tool"][..], between, &["user"]].concat();
        assert_eq!(roles, expected, "{name}");
        assert_eq!(sent["messages"][2]["content"], "A map.");
        assert_eq!(sent["messages"][4]["content"], "The result is in the message below.");
        let url = json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBO"}});
        let text = json!({"type": "text", "text": "From the result of `weather`:"});
        assert_eq!(sent["messages"][roles.len() - 1]["content"], json!([text, url, text, url]));
        talk.user("Thanks");
        let next = body(&wire, &talk.call(options()));
        assert_eq!(next["messages"].as_array().unwrap()[..roles.len()], sent["messages"].as_array().unwrap()[..]);
    }
}

#[test]
fn images_for_a_model_that_sees_none_are_lost_aloud() {
    let mut facts = ModelFacts::new("openai", "m");
    facts.abilities.images = false;
    let wire = of("openai").model(facts);
    let talk = shown(&wire);
    let encoded = wire.encode(&talk.call(options())).unwrap();
    assert_eq!(encoded.losses.len(), 2);
    assert_eq!(body(&wire, &talk.call(options()))["messages"].as_array().unwrap().len(), 5);
}
