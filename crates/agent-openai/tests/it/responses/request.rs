//! Requests, as the bytes that are sent.

use std::fs;

use agent_core::{
    Arguments, AssistantMessage, CallOptions, ContentBlock, Credential, DocumentBlock, Effort, ImageBlock, MediaSource,
    ModelFacts, OutputSchema, PieceCache, RawJson, Reasoning, Secret, StopReason, ToolCall, ToolChoice,
    ToolResultMessage, Wire,
};
use agent_openai::{ChatWire, ReasoningSummary, ResponsesWire};
use agent_testkit::schema_faults;
use serde_json::{Value, json};

use super::{decode, stream};
use crate::given::Talk;

fn body(wire: &ResponsesWire, call: &agent_core::ModelCall) -> Value {
    serde_json::from_slice(&wire.encode(call).unwrap().segments.to_bytes()).unwrap()
}

fn options() -> CallOptions {
    CallOptions::new("m").system("You help.").max_output(100)
}

/// An answer with reasoning, a text and a call, as the vendor streams it.
fn turn() -> AssistantMessage {
    decode([stream(&[
        r#"{"type":"response.created","response":{"id":"resp","model":"m-2026-08-01"}}"#,
        r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"Hm."}],"encrypted_content":"abc"}}"#,
        r#"{"type":"response.output_item.done","output_index":1,"item":{"type":"message","id":"msg_1","role":"assistant","phase":"commentary","content":[{"type":"output_text","text":"Let me look.","annotations":[]}]}}"#,
        r#"{"type":"response.output_item.done","output_index":2,"item":{"type":"function_call","id":"fc_1","call_id":"call_1","name":"weather","arguments":"{\"city\":\"Paris\"}"}}"#,
        r#"{"type":"response.completed","response":{"status":"completed"}}"#,
    ])])
    .unwrap()
}

fn talk(answer: AssistantMessage) -> Talk {
    let mut talk = Talk::new();
    let calls: Vec<_> = answer.tool_calls().map(|(id, call)| (id, call.name.clone())).collect();
    talk.push(answer);
    for (call, name) in calls {
        let id = talk.id();
        talk.push(ToolResultMessage::new(id, call, name, vec!["Sunny.".into()]));
    }
    talk.user("And tomorrow?");
    talk
}

