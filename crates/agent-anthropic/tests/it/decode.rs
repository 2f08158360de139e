//! What a stream means, event by event.

use agent_core::{
    ArgumentFault, AssistantMessage, BlockStart, ContentBlock, ModelEvent, ProviderErrorKind as Kind, StopReason,
};
use agent_testkit::every_cut;
use bytes::Bytes;
use serde_json::{Value, json};

use crate::given::{answer, block, decode, events, sse, usage};

fn read(text: &str) -> AssistantMessage {
    decode([Bytes::from(text.to_owned())]).unwrap()
}

fn text_block(index: u64, text: &str) -> Vec<Value> {
    block(index, json!({"type": "text", "text": ""}), &[json!({"type": "text_delta", "text": text})])
}

fn call_block(index: u64, id: &str, pieces: &[&str]) -> Vec<Value> {
    let start = json!({"type": "tool_use", "id": id, "name": "read", "input": {}});
    let deltas: Vec<_> = pieces.iter().map(|p| json!({"type": "input_json_delta", "partial_json": p})).collect();
    block(index, start, &deltas)
}

/// A body that ends before `message_stop`.
fn without_end(text: &str) -> &str {
    text.split_once("event: message_stop").unwrap().0
}

#[test]
fn an_end_after_a_stop_reason_is_whole_without_message_stop() {
    let message = read(without_end(&answer(&text_block(0, "Hi"), "end_turn")));
    assert_eq!((message.content, message.stop_reason), (vec!["Hi".into()], StopReason::EndTurn));
}

#[test]
fn an_end_while_a_call_is_open_is_a_network_error() {
    let mut open = call_block(0, "toolu_1", &["{}"]);
    open.pop();
    let body = answer(&open, "tool_use");
    let error = decode([Bytes::from(without_end(&body).to_owned())]).unwrap_err();
    assert_eq!((error.kind(), error.is_retryable()), (Kind::Network, true));
}

#[test]
fn an_end_before_a_stop_reason_is_a_network_error_wherever_it_is() {
    let body = answer(&text_block(0, "Hi"), "end_turn");
    let delta = body.find("event: message_delta").unwrap();
    for end in 0..delta {
        let error = decode([Bytes::from(body[..end].to_owned())]).unwrap_err();
        assert_eq!((error.kind(), error.is_retryable()), (Kind::Network, true), "ends at {end}");
    }
}

#[test]
fn stop_reasons_have_cores_words() {
    let all = [
        ("end_turn", StopReason::EndTurn),
        ("stop_sequence", StopReason::StopSequence),
        ("tool_use", StopReason::ToolUse),
        ("max_tokens", StopReason::MaxTokens),
        ("refusal", StopReason::Refusal),
        ("model_context_window_exceeded", StopReason::ContextWindow),
        ("pause_turn", StopReason::Paused),
        ("something_new", StopReason::Other("something_new".into())),
    ];
    for (name, reason) in all {
        assert_eq!(read(&answer(&text_block(0, "Hi"), name)).stop_reason, reason);
    }
}

#[test]
fn a_refusal_says_why() {
    let delta = |details: Value| {
        let mut all = answer(&[], "end_turn");
        let stop = json!({"type": "message_delta", "delta": {"stop_reason": "refusal", "stop_details": details}});
        all.insert_str(all.find("event: message_delta").unwrap(), &sse(&[stop]));
        let cut = all.rfind("event: message_delta").unwrap();
        read(&format!("{}{}", &all[..cut], sse(&[json!({"type": "message_stop"})])))
    };
    let said = delta(json!({"type": "refusal", "category": "cyber", "explanation": "No."}));
    assert_eq!((said.stop_reason, said.error.as_deref()), (StopReason::Refusal, Some("No.")));
    assert_eq!(delta(json!({"category": "bio", "explanation": null})).error.as_deref(), Some("bio"));
    assert_eq!(delta(Value::Null).error, None);
}

#[test]
fn a_later_delta_without_usage_or_reason_overwrites_nothing() {
    let usage_first = json!({"input_tokens": 9, "output_tokens": 1, "cache_read_input_tokens": 7});
    let body = sse(&[
        json!({"type": "message_start", "message": {"id": "m", "model": "x", "usage": usage_first}}),
        json!({"type": "message_delta", "delta": {"stop_reason": "max_tokens"}, "usage": {"output_tokens": 40}}),
        json!({"type": "message_delta", "delta": {"stop_reason": null}, "usage": null}),
        json!({"type": "message_delta", "delta": {}, "usage": {"input_tokens": 0, "output_tokens": null}}),
        json!({"type": "message_stop"}),
    ]);
    let message = read(&body);
    let mut expected = usage(9, 40);
    expected.cache_read = 7;
    assert_eq!((message.usage, message.stop_reason), (expected, StopReason::MaxTokens));
}

