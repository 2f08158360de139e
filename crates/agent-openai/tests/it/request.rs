//! Requests, as the bytes that are sent.

use agent_core::{
    CallOptions, Credential, Effort, OutputSchema, PieceCache, RawJson, Reasoning, Secret, ToolChoice,
    ToolResultMessage, Wire,
};
use agent_openai::{ChatWire, Profile};
use http::HeaderValue;
use serde_json::json;

use crate::given::{Talk, body, of};

fn options() -> CallOptions {
    CallOptions::new("gpt-x").system("You help.").max_output(100)
}

#[test]
fn a_conversation_with_a_tool_turn() {
    let wire = of("openai");
    let mut talk = Talk::new();
    talk.tool_turn(&wire, "Hm.");
    let encoded = wire.encode(&talk.call(options())).unwrap();
    assert_eq!(encoded.parts.uri, "https://api.openai.com/v1/chat/completions");
    let id = body(&wire, &talk.call(options()))["messages"][2]["tool_calls"][0]["id"].clone();
    let expected = json!({
        "model": "gpt-x", "stream": true, "stream_options": {"include_usage": true}, "max_completion_tokens": 100,
        "tools": [{"type": "function", "function": {
            "name": "weather", "description": "Tells the weather.",
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
        }}],
        "messages": [
            {"role": "developer", "content": "You help."},
            {"role": "user", "content": "What is the weather in Paris?"},
            {"role": "assistant", "content": "Let me look.", "tool_calls": [
                {"id": id, "type": "function", "function": {"name": "weather", "arguments": "{\"city\": \"Paris\"}"}},
            ]},
            {"role": "tool", "tool_call_id": id, "content": "Sunny."},
        ],
    });
    let mut found = body(&wire, &talk.call(options()));
    let key = found.as_object_mut().unwrap().remove("prompt_cache_key").unwrap();
    assert!(key.as_str().unwrap().starts_with("ms-"));
    assert_eq!(found, expected);
}

#[test]
fn a_request_up_to_its_last_message_is_the_beginning_of_the_next() {
    for name in ["openai", "deepseek", "ollama", "mistral"] {
        let wire = of(name);
        let (mut talk, cache) = (Talk::new(), PieceCache::new());
        let mut last: Option<(Vec<u8>, agent_core::Segments)> = None;
        for turn in 0..50 {
            if turn % 7 == 3 {
                talk.user("And now?");
            }
            talk.tool_turn(&wire, "Hm.");
            let segments = wire.encode(&talk.call(options()).cache(cache.clone())).unwrap().segments;
            let bytes = segments.to_bytes().to_vec();
            serde_json::from_slice::<serde_json::Value>(&bytes).unwrap();
            if let Some((before, pieces)) = &last {
                let shared = before.len() - "]}".len();
                assert_eq!(bytes[..shared], before[..shared], "{name}, turn {turn}");
                assert_eq!(segments.diverges_from(pieces.chain(), Some(pieces)), None, "{name}, turn {turn}");
            }
            last = Some((bytes, segments));
        }
    }
}

#[test]
fn w01_an_answer_without_anything_is_sent_as_an_empty_text() {
    let wire = of("compatible");
    let mut talk = Talk::new();
    let id = talk.id();
    let answer = agent_core::AssistantMessage::new(
        id,
        vec![agent_core::ThinkingBlock::new("Hm.").into()],
        agent_core::StopReason::EndTurn,
    );
    talk.push(answer);
    talk.user("Well?");
    assert_eq!(body(&wire, &talk.call(options()))["messages"][2], json!({"role": "assistant", "content": ""}));
}

#[test]
fn w03_slashes_at_the_end_of_an_address_do_not_count() {
    let wire = ChatWire::compatible("http://localhost:8080/v1//").unwrap();
    let parts = wire.encode(&Talk::new().call(options())).unwrap().parts;
    assert_eq!(parts.uri, "http://localhost:8080/v1/chat/completions");
}

#[test]
fn w04_a_header_of_yours_stands_once() {
    let wire = of("openai").header(http::header::AUTHORIZATION, HeaderValue::from_static("Bearer mine"));
    let encoded = wire.encode(&Talk::new().call(options())).unwrap();
    let mut parts = encoded.parts;
    wire.authorize(&mut parts, &encoded.segments, &Credential::ApiKey(Secret::new("theirs")), 0).unwrap();
    let sent: Vec<_> = parts.headers.get_all(http::header::AUTHORIZATION).iter().collect();
    assert_eq!(sent, ["Bearer mine"]);
}

