//! What servers send that is not in OpenAI's documentation, and how it is read: the W lines and cases of the
//! specification.

use agent_core::{AssistantMessage, ContentBlock, ProviderErrorKind as Kind, StopReason};
use agent_openai::{ChatWire, Profile};
use agent_testkit::byte_pieces;
use bytes::Bytes;

use crate::given::{decode, decode_with, stream};

fn calls(message: &AssistantMessage) -> Vec<(String, String)> {
    message.tool_calls().map(|(_, call)| (call.name.clone(), call.arguments.text().to_owned())).collect()
}

fn read(data: &[&str]) -> AssistantMessage {
    let bytes = stream(data);
    let message = decode([bytes.clone()]).unwrap();
    assert_eq!(decode(byte_pieces(&bytes)).unwrap(), message);
    message
}

const STOP: &str = r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#;

#[test]
fn w06_two_calls_at_one_place_are_two_calls() {
    let message = read(&[
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":"}}]}}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"arguments":"1}"}}]}}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"b","function":{"name":"g","arguments":"{\"y\":2}"}}]}}]}"#,
        STOP,
    ]);
    assert_eq!(calls(&message), [("f".into(), r#"{"x":1}"#.into()), ("g".into(), r#"{"y":2}"#.into())]);
    assert_eq!(message.stop_reason, StopReason::ToolUse, "open calls say more than the finish reason");
}

#[test]
fn w07_a_gap_in_the_places_makes_no_call() {
    let message = read(&[
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]}}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"index":2,"id":"c","function":{"name":"g","arguments":"{}"}}]}}]}"#,
        STOP,
    ]);
    assert_eq!(calls(&message), [("f".into(), "{}".into()), ("g".into(), "{}".into())]);
}

#[test]
fn w08_null_choices_and_a_choice_without_delta_lose_nothing() {
    let message = read(&[
        r#"{"choices":[{"delta":{"content":"Hi"}}]}"#,
        r#"{"choices":null,"usage":{"prompt_tokens":7,"completion_tokens":2}}"#,
        r#"{"choices":[{"finish_reason":"stop"}]}"#,
    ]);
    assert_eq!(message.content[0].as_text(), Some("Hi"));
    assert_eq!((message.usage.input, message.usage.output), (7, 2));
}

