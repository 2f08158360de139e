//! What gateways send that is not in the documentation, and the cases of the specification.

use agent_core::{AssistantMessage, ContentBlock, ProviderErrorKind as Kind, StopReason};
use agent_testkit::byte_pieces;
use bytes::Bytes;

use super::{decode, stream};

fn read(data: &[&str]) -> AssistantMessage {
    let bytes = stream(data);
    let message = decode([bytes.clone()]).unwrap();
    assert_eq!(decode(byte_pieces(&bytes)).unwrap(), message);
    message
}

fn calls(message: &AssistantMessage) -> Vec<(String, String)> {
    message.tool_calls().map(|(_, call)| (call.name.clone(), call.arguments.text().to_owned())).collect()
}

fn said(message: &AssistantMessage) -> Vec<&str> {
    message.content.iter().filter_map(ContentBlock::as_text).collect()
}

const DONE: &str = r#"{"type":"response.completed","response":{"status":"completed","output":[]}}"#;

#[test]
fn case_07_a_failure_ends_the_answer_with_its_own_error() {
    let failed = r#"{"type":"response.failed","response":{"status":"failed","error":{"code":"rate_limit_exceeded","message":"slow down"}}}"#;
    let error = decode([stream(&[r#"{"type":"response.created","response":{"id":"r"}}"#, failed])]).unwrap_err();
    assert_eq!(error.kind(), Kind::RateLimited, "{error}");
    let cut =
        decode([stream(&[r#"{"type":"response.output_text.delta","output_index":0,"delta":"Hi"}"#])]).unwrap_err();
    assert_eq!(cut.kind(), Kind::Network);
}

#[test]
fn case_25_and_26_calls_are_opened_by_items_and_deltas_find_them() {
    let message = read(&[
        r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","id":"fc_1","call_id":"a","name":"f","arguments":""}}"#,
        r#"{"type":"response.output_item.added","output_index":1,"item":{"type":"function_call","id":"fc_2","call_id":"b","name":"g","arguments":""}}"#,
        r#"{"type":"response.function_call_arguments.delta","output_index":0,"item_id":"fc_1","delta":"{\"x\""}"#,
        r#"{"type":"response.function_call_arguments.delta","output_index":1,"item_id":"fc_2","delta":"{\"y\""}"#,
        r#"{"type":"response.function_call_arguments.delta","output_index":0,"item_id":"fc_1","delta":":1}"}"#,
        r#"{"type":"response.function_call_arguments.delta","output_index":1,"item_id":"fc_2","delta":":2}"}"#,
        r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","id":"fc_1","call_id":"a","name":"f","arguments":"{\"x\":1}"}}"#,
        r#"{"type":"response.output_item.done","output_index":1,"item":{"type":"function_call","id":"fc_2","call_id":"b","name":"g","arguments":"{\"y\":2}"}}"#,
        DONE,
    ]);
    assert_eq!(calls(&message), [("f".into(), r#"{"x":1}"#.into()), ("g".into(), r#"{"y":2}"#.into())]);
    assert_eq!(message.stop_reason, StopReason::ToolUse);
}

#[test]
fn case_27_arguments_that_come_whole_are_taken() {
    for events in [
        &[
            r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","id":"fc","call_id":"a","name":"f"}}"#,
            r#"{"type":"response.function_call_arguments.done","output_index":0,"item_id":"fc","arguments":"{\"x\":1}"}"#,
            r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","id":"fc","call_id":"a","name":"f","arguments":"{\"x\":1}"}}"#,
            DONE,
        ][..],
        &[
            r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","id":"fc","call_id":"a","name":"f","arguments":"{\"x\":1}"}}"#,
            DONE,
        ],
        &[
            r#"{"type":"response.completed","response":{"status":"completed","output":[{"type":"function_call","call_id":"a","name":"f","arguments":"{\"x\":1}"}]}}"#,
        ],
    ] {
        assert_eq!(calls(&read(events)), [("f".into(), r#"{"x":1}"#.into())], "{events:?}");
    }
}

#[test]
fn case_46_a_refusal_is_said_once_wherever_it_stands() {
    let refusal = "I cannot help.";
    let whole = r#"{"type":"response.completed","response":{"status":"completed","output":[{"type":"message","content":[{"type":"refusal","refusal":"I cannot help."}]}]}}"#;
    for events in [
        &[r#"{"type":"response.refusal.delta","output_index":0,"content_index":0,"delta":"I cannot help."}"#, whole][..],
        &[
            r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"message","content":[{"type":"refusal","refusal":"I cannot help."}]}}"#,
            whole,
        ],
        &[whole],
    ] {
        let message = read(events);
        assert_eq!((said(&message), &message.stop_reason), (vec![refusal], &StopReason::Refusal), "{events:?}");
    }
}

#[test]
fn case_47_an_answer_that_is_not_whole_says_why() {
    let end = |details: &str| {
        let text = format!(
            r#"{{"type":"response.incomplete","response":{{"status":"incomplete","incomplete_details":{details}}}}}"#
        );
        read(&[r#"{"type":"response.output_text.delta","delta":"Part"}"#, &text]).stop_reason
    };
    assert_eq!(end(r#"{"reason":"content_filter"}"#), StopReason::Refusal);
    assert_eq!(end(r#"{"reason":"max_output_tokens"}"#), StopReason::MaxTokens);
    assert_eq!(end("null"), StopReason::MaxTokens);
}

#[test]
fn case_79_reasoning_streams_under_both_names_and_parts_are_paragraphs() {
    let message = read(&[
        r#"{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":0,"delta":"One."}"#,
        r#"{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":1,"delta":"Two."}"#,
        r#"{"type":"response.reasoning_text.delta","output_index":1,"content_index":0,"delta":"Raw."}"#,
        DONE,
    ]);
    let thoughts = message.content.iter().map(|block| match block {
        ContentBlock::Thinking(block) => block.text.as_str(),
        other => panic!("{other:?}"),
    });
    let thoughts: Vec<_> = thoughts.collect();
    assert_eq!(thoughts, ["One.\n\nTwo.", "Raw."]);
}

#[test]
fn a_body_without_events_is_read_and_so_is_an_error_in_its_place() {
    let body = r#"{"id":"r","object":"response","model":"m-1","status":"completed","output":[
        {"type":"reasoning","id":"rs","summary":[{"type":"summary_text","text":"Hm."}],"encrypted_content":"abc"},
        {"type":"message","id":"msg","role":"assistant","content":[{"type":"output_text","text":"Four.","annotations":[{"type":"url_citation","url":"https://a.example"}]}]}
    ],"usage":{"input_tokens":9,"input_tokens_details":{"cached_tokens":4},"output_tokens":5,"output_tokens_details":{"reasoning_tokens":2}}}"#;
    let message = decode(byte_pieces(&Bytes::from(body))).unwrap();
    assert_eq!((said(&message), message.origin.model.as_str()), (vec!["Four."], "m-1"));
    assert_eq!((message.usage.input, message.usage.cache_read, message.usage.reasoning), (5, 4, 2));
    let [ContentBlock::Thinking(thought), ContentBlock::Text(text)] = &message.content[..] else {
        panic!("{message:?}")
    };
    assert!(thought.signature.as_deref().unwrap().contains("\"encrypted_content\":\"abc\""));
    assert!(text.metadata.as_ref().unwrap().get().contains("url_citation"));
    let error = decode([Bytes::from(r#"{"error":{"code":"insufficient_quota","message":"no money"}}"#)]).unwrap_err();
    assert_eq!(error.kind(), Kind::Quota);
}

#[test]
fn built_in_tools_are_kept_as_they_are() {
    let item = r#"{"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","query":"q"}}"#;
    let done = format!(r#"{{"type":"response.output_item.done","output_index":0,"item":{item}}}"#);
    let message = read(&[&done, r#"{"type":"response.some_new_event","output_index":0,"delta":"?"}"#, DONE]);
    let [ContentBlock::Opaque(block)] = &message.content[..] else { panic!("{message:?}") };
    assert_eq!(block.data().get(), item);
}

#[test]
fn events_of_a_known_shape_are_read_as_the_parser_reads_them() {
    let event = |n: u64, delta: &str, pad: &str| {
        let delta = serde_json::to_string(delta).unwrap();
        format!(
            r#"{{"type":"response.output_text.delta","sequence_number":{n},"item_id":"i","output_index":0,"content_index":0,"delta":{delta},"logprobs":[],"obfuscation":"{pad}"}}"#
        )
    };
    let texts = ["a", "\"b\\\"", "é😀", "\"sequence_number\":7", "", "z"];
    let known: Vec<String> = (0..).zip(texts).map(|(n, text)| event(n, text, &"x".repeat(text.len() + 1))).collect();
    // Another item each time, so that no two have one shape.
    let apart: Vec<String> = (0..).zip(&known).map(|(n, event)| event.replace("\"i\"", &format!("\"i{n}\""))).collect();
    let join = |events: &[String]| {
        let mut all: Vec<&str> = events.iter().map(String::as_str).collect();
        all.push(DONE);
        said(&read(&all)).concat()
    };
    assert_eq!(join(&known), texts.concat());
    assert_eq!(join(&apart), texts.concat());
}
