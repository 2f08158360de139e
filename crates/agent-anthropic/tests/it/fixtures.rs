//! Every recorded answer gives what the manifest says, under every cut.

use std::{fs, path::PathBuf};

use agent_anthropic::AnthropicWire;
use agent_core::{AssistantMessage, Billed, ContentBlock, ProviderErrorKind as Kind, StopReason, Wire};
use agent_testkit::{byte_pieces, random_cuts, two_piece_cuts};
use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use serde_json::{Value, json};

use crate::given::decode;

/// How many two-piece cuts a file gets at most in a debug build.
const CUTS: usize = if cfg!(debug_assertions) { 400 } else { usize::MAX };

/// Recordings whose right result is an error, by kind.
const ERRORS: [(&str, Kind); 8] = [
    ("anthropic/error-400.json", Kind::InvalidRequest),
    ("anthropic/error-401.json", Kind::Auth),
    ("anthropic/error-404.json", Kind::NotFound),
    ("anthropic/synthetic-error-429.json", Kind::RateLimited),
    ("anthropic/synthetic-error-529.json", Kind::Overloaded),
    ("anthropic/synthetic-error-prompt-too-long.json", Kind::ContextOverflow),
    ("anthropic/synthetic-overloaded-mid-stream.sse", Kind::Overloaded),
    ("anthropic/synthetic-cut-mid-stream.sse", Kind::Network),
];

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/fixtures/wires")
}

fn manifest(name: &str) -> Option<Vec<Value>> {
    let Ok(text) = fs::read(folder().join(name)) else {
        eprintln!("skipped: there is no {}", folder().display());
        return None;
    };
    Some(serde_json::from_slice(&text).unwrap())
}

fn cuts(bytes: &Bytes) -> impl Iterator<Item = Vec<Bytes>> {
    let stride = bytes.len().div_ceil(CUTS).max(1);
    [vec![bytes.clone()], byte_pieces(bytes)]
        .into_iter()
        .chain(two_piece_cuts(bytes).step_by(stride).map(Vec::from))
        .chain(random_cuts(bytes, 3).take(32))
}

/// A message in the words of the official client's result.
fn as_result(message: &AssistantMessage) -> Value {
    let block = |block: &ContentBlock| match block {
        ContentBlock::Text(block) => {
            let citations: Option<Value> = block.metadata.as_ref().map(|raw| raw.read().unwrap());
            let mut json = json!({"type": "text", "text": block.text});
            if let Some(citations) = citations {
                json["citations"] = citations["citations"].clone();
            }
            json
        }
        ContentBlock::Thinking(block) => match &block.encrypted {
            Some(data) => json!({"type": "redacted_thinking", "data": data}),
            None => json!({"type": "thinking", "thinking": block.text, "signature": block.signature}),
        },
        ContentBlock::ToolCall(call) => {
            let input: Value = call.arguments.as_object().unwrap().read().unwrap();
            json!({"type": "tool_use", "id": call.vendor_id, "name": call.name, "input": input})
        }
        ContentBlock::Opaque(block) => block.data().read().unwrap(),
        other => panic!("{other:?}"),
    };
    json!({
        "id": message.response_id, "model": message.origin.model,
        "content": message.content.iter().map(block).collect::<Vec<_>>(),
    })
}

/// Drops what only clients add or what is not kept: nulls, and the caller of a call that nobody else made.
fn plain(mut json: Value) -> Value {
    match &mut json {
        Value::Object(map) => {
            let drop = |(name, value): &(&String, &Value)| {
                value.is_null() || (*name == "caller" && value["type"] == "direct") || *name == "parsed_output"
            };
            let gone: Vec<String> = map.iter().filter(drop).map(|(name, _)| name.clone()).collect();
            gone.iter().for_each(|name| _ = map.remove(name));
            map.values_mut().for_each(|value| *value = plain(value.take()));
        }
        Value::Array(items) => items.iter_mut().for_each(|value| *value = plain(value.take())),
        _ => {}
    }
    json
}

fn check_usage(file: &str, message: &AssistantMessage, usage: &Value) {
    let count = |name: &str| usage[name].as_u64().unwrap_or(0);
    let got = &message.usage;
    assert_eq!(got.input, count("input_tokens"), "{file}: input");
    assert_eq!(got.generated(), count("output_tokens"), "{file}: output");
    assert_eq!(got.cache_read, count("cache_read_input_tokens"), "{file}: cache read");
    assert_eq!(got.cache_write_5m + got.cache_write_1h, count("cache_creation_input_tokens"), "{file}: cache write");
    let hour = usage["cache_creation"]["ephemeral_1h_input_tokens"].as_u64().unwrap_or(0);
    assert_eq!(got.cache_write_1h, hour, "{file}: written for an hour");
}

