//! A conversation moves from any wire to any other: what is replayed is a function of block and target, in one table.
//!
//! A wire joins by a row in `speakers`. The table is the golden file `tests/golden/model_switch.txt`.
#![expect(clippy::unwrap_used, clippy::panic, clippy::disallowed_methods, reason = "tests may fail so")]

use std::{collections::BTreeSet, fs, path::Path};

use agent_anthropic::AnthropicWire;
use agent_core::{
    Assembler, AssistantMessage, CallOptions, ContentBlock, ContextView, Decoder, Encoded, Events, IdSource, Message,
    ModelCall, ModelFacts, RawJson, ToolResultMessage, ToolSet, ToolSpec, Transcript, UserMessage, Wire,
};
use agent_openai::{ChatWire, Profile, ResponsesWire};
use agent_testkit::{Vendor, broken_rules};
use bytes::Bytes;
use http::HeaderMap;
use serde_json::Value;

/// Words that stand in one kind of block each, so that they can be looked for in a body.
const THOUGHT: &str = "a-thought";
const SAID: &str = "a-saying";
const SECRETS: [&str; 5] =
    ["sig-anthropic", "redacted-anthropic", "srv-anthropic", "details-openrouter", "encrypted-responses"];

/// A provider and model over a wire, and the stream in which it says all that it can.
struct Speaker {
    name: &'static str,
    model: &'static str,
    events: &'static str,
    answer: fn(&'static str, &'static str, IdSource) -> AssistantMessage,
    encode: fn(&ModelCall) -> Encoded,
}

macro_rules! claude {
    ($model:literal) => {
        concat!(
            "data: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"model\":\"",
            $model,
            "\",\"usage\":{\"input_tokens\":1}}}\n\n",
    r#"data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"a-thought","signature":"sig-anthropic"}}"#,
    "\n\n",
    r#"data: {"type":"content_block_stop","index":0}"#,
    "\n\n",
    r#"data: {"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"redacted-anthropic"}}"#,
    "\n\n",
    r#"data: {"type":"content_block_stop","index":1}"#,
    "\n\n",
    r#"data: {"type":"content_block_start","index":2,"content_block":{"type":"text","text":"a-saying"}}"#,
    "\n\n",
    r#"data: {"type":"content_block_stop","index":2}"#,
    "\n\n",
    r#"data: {"type":"content_block_start","index":3,"content_block":{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"q":"srv-anthropic"}}}"#,
    "\n\n",
    r#"data: {"type":"content_block_stop","index":3}"#,
    "\n\n",
    r#"data: {"type":"content_block_start","index":4,"content_block":{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[]}}"#,
    "\n\n",
    r#"data: {"type":"content_block_stop","index":4}"#,
    "\n\n",
    r#"data: {"type":"content_block_start","index":5,"content_block":{"type":"tool_use","id":"toolu_vendor","name":"weather","input":{"city":"Paris"}}}"#,
    "\n\n",
    r#"data: {"type":"content_block_stop","index":5}"#,
    "\n\n",
    r#"data: {"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":1}}"#,
    "\n\n",
    r#"data: {"type":"message_stop"}"#,
    "\n\n"
)
    };
}

macro_rules! chat {
    ($model:literal, $delta:literal) => {
        concat!(
            "data: {\"id\":\"c\",\"model\":\"",
            $model,
            "\",\"choices\":[{\"delta\":{",
            $delta,
            "\"content\":\"a-saying\",\"tool_calls\":[{\"index\":0,\"id\":\"call_vendor\",\"function\":",
            "{\"name\":\"weather\",\"arguments\":\"{\\\"city\\\":\\\"Paris\\\"}\"}}]}}]}\n\n",
            "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n"
        )
    };
}

