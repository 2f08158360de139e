//! Histories of others, in and out.

use agent_core::{
    Arguments, AssistantMessage, CallId, ContentBlock, DocumentBlock, IdSource, ImageBlock, MediaSource, Message,
    NoteMessage, Origin, Repair, StopReason, ThinkingBlock, ToolCall, ToolResultMessage, UserMessage,
};
use agent_session::{
    ExchangeError, ExportFormat, Foreign, Loss, anthropic_messages, openai_messages, read_anthropic_messages,
    read_openai_messages,
};
use proptest::prelude::{Strategy, prop_oneof};
use serde_json::{Value, json};

use crate::{
    given::{block_on, ids, in_memory},
    story,
};

fn openai(text: &str) -> Foreign {
    read_openai_messages(text, &mut ids()).unwrap()
}

fn anthropic(text: &str) -> Foreign {
    read_anthropic_messages(text, &mut ids()).unwrap()
}

fn lost(losses: &[Loss]) -> Vec<String> {
    losses.iter().map(ToString::to_string).collect()
}

/// In and out again: the same JSON.
fn same_openai(value: &Value) {
    let foreign = openai(&value.to_string());
    assert_eq!(lost(&foreign.losses), [""; 0]);
    let out = openai_messages(&foreign.messages).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&out.text).unwrap(), *value);
    assert_eq!(lost(&out.losses), [""; 0]);
}

fn same_anthropic(value: &Value) {
    let foreign = anthropic(&value.to_string());
    assert_eq!(lost(&foreign.losses), [""; 0]);
    let out = anthropic_messages(&foreign.messages).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&out.text).unwrap(), *value);
    assert_eq!(lost(&out.losses), [""; 0]);
}

#[test]
fn an_openai_history_comes_back_as_it_was() {
    same_openai(&json!([
        {"role": "user", "content": [
            {"type": "text", "text": "What is this?"},
            {"type": "image_url", "image_url": {"url": "data:image/jpeg;base64,AAAA"}},
            {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}},
            {"type": "file", "file": {"file_data": "data:application/pdf;base64,BBBB", "filename": "a.pdf"}},
            {"type": "file", "file": {"file_id": "file-1"}},
        ]},
        {"role": "assistant", "content": null, "tool_calls": [
            {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": "{\"b\":1e0,\"a\":[1.50]}"}},
            {"id": "call_2", "type": "function", "function": {"name": "look", "arguments": "{}"}},
        ]},
        {"role": "tool", "tool_call_id": "call_1", "content": "a cat"},
        {"role": "tool", "tool_call_id": "call_2", "content": "a dog"},
        {"role": "assistant", "content": "A cat and a dog."},
    ]));
}

#[test]
fn an_anthropic_history_comes_back_as_it_was() {
    same_anthropic(&json!([
        {"role": "user", "content": [
            {"type": "text", "text": "What is this?"},
            {"type": "image", "source": {"type": "base64", "media_type": "image/jpeg", "data": "AAAA"}},
            {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}},
            {"type": "document", "source": {"type": "file", "file_id": "file_1"}, "title": "a.pdf"},
        ]},
        {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "Let me look.", "signature": "c2ln"},
            {"type": "redacted_thinking", "data": "ZW5j"},
            {"type": "text", "text": "I look."},
            {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {"b": 1, "a": [1.5]}},
            {"type": "tool_use", "id": "toolu_2", "name": "look", "input": {}},
        ]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "toolu_1", "content": [
                {"type": "text", "text": "a cat"},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "CCCC"}},
            ]},
            {"type": "tool_result", "tool_use_id": "toolu_2", "content": [{"type": "text", "text": "gone"}], "is_error": true},
            {"type": "text", "text": "And now?"},
        ]},
        {"role": "assistant", "content": [{"type": "text", "text": "A cat."}]},
    ]));
}

