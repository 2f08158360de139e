//! What servers send that is not in the documentation, and how it is read: the W lines and cases of the specification.

use agent_core::{AssistantMessage, ContentBlock, ProviderErrorKind as Kind, StopReason, Usage};
use agent_testkit::byte_pieces;
use bytes::Bytes;
use serde_json::json;

use crate::given::{STOP, decode, parts, stream};

fn read(data: &[&str]) -> AssistantMessage {
    let bytes = stream(data);
    let message = decode([bytes.clone()]).unwrap();
    assert_eq!(decode(byte_pieces(&bytes)).unwrap(), message);
    message
}

fn calls(message: &AssistantMessage) -> Vec<(String, String, Option<String>)> {
    let call =
        |call: &agent_core::ToolCall| (call.name.clone(), call.arguments.text().to_owned(), call.vendor_id.clone());
    message.tool_calls().map(|(_, found)| call(found)).collect()
}

#[test]
fn w16_every_framing_of_events_is_read() {
    let hello = parts(r#"{"text":"Hé😀"}"#);
    let framings = [
        format!("data: {hello}\n\ndata: {STOP}\n\n"),
        format!("data:{hello}\n\ndata:{STOP}\n\n"),
        format!("data: {hello}\r\rdata: {STOP}\r\r"),
        format!("data: {hello}\r\n\r\ndata: {STOP}"),
        format!("\u{feff}: hi\n\nevent: message\ndata: {hello}\n\ndata: {STOP}\n"),
        format!("data: {}\n\ndata: {STOP}\n\n", hello.replace(",\"modelVersion", "\ndata: ,\"modelVersion")),
        format!("data: {hello}\n\ndata: {STOP}\n\ndata: [DONE]\n\n"),
    ];
    for framing in framings {
        let message = decode(byte_pieces(&framing.clone().into())).unwrap_or_else(|e| panic!("{framing:?}: {e}"));
        assert_eq!(message.content, vec!["Hé😀".into()], "{framing:?}");
    }
}

#[test]
fn w17_arguments_in_a_string_are_refused_by_their_type() {
    let message = read(&[&parts(r#"{"functionCall":{"name":"f","args":"{\"a\":1}"}}"#), STOP]);
    let fault = message.tool_calls().next().unwrap().1.arguments.fault();
    assert_eq!(fault, Some(agent_core::ArgumentFault::NotObject { found: "string" }));
}

#[test]
fn w10_an_error_or_an_answer_as_json_is_read() {
    let whole = parts(r#"{"text":"Hi"}"#).replace("\"index\":0", "\"finishReason\":\"STOP\"");
    for body in [whole.clone(), format!("  [{whole}]"), format!("[{},\n{STOP}]", parts(r#"{"text":"Hi"}"#))] {
        assert_eq!(decode(byte_pieces(&body.into())).unwrap().content, vec!["Hi".into()]);
    }
    let error = r#"{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT","details":[
        {"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID"}]}}"#;
    for body in [error.to_owned(), format!("[{error}]")] {
        assert_eq!(decode([Bytes::from(body)]).unwrap_err().kind(), Kind::Auth);
    }
    let cut = format!("[{},", parts(r#"{"text":"Hi"}"#));
    assert_eq!(decode([Bytes::from(cut)]).unwrap_err().kind(), Kind::Network);
}

#[test]
fn case_08_the_end_of_the_bytes_counts_once_a_reason_came() {
    let hello = parts(r#"{"text":"Hi"}"#);
    let error = decode([stream(&[&hello])]).unwrap_err();
    assert_eq!((error.kind(), error.is_retryable()), (Kind::Network, true));
    assert_eq!(decode([Bytes::new()]).unwrap_err().kind(), Kind::Network);
    // Broken off behind it: the answer is there, and asking again would be billed again.
    let mut bytes = stream(&[&hello, STOP]).to_vec();
    bytes.extend_from_slice(b"data: {\"candid");
    let cut = decode([Bytes::from(bytes)]);
    assert!(cut.is_ok_and(|message| message.content == vec!["Hi".into()]));
}

#[test]
fn case_09_usage_behind_the_reason_is_kept() {
    let usage = r#"{"usageMetadata":{"promptTokenCount":10,"cachedContentTokenCount":6,"candidatesTokenCount":3}}"#;
    let message = read(&[&parts(r#"{"text":"Hi"}"#), STOP, usage]);
    assert_eq!((message.usage.input, message.usage.cache_read, message.usage.output), (4, 6, 3));
}

#[test]
fn case_12_an_error_in_the_stream_is_that_error() {
    let error = |body: &str| decode([stream(&[&parts(r#"{"text":"Hi"}"#), body])]).unwrap_err();
    let unavailable = error(r#"{"error":{"code":503,"message":"overloaded","status":"UNAVAILABLE"}}"#);
    assert_eq!((unavailable.kind(), unavailable.billed()), (Kind::Overloaded, agent_core::Billed::Unknown));
    let limited = error(
        r#"{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"slow down","details":[
        {"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"7s"}]}}"#
            .replace('\n', "")
            .as_str(),
    );
    assert_eq!((limited.kind(), limited.retry_after(0).unwrap().as_secs()), (Kind::RateLimited, 7));
    assert_eq!(error(r#"{"error":{"code":500,"status":"INTERNAL"}}"#).kind(), Kind::Server);
    assert_eq!(error(r#"{"error":"gone"}"#).message(), "gone");
    // Behind the end it changes nothing.
    let late = r#"{"error":{"code":503,"status":"UNAVAILABLE"}}"#;
    assert!(decode([stream(&[&parts(r#"{"text":"Hi"}"#), STOP, late])]).is_ok());
}

#[test]
fn case_48_filters_and_blocked_prompts_are_refusals() {
    for reason in ["SAFETY", "IMAGE_SAFETY", "PROHIBITED_CONTENT", "BLOCKLIST", "SPII", "RECITATION", "MODEL_ARMOR"] {
        let message = read(&[&format!(r#"{{"candidates":[{{"finishReason":"{reason}"}}]}}"#)]);
        assert_eq!((message.stop_reason, message.error.as_deref()), (StopReason::Refusal, Some(reason)));
    }
    let blocked = r#"{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"},"usageMetadata":{"promptTokenCount":9}}"#;
    let message = read(&[blocked]);
    assert_eq!((message.stop_reason, message.usage), (StopReason::Refusal, Usage::new(9, 0)));
    assert_eq!(message.error.as_deref(), Some("the prompt was blocked: PROHIBITED_CONTENT"));
    assert!(message.content.is_empty());
    assert_eq!(decode([Bytes::from(blocked)]).unwrap().stop_reason, StopReason::Refusal, "not as events");

    for reason in ["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "MALFORMED_RESPONSE"] {
        let data = format!(r#"{{"candidates":[{{"content":{{}},"finishReason":"{reason}","finishMessage":"no"}}]}}"#);
        let message = read(&[&data]);
        assert_eq!((message.stop_reason, message.error.unwrap()), (StopReason::Error, format!("{reason}: no")));
    }
    let other = read(&[r#"{"candidates":[{"finishReason":"OTHER"}]}"#]);
    assert_eq!(other.stop_reason, StopReason::Other("OTHER".into()));
}

#[test]
fn case_21_a_reason_is_not_hidden_by_calls_nor_calls_by_a_reason() {
    let call = parts(r#"{"functionCall":{"name":"f","args":{"a":1}}}"#);
    assert_eq!(read(&[&call, STOP]).stop_reason, StopReason::ToolUse);
    assert_eq!(read(&[&call, r#"{"candidates":[{"finishReason":"FUNCTION_CALL"}]}"#]).stop_reason, StopReason::ToolUse);
    assert_eq!(read(&[r#"{"candidates":[{"finishReason":"FUNCTION_CALL"}]}"#]).stop_reason, StopReason::EndTurn);
    let cut = read(&[&call, r#"{"candidates":[{"finishReason":"MAX_TOKENS"}]}"#]);
    assert_eq!((cut.tool_calls().count(), cut.stop_reason), (1, StopReason::MaxTokens));
}

#[test]
fn case_52_and_53_usage_counts_every_token_once() {
    let usage = |text: &str| read(&[STOP, &format!(r#"{{"usageMetadata":{text}}}"#)]).usage;
    let beside =
        usage(r#"{"promptTokenCount":10,"candidatesTokenCount":5,"thoughtsTokenCount":7,"totalTokenCount":22}"#);
    assert_eq!((beside.output, beside.reasoning, beside.total()), (5, 7, 22));
    let among =
        usage(r#"{"promptTokenCount":10,"candidatesTokenCount":12,"thoughtsTokenCount":7,"totalTokenCount":22}"#);
    assert_eq!((among.output, among.reasoning, among.total()), (5, 7, 22));
    let tools =
        usage(r#"{"promptTokenCount":10,"toolUsePromptTokenCount":30,"candidatesTokenCount":2,"totalTokenCount":42}"#);
    assert_eq!((tools.input, tools.total()), (40, 42));
    let wrong = usage(r#"{"promptTokenCount":"ten","candidatesTokenCount":null,"totalTokenCount":-1}"#);
    assert_eq!(wrong, Usage::ZERO);
    // A report without a count does not take it back.
    let first = r#"{"usageMetadata":{"promptTokenCount":10,"cachedContentTokenCount":4,"candidatesTokenCount":1}}"#;
    let last = r#"{"usageMetadata":{"trafficType":"ON_DEMAND"}}"#;
    assert_eq!(read(&[first, STOP, last]).usage.cache_read, 4);
    let last = r#"{"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":3}}"#;
    let usage = read(&[first, STOP, last]).usage;
    assert_eq!((usage.input, usage.cache_read, usage.output), (6, 4, 3));
}

#[test]
fn null_missing_and_wrong_fields_cost_nothing() {
    let message = read(&[
        r#"{"candidates":null,"promptFeedback":null,"error":null}"#,
        r#"{"candidates":[{"content":{"parts":null},"finishReason":null,"safetyRatings":[]}]}"#,
        r#"{"candidates":[{"content":{"parts":[{},null,{"text":null},{"text":"Hi","thought":null,"new":{"a":[1]}},7]}}]}"#,
        r#"{"candidates":[{"content":{"parts":[{"text":"!"}]},"finishReason":"STOP"}],"usageMetadata":null,"x":1}"#,
        r#"{"candidates":[{"content":{"parts":[]},"finishReason":"FINISH_REASON_UNSPECIFIED"}]}"#,
    ]);
    assert_eq!(message.content, vec!["Hi!".into()]);
    assert_eq!((message.stop_reason, message.response_id), (StopReason::EndTurn, None));
    assert_eq!(decode([stream(&["{\"candidates\":"])]).unwrap_err().kind(), Kind::Protocol);
}

#[test]
fn several_calls_in_one_chunk_are_several_calls() {
    let call = |id: &str, city: &str| format!(r#"{{"functionCall":{{{id}"name":"f","args":{{"city": "{city}"}}}}}}"#);
    let both = format!("{},{}", call(r#""id":"a","#, "Paris"), call(r#""id":"b","#, "Rome"));
    let message = read(&[&parts(&both), &parts(&call("", "Oslo")), STOP]);
    let (f, some) = ("f".to_owned(), |id: &str| Some(id.to_owned()));
    let expected = [
        (f.clone(), r#"{"city": "Paris"}"#.to_owned(), some("a")),
        (f.clone(), r#"{"city": "Rome"}"#.to_owned(), some("b")),
        (f, r#"{"city": "Oslo"}"#.to_owned(), None),
    ];
    assert_eq!(calls(&message), expected);
    let none = read(&[&parts(r#"{"functionCall":{"name":"g"}},{"functionCall":{"name":"g","args":null}}"#), STOP]);
    assert_eq!(calls(&none).iter().map(|call| call.1.as_str()).collect::<Vec<_>>(), ["{}", "{}"]);
}

#[test]
fn case_17_a_call_in_pieces_that_does_not_end_never_runs() {
    let begun = parts(r#"{"functionCall":{"name":"f","willContinue":true}}"#);
    let more = parts(r#"{"functionCall":{"partialArgs":[{"jsonPath":"$.a","stringValue":"x"}],"willContinue":true}}"#);
    for data in [vec![begun.as_str(), STOP], vec![begun.as_str(), more.as_str(), STOP]] {
        let message = read(&data);
        assert_eq!(message.tool_calls().next().unwrap().1.arguments.fault(), Some(agent_core::ArgumentFault::CutOff));
    }
    // Another call begins before it ended.
    let message = read(&[&begun, &more, &begun, &more, &more, STOP]);
    let texts: Vec<_> = message.tool_calls().map(|(_, call)| call.arguments.text()).collect();
    assert_eq!(texts, [r#"{"a":"x""#, r#"{"a":"xx""#]);
    let message = read(&[&begun, &more, &parts(r#"{"functionCall":{"name":"g","args":{}}}"#), STOP]);
    let faults: Vec<_> = message.tool_calls().map(|(_, call)| call.arguments.fault()).collect();
    assert_eq!(faults, [Some(agent_core::ArgumentFault::CutOff), None]);
}

#[test]
fn pieces_of_every_type_find_their_place() {
    let message = read(&[
        &parts(r#"{"functionCall":{"name":"f","id":"x","willContinue":true},"thoughtSignature":"c2ln"}"#),
        &parts(
            r#"{"functionCall":{"willContinue":true,"partialArgs":[{"jsonPath":"$.n","numberValue":1.50},
            {"jsonPath":"$.b","boolValue":false},{"jsonPath":"$['a b'][0][1]","nullValue":"NULL_VALUE"},
            {"jsonPath":"$.s","stringValue":"a\"","willContinue":true}]}}"#
                .replace('\n', "")
                .as_str(),
        ),
        &parts(r#"{"functionCall":{"partialArgs":[{"jsonPath":"$.s","stringValue":"é"}]}}"#),
        STOP,
    ]);
    let expected = r#"{"n":1.50,"b":false,"a b":[[null,null]],"s":"a\"é"}"#;
    assert_eq!(calls(&message), [("f".into(), expected.into(), Some("x".into()))]);
    let hostile = [
        r#"{"jsonPath":"$.a[99999999]","stringValue":""}"#.to_owned(),
        format!(r#"{{"jsonPath":"${}","stringValue":""}}"#, ".a".repeat(70)),
        r#"{"jsonPath":"$","stringValue":""}"#.to_owned(),
        r#"{"jsonPath":"$.a[x","stringValue":""}"#.to_owned(),
        r#"{"stringValue":""}"#.to_owned(),
    ];
    for piece in hostile {
        let data = parts(&format!(r#"{{"functionCall":{{"name":"f","partialArgs":[{piece}]}}}}"#));
        assert_eq!(decode([stream(&[&data, STOP])]).unwrap_err().kind(), Kind::Protocol, "{piece}");
    }
}

#[test]
fn what_stands_beside_the_parts_and_parts_without_a_name_are_kept() {
    let grounded =
        r#"{"candidates":[{"content":{"parts":[{"text":"Hi"}]},"groundingMetadata":{"webSearchQueries":["q"]}}]}"#;
    let again = grounded.replace("\"Hi\"", "\" you\"");
    let more = r#"{"candidates":[{"citationMetadata":{"citationSources":[]},"groundingMetadata":{"x":1.0},"finishReason":"STOP"}]}"#;
    let code = parts(r#"{"executableCode":{"code":"1+1"}, "thoughtSignature":"s"}"#);
    let message = read(&[grounded, &again, &code, more]);
    let found: Vec<String> = message
        .content
        .iter()
        .map(|block| match block {
            ContentBlock::Text(text) => text.text.clone(),
            ContentBlock::Opaque(block) => block.data().to_string(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(
        found,
        [
            "Hi you",
            r#"{"executableCode":{"code":"1+1"}, "thoughtSignature":"s"}"#,
            r#"{"groundingMetadata":{"webSearchQueries":["q"]}}"#,
            r#"{"groundingMetadata":{"x":1.0}}"#,
            r#"{"citationMetadata":{"citationSources":[]}}"#,
        ]
    );
}

#[test]
fn signatures_and_metadata_without_end_have_a_limit() {
    let signed = parts(r#"{"text":"a","thoughtSignature":"s"}"#);
    let mut data = vec![signed.as_str(); 200];
    data.push(STOP);
    let message = decode([stream(&data)]).unwrap();
    let texts: Vec<usize> = message.content.iter().map(|block| block.as_text().unwrap().len()).collect();
    assert_eq!(texts, [64, 64, 64, 8]);
    let values: Vec<String> =
        (0..300).map(|n| format!(r#"{{"candidates":[{{"groundingMetadata":{{"n":{n}}}}}]}}"#)).collect();
    let data: Vec<&str> = values.iter().map(String::as_str).chain([STOP]).collect();
    assert_eq!(decode([stream(&data)]).unwrap_err().kind(), Kind::Protocol);
}

#[test]
fn images_of_a_model_are_images() {
    let image = parts(r#"{"inlineData":{"mimeType":"image/png","data":"aGk="},"thoughtSignature":"s"}"#);
    let sound = parts(r#"{"inlineData":{"mimeType":"audio/pcm","data":"aGk="}}"#);
    let message = read(&[&image, &sound, STOP]);
    assert!(
        matches!(&message.content[0], ContentBlock::Image(image) if image.media_type.as_deref() == Some("image/png"))
    );
    assert_eq!(message.content.len(), 3);
    assert_eq!(serde_json::to_value(&message.content[1]).unwrap()["data"], json!({"thoughtSignature": "s"}));
}

#[test]
fn hostile_bytes_are_answers_or_errors_whatever_the_cut() {
    let call = r#"{"functionCall":{"name":"f","willContinue":true,"partialArgs":[{"jsonPath":"$.a[1].b","stringValue":"x"}]}}"#;
    let streams = [
        stream(&[&parts(r#"{"text":"Hé","thoughtSignature":"s"}"#), &parts(call), STOP]),
        stream(&[
            &parts(
                r#"{"functionCall":{"name":"f","args":{"a":[1,{"b":null}]}}},{"inlineData":{"mimeType":"image/png","data":"aGk="}}"#,
            ),
            STOP,
        ]),
        Bytes::from(format!("[{},{STOP}]", parts(r#"{"text":"Hi","thought":true}"#))),
    ];
    let (mut seed, mut answers, mut errors) = (1u64, 0, 0);
    let mut random = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(seed >> 33).unwrap() % below
    };
    for round in 0..2_000 {
        let mut bytes = streams[round % streams.len()].to_vec();
        for _ in 0..=random(3) {
            let at = random(bytes.len());
            match random(3) {
                0 => bytes[at] = b"{}[]\",:\\\n0x"[random(11)],
                1 => _ = bytes.remove(at),
                _ => bytes.insert(at, u8::try_from(random(256)).unwrap()),
            }
        }
        let bytes = Bytes::from(bytes);
        let whole = decode([bytes.clone()]).map_err(|e| e.kind());
        assert_eq!(decode(byte_pieces(&bytes)).map_err(|e| e.kind()), whole, "{bytes:?}");
        if whole.is_ok() { answers += 1 } else { errors += 1 }
    }
    assert!(answers > 100 && errors > 100, "{answers} {errors}");
}
