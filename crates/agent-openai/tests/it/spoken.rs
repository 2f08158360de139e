//! Calls and reasoning in the text of local models' answers.

use agent_core::{AssistantMessage, ContentBlock, StopReason};
use agent_openai::{ChatWire, Profile, TextSyntax};
use bytes::Bytes;
use serde_json::json;

use crate::given::decode_with;

/// An answer that says this text in pieces of so many letters.
fn said(text: &str, letters: usize, syntax: TextSyntax) -> AssistantMessage {
    let chars: Vec<char> = text.chars().collect();
    let mut body = String::new();
    for piece in chars.chunks(letters) {
        let piece: String = piece.iter().collect();
        body.push_str(&format!("data: {}\n\n", json!({"choices": [{"delta": {"content": piece}}]})));
    }
    body.push_str("data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n");
    let wire = ChatWire::of(Profile::compatible()).text_syntax(syntax);
    decode_with(&wire, [Bytes::from(body)]).unwrap()
}

/// Text, reasoning and calls, as one line each.
fn heard(message: &AssistantMessage) -> Vec<String> {
    let block = |block: &ContentBlock| match block {
        ContentBlock::Text(text) => format!("text {}", text.text),
        ContentBlock::Thinking(block) => format!("thought {}", block.text),
        ContentBlock::ToolCall(call) => format!("call {} {}", call.name, call.arguments.text()),
        other => panic!("{other:?}"),
    };
    message.content.iter().map(block).collect()
}

fn check(text: &str, expected: &[&str]) {
    for letters in 1..text.chars().count().max(2) {
        let message = said(text, letters, TextSyntax::ALL);
        assert_eq!(heard(&message), expected, "{text:?} in pieces of {letters}");
        let calls = expected.iter().any(|line| line.starts_with("call"));
        assert_eq!(message.stop_reason, if calls { StopReason::ToolUse } else { StopReason::EndTurn });
    }
}

#[test]
fn calls_in_the_words_of_every_template_are_calls() {
    let call = r#"call weather {"city": "Paris"}"#;
    check(
        "Let me look.\n<tool_call>\n{\"name\": \"weather\", \"arguments\": {\"city\": \"Paris\"}}\n</tool_call>",
        &["text Let me look.", call],
    );
    check(
        "<tool_call>{\"name\":\"a\",\"arguments\":{}}</tool_call>\n<tool_call>{\"name\":\"b\",\"arguments\":{}}</tool_call>",
        &["call a {}", "call b {}"],
    );
    check(
        "<tool_call>\n<function=write>\n<parameter=path>\na b.txt\n</parameter>\n<parameter=lines>\n3\n</parameter>\n</function>\n</tool_call>",
        &[r#"call write {"path":"a b.txt","lines":3}"#],
    );
    check("<function=weather>{\"city\": \"Paris\"}</function>", &[call]);
    check("[TOOL_CALLS][{\"name\": \"weather\", \"arguments\": {\"city\": \"Paris\"}}]", &[call]);
    check("[TOOL_CALLS]weather[ARGS]{\"city\": \"Paris\"}[TOOL_CALLS]now{}", &[call, "call now {}"]);
    check("<|python_tag|>{\"name\": \"weather\", \"parameters\": {\"city\": \"Paris\"}}<|eom_id|>", &[call]);
    check("{\"name\": \"weather\", \"parameters\": {\"city\": \"Paris\"}}", &[call]);
    check("{\"type\": \"function\", \"name\": \"weather\", \"parameters\": {\"city\": \"Paris\"}}", &[call]);
}

#[test]
fn reasoning_between_its_marks_is_reasoning() {
    check("<think>\nHm, <b>.\n</think>\n\nFour.", &["thought \nHm, <b>.\n", "text Four."]);
    check("<think>Hm.</think><tool_call>{\"name\":\"a\"}</tool_call>", &["thought Hm.", "call a {}"]);
    check("<think>Cut off", &["thought Cut off"]);
}

#[test]
fn what_is_no_call_stays_the_text_that_it_is() {
    for text in [
        "a < b and <tool",
        "<tool_call>not json</tool_call> and more",
        "<tool_call>{\"name\": 7}</tool_call>",
        "{\"name\": \"Paris\", \"n\": 7}",
        "{\"name\": \"Paris\"}",
        "{\"answer\": [1, 2]}",
        "[TOOL_CALLS] are what Mistral writes",
        "<|python_tag|>print(1)",
        "  padded  ",
    ] {
        for letters in 1..text.len() {
            let message = said(text, letters, TextSyntax::ALL);
            let heard: String = message.content.iter().filter_map(ContentBlock::as_text).collect();
            assert_eq!(heard, text, "in pieces of {letters}");
            assert_eq!(message.stop_reason, StopReason::EndTurn);
        }
    }
}

#[test]
fn nothing_is_looked_for_unless_it_is_asked_for() {
    let text = "<think>Hm.</think><tool_call>{\"name\":\"a\",\"arguments\":{}}</tool_call>";
    let plain = decode_with(
        &ChatWire::of(Profile::compatible()),
        [Bytes::from(format!(
            "data: {}\n\ndata: {}\n\n",
            json!({"choices": [{"delta": {"content": text}}]}),
            json!({"choices": [{"delta": {}, "finish_reason": "stop"}]}),
        ))],
    )
    .unwrap();
    assert_eq!(heard(&plain), [format!("text {text}")]);
    assert_eq!(heard(&said(text, 5, TextSyntax::CALLS)), ["text <think>Hm.</think>", "call a {}"]);
    let thinking = heard(&said(text, 5, TextSyntax::THINKING));
    assert_eq!(thinking, ["thought Hm.", "text <tool_call>{\"name\":\"a\",\"arguments\":{}}</tool_call>"]);
}