#[test]
fn request_bodies_are_read_too_with_their_system_prompts() {
    let body = json!({"model": "gpt-5", "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "developer", "content": [{"type": "text", "text": "Be kind."}]},
        {"role": "user", "content": "Hello"},
    ]});
    let foreign = openai(&body.to_string());
    assert_eq!(foreign.system.as_deref(), Some("Be brief.\n\nBe kind."));
    assert_eq!(foreign.messages.len(), 1);

    let body = json!({"model": "claude-x", "system": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}],
        "messages": [{"role": "user", "content": "Hello"},
            {"role": "assistant", "content": [{"type": "thinking", "thinking": "Hm", "signature": "s"}]}]});
    let foreign = anthropic(&body.to_string());
    assert_eq!(foreign.system.as_deref(), Some("Be brief."));
    let ContentBlock::Thinking(thinking) = &foreign.messages[1].content()[0] else { panic!("no reasoning") };
    assert_eq!(thinking.origin, Some(Origin::new("anthropic-messages", "anthropic", "claude-x")));
}

#[test]
fn what_openai_has_no_place_for_is_named() {
    let mut ids = IdSource::seeded(3);
    let (asked, answered) = (ids.message(0), ids.message(0));
    let document = DocumentBlock::new(MediaSource::Url("https://example.com/a.pdf".into()));
    let thinking = ThinkingBlock::new("Hm").signature("s").origin(Origin::new("anthropic-messages", "anthropic", "x"));
    let image = ImageBlock::new(MediaSource::Base64("AAAA".into()));
    let call = ToolCall::new("look", Arguments::from_text("{\"cut"));
    let answer = vec![ContentBlock::Thinking(thinking), call.into()];
    let mut result = ToolResultMessage::new(ids.message(0), CallId::new(answered, 1), "look", vec!["seen".into()]);
    result.content.push(ContentBlock::Image(image));
    result.is_error = true;
    let messages: Vec<Message> = vec![
        UserMessage::new(asked, vec!["Look".into(), ContentBlock::Document(document)]).into(),
        AssistantMessage::new(answered, answer, StopReason::ToolUse).into(),
        result.into(),
        NoteMessage::new(ids.message(0), "bookmark").into(),
        NoteMessage::new(ids.message(0), "summary").content(vec!["You looked.".into()]).into(),
    ];
    let out = openai_messages(&messages).unwrap();
    assert_eq!(
        lost(&out.losses),
        [
            "message 0: a document, which has no place there",
            "message 1: reasoning, which has no place there",
            "message 2: the mark of a tool that failed",
            "message 2: an image, which has no place there",
            "message 3: a note of the kind `bookmark`, which models are not shown",
            "message 4: that this is a note of the kind `summary`",
        ]
    );
    let id = CallId::new(answered, 1).to_string();
    let expected = json!([
        {"role": "user", "content": "Look"},
        {"role": "assistant", "content": null, "tool_calls": [
            {"id": id, "type": "function", "function": {"name": "look", "arguments": "{\"invalidArguments\":\"{\\\"cut\"}"}}]},
        {"role": "tool", "tool_call_id": id, "content": "seen"},
        {"role": "user", "content": "You looked."},
    ]);
    assert_eq!(serde_json::from_str::<Value>(&out.text).unwrap(), expected);

    let out = anthropic_messages(&messages).unwrap();
    assert_eq!(
        lost(&out.losses),
        [
            "message 3: a note of the kind `bookmark`, which models are not shown",
            "message 4: that this is a note of the kind `summary`",
        ]
    );
}

#[test]
fn what_is_not_known_is_named_and_left_out() {
    let foreign = openai(
        r#"[{"role":"user","content":[{"type":"input_audio","input_audio":{}}],"name":"Ann"},
            {"role":"critic","content":"No"},
            {"role":"tool","tool_call_id":"x","content":"y"},
            {"role":"assistant","content":"A","tool_calls":[{"id":"1","type":"custom","custom":{}}],"audio":{"id":"a"}},
            {"role":"system","content":"Later"}]"#,
    );
    assert_eq!(
        lost(&foreign.losses),
        [
            "message 0: a part of the type `input_audio`",
            "message 0: the name of the user",
            "message 1: the whole message: its role is `critic`",
            "message 2: the result of `x`, which nobody called",
            "message 3: audio",
            "message 3: a tool call that is no function",
            "message 4: the rank of a later system message: it is a note",
        ]
    );
    let foreign = anthropic(
        r#"[{"role":"user","content":[{"type":"search_result","source":"x"},{"type":"hologram"}]},
            {"role":"system","content":"No"},
            {"role":"assistant","content":[{"type":"server_tool_use","id":"1","name":"web_search","input":{"q":1e0}}]}]"#,
    );
    assert_eq!(foreign.losses.len(), 3, "{:?}", foreign.losses);
    let ContentBlock::Opaque(kept) = &foreign.messages[0].content()[0] else { panic!("kept as it is") };
    assert!(kept.data().get().contains("1e0"));
}