fn stop_name(reason: &StopReason) -> &str {
    match reason {
        StopReason::EndTurn => "end_turn",
        StopReason::ToolUse => "tool_use",
        StopReason::MaxTokens => "max_tokens",
        StopReason::StopSequence => "stop_sequence",
        StopReason::Refusal => "refusal",
        StopReason::Paused => "pause_turn",
        other => other.as_str(),
    }
}

#[test]
fn every_recorded_answer_is_what_the_manifest_says_under_every_cut() {
    let Some(entries) = manifest("manifest.json") else { return };
    let (mut answers, mut errors) = (0, 0);
    for entry in entries.iter().filter(|entry| entry["provider"] == "anthropic") {
        let file = entry["file"].as_str().unwrap();
        let bytes = Bytes::from(fs::read(folder().join(file)).unwrap());
        if let Some((_, kind)) = ERRORS.iter().find(|(name, _)| *name == file) {
            check_error(file, *kind, entry, &bytes);
            errors += 1;
            continue;
        }
        let message = decode([bytes.clone()]).unwrap_or_else(|e| panic!("{file}: {e}"));
        for pieces in cuts(&bytes) {
            let lengths: Vec<_> = pieces.iter().map(Bytes::len).collect();
            let again = decode(pieces).unwrap_or_else(|e| panic!("{file} cut {lengths:?}: {e}"));
            assert_eq!(again, message, "{file} cut {lengths:?}");
        }
        let mut result = entry["judge"]["result"].clone();
        if file == "anthropic/mcp-connector.sse" {
            // The official client does not know this block and loses the arguments that were streamed to it.
            result["content"][0]["input"] = json!({"message": "hello world"});
        }
        if file == "anthropic/spliced-message-start.sse" {
            let expected = json!([
                {"type": "thinking", "thinking": "Let me call the tool.", "signature": "sig-second"},
                {"type": "tool_use", "id": "toolu_second", "name": "test-tool", "input": {"value": "Sparkle Day"}},
            ]);
            assert_eq!(as_result(&message)["content"], expected);
        } else {
            assert_eq!(plain(as_result(&message)["content"].clone()), plain(result["content"].clone()), "{file}");
            assert_eq!(as_result(&message)["id"], result["id"], "{file}");
            assert_eq!(message.origin.model, result["model"].as_str().unwrap(), "{file}");
            assert_eq!(stop_name(&message.stop_reason), result["stop_reason"].as_str().unwrap(), "{file}");
            check_usage(file, &message, &result["usage"]);
        }
        answers += 1;
    }
    assert_eq!(errors, ERRORS.len());
    assert!(answers >= 21, "only {answers} answers were read");
}

fn check_error(file: &str, kind: Kind, entry: &Value, bytes: &Bytes) {
    let status = StatusCode::from_u16(entry["http_status"].as_u64().unwrap().try_into().unwrap()).unwrap();
    if !status.is_success() {
        let error = AnthropicWire::new().classify(status, &HeaderMap::new(), bytes);
        assert_eq!((error.kind(), error.billed()), (kind, Billed::No), "{file}");
        // The body names the request where no header does.
        let body: Value = serde_json::from_slice(bytes).unwrap();
        assert_eq!(error.request_id(), body["request_id"].as_str(), "{file}");
        return;
    }
    for pieces in cuts(bytes) {
        let error = decode(pieces).expect_err(file);
        assert_eq!((error.kind(), error.billed(), error.is_retryable()), (kind, Billed::Unknown, true), "{file}");
    }
}

/// Peers that ran here: a llama-server that opens a block before it closes the one before, a LiteLLM proxy.
#[test]
fn what_compatible_servers_send_is_read() {
    let Some(entries) = manifest("recorded-peers/manifest.json") else { return };
    let mut seen = 0;
    for entry in &entries {
        let file = entry["file"].as_str().unwrap();
        if !file.contains("-messages-") {
            continue;
        }
        let bytes = Bytes::from(fs::read(folder().join(file)).unwrap());
        let message = decode([bytes.clone()]).unwrap_or_else(|e| panic!("{file}: {e}"));
        for pieces in cuts(&bytes) {
            assert_eq!(decode(pieces).unwrap(), message, "{file}");
        }
        let calls = message.tool_calls().count();
        assert_eq!(calls > 0, file.contains("tool"), "{file}: {message:?}");
        assert_eq!(message.stop_reason == StopReason::ToolUse, calls > 0, "{file}");
        assert!(message.usage.generated() > 0, "{file}");
        seen += 1;
    }
    assert_eq!(seen, 3);
}
