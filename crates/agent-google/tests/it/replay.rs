//! What goes back to a model, and what becomes of it at another.

use agent_core::{
    AssistantMessage, CallOptions, ContentBlock, ImageBlock, MediaSource, Origin, RawJson, StopReason, TextBlock,
    ThinkingBlock, ToolResultMessage,
};
use agent_google::{BEFORE_3, GoogleWire, PROTOCOL};
use serde_json::{Value, json};

use crate::given::{MODEL, STOP, Talk, body, call_of, losses, parts};

fn options() -> CallOptions {
    CallOptions::new(MODEL)
}

fn contents(wire: &GoogleWire, talk: &Talk, options: CallOptions) -> Value {
    body(wire, &talk.call(options))["contents"].clone()
}

#[test]
fn case_80_signatures_go_back_as_they_came() {
    let wire = GoogleWire::gemini();
    let mut talk = Talk::new();
    let answer = talk.answers(
        &wire,
        &[
            &parts(r#"{"text":"Summary.","thought":true}"#),
            &parts(r#"{"text":"Signed thought.","thought":true,"thoughtSignature":"dGhvdWdodA=="}"#),
            &parts(r#"{"text":"Hé"}"#),
            &parts(r#"{"text":"llo","thoughtSignature":"b25l"}"#),
            &parts(r#"{"text":" you."}"#),
            &parts(r#"{"text":"","thoughtSignature":"dHdv"}"#),
            &parts(r#"{"functionCall":{"name":"weather","args":{"city": "Paris"},"id":"c1"},"thoughtSignature":"Y2FsbA=="}"#),
            &parts(r#"{"functionCall":{"name":"weather","args":{"city": "Rome"},"id":"c2"}}"#),
            &parts(r#"{"executableCode":{"code":"1"},"thoughtSignature":"Y29kZQ=="}"#),
            &parts(r#"{"inlineData":{"mimeType":"image/png","data":"aGk="},"thoughtSignature":"aW1n"}"#),
            r#"{"candidates":[{"groundingMetadata":{"x":1},"finishReason":"STOP"}]}"#,
        ],
    );
    assert_eq!(
        agent_core::Message::from(answer.clone()).text(),
        "Héllo you.",
        "what is shown is not cut by signatures"
    );
    talk.results(&answer, "Sunny.");
    let expected = json!([
        {"text": "Signed thought.", "thought": true, "thoughtSignature": "dGhvdWdodA=="},
        {"text": "Hé"},
        {"text": "llo", "thoughtSignature": "b25l"},
        {"text": " you."},
        {"text": "", "thoughtSignature": "dHdv"},
        {"functionCall": {"id": "c1", "name": "weather", "args": {"city": "Paris"}}, "thoughtSignature": "Y2FsbA=="},
        {"functionCall": {"id": "c2", "name": "weather", "args": {"city": "Rome"}}},
        {"executableCode": {"code": "1"}, "thoughtSignature": "Y29kZQ=="},
        {"inlineData": {"mimeType": "image/png", "data": "aGk="}, "thoughtSignature": "aW1n"},
    ]);
    let sent = contents(&wire, &talk, options());
    assert_eq!(sent[1], json!({"role": "model", "parts": expected}));
    assert_eq!(losses(&wire, &talk.call(options())), Vec::<String>::new());
    let ids: Vec<_> = (0..2).map(|at| sent[2]["parts"][at]["functionResponse"]["id"].clone()).collect();
    assert_eq!(ids, ["c1", "c2"]);
    // An alias is any model of its family; a snapshot is its model.
    for same in ["gemini-flash-latest", "models/gemini-3.8-flash", "gemini-3.8-flash-001"] {
        assert_eq!(contents(&wire, &talk, CallOptions::new(same))[1]["parts"], expected, "{same}");
    }
}

#[test]
fn another_model_gets_what_it_can_read() {
    let gemini = GoogleWire::gemini();
    let mut talk = Talk::new();
    let answer = talk.answers(
        &gemini,
        &[
            &parts(r#"{"text":"Secret.","thought":true,"thoughtSignature":"dA=="}"#),
            &parts(r#"{"text":"Hello","thoughtSignature":"b25l"}"#),
            &parts(r#"{"functionCall":{"name":"weather","args":{},"id":"c1"},"thoughtSignature":"Y2FsbA=="}"#),
            &parts(r#"{"functionCall":{"name":"weather","args":{},"id":"c2"}}"#),
            &parts(r#"{"executableCode":{"code":"1"}}"#),
            STOP,
        ],
    );
    talk.results(&answer, "Sunny.");
    let (skip, call) =
        ("skip_thought_signature_validator", |id: &str| json!({"id": id, "name": "weather", "args": {}}));
    let sent = contents(&gemini, &talk, CallOptions::new("gemini-3.1-pro-preview"));
    let expected = json!([
        {"text": "Hello"},
        {"functionCall": call("c1"), "thoughtSignature": skip},
        {"functionCall": call("c2")},
    ]);
    assert_eq!(sent[1]["parts"], expected);
    let found = losses(&gemini, &talk.call(CallOptions::new("gemini-3.1-pro-preview")));
    assert_eq!(found, ["reasoning of another model; it is left out", "a block of another model; it is left out"]);
    // Models before Gemini 3 check no signatures, and Vertex knows neither ids nor signatures of the Gemini API.
    let old = contents(&gemini, &talk, CallOptions::new("gemini-2.5-flash"));
    assert_eq!(old[1]["parts"][1], json!({"functionCall": call("c1")}));
    let vertex = contents(&GoogleWire::vertex("p", "global"), &talk, options());
    assert_eq!(
        vertex[1]["parts"][1],
        json!({"functionCall": {"name": "weather", "args": {}}, "thoughtSignature": skip})
    );
    assert_eq!(vertex[2]["parts"][0]["functionResponse"]["id"], Value::Null);
    // Where a name stands for another model, it can be said.
    let tuned = GoogleWire::gemini().answers_as("tunedModels/mine", MODEL);
    let sent = contents(&tuned, &talk, CallOptions::new("tunedModels/mine"));
    assert_eq!(sent[1]["parts"][0]["thoughtSignature"], "dA==");
}

#[test]
fn w12_reasoning_of_another_model_is_left_out_aloud() {
    let wire = GoogleWire::gemini();
    let mut talk = Talk::new();
    let claude = Origin::new("anthropic-messages", "anthropic", "claude-sonnet-5");
    let thinking = ThinkingBlock::new("Hm.").signature("s").origin(claude.clone());
    let mut call = call_of("weather", r#"{"city":"Paris"}"#).vendor_id("toolu_1");
    call.metadata = Some(RawJson::parse(r#"{"thoughtSignature":"not mine"}"#).unwrap());
    let mut text = TextBlock::new("Look:");
    text.metadata = Some(RawJson::parse(r#"{"citations":[]}"#).unwrap());
    let answer = talk.says(claude, vec![thinking.into(), text.into(), call.into(), call_of("weather", "{").into()]);
    talk.results(&answer, "Sunny.");
    let sent = contents(&wire, &talk, options());
    // Ids of ours, which no other call has.
    let ids: Vec<String> = answer.tool_calls().map(|(id, _)| id.to_string()).collect();
    let expected = json!([
        {"text": "Look:"},
        {"functionCall": {"id": ids[0], "name": "weather", "args": {"city": "Paris"}},
         "thoughtSignature": "skip_thought_signature_validator"},
        {"functionCall": {"id": ids[1], "name": "weather", "args": {"invalidArguments": "{"}}},
    ]);
    assert_eq!(sent[1]["parts"], expected);
    let response =
        |id: &str| json!({"functionResponse": {"id": id, "name": "weather", "response": {"output": "Sunny."}}});
    assert_eq!(sent[2], json!({"role": "user", "parts": [response(&ids[0]), response(&ids[1])]}));
    let vertex = contents(&GoogleWire::vertex("p", "global"), &talk, options());
    assert!(!vertex.to_string().contains("\"id\""), "{vertex}");
    assert_eq!(losses(&wire, &talk.call(options())), ["reasoning of another model; it is left out"]);
}

#[test]
fn results_say_whether_the_tool_failed() {
    let wire = GoogleWire::gemini();
    let mut talk = Talk::new();
    let answer = talk.answers(&wire, &[&parts(r#"{"functionCall":{"name":"weather","args":{}}}"#), STOP]);
    let id = talk.id();
    let call = answer.tool_calls().next().unwrap().0;
    talk.push(ToolResultMessage::error(id, call, "weather", "no such city"));
    let response = json!({"functionResponse": {"name": "weather", "response": {"error": "no such city"}}});
    assert_eq!(contents(&wire, &talk, options())[2]["parts"], json!([response]));
}

#[test]
fn case_91_every_text_of_a_result_is_sent() {
    let wire = GoogleWire::gemini();
    let image = || ContentBlock::Image(ImageBlock::new(MediaSource::Base64("aGk=".into())).media_type("image/png"));
    let talk = |wire: &GoogleWire| {
        let mut talk = Talk::new();
        // An id that comes twice names no call.
        let call = r#"{"functionCall":{"name":"weather","args":{},"id":"a"}}"#;
        let answer = talk.answers(wire, &[&parts(&format!("{call},{call}")), STOP]);
        for (id, _) in answer.tool_calls() {
            let message = talk.id();
            let content = vec!["".into(), "one".into(), image(), "two".into()];
            talk.push(ToolResultMessage::new(message, id, "weather", content));
        }
        talk.user("Go on.");
        (talk, answer.tool_calls().last().unwrap().0.to_string())
    };
    let (talk, own) = talk(&wire);
    let own = Some(own.as_str());
    let blob = json!({"inlineData": {"mimeType": "image/png", "data": "aGk="}});
    let sent = contents(&wire, &talk, options())[2]["parts"].clone();
    let response = |id: Option<&str>, parts: Option<&Value>| {
        let mut response = json!({"name": "weather", "response": {"output": "one\ntwo"}});
        if let Some(id) = id {
            response["id"] = json!(id);
        }
        if let Some(parts) = parts {
            response["parts"] = json!([parts]);
        }
        json!({"functionResponse": response})
    };
    let expected = json!([response(Some("a"), Some(&blob)), response(own, Some(&blob)), {"text": "Go on."}]);
    assert_eq!(sent, expected);
    let old = contents(&wire, &talk, CallOptions::new("gemini-2.5-flash"))[2]["parts"].clone();
    let expected = json!([response(Some("a"), None), blob, response(own, None), blob, {"text": "Go on."}]);
    assert_eq!(old, expected);
    assert!(wire.facts("gemini-2.5-flash").quirks.iter().any(|quirk| quirk == BEFORE_3));
    let mut blind = wire.facts(MODEL);
    blind.abilities.tool_images = false;
    let blind = GoogleWire::gemini().model(blind);
    assert_eq!(losses(&blind, &talk.call(options())).len(), 2);
}

#[test]
fn answers_without_anything_and_texts_that_changed_are_sent_as_what_is_left() {
    let wire = GoogleWire::gemini();
    let mut talk = Talk::new();
    let origin = Origin::new(PROTOCOL, "google", MODEL);
    let mut answer =
        AssistantMessage::new(talk.id(), vec!["".into(), ThinkingBlock::new("Hm.").into()], StopReason::EndTurn);
    answer.origin = origin.clone();
    talk.push(answer);
    talk.user("Well?");
    // Both messages of the user stand in one content, since there is nothing between them.
    let sent = contents(&wire, &talk, options());
    assert_eq!(
        sent,
        json!([{"role": "user", "parts": [{"text": "What is the weather in Paris?"}, {"text": "Well?"}]}])
    );
    let mut text = TextBlock::new("Hé");
    let marks = r#"{"thoughtSignatures":[{"from":0,"to":2,"signature":"s"}]}"#;
    text.metadata = Some(RawJson::parse(marks).unwrap());
    talk.says(origin, vec![text.into()]);
    assert_eq!(contents(&wire, &talk, options())[1]["parts"], json!([{"text": "Hé"}]), "no mark in mid-character");
    talk.user(" ");
    let sent = contents(&wire, &talk, options());
    assert_eq!(sent[2]["parts"], json!([{"text": "(empty message)"}]));
}

#[test]
fn a_server_that_does_not_name_its_model_answers_as_the_one_that_was_asked() {
    let wire = GoogleWire::gemini();
    let mut talk = Talk::new();
    let nameless = |part: &str| parts(part).replace(&format!(r#","modelVersion":"{MODEL}""#), "");
    let thought = nameless(r#"{"text":"Hm.","thought":true,"thoughtSignature":"dA=="}"#);
    let code = nameless(r#"{"executableCode":{"code":"1"}}"#);
    let answer = talk.answers(&wire, &[&thought, &code, STOP]);
    assert_eq!(answer.origin.model, MODEL);
    talk.user("Go on.");
    assert_eq!(contents(&wire, &talk, options())[1]["parts"].as_array().unwrap().len(), 2);
    let other = talk.call(CallOptions::new("gemini-2.5-pro"));
    assert_eq!(body(&wire, &other)["contents"].as_array().unwrap().len(), 1, "nothing of another model is left");
    assert_eq!(losses(&wire, &other).len(), 2);
}