#[test]
fn old_functions_refusals_and_reasoning_of_openai_are_read() {
    let foreign = openai(
        r#"[{"role":"assistant","content":null,"function_call":{"name":"f","arguments":"{}"}},
            {"role":"function","name":"f","content":"1"},
            {"role":"assistant","content":null,"refusal":"I will not."},
            {"role":"assistant","content":"4","reasoning_content":"2 and 2"}]"#,
    );
    assert_eq!(lost(&foreign.losses), [""; 0]);
    let Message::ToolResult(result) = &foreign.messages[1] else { panic!("a result") };
    assert_eq!(result.call, CallId::new(foreign.messages[0].id(), 0));
    let Message::Assistant(refused) = &foreign.messages[2] else { panic!("an answer") };
    assert_eq!((&refused.stop_reason, refused.content[0].as_text()), (&StopReason::Refusal, Some("I will not.")));
    assert!(
        matches!(&foreign.messages[3].content()[0], ContentBlock::Thinking(thinking) if thinking.text == "2 and 2")
    );
}

#[test]
fn what_is_no_array_of_messages_is_refused() {
    for text in ["", "{}", "[1]", r#"[{"content":"x"}]"#, "\"x\"", r#"{"messages":{}}"#] {
        assert!(matches!(read_openai_messages(text, &mut ids()), Err(ExchangeError::Format { .. })), "{text}");
        assert!(matches!(read_anthropic_messages(text, &mut ids()), Err(ExchangeError::Format { .. })), "{text}");
    }
}