macro_rules! responses {
    ($model:literal) => {
        concat!(
            "data: {\"type\":\"response.created\",\"response\":{\"id\":\"r\",\"model\":\"",
            $model,
            "\"}}\n\n",
            "data: {\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":{\"type\":\"reasoning\",\"id\":\"rs_1\",",
            "\"summary\":[{\"type\":\"summary_text\",\"text\":\"a-thought\"}],\"encrypted_content\":\"encrypted-responses\"}}\n\n",
            "data: {\"type\":\"response.output_item.done\",\"output_index\":1,\"item\":{\"type\":\"message\",\"id\":\"msg_1\",",
            "\"content\":[{\"type\":\"output_text\",\"text\":\"a-saying\",\"annotations\":[]}]}}\n\n",
            "data: {\"type\":\"response.output_item.done\",\"output_index\":2,\"item\":{\"type\":\"function_call\",\"id\":\"fc_1\",",
            "\"call_id\":\"call_vendor\",\"name\":\"weather\",\"arguments\":\"{\\\"city\\\":\\\"Paris\\\"}\"}}\n\n",
            "data: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\"}}\n\n"
        )
    };
}

fn decoded(wire: &impl Wire, model: &str, events: &'static str, mut ids: IdSource) -> AssistantMessage {
    let (mut decoder, mut found) = (wire.decoder(&HeaderMap::new()), Events::new());
    let mut assembler = Assembler::new(ids.message(0)).origin(wire.origin(model));
    decoder.feed(Bytes::from_static(events.as_bytes()), &mut found).unwrap();
    decoder.finish(&mut found).unwrap();
    while let Some(event) = found.pop() {
        assembler.push(&event).unwrap();
    }
    assembler.finish()
}

fn anthropic() -> AnthropicWire {
    AnthropicWire::new()
}

fn chat(profile: &str) -> ChatWire {
    ChatWire::of(Profile::named(profile).unwrap()).model(ModelFacts::new(profile, "m"))
}

macro_rules! speaker {
    ($name:literal, $model:literal, $wire:expr, $events:expr) => {
        Speaker {
            name: $name,
            model: $model,
            events: $events,
            answer: |model, events, ids| decoded(&$wire, model, events, ids),
            encode: |call| $wire.encode(call).unwrap(),
        }
    };
}

fn speakers() -> Vec<Speaker> {
    vec![
        speaker!("anthropic", "claude-sonnet-5", anthropic(), claude!("claude-sonnet-5")),
        speaker!("anthropic, another model", "claude-opus-5", anthropic(), claude!("claude-opus-5")),
        speaker!("openai", "gpt-x", chat("openai"), chat!("gpt-x", "")),
        speaker!("deepseek", "ds", chat("deepseek"), chat!("ds", "\"reasoning_content\":\"a-thought\",")),
        speaker!(
            "openrouter",
            "or",
            chat("openrouter"),
            chat!(
                "or",
                "\"reasoning\":\"a-thought\",\"reasoning_details\":[{\"type\":\"reasoning.encrypted\",\"data\":\"details-openrouter\",\"index\":0}],"
            )
        ),
        speaker!("responses", "rs", ResponsesWire::openai(), responses!("rs")),
        speaker!("azure", "az", ResponsesWire::azure("https://mine.openai.azure.com").unwrap(), responses!("az")),
        speaker!("mistral", "ms", chat("mistral"), chat!("ms", "\"reasoning_content\":\"a-thought\",")),
    ]
}

/// A turn of the speaker with the result of its call, and a further question.
fn history(speaker: &Speaker) -> Transcript {
    let mut ids = IdSource::seeded(7);
    let mut transcript = Transcript::new();
    transcript.append(Message::from(UserMessage::text(ids.message(0), "The weather?"))).unwrap();
    let answer = (speaker.answer)(speaker.model, speaker.events, ids.clone());
    ids.message(0);
    let (call, _) = answer.tool_calls().next().unwrap();
    transcript.append(Message::from(answer)).unwrap();
    transcript
        .append(Message::from(ToolResultMessage::new(ids.message(0), call, "weather", vec!["Sunny.".into()])))
        .unwrap();
    transcript.append(Message::from(UserMessage::text(ids.message(0), "And tomorrow?"))).unwrap();
    transcript
}

fn call(transcript: &Transcript, model: &str) -> ModelCall {
    let schema = RawJson::parse(r#"{"type":"object","properties":{"city":{"type":"string"}}}"#).unwrap();
    let tools = ToolSet::new(vec![ToolSpec::new("weather", "Tells the weather.", schema).unwrap()]).unwrap();
    ModelCall::new(CallOptions::new(model).max_output(100), ContextView::of(transcript).unwrap()).tools(tools)
}

/// All strings of a JSON value that stand under a key.
fn under<'a>(value: &'a Value, keys: &[&str], found: &mut Vec<&'a str>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                if let Some(text) = value.as_str().filter(|_| keys.contains(&&**key)) {
                    found.push(text);
                }
                under(value, keys, found);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| under(item, keys, found)),
        _ => {}
    }
}