#[test]
fn w09_done_without_a_finish_reason_is_no_success() {
    let error = decode([stream(&[r#"{"choices":[{"delta":{"content":"Hi"}}]}"#])]).unwrap_err();
    assert_eq!(error.kind(), Kind::Network);
    assert!(error.is_retryable());
}

#[test]
fn case_01_a_stream_may_close_without_done_where_the_profile_says_so() {
    let data = [r#"{"choices":[{"delta":{"content":"Hi"}}]}"#, STOP];
    let bytes = Bytes::from(data.iter().map(|data| format!("data: {data}\n\n")).collect::<String>());
    assert!(decode([bytes.clone()]).is_ok());
    let openai = decode_with(&ChatWire::openai(), [bytes]).unwrap_err();
    assert_eq!(openai.kind(), Kind::Network);
}

#[test]
fn case_12_an_error_in_the_stream_is_that_error() {
    let data = [
        r#"{"choices":[{"delta":{"content":"Hi"}}]}"#,
        r#"{"error":{"message":"the server is overloaded","type":"overloaded_error"}}"#,
    ];
    let error = decode([stream(&data)]).unwrap_err();
    assert_eq!(error.kind(), Kind::Overloaded);
    assert!(error.to_string().contains("overloaded"));
}

#[test]
fn w10_an_error_as_json_under_a_success_is_read() {
    let body = Bytes::from_static(br#"{"error":{"message":"Rate limit reached","code":"rate_limit_exceeded"}}"#);
    assert_eq!(decode([body]).unwrap_err().kind(), Kind::RateLimited);
}

#[test]
fn a_whole_answer_is_a_replayed_stream() {
    let body = r#"{"id":"x","model":"m","choices":[{"message":{"role":"assistant","content":"Hi","reasoning_content":"Hm.","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{\"x\":1}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":5,"completion_tokens":3}}"#;
    let whole = decode(byte_pieces(&Bytes::from_static(body.as_bytes()))).unwrap();
    let streamed = read(&[
        r#"{"id":"x","model":"m","choices":[{"delta":{"reasoning_content":"Hm."}}]}"#,
        r#"{"choices":[{"delta":{"content":"Hi"}}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":1}"}}]}}]}"#,
        r#"{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}"#,
        r#"{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":3}}"#,
    ]);
    assert_eq!(whole, streamed);
}

#[test]
fn case_44_and_45_filters_and_refusals_are_refusals() {
    let filtered = read(&[
        r#"{"choices":[{"delta":{"content":"Pa"}}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]}}]}"#,
        r#"{"choices":[{"delta":{},"finish_reason":"content_filter"}]}"#,
    ]);
    assert_eq!(filtered.stop_reason, StopReason::Refusal, "not the call's");
    let refused = read(&[r#"{"choices":[{"delta":{"refusal":"I can't."}}]}"#, STOP]);
    assert_eq!((refused.content[0].as_text(), &refused.stop_reason), (Some("I can't."), &StopReason::Refusal));
}

#[test]
fn reasoning_is_read_wherever_a_vendor_puts_it() {
    for field in ["reasoning_content", "reasoning"] {
        let thought = format!(r#"{{"model":"m","choices":[{{"delta":{{"{field}":"Hm."}}}}]}}"#);
        let message = read(&[&thought, r#"{"choices":[{"delta":{"content":"Hi"}}]}"#, STOP]);
        let ContentBlock::Thinking(block) = &message.content[0] else { panic!("{message:?}") };
        assert_eq!((block.text.as_str(), block.origin.as_ref().unwrap().model.as_str()), ("Hm.", "m"));
    }
    let mistral = read(&[
        r#"{"choices":[{"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"Hm."}]}]}}]}"#,
        r#"{"choices":[{"delta":{"content":[{"type":"text","text":"Hi"}]}}]}"#,
        STOP,
    ]);
    assert!(matches!(&mistral.content[0], ContentBlock::Thinking(block) if block.text == "Hm."));
    assert_eq!(mistral.content[1].as_text(), Some("Hi"));
}

#[test]
fn case_54_and_55_usage_is_counted_once_wherever_it_stands() {
    let table = [
        // Reasoning among the completion, and beside it where the total proves it.
        (
            r#""usage":{"prompt_tokens":10,"completion_tokens":20,"total_tokens":30,"completion_tokens_details":{"reasoning_tokens":5}}"#,
            (10, 15, 5, 0, 0),
        ),
        (
            r#""usage":{"prompt_tokens":10,"completion_tokens":20,"total_tokens":35,"completion_tokens_details":{"reasoning_tokens":5}}"#,
            (10, 20, 5, 0, 0),
        ),
        (
            r#""usage":{"prompt_tokens":10,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":6,"cache_write_tokens":3}}"#,
            (1, 2, 0, 6, 3),
        ),
        (
            r#""usage":{"prompt_tokens":10,"completion_tokens":2,"prompt_cache_hit_tokens":4,"prompt_cache_miss_tokens":6}"#,
            (6, 2, 0, 4, 0),
        ),
        (r#""x_groq":{"usage":{"prompt_tokens":10,"completion_tokens":2}}"#, (10, 2, 0, 0, 0)),
        (r#""usage":{"prompt_tokens":null,"completion_tokens":"2"}"#, (0, 0, 0, 0, 0)),
        (r#""usage":null"#, (0, 0, 0, 0, 0)),
    ];
    for (usage, (input, output, reasoning, cached, written)) in table {
        let last = format!(r#"{{"choices":[{{"delta":{{}},"finish_reason":"stop"}}],{usage}}}"#);
        let got = read(&[r#"{"choices":[{"delta":{"content":"Hi"}}]}"#, &last]).usage;
        let found = (got.input, got.output, got.reasoning, got.cache_read, got.cache_write_5m);
        assert_eq!(found, (input, output, reasoning, cached, written), "{usage}");
    }
    let moonshot =
        r#"{"choices":[{"delta":{},"finish_reason":"stop","usage":{"prompt_tokens":3,"completion_tokens":1}}]}"#;
    assert_eq!(read(&[moonshot]).usage.input, 3);
}

#[test]
fn half_a_call_of_a_cut_answer_is_half() {
    for arguments in ["", r#"{\"x\":"#] {
        let call = format!(
            r#"{{"choices":[{{"delta":{{"tool_calls":[{{"index":0,"id":"a","function":{{"name":"f","arguments":"{arguments}"}}}}]}}}}]}}"#
        );
        let message = read(&[&call, r#"{"choices":[{"delta":{},"finish_reason":"length"}]}"#]);
        let fault = message.tool_calls().next().unwrap().1.arguments.fault();
        assert_eq!(fault, Some(agent_core::ArgumentFault::CutOff), "{arguments}");
    }
}

#[test]
fn arguments_as_an_object_and_a_name_that_comes_late() {
    let object = read(&[
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":{"x":1}}}]}}]}"#,
        STOP,
    ]);
    assert_eq!(calls(&object), [("f".into(), r#"{"x":1}"#.into())]);
    let late = read(&[
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"x\""}}]}}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":":1}"}}]}}]}"#,
        STOP,
    ]);
    assert_eq!(calls(&late), [("f".into(), r#"{"x":1}"#.into())]);
}

#[test]
fn the_profile_of_every_vendor_is_a_wire() {
    for profile in Profile::all() {
        assert_eq!(Profile::named(&profile.name).as_ref(), Some(profile));
        assert!(profile.base.is_empty() || ChatWire::of(profile.clone()).at(&profile.base).is_ok(), "{}", profile.name);
    }
}

#[test]
fn calls_without_ids_are_told_apart_by_their_names() {
    let expected = [("f".to_owned(), r#"{"x":1}"#.to_owned()), ("g".to_owned(), r#"{"y":2}"#.to_owned())];
    let in_one = read(&[
        r#"{"choices":[{"delta":{"tool_calls":[{"function":{"name":"f","arguments":"{\"x\":1}"}},{"function":{"name":"g","arguments":"{\"y\":2}"}}]}}]}"#,
        STOP,
    ]);
    assert_eq!(calls(&in_one), expected);
    let at_zero = read(&[
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"f","arguments":"{\"x\""}}]}}]}"#,
        // Some servers repeat the name: that is no new call.
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"f","arguments":":1}"}}]}}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"g","arguments":"{\"y\":2}"}}]}}]}"#,
        STOP,
    ]);
    assert_eq!(calls(&at_zero), expected);
}

#[test]
fn what_comes_before_a_name_belongs_to_the_call_of_its_place() {
    let message = read(&[
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"arguments":"{\"x\""}},{"index":1,"id":"b","function":{"arguments":"{\"y\""}}]}}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"index":1,"function":{"name":"g","arguments":":2}"}},{"index":0,"function":{"name":"f","arguments":":1}"}}]}}]}"#,
        STOP,
    ]);
    assert_eq!(calls(&message), [("g".into(), r#"{"y":2}"#.into()), ("f".into(), r#"{"x":1}"#.into())]);
    let ids: Vec<_> = message.tool_calls().map(|(_, call)| call.vendor_id.clone()).collect();
    assert_eq!(ids, [Some("b".to_owned()), Some("a".to_owned())]);
}