#[test]
fn an_import_is_repaired_and_can_be_gone_on_with() {
    block_on(async {
        let text = r#"[{"role":"user","content":"Go"},
            {"role":"assistant","content":null,"tool_calls":[{"id":"1","function":{"name":"f","arguments":"{}"}}]},
            {"role":"user","content":"Well?"}]"#;
        let session = in_memory().await;
        let repairs = session.import(openai(text).messages).await.unwrap();
        assert!(matches!(repairs[..], [Repair::AnsweredCall { .. }]), "{repairs:?}");
        let out = session.export(ExportFormat::OpenAi).await.unwrap();
        let messages: Vec<Value> = serde_json::from_str(&out.text).unwrap();
        let roles: Vec<&str> = messages.iter().map(|message| message["role"].as_str().unwrap()).collect();
        assert_eq!(roles, ["user", "assistant", "tool", "user"]);
        // Behind what is there already.
        session.import(openai(r#"[{"role":"user","content":"More"}]"#).messages).await.unwrap();
        assert_eq!(session.path().iter().filter(|entry| &*entry.kind == "conversationStarted").count(), 1);
    });
}

#[test]
fn a_path_becomes_markdown_that_nothing_breaks_out_of() {
    block_on(async {
        let session = in_memory().await;
        let mut story = story::Story::new(&session);
        story.asked(vec!["Show me fences".into()]).await;
        let calls = story.answered(vec![story::call("cat", r#"{"file":"a`b"}"#)]).await;
        story.did(calls[0], "````\nfour\n````\n# not a title".into()).await;
        story.answered(vec![ContentBlock::Thinking(ThinkingBlock::new("one\ntwo")), "Here.".into()]).await;
        let text = session.export(ExportFormat::Markdown).await.unwrap().text;
        let (_, text) = text.split_once("\n\n").unwrap();
        let (_, text) = text.split_once('\n').unwrap();
        assert_eq!(
            text,
            "\n## User\n\nShow me fences\n\n## Assistant (claude-sonnet-5)\n\nCalls `cat`:\n\n\
             ```json\n{\"file\":\"a`b\"}\n```\n\n## Result of `cat`\n\n\
             `````\n````\nfour\n````\n# not a title\n`````\n\n\
             ## Assistant (claude-sonnet-5)\n\n> one\n> two\n\nHere.\n"
        );
    });
}

#[test]
fn the_names_of_formats_are_read() {
    for format in ExportFormat::ALL {
        assert_eq!(format.as_str().parse(), Ok(format));
    }
    let error = "pdf".parse::<ExportFormat>().unwrap_err();
    assert_eq!(error.to_string(), "`pdf` is no format; there are openai, anthropic, markdown, html");
}

#[test]
fn names_of_calls_that_meet_are_told_apart() {
    let history = json!([
        {"role": "user", "content": "Go"},
        {"role": "assistant", "content": null, "tool_calls": [{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "1", "content": "first"},
        {"role": "assistant", "content": null, "tool_calls": [{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "1", "content": "second"},
    ]);
    let out = openai_messages(&openai(&history.to_string()).messages).unwrap();
    let messages: Vec<Value> = serde_json::from_str(&out.text).unwrap();
    let (first, second) = (&messages[2]["tool_call_id"], &messages[4]["tool_call_id"]);
    assert_ne!(first, second);
    assert_eq!(*second, messages[3]["tool_calls"][0]["id"]);
}

/// Turns as any vendor writes them.
fn turns() -> impl Strategy<Value = Vec<Value>> {
    let text = "[a-z<>&\"'`\\\\ \n]{1,20}";
    let talk = text.prop_map(|text| vec![json!({"role": "assistant", "content": text})]);
    let work = (text, text).prop_map(|(argument, output)| {
        let arguments = json!({"a": argument}).to_string();
        let call = json!({"id": "0", "type": "function", "function": {"name": "f", "arguments": arguments}});
        vec![
            json!({"role": "assistant", "content": null, "tool_calls": [call]}),
            json!({"role": "tool", "tool_call_id": "0", "content": output}),
        ]
    });
    let turn = (text, prop_oneof![talk, work]).prop_map(|(asked, mut answer)| {
        answer.insert(0, json!({"role": "user", "content": asked}));
        answer
    });
    proptest::collection::vec(turn, 1..6).prop_map(|turns| {
        let mut messages = turns.concat();
        // Each call of a history has a name of its own.
        let mut number = 0;
        for message in &mut messages {
            if message["tool_calls"].is_array() {
                number += 1;
                message["tool_calls"][0]["id"] = json!(format!("call_{number}"));
            } else if message["role"] == "tool" {
                message["tool_call_id"] = json!(format!("call_{number}"));
            }
        }
        messages
    })
}

proptest::proptest! {
    #[test]
    fn any_history_comes_back_through_a_session_and_through_the_other_format(messages in turns()) {
        let text = Value::from(messages.clone()).to_string();
        block_on(async {
            let session = in_memory().await;
            assert_eq!(session.import(openai(&text).messages).await.unwrap(), []);
            let out = session.export(ExportFormat::OpenAi).await.unwrap();
            assert_eq!(serde_json::from_str::<Vec<Value>>(&out.text).unwrap(), messages);
            let across = session.export(ExportFormat::Anthropic).await.unwrap();
            let back = openai_messages(&anthropic(&across.text).messages).unwrap();
            // A text that nobody sees is none at Anthropic.
            if messages.iter().all(|message| message["content"].as_str().is_none_or(|text| !text.trim().is_empty())) {
                assert_eq!(serde_json::from_str::<Vec<Value>>(&back.text).unwrap(), messages);
                assert_eq!((across.losses, back.losses), (Vec::new(), Vec::new()));
            }
        });
    }

    #[test]
    fn no_text_makes_a_panic(text in "[\\[\\]{}\":,a-z0-9 ]{0,80}") {
        _ = read_openai_messages(&text, &mut ids());
        _ = read_anthropic_messages(&text, &mut ids());
        _ = agent_session::PiFile::parse(&text);
    }
}