#[test]
fn usage_is_sorted_into_buckets() {
    let read_usage = |start: Value, delta: Value| {
        let body = sse(&[
            json!({"type": "message_start", "message": {"usage": start}}),
            json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": delta}),
            json!({"type": "message_stop"}),
        ]);
        let all = read(&body).usage;
        [all.input, all.output, all.reasoning, all.cache_read, all.cache_write_5m, all.cache_write_1h]
    };
    let start = json!({
        "input_tokens": 3, "output_tokens": 1, "cache_read_input_tokens": 50, "cache_creation_input_tokens": 30,
        "cache_creation": {"ephemeral_5m_input_tokens": 10, "ephemeral_1h_input_tokens": 20},
    });
    let end = json!({"output_tokens": 90, "output_tokens_details": {"thinking_tokens": 60}});
    assert_eq!(read_usage(start.clone(), end), [3, 30, 60, 50, 10, 20]);
    // Server tools add input while the model answers; some gateways report the input only at the end.
    assert_eq!(read_usage(start, json!({"input_tokens": 500, "output_tokens": 2})), [500, 2, 0, 50, 10, 20]);
    assert_eq!(read_usage(Value::Null, json!({"input_tokens": 4, "output_tokens": 2})), [4, 2, 0, 0, 0, 0]);
    // Without the split the lifetime is not known.
    assert_eq!(read_usage(json!({"cache_creation_input_tokens": 8}), Value::Null), [0, 0, 0, 0, 8, 0]);
    let only_split = json!({"cache_creation": {"ephemeral_1h_input_tokens": 6}});
    assert_eq!(read_usage(only_split, Value::Null), [0, 0, 0, 0, 0, 6]);
}

#[test]
fn a_call_without_arguments_has_an_empty_object() {
    for pieces in [&[][..], &[""], &["", ""], &[" "], &["null"]] {
        let message = read(&answer(&call_block(0, "toolu_1", pieces), "tool_use"));
        let (_, call) = message.tool_calls().next().unwrap();
        assert_eq!(call.arguments.as_object().map(|o| o.get()), Some("{}"), "{pieces:?}");
        assert_eq!(call.vendor_id.as_deref(), Some("toolu_1"));
    }
}

#[test]
fn arguments_that_are_no_object_cost_neither_the_turn_nor_their_neighbours() {
    let mut blocks = call_block(0, "toolu_1", &["{\"a\":1}{\"b\":2}"]);
    blocks.extend(call_block(1, "toolu_2", &["{\"path\":", "\"/a\"}"]));
    blocks.extend(call_block(2, "toolu_3", &["\"{}\""]));
    blocks.extend(call_block(3, "toolu_4", &["{\"paths\":["]));
    let message = read(&answer(&blocks, "max_tokens"));
    assert_eq!(message.stop_reason, StopReason::MaxTokens, "an open call does not make it tool use");
    let faults: Vec<_> = message.tool_calls().map(|(_, call)| call.arguments.fault()).collect();
    let double = ArgumentFault::NotObject { found: "string" };
    assert_eq!(faults, [Some(ArgumentFault::NotJson), None, Some(double), Some(ArgumentFault::CutOff)]);
}

