//! Chunks of a shape that was seen before are read like any other.

use agent_core::AssistantMessage;
use agent_testkit::random_cuts;
use bytes::Bytes;
use proptest::prelude::*;
use serde_json::json;

use crate::given::decode;

/// One thing that a chunk does.
#[derive(Debug, Clone)]
enum Does {
    Say(String),
    Think(String),
    Open(String),
    Argue(u8, String),
    Both(String, String),
    Refuse(String),
    Count(u32),
}

fn does() -> impl Strategy<Value = Does> {
    let text = prop_oneof![
        "[a-zé\"\\\\\n 😀]{0,6}",
        Just("\"usage\":{".to_owned()),
        Just("\",\"obfuscation\":\"".to_owned()),
        Just(String::new())
    ];
    prop_oneof![
        4 => text.clone().prop_map(Does::Say),
        3 => text.clone().prop_map(Does::Think),
        1 => "[a-z]{1,4}".prop_map(Does::Open),
        4 => (0..3u8, text.clone()).prop_map(|(at, text)| Does::Argue(at, text)),
        1 => (text.clone(), text.clone()).prop_map(|(a, b)| Does::Both(a, b)),
        1 => text.prop_map(Does::Refuse),
        1 => (0..9u32).prop_map(Does::Count),
    ]
}

/// A stream of chunks. With `apart` no two of them have the same shape, so that the parser reads each.
fn stream(all: &[Does], padded: bool, apart: bool) -> Bytes {
    let (mut text, mut calls) = (String::new(), 0);
    for (i, one) in all.iter().enumerate() {
        let delta = match one {
            Does::Say(text) => json!({"content": text}),
            Does::Think(text) => json!({"reasoning_content": text}),
            Does::Open(name) => {
                calls += 1;
                let id = format!("call_{calls}");
                // Every second one takes the place of the one before, as some servers have it.
                json!({"tool_calls": [{"index": calls / 2, "id": id, "function": {"name": name, "arguments": ""}}]})
            }
            Does::Argue(at, text) => json!({"tool_calls": [{"index": at, "function": {"arguments": text}}]}),
            Does::Both(a, b) => json!({"content": a, "reasoning_content": b}),
            Does::Refuse(text) => json!({"refusal": text}),
            Does::Count(_) => json!({}),
        };
        let usage = match one {
            Does::Count(n) => json!({"prompt_tokens": n, "completion_tokens": 1}),
            _ => json!(null),
        };
        let mut chunk = json!({
            "id": "c", "model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": null}], "usage": usage,
        });
        if padded {
            chunk["obfuscation"] = "x\"y".repeat(i % 5).into();
        }
        if apart {
            chunk["created"] = i.into();
        }
        text.push_str(&format!("data: {chunk}\n\n"));
    }
    text.push_str("data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n");
    text.into()
}

fn read(bytes: &Bytes) -> AssistantMessage {
    decode([bytes.clone()]).unwrap()
}

proptest! {
    #[test]
    fn what_is_read_without_the_parser_is_what_the_parser_reads(
        all in prop::collection::vec(does(), 0..40), padded in any::<bool>(), seed in any::<u64>()
    ) {
        let parsed = read(&stream(&all, padded, true));
        let bytes = stream(&all, padded, false);
        prop_assert_eq!(&read(&bytes), &parsed);
        for pieces in random_cuts(&bytes, seed).take(2) {
            prop_assert_eq!(&decode(pieces).unwrap(), &parsed);
        }
    }
}

#[test]
fn arguments_go_to_the_newest_call_at_their_place() {
    let open = |id: &str, name: &str| {
        format!(
            r#"data: {{"choices":[{{"delta":{{"tool_calls":[{{"index":0,"id":"{id}","function":{{"name":"{name}"}}}}]}}}}]}}"#
        )
    };
    let more = |text: &str| {
        let text = serde_json::to_string(text).unwrap();
        format!(
            r#"data: {{"choices":[{{"delta":{{"tool_calls":[{{"index":0,"function":{{"arguments":{text}}}}}]}}}}]}}"#
        )
    };
    let stop = r#"data: {"choices":[{"delta":{},"finish_reason":"tool_calls"}]}"#.to_owned();
    let all = [open("a", "f"), more("{\"x\""), more(":1}"), open("b", "g"), more("{\"y\""), more(":2}"), stop];
    let message = read(&(all.join("\n\n") + "\n\ndata: [DONE]\n\n").into());
    let found: Vec<_> = message.tool_calls().map(|(_, call)| call.arguments.text().to_owned()).collect();
    assert_eq!(found, [r#"{"x":1}"#, r#"{"y":2}"#]);
}