#[test]
fn a_conversation_with_reasoning_and_a_tool_turn() {
    let wire = ResponsesWire::openai();
    let talk = talk(turn());
    let encoded = wire.encode(&talk.call(options())).unwrap();
    assert_eq!(encoded.parts.uri, "https://api.openai.com/v1/responses");
    assert!(encoded.losses.is_empty(), "{:?}", encoded.losses);
    let mut sent = body(&wire, &talk.call(options()));
    let call_id = sent["input"][3]["call_id"].clone();
    let key = sent.as_object_mut().unwrap().remove("prompt_cache_key").unwrap();
    assert!(key.as_str().unwrap().starts_with("ms-"));
    let expected = json!({
        "model": "m", "stream": true, "store": false, "max_output_tokens": 100,
        "include": ["reasoning.encrypted_content"], "reasoning": {"summary": "auto"},
        "tools": [{"type": "function", "name": "weather", "description": "Tells the weather.", "strict": false,
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}],
        "instructions": "You help.",
        "input": [
            {"role": "user", "content": "What is the weather in Paris?"},
            {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Hm."}], "encrypted_content": "abc"},
            {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "phase": "commentary",
             "content": [{"type": "output_text", "text": "Let me look.", "annotations": []}]},
            {"type": "function_call", "id": "fc_1", "call_id": call_id, "name": "weather", "arguments": "{\"city\":\"Paris\"}"},
            {"type": "function_call_output", "call_id": call_id, "output": "Sunny."},
            {"role": "user", "content": "And tomorrow?"},
        ],
    });
    assert_eq!(sent, expected);
}

#[test]
fn case_78_reasoning_goes_back_with_what_it_led_to_and_to_its_maker_alone() {
    let wire = ResponsesWire::openai();
    let kinds = |wire: &ResponsesWire, talk: &Talk, model: &str| -> Vec<String> {
        let sent = body(wire, &talk.call(CallOptions::new(model)));
        let items = sent["input"].as_array().unwrap().clone();
        items.iter().map(|item| item["type"].as_str().unwrap_or("given").to_owned()).collect()
    };
    let whole = talk(turn());
    let expected = ["given", "reasoning", "message", "function_call", "function_call_output", "given"];
    assert_eq!(kinds(&wire, &whole, "m"), expected);
    let without = ["given", "given", "function_call", "function_call_output", "given"];
    assert_eq!(kinds(&wire, &whole, "another"), without);
    let azure = ResponsesWire::azure("https://mine.openai.azure.com").unwrap();
    assert_eq!(kinds(&azure, &whole, "m"), without, "the other house's reasoning is not sent");
    let sent = body(&azure, &whole.call(CallOptions::new("m")));
    assert_eq!(sent["input"][1].get("id"), None, "nor are its ids");
    let mut dull = ModelFacts::new("openai", "m");
    dull.abilities.reasoning = false;
    assert_eq!(kinds(&wire.clone().model(dull), &whole, "m"), without, "a model that does not think is not told");

    let mut shown = turn();
    if let Some(ContentBlock::Thinking(block)) = shown.content.first_mut() {
        block.signature = None;
    }
    assert_eq!(kinds(&wire, &talk(shown), "m"), without, "nor are ids of what was thought and not kept");

    let mut alone = turn();
    alone.content.truncate(1);
    alone.stop_reason = StopReason::EndTurn;
    let trailing = talk(alone);
    assert_eq!(kinds(&wire, &trailing, "m"), ["given", "given"]);
    assert_eq!(wire.encode(&trailing.call(CallOptions::new("m"))).unwrap().losses.len(), 1);
}

#[test]
fn a_request_up_to_its_last_item_is_the_beginning_of_the_next() {
    let wire = ResponsesWire::openai();
    let (mut talk, cache) = (Talk::new(), PieceCache::new());
    let mut last: Option<(Vec<u8>, agent_core::Segments)> = None;
    for turn_number in 0..50 {
        let mut answer = turn();
        answer.id = talk.id();
        let call = answer.tool_calls().next().unwrap().0;
        talk.push(answer);
        let id = talk.id();
        let image = ImageBlock::new(MediaSource::Base64("iVBO".into())).media_type("image/png");
        talk.push(ToolResultMessage::new(id, call, "weather", vec!["Sunny.".into(), image.into()]));
        if turn_number % 7 == 3 {
            talk.user("And now?");
        }
        let segments = wire.encode(&talk.call(options()).cache(cache.clone())).unwrap().segments;
        let bytes = segments.to_bytes().to_vec();
        serde_json::from_slice::<Value>(&bytes).unwrap();
        if let Some((before, pieces)) = &last {
            let shared = before.len() - "]}".len();
            assert_eq!(bytes[..shared], before[..shared], "turn {turn_number}");
            assert_eq!(segments.diverges_from(pieces.chain(), Some(pieces)), None, "turn {turn_number}");
        }
        last = Some((bytes, segments));
    }
}

#[test]
fn calls_of_tools_that_take_text_go_back_as_such() {
    let wire = ResponsesWire::openai();
    let answer = decode([stream(&[
        r#"{"type":"response.created","response":{"id":"resp","model":"m"}}"#,
        r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"custom_tool_call","id":"ctc_1","call_id":"c","name":"patch","input":""}}"#,
        r#"{"type":"response.custom_tool_call_input.delta","output_index":0,"item_id":"ctc_1","delta":"*** \"a\"\n"}"#,
        r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"custom_tool_call","id":"ctc_1","call_id":"c","name":"patch","input":"*** \"a\"\nb"}}"#,
        r#"{"type":"response.completed","response":{"status":"completed"}}"#,
    ])])
    .unwrap();
    let sent = body(&wire, &talk(answer).call(options()));
    assert_eq!(
        (&sent["input"][1]["type"], &sent["input"][1]["input"]),
        (&json!("custom_tool_call"), &json!("*** \"a\"\nb"))
    );
    assert_eq!(sent["input"][2]["type"], "custom_tool_call_output");
}