#[test]
fn a_conversation_moves_from_any_wire_to_any_other() {
    let mut table = String::from("from -> to: what is in the request; what is reported as lost\n");
    for from in speakers() {
        let transcript = history(&from);
        for to in speakers() {
            let encoded = (to.encode)(&call(&transcript, to.model));
            let text = String::from_utf8(encoded.segments.to_bytes().to_vec()).unwrap();
            let body: Value = serde_json::from_str(&text).unwrap();
            let pair = format!("{} -> {}", from.name, to.name);
            let vendor = match () {
                () if body["input"].is_array() => Vendor::Responses,
                () if to.name.starts_with("anthropic") => Vendor::Messages,
                () => Vendor::Chat,
            };
            assert_eq!(broken_rules(vendor, &body), [], "{pair}: {text}");
            // What both people and tools said is there, whoever answers.
            for word in [SAID, "The weather?", "And tomorrow?", "Sunny.", "Paris"] {
                assert!(text.contains(word), "{pair} lost {word}: {text}");
            }
            // The call and its result are one pair, and no id comes twice.
            let (mut calls, mut results) = (Vec::new(), Vec::new());
            let history = if body["messages"].is_array() { &body["messages"] } else { &body["input"] };
            // Responses pair a call with its output by one name on both sides.
            let [one, other]: [&[&str]; 2] = match body["input"].is_array() {
                true => [&["call_id"], &["call_id"]],
                false => [&["tool_call_id", "tool_use_id"], &["id"]],
            };
            under(history, one, &mut results);
            under(history, other, &mut calls);
            let calls: Vec<_> = calls.into_iter().filter(|id| !id.starts_with("srvtoolu")).collect();
            let results: Vec<_> = results.into_iter().filter(|id| !id.starts_with("srvtoolu")).collect();
            assert_eq!(calls, results, "{pair}: {text}");
            assert_eq!(calls.iter().collect::<BTreeSet<_>>().len(), 1, "{pair}: {text}");
            // What only its maker can read goes to its maker alone.
            for secret in SECRETS.iter().filter(|secret| text.contains(**secret)) {
                assert!(from.events.contains(secret) && from.name == to.name, "{pair} sends {secret}");
            }
            let mut kept: Vec<&str> = SECRETS.iter().copied().filter(|secret| text.contains(secret)).collect();
            kept.extend(Some(THOUGHT).filter(|word| text.contains(word)));
            let lost: Vec<String> = encoded.losses.iter().map(|loss| loss.what.to_string()).collect();
            // Whatever the speaker thought and is not there is reported, or was never wanted back by its own vendor.
            let thought = |block: &ContentBlock| matches!(block, ContentBlock::Thinking(_));
            let has_thoughts = transcript.messages().iter().any(|message| message.content().iter().any(thought));
            if has_thoughts && !text.contains(THOUGHT) && from.name != to.name {
                assert!(!lost.is_empty(), "{pair} loses reasoning in silence");
            }
            table.push_str(&format!("{pair}: {}; {}\n", kept.join(" + "), lost.join(" + ")));
        }
    }
    golden("model_switch.txt", &table);
}

fn golden(name: &str, found: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden").join(name);
    if std::env::var_os("BLESS").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, found).unwrap();
    }
    let expected = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}; run with BLESS=1", path.display()));
    assert_eq!(found, expected, "{}; run with BLESS=1 if that is right", path.display());
}
