//! The rules of vendors: what is right breaks none, and each rule rejects a request.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests may fail so")]

use agent_testkit::{Vendor, broken_rules};
use serde_json::{Value, json};

#[track_caller]
fn good(vendor: Vendor, request: &Value) {
    let found = broken_rules(vendor, request);
    assert!(found.is_empty(), "{vendor:?}: {}", found[0]);
}

#[track_caller]
fn bad(vendor: Vendor, request: &Value, rule: &str) {
    let found = broken_rules(vendor, request);
    let it = found.iter().find(|broken| broken.rule.contains(rule));
    let it = it.unwrap_or_else(|| panic!("{vendor:?} lets through what breaks `{rule}`: {request}; {found:?}"));
    assert!(it.page.starts_with("https://"), "{it}");
}

/// A request with one place changed.
fn with(request: &Value, place: &str, value: Value) -> Value {
    let mut request = request.clone();
    match request.pointer_mut(place) {
        Some(at) => *at = value,
        None => {
            let (object, name) = place.rsplit_once('/').unwrap();
            request.pointer_mut(object).unwrap()[name] = value;
        }
    }
    request
}

#[test]
fn messages() {
    let request = json!({
        "max_tokens": 9, "tools": [{"name": "f"}], "messages": [
            {"role": "user", "content": "Hi"},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "Hm.", "signature": "s"},
                {"type": "text", "text": "Let me look."},
                {"type": "tool_use", "id": "a", "name": "f", "input": {"cache_control": {}}},
                {"type": "tool_use", "id": "b", "name": "f", "input": {}}]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": [{"type": "text", "text": "x"}]},
                {"type": "tool_result", "tool_use_id": "b", "content": "y"},
                {"type": "text", "text": "Go on.", "cache_control": {"type": "ephemeral"}}]},
        ],
    });
    let v = Vendor::Messages;
    good(v, &request);
    let marked = json!({"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}});
    let image = json!([{"type": "image", "source": {"type": "base64", "media_type": "image/bmp", "data": ""}}]);
    for (place, value, rule) in [
        ("/max_tokens", Value::Null, "an output limit"),
        ("/messages/0/role", json!("assistant"), "first message"),
        ("/messages/0/role", json!("tool"), "a role is"),
        ("/messages/0/content", json!([]), "has content"),
        ("/messages/0/content", json!(" "), "visible character"),
        ("/messages/1/content/1/text", json!("\n"), "visible character"),
        ("/tools", json!([]), "need tools"),
        ("/messages/2/content/1/type", json!("x"), "has its result"),
        ("/messages/2/content/0/tool_use_id", json!("c"), "answers a call"),
        ("/messages/2/content/1/tool_use_id", json!("a"), "answers a call"),
        ("/messages/1/content/3/id", json!("a"), "comes once"),
        ("/messages/1/content/3/id", json!("a b"), "letters"),
        ("/messages/1/content/3/name", json!("f.g"), "letters"),
        ("/messages/1/content/3/input", json!("{}"), "an object"),
        ("/messages/1/role", json!("user"), "only assistants"),
        ("/messages/1/content/0/signature", json!(""), "signature"),
        ("/messages/1/content/0/cache_control", json!({"type": "ephemeral"}), "no cache marker"),
        ("/messages/1/content/0", json!({"type": "redacted_thinking"}), "signature"),
        ("/messages/0/content", json!([marked, marked, marked, marked]), "at most four"),
        ("/messages/0/content", image, "an image is"),
    ] {
        bad(v, &with(&request, place, value), rule);
    }
    let late = json!([{"type": "text", "text": "x"}, {"type": "tool_result", "tool_use_id": "a", "content": "x"}]);
    bad(v, &with(&request, "/messages/2/content", late), "results come before");
    let thought = json!([{"type": "thinking", "thinking": "x", "signature": "s"}]);
    bad(v, &with(&request, "/messages/1/content", thought), "does not end with thinking");
}

#[test]
fn chat() {
    let call = |id: &str| json!({"id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}});
    let request = json!({
        "tools": [{"type": "function", "function": {"name": "f"}}], "messages": [
            {"role": "system", "content": "Help."},
            {"role": "user", "content": [{"type": "text", "text": "Hi"}, {"type": "image_url", "image_url": {}}]},
            {"role": "assistant", "content": null, "tool_calls": [call("a"), call("b")]},
            {"role": "tool", "tool_call_id": "a", "content": "x"},
            {"role": "tool", "tool_call_id": "b", "content": "y"},
        ],
    });
    let v = Vendor::Chat;
    good(v, &request);
    for (place, value, rule) in [
        ("/messages", json!([]), "there is a message"),
        ("/messages/1/role", json!("human"), "a role is"),
        ("/messages/2/tool_calls", json!([]), "content or calls"),
        ("/messages/2/tool_calls", json!([]), "are not empty"),
        ("/messages/1/content", json!([]), "not empty"),
        ("/messages/3/content", Value::Null, "content is"),
        ("/messages/4/role", json!("user"), "tool message directly"),
        ("/messages/4/tool_call_id", json!("c"), "open call"),
        ("/messages/2/tool_calls/0/function/name", json!("f g"), "a name is"),
        ("/tools/0/function/name", json!(""), "a name is"),
        ("/messages/2/tool_calls/0/id", json!("x".repeat(41)), "1 to 40"),
        ("/messages/2/tool_calls/1/id", json!("a"), "comes once"),
        ("/messages/2/tool_calls/0/function/arguments", json!("[1]"), "holds an object"),
        ("/messages/2/tool_calls/0/function/arguments", json!({}), "holds an object"),
        ("/messages/3/content", json!([{"type": "image_url"}]), "images stand"),
        ("/tools", json!([]), "are not empty"),
    ] {
        bad(v, &with(&request, place, value), rule);
    }
}

#[test]
fn responses() {
    let call = |id: &str| json!({"type": "function_call", "id": "fc_1", "call_id": id, "name": "f", "arguments": "{}"});
    let request = json!({
        "store": false, "tools": [{"type": "function", "name": "f"}], "input": [
            {"role": "user", "content": "Hi"},
            {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"},
            {"type": "message", "id": "msg_1", "role": "assistant", "content": [{"type": "output_text", "text": "x"}]},
            call("a"),
            {"type": "function_call_output", "call_id": "a", "output": "x"},
        ],
    });
    let v = Vendor::Responses;
    good(v, &request);
    for (place, value, rule) in [
        ("/input/0/role", json!("tool"), "a role is"),
        ("/input/0/content", json!([]), "not empty"),
        ("/input/0/content", json!([{"type": "output_text"}]), "users send"),
        ("/input/2/content/0/type", json!("input_text"), "users send"),
        ("/input/4", json!({"role": "user", "content": "x"}), "each call has"),
        ("/input/4/call_id", json!("b"), "open call"),
        ("/input/4/output", json!([]), "not empty"),
        ("/input/3/name", json!("f.g"), "a name is"),
        ("/tools/0/name", json!(""), "a name is"),
        ("/input/3/call_id", json!(""), "a call id"),
        ("/input/3/arguments", json!("{"), "holds an object"),
        ("/input/3/id", json!("call_1"), "begins as"),
        ("/input/2/id", json!("m"), "begins as"),
        ("/input/1/id", json!("m"), "begins as"),
        ("/input/1/encrypted_content", Value::Null, "encrypted"),
        ("/input/2", json!({"role": "user", "content": "x"}), "followed by"),
    ] {
        bad(v, &with(&request, place, value), rule);
    }
}

#[test]
fn gemini() {
    let request = json!({"contents": [
        {"role": "user", "parts": [{"text": "Hi"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}, "thoughtSignature": "s"}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {}}}]},
    ]});
    good(Vendor::Gemini3, &request);
    good(Vendor::Gemini2, &request);
    for (place, value, rule) in [
        ("/contents/0/role", json!("model"), "the user begins"),
        ("/contents/0/role", json!("tool"), "a role is"),
        ("/contents/0/parts", json!([]), "has parts"),
        ("/contents/0/parts/0/inlineData", json!({}), "one kind"),
        ("/contents/1/role", json!("user"), "models call"),
        ("/contents/2/role", json!("model"), "users answer"),
        ("/contents/1/parts/0/functionCall/args", json!("{}"), "arguments"),
        ("/contents/2/parts/0/functionResponse/response", json!("x"), "a response"),
        ("/contents/2/parts", json!([{"text": "x"}]), "each call has"),
        ("/contents/1/parts/0/thoughtSignature", Value::Null, "signed"),
    ] {
        bad(Vendor::Gemini3, &with(&request, place, value), rule);
    }
    good(Vendor::Gemini2, &with(&request, "/contents/1/parts/0/thoughtSignature", Value::Null));
    let media = with(&request, "/contents/2/parts/0/functionResponse/parts", json!([]));
    good(Vendor::Gemini3, &media);
    bad(Vendor::Gemini2, &media, "no media");
}

#[test]
fn converse() {
    let call = |id: &str| json!({"toolUse": {"toolUseId": id, "name": "f", "input": {}}});
    let request = json!({
        "toolConfig": {"tools": [{"toolSpec": {"name": "f"}}]}, "messages": [
            {"role": "user", "content": [{"text": "Hi"}, {"document": {"name": "A b (1)"}}, {"image": {"format": "png"}}]},
            {"role": "assistant", "content": [
                {"reasoningContent": {"reasoningText": {"text": "x", "signature": "s"}}}, call("a"), call("b")]},
            {"role": "user", "content": [
                {"toolResult": {"toolUseId": "a", "content": [{"text": "x"}]}},
                {"toolResult": {"toolUseId": "b", "content": [{"json": {}}]}}, {"cachePoint": {"type": "default"}}]},
        ],
    });
    let v = Vendor::Converse;
    good(v, &request);
    let points = json!([{"cachePoint": {}}, {"cachePoint": {}}, {"cachePoint": {}}, {"cachePoint": {}}]);
    for (place, value, rule) in [
        ("/messages/0/role", json!("assistant"), "first message"),
        ("/messages/1/role", json!("user"), "in turns"),
        ("/messages/0/content", json!([]), "has content"),
        ("/messages/2/content/0/toolResult/content", json!([]), "has content"),
        ("/messages/0/content/0/image", json!({}), "one kind"),
        ("/messages/0/content/0/text", json!(""), "visible character"),
        ("/messages/2/content/0/toolResult/content/0/text", json!(""), "visible character"),
        ("/messages/2/content/1", json!({"text": "x"}), "has its result"),
        ("/messages/2/content/1/toolResult/toolUseId", json!("c"), "answers a call"),
        ("/toolConfig", Value::Null, "need toolConfig"),
        ("/messages/1/content/1/toolUse/toolUseId", json!("x".repeat(65)), "1 to 64"),
        ("/messages/1/content/1/toolUse/name", json!("f g"), "1 to 64"),
        ("/messages/1/content/1/toolUse/input", json!("{}"), "an object"),
        ("/messages/1/content/2/toolUse/toolUseId", json!("a"), "comes once"),
        ("/messages/0/content/2/image/format", json!("bmp"), "an image is"),
        ("/messages/0/content/1/document/name", json!("a.pdf"), "the name of a document"),
        ("/messages/0/content/0", json!({"image": {"format": "png"}}), "beside a text"),
        ("/messages/1/content/0/reasoningContent/reasoningText/signature", json!(""), "signature"),
        ("/system", points, "at most four"),
    ] {
        bad(v, &with(&request, place, value), rule);
    }
}