#[test]
fn arguments_that_come_whole_with_the_start_count_once() {
    let start = json!({"type": "tool_use", "id": "toolu_1", "name": "read", "input": {"a": 1}});
    let message = read(&answer(&block(0, start.clone(), &[]), "tool_use"));
    assert_eq!(message.tool_calls().next().unwrap().1.arguments.text(), r#"{"a":1}"#);
    let both = block(0, start, &[json!({"type": "input_json_delta", "partial_json": "{\"a\":2}"})]);
    assert_eq!(read(&answer(&both, "tool_use")).tool_calls().next().unwrap().1.arguments.text(), r#"{"a":2}"#);
}

#[test]
fn a_block_that_ends_in_what_is_no_json_fails_the_answer_and_runs_nothing() {
    let mut body = answer(&call_block(0, "toolu_1", &["{}"]), "tool_use");
    body = body.replace("{\"index\":0,\"type\":\"content_block_stop\"}", "{\"index\":0,");
    let error = decode([Bytes::from(body)]).unwrap_err();
    assert_eq!((error.kind(), error.is_retryable()), (Kind::Protocol, false));
}

#[test]
fn blocks_that_overlap_are_told_apart() {
    let delta = |index: u64, text: &str| {
        let delta = json!({"type": "text_delta", "text": text});
        json!({"type": "content_block_delta", "index": index, "delta": delta})
    };
    let start = |index: u64| json!({"type": "content_block_start", "index": index, "content_block": {"type": "text"}});
    let stop = |index: Value| json!({"type": "content_block_stop", "index": index});
    let blocks = [
        start(0),
        delta(0, "a"),
        start(5),
        delta(5, "x"),
        delta(0, "b"),
        // A stop without a number ends no block.
        stop(Value::Null),
        json!({"type": "content_block_stop"}),
        delta(0, "c"),
        stop(json!(0)),
        delta(0, "lost"),
        delta(5, "y"),
        stop(json!(5)),
    ];
    assert_eq!(read(&answer(&blocks, "end_turn")).content, vec![ContentBlock::text("abc"), "xy".into()]);
}

#[test]
fn what_is_not_known_is_skipped_or_kept() {
    let mut blocks = text_block(0, "Hi");
    blocks.insert(0, json!({"type": "ping"}));
    blocks.insert(1, json!({"type": "something_new", "index": 0, "delta": 7}));
    blocks.insert(3, json!({"type": "content_block_delta", "index": 0, "delta": {"type": "new_delta", "text": [1]}}));
    blocks
        .insert(4, json!({"type": "content_block_delta", "index": 99, "delta": {"type": "text_delta", "text": "no"}}));
    blocks.push(json!({"type": "content_block_start", "index": 9, "content_block": 5}));
    let new = json!({"type": "new_block", "deep": {"b": 1, "a": [1.50]}});
    blocks.extend(block(1, new.clone(), &[]));
    blocks.extend(text_block(2, "there"));
    let message = read(&answer(&blocks, "end_turn"));
    assert_eq!(message.content.len(), 3, "the numbers of later blocks do not move");
    let ContentBlock::Opaque(opaque) = &message.content[1] else { panic!("{message:?}") };
    assert_eq!(opaque.data().get(), new.to_string(), "byte for byte");
    let origin = opaque.origin().unwrap();
    assert_eq!(
        (&*origin.protocol, &*origin.provider, &*origin.model),
        ("anthropic-messages", "anthropic", "claude-sonnet-5")
    );
    assert_eq!(message.content[2].as_text(), Some("there"));
}

#[test]
fn opaque_blocks_take_every_kind_of_delta() {
    let start = json!({"type": "server_tool_use", "id": "srvtoolu_1", "input": {}, "name": "web_search"});
    let pieces = ["", "{\"que", "ry\":\"ü\"}"].map(|p| json!({"type": "input_json_delta", "partial_json": p}));
    let mut blocks = block(0, start, &pieces);
    let summary = ["Sum", "mary"].map(|p| json!({"type": "compaction_delta", "content": p}));
    blocks.extend(block(1, json!({"content": null, "type": "compaction"}), &summary));
    let cut = [json!({"type": "input_json_delta", "partial_json": "{\"que"})];
    blocks.extend(block(2, json!({"id": "srvtoolu_2", "input": {}, "type": "server_tool_use"}), &cut));
    let message = read(&answer(&blocks, "pause_turn"));
    let texts = message.content.iter().map(|block| match block {
        ContentBlock::Opaque(block) => block.data().get(),
        other => panic!("{other:?}"),
    });
    let texts: Vec<_> = texts.collect();
    assert_eq!(texts[0], r#"{"id":"srvtoolu_1","input":{"query":"ü"},"name":"web_search","type":"server_tool_use"}"#);
    assert_eq!(texts[1], r#"{"content":"Summary","type":"compaction"}"#);
    assert_eq!(texts[2], r#"{"id":"srvtoolu_2","input":{},"type":"server_tool_use"}"#, "it stays as it began");
    assert_eq!(message.stop_reason, StopReason::Paused);
}

#[test]
fn redacted_and_signed_thinking_keep_order_and_origin() {
    let mut blocks = block(0, json!({"type": "redacted_thinking", "data": "EqQB"}), &[]);
    let deltas = [
        json!({"type": "thinking_delta", "thinking": "Hm"}),
        json!({"type": "signature_delta", "signature": "si"}),
        json!({"type": "signature_delta", "signature": "g"}),
    ];
    blocks.extend(block(1, json!({"type": "thinking", "thinking": "", "signature": ""}), &deltas));
    let message = read(&answer(&blocks, "end_turn"));
    let seen = message.content.iter().map(|block| match block {
        ContentBlock::Thinking(b) => (b.encrypted.as_deref(), b.text.as_str(), b.signature.as_deref()),
        other => panic!("{other:?}"),
    });
    assert_eq!(seen.collect::<Vec<_>>(), [(Some("EqQB"), "", None), (None, "Hm", Some("sig"))]);
    let ContentBlock::Thinking(thinking) = &message.content[1] else { panic!() };
    assert_eq!(thinking.origin.as_ref().unwrap().model, "claude-sonnet-5");
}

#[test]
fn a_caller_and_a_toolset_are_kept_and_a_direct_caller_is_not() {
    let start = |caller: Value| {
        let start = json!({"type": "tool_use", "id": "toolu_1", "name": "read", "input": {}, "caller": caller});
        let message = read(&answer(&block(0, start, &[]), "tool_use"));
        message.tool_calls().next().unwrap().1.metadata.clone().map(|raw| raw.get().to_owned())
    };
    assert_eq!(start(json!({"type": "direct"})), None);
    assert_eq!(start(Value::Null), None);
    let code = json!({"tool_id": "srvtoolu_1", "type": "code_execution_20260120"});
    assert_eq!(start(code.clone()), Some(format!("{{\"caller\":{code}}}")));
}

#[test]
fn a_second_message_start_begins_anew() {
    let first = answer(&call_block(0, "toolu_1", &["{\"a\":"]), "tool_use");
    let first = &first[..first.find("event: content_block_stop").unwrap()];
    let message = read(&format!("{first}{}", answer(&text_block(0, "Hi"), "end_turn")));
    assert_eq!((message.content, message.usage), (vec!["Hi".into()], usage(10, 5)));
}

#[test]
fn errors_in_the_stream_are_sorted_like_statuses() {
    let error = |body: Value| {
        let text = sse(&[json!({"type": "message_start", "message": {}}), body]);
        let (seen, result) = events(&text);
        assert!(matches!(seen[0], ModelEvent::Start { .. }), "what had come counts");
        result.unwrap_err()
    };
    let kinds = [
        ("overloaded_error", "Overloaded", Kind::Overloaded, true),
        ("rate_limit_error", "too many tokens", Kind::RateLimited, true),
        ("api_error", "Internal server error", Kind::Server, true),
        ("timeout_error", "Slow", Kind::Timeout, true),
        ("invalid_request_error", "prompt is too long: 9 tokens > 8 maximum", Kind::ContextOverflow, false),
        ("authentication_error", "expired", Kind::Auth, false),
        ("new_error", "What?", Kind::Other, false),
    ];
    for (code, message, kind, retry) in kinds {
        let body = json!({"type": "error", "error": {"type": code, "message": message}, "request_id": "req_1"});
        let error = error(body);
        assert_eq!((error.kind(), error.is_retryable(), error.message()), (kind, retry, message), "{code}");
        assert_eq!((error.code(), error.request_id()), (Some(code), Some("req_1")));
    }
    // A gateway's error has no type.
    let error = error(json!({"error": {"code": 529, "message": "busy"}}));
    assert_eq!(error.kind(), Kind::Overloaded);
}

#[test]
fn a_whole_message_reads_like_a_streamed_one() {
    let content = json!([
        {"type": "thinking", "thinking": "Hm", "signature": "sig"},
        {"type": "text", "text": "Hi", "citations": [{"type": "char_location"}]},
        {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []},
        {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {"path": "/a"}},
    ]);
    let whole = json!({
        "type": "message", "id": "msg_1", "model": "claude-sonnet-5", "content": content, "stop_reason": "tool_use",
        "usage": {"input_tokens": 10, "output_tokens": 5},
    });
    let message = read(&whole.to_string());
    let mut blocks = block(
        0,
        json!({"type": "thinking"}),
        &[json!({"type": "thinking_delta", "thinking": "Hm"}), json!({"type": "signature_delta", "signature": "sig"})],
    );
    blocks.extend(block(
        1,
        json!({"type": "text"}),
        &[
            json!({"type": "citations_delta", "citation": {"type": "char_location"}}),
            json!({"type": "text_delta", "text": "Hi"}),
        ],
    ));
    blocks.extend(block(2, content[2].clone(), &[]));
    blocks.extend(call_block(3, "toolu_1", &["{\"path\"", ":\"/a\"}"]));
    assert_eq!(message, read(&answer(&blocks, "tool_use")));
    for pieces in every_cut(&Bytes::from(format!(" \n{whole}"))) {
        assert_eq!(decode(pieces).unwrap(), message);
    }
}

#[test]
fn an_error_under_a_status_of_success_is_an_error() {
    let body = json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}).to_string();
    assert_eq!(decode([Bytes::from(body.clone())]).unwrap_err().kind(), Kind::Overloaded);
    let other = decode([Bytes::from_static(b"{\"error\":{\"message\":\"prompt is too long\"}}")]).unwrap_err();
    assert_eq!(other.kind(), Kind::ContextOverflow);
    assert_eq!(decode([Bytes::from(body[..20].to_owned())]).unwrap_err().kind(), Kind::Network);
    assert_eq!(decode([Bytes::from_static(b"  ")]).unwrap_err().kind(), Kind::Network);
    assert_eq!(decode([Bytes::from_static(b"{x}")]).unwrap_err().kind(), Kind::Protocol);
    assert_eq!(decode([Bytes::from_static(b"<html>Bad gateway</html>")]).unwrap_err().kind(), Kind::Network);
}

#[test]
fn text_without_escapes_is_a_slice_of_what_arrived() {
    let body = Bytes::from(answer(&text_block(0, "plain"), "end_turn"));
    let mut decoder = agent_core::Wire::decoder(&agent_anthropic::AnthropicWire::new(), &http::HeaderMap::new());
    let mut events = agent_core::Events::new();
    agent_core::Decoder::feed(&mut decoder, body.clone(), &mut events).unwrap();
    let mut seen = 0;
    while let Some(event) = events.pop() {
        if let ModelEvent::TextDelta { text, .. } = &event {
            let inside = body.as_ptr_range().contains(&text.as_bytes().as_ptr());
            assert!(inside, "it was copied");
            seen += 1;
        }
        let whole = matches!(&event, ModelEvent::BlockStart { start: BlockStart::Whole(_), .. });
        assert!(!whole);
    }
    assert_eq!(seen, 1);
}

#[test]
fn the_word_of_another_protocol_at_the_end_is_no_fault() {
    let body = format!("{}data: [DONE]\n\n", answer(&text_block(0, "Hi"), "end_turn"));
    assert_eq!(read(&body).content, vec!["Hi".into()]);
    assert_eq!(read(&body.replace('\n', "\r\n")).content, vec!["Hi".into()]);
}

/// Deltas as the vendor spells them and in every other spelling, each with whether it is read.
#[test]
fn a_delta_means_the_same_in_every_spelling() {
    let kinds = [
        ("text", "text_delta", "text"),
        ("thinking", "thinking_delta", "thinking"),
        ("tool_use", "input_json_delta", "partial_json"),
    ];
    let literals = [
        r#""plain ü""#,
        r#""a\"b\\""#,
        r#""\ud83d\ude00\n""#,
        r#""""#,
        r#"null"#,
        r#"[1]"#,
        "\"cut",
        r#""bad \x""#,
        r#""\ud83d""#,
        "\"tab\there\"",
    ];
    let read = |body: String| decode([Bytes::from(body)]).map(|message| message.content).map_err(|e| e.kind());
    for (block_kind, delta_kind, field) in kinds {
        for literal in literals {
            for index in ["0", "00", "7"] {
                let (head, inner) = ("\"type\":\"content_block_delta\"", format!("\"{field}\":{literal}"));
                let delta = format!("\"index\":{index},\"delta\":{{\"type\":\"{delta_kind}\",{inner}}}");
                let data = [
                    format!("{{{head},{delta}}}"),
                    format!("{{{head},{delta}   }}  "),
                    format!("{{ {head},{delta}}}"),
                    format!("{{\"delta\":{{{inner},\"type\":\"{delta_kind}\"}},\"index\":{index},{head}}}"),
                ];
                let results = data.map(|data| {
                    let mut whole = answer(&block(0, json!({"type": block_kind, "name": "t"}), &[]), "end_turn");
                    whole.insert_str(whole.find("event: content_block_stop").unwrap(), &format!("data: {data}\n\n"));
                    read(whole)
                });
                assert!(results.iter().all(|result| *result == results[0]), "{literal} at {index}: {results:?}");
            }
        }
    }
}