#[test]
fn vendors_deviate_as_their_profiles_say() {
    let talk = |wire: &ChatWire| {
        let mut talk = Talk::new();
        talk.tool_turn(wire, "Hm.");
        talk.user("Thanks");
        talk
    };
    let deepseek = of("deepseek");
    let sent = body(&deepseek, &talk(&deepseek).call(options().reasoning(Reasoning::Effort(Effort::High))));
    assert_eq!(sent["messages"][2]["reasoning_content"], "Hm.");
    assert_eq!((&sent["thinking"]["type"], &sent["reasoning_effort"]), (&json!("enabled"), &json!("high")));
    assert_eq!((&sent["max_tokens"], &sent["messages"][0]["role"]), (&json!(100), &json!("system")));

    let ollama = of("ollama");
    let sent = body(&ollama, &talk(&ollama).call(options()));
    assert_eq!(sent["messages"][4], json!({"role": "assistant", "content": ""}));
    assert_eq!(sent["messages"][5]["content"], "Thanks");

    let mistral = of("mistral");
    let sent = body(&mistral, &talk(&mistral).call(options()));
    let id = sent["messages"][2]["tool_calls"][0]["id"].as_str().unwrap();
    assert!(id.len() == 9 && id.chars().all(|c| c.is_ascii_alphanumeric()), "{id}");
    assert_eq!(sent["messages"][3]["tool_call_id"], id);

    let openrouter = of("openrouter");
    let sent = body(&openrouter, &talk(&openrouter).call(options().reasoning(Reasoning::Effort(Effort::Low))));
    assert_eq!(sent["reasoning"], json!({"effort": "low"}));
}

#[test]
fn options_are_sent_and_what_cannot_be_is_a_loss() {
    let schema = OutputSchema::new("answer", RawJson::parse(r#"{"type":"object"}"#).unwrap());
    let mut all = options().output_schema(schema).tool_choice(ToolChoice::Tool("weather".into()));
    all.parallel_calls = Some(false);
    all.stop_sequences = vec!["END".into()];
    all.extras.insert("openai".into(), RawJson::parse(r#"{"service_tier":"flex"}"#).unwrap());
    let sent = body(&of("openai"), &Talk::new().call(all.clone()));
    assert_eq!(sent["response_format"]["json_schema"]["name"], "answer");
    assert_eq!(sent["tool_choice"]["function"]["name"], "weather");
    assert_eq!((&sent["parallel_tool_calls"], &sent["stop"]), (&json!(false), &json!(["END"])));
    assert_eq!(sent["service_tier"], "flex");
    let encoded = of("deepseek").encode(&Talk::new().call(all)).unwrap();
    let lost: Vec<_> = encoded.losses.iter().map(|loss| loss.what.to_string()).collect();
    assert_eq!(lost.len(), 2, "{lost:?}");
}

#[test]
fn a_failed_result_says_so_and_images_in_it_are_lost_aloud() {
    let wire = of("compatible");
    let mut talk = Talk::new();
    let call = agent_core::ToolCall::new("weather", agent_core::Arguments::empty());
    let id = talk.id();
    let answer = agent_core::AssistantMessage::new(id, vec![call.into()], agent_core::StopReason::ToolUse);
    let call = answer.tool_calls().next().unwrap().0;
    talk.push(answer);
    let id = talk.id();
    talk.push(ToolResultMessage::error(id, call, "weather", "no such city"));
    let sent = body(&wire, &talk.call(options()));
    assert_eq!(sent["messages"][3]["content"], "Error: no such city");
}

#[test]
fn a_note_stands_behind_the_last_message_and_outside_of_the_chain() {
    let wire = of("openai");
    let plain = wire.encode(&Talk::new().call(options())).unwrap().segments;
    let noted = wire.encode(&Talk::new().call(options()).note("Be brief.")).unwrap().segments;
    assert_eq!(noted.diverges_from(plain.chain(), Some(&plain)), None);
    let sent: serde_json::Value = serde_json::from_slice(&noted.to_bytes()).unwrap();
    assert_eq!(sent["messages"][2], json!({"role": "user", "content": "Be brief."}));
}

#[test]
fn a_wire_without_an_address_says_what_is_missing() {
    let error = ChatWire::of(Profile::compatible()).encode(&Talk::new().call(options())).unwrap_err();
    assert!(error.to_string().contains("give the wire an address"), "{error}");
}