#[test]
fn w19_options_are_sent_and_what_cannot_be_is_a_loss() {
    let schema = OutputSchema::new(
        "answer",
        RawJson::parse(r#"{"type":"object","properties":{"n":{"type":"integer"}}}"#).unwrap(),
    );
    let mut all = options().output_schema(schema).tool_choice(ToolChoice::Tool("weather".into()));
    (all.parallel_calls, all.seed, all.stop_sequences) = (Some(false), Some(7), vec!["END".into()]);
    all = all.reasoning(Reasoning::Effort(Effort::High));
    all.extras
        .insert("openai".into(), RawJson::parse(r#"{"truncation":"auto","previous_response_id":"resp_9"}"#).unwrap());
    let wire = ResponsesWire::openai().store(true).summary(ReasoningSummary::Detailed).strict_tools();
    let sent = body(&wire, &Talk::new().call(all.clone()));
    assert_eq!(sent["text"]["format"]["strict"], true);
    assert_eq!(sent["text"]["format"]["schema"]["required"], json!(["n"]));
    assert_eq!(sent["tool_choice"], json!({"type": "function", "name": "weather"}));
    assert_eq!(sent["reasoning"], json!({"effort": "high", "summary": "detailed"}));
    assert_eq!((&sent["store"], sent.get("include")), (&json!(true), None));
    assert_eq!((&sent["parallel_tool_calls"], &sent["previous_response_id"]), (&json!(false), &json!("resp_9")));
    assert_eq!(sent["tools"][0]["strict"], true);
    let losses = wire.encode(&Talk::new().call(all)).unwrap().losses;
    assert_eq!(losses.len(), 2, "{losses:?}");
    let off = body(&ResponsesWire::openai(), &Talk::new().call(options().reasoning(Reasoning::Off)));
    assert_eq!(off["reasoning"], json!({"effort": "none"}));
}

#[test]
fn w19_a_failed_result_says_so_and_images_in_results_stay_there() {
    let wire = ResponsesWire::openai();
    let mut talk = Talk::new();
    let id = talk.id();
    let call = |name: &str| ContentBlock::from(ToolCall::new(name, Arguments::empty()));
    let answer = AssistantMessage::new(id, vec![call("weather"), call("weather")], StopReason::ToolUse);
    let calls: Vec<_> = answer.tool_calls().map(|(id, _)| id).collect();
    talk.push(answer);
    let (first, second) = (talk.id(), talk.id());
    talk.push(ToolResultMessage::error(first, calls[0], "weather", "no such city"));
    let image = ImageBlock::new(MediaSource::Base64("iVBO".into()));
    talk.push(ToolResultMessage::new(second, calls[1], "weather", vec!["A map.".into(), image.into()]));
    let sent = body(&wire, &talk.call(options()));
    assert_eq!(sent["input"][3]["output"], "Error: no such city");
    assert_eq!(
        sent["input"][4]["output"][1],
        json!({"type": "input_image", "detail": "auto", "image_url": "data:image/png;base64,iVBO"})
    );
}

#[test]
fn case_88_addresses_of_azure_are_taken_as_people_copy_them() {
    let at = |address: &str| {
        let parts = ResponsesWire::azure(address).unwrap().encode(&Talk::new().call(options())).unwrap().parts;
        parts.uri.to_string()
    };
    let v1 = "https://mine.openai.azure.com/openai/v1/responses";
    for address in [
        "https://mine.openai.azure.com",
        "https://mine.openai.azure.com/",
        "https://mine.openai.azure.com/openai",
        "https://mine.openai.azure.com/openai/v1/",
        "https://mine.openai.azure.com/openai/v1/responses?api-version=preview",
        "https://mine.openai.azure.com/openai/deployments/d/chat/completions?api-version=2024-10-21",
    ] {
        assert_eq!(at(address), v1, "{address}");
    }
    assert_eq!(at("https://mine.services.ai.azure.com/"), "https://mine.services.ai.azure.com/openai/v1/responses");
    let old = ResponsesWire::azure("https://mine.openai.azure.com/openai/deployments/d").unwrap();
    assert_eq!(body(&old, &Talk::new().call(options()))["model"], "d");
    let chat = |address: &str| {
        ChatWire::azure(address).unwrap().encode(&Talk::new().call(options())).unwrap().parts.uri.to_string()
    };
    assert_eq!(chat("https://mine.openai.azure.com"), "https://mine.openai.azure.com/openai/v1/chat/completions");
    assert_eq!(
        chat("https://mine.openai.azure.com/openai/deployments/d/chat/completions?api-version=2025-01-01-preview"),
        "https://mine.openai.azure.com/openai/deployments/d/chat/completions?api-version=2025-01-01-preview"
    );
    assert!(ResponsesWire::azure("not an address").is_err());
}

#[test]
fn keys_go_in_the_header_of_the_house_and_tokens_as_bearer() {
    let signed = |wire: &ResponsesWire, credential: Credential| {
        let encoded = wire.encode(&Talk::new().call(options())).unwrap();
        let mut parts = encoded.parts;
        wire.authorize(&mut parts, &encoded.segments, &credential, 0).unwrap();
        let text = |name: &str| parts.headers.get(name).map(|value| value.to_str().unwrap().to_owned());
        (text("authorization"), text("api-key"))
    };
    let (azure, openai) = (ResponsesWire::azure("https://mine.openai.azure.com").unwrap(), ResponsesWire::openai());
    let key = || Credential::ApiKey(Secret::new("k"));
    assert_eq!(signed(&openai, key()), (Some("Bearer k".into()), None));
    assert_eq!(signed(&azure, key()), (None, Some("k".into())));
    assert_eq!(signed(&azure, Credential::Bearer(Secret::new("t"))), (Some("Bearer t".into()), None));
    let own = azure.header(http::header::AUTHORIZATION, http::HeaderValue::from_static("Bearer mine"));
    assert_eq!(signed(&own, key()), (Some("Bearer mine".into()), None), "a header of yours stands alone");
}

#[test]
fn requests_are_what_the_vendors_types_allow() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../shared/fixtures/vectors/schemas/openai-responses-create-streaming.json"
    );
    let Ok(text) = fs::read(path) else {
        eprintln!("skipped: there is no {path}");
        return;
    };
    let document: Value = serde_json::from_slice(&text).unwrap();
    let mut facts = ModelFacts::new("openai", "m");
    (facts.abilities.images, facts.abilities.documents, facts.abilities.reasoning) = (true, true, true);
    let wire = ResponsesWire::openai().model(facts);
    let mut talk = talk(turn());
    let image = ImageBlock::new(MediaSource::Base64("iVBO".into()));
    let pdf = DocumentBlock::new(MediaSource::Base64("JVBE".into())).name("b.pdf");
    let far = DocumentBlock::new(MediaSource::Url("https://a.example/b.pdf".into()));
    talk.user_blocks(vec!["Look".into(), image.into(), pdf.into(), far.into()]);
    let schema = OutputSchema::new(
        "answer",
        RawJson::parse(r#"{"type":"object","properties":{"n":{"type":"integer"}}}"#).unwrap(),
    );
    let all = [
        CallOptions::new("m"),
        options().reasoning(Reasoning::Effort(Effort::Low)).output_schema(schema),
        options().tool_choice(ToolChoice::Required),
        options().tool_choice(ToolChoice::Tool("weather".into())),
        options().tool_choice(ToolChoice::Never),
    ];
    for wire in [wire.clone(), wire.clone().strict_tools()] {
        for options in &all {
            let json = body(&wire, &talk.call(options.clone()).note("A note."));
            assert_eq!(schema_faults(&document, &json), Vec::<String>::new(), "{options:?}\n{json:#}");
        }
    }
    // The judge is awake.
    let mut broken = body(&wire, &talk.call(CallOptions::new("m")));
    broken["input"][0]["contents"] = "x".into();
    assert!(!schema_faults(&document, &broken).is_empty());
}
