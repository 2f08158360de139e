//! Bodies of requests against the JSON Schema of the vendor's own types, where it lies beside the checkout.

use std::fs;

use agent_anthropic::AnthropicWire;
use agent_core::{
    Arguments, CallOptions, ContentBlock, DocumentBlock, Effort, ImageBlock, MediaSource, Message, OutputSchema,
    RawJson, Reasoning, StopReason, ThinkingBlock, ToolCall, ToolChoice, ToolResultMessage, ToolSet, ToolSpec, Wire,
};
use agent_testkit::schema_faults;
use serde_json::Value;

use crate::given::{Talk, body};

fn vendor() -> Option<Value> {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../shared/fixtures/vectors/schemas/anthropic-message-create-streaming.json"
    );
    match fs::read(path) {
        Ok(text) => Some(serde_json::from_slice(&text).unwrap()),
        Err(_) => {
            eprintln!("skipped: there is no {path}");
            None
        }
    }
}

fn talk() -> Talk {
    let mut talk = Talk::new();
    let image = ImageBlock::new(MediaSource::Base64("/9j/".into()));
    let pdf = DocumentBlock::new(MediaSource::Url("https://a.example/b.pdf".into())).name("B");
    let text = DocumentBlock::new(MediaSource::Base64("SGk=".into())).media_type("text/plain");
    talk.user(vec!["Look".into(), image.clone().into(), pdf.into(), text.into()]);
    let signed = ThinkingBlock::new("Hm").signature("sig").origin(talk.origin());
    let redacted = ThinkingBlock::new("").encrypted("EqQB").origin(talk.origin());
    let call = |id: &str| ContentBlock::from(ToolCall::new("read", Arguments::empty()).vendor_id(id));
    let asked = talk.assistant(
        vec![signed.into(), redacted.into(), "So".into(), call("toolu_1"), call("toolu_2")],
        StopReason::ToolUse,
    );
    let calls: Vec<_> = asked.tool_calls().map(|(id, _)| id).collect();
    let result = ToolResultMessage::new(talk.ids.message(0), calls[0], "read", vec!["a".into(), image.into()]);
    talk.transcript.append(Message::from(result)).unwrap();
    talk.transcript
        .append(Message::from(ToolResultMessage::error(talk.ids.message(0), calls[1], "read", "no")))
        .unwrap();
    talk.says("And?");
    talk
}

fn tools() -> ToolSet {
    let schema = RawJson::parse(r#"{"type":"object","properties":{"path":{"type":"string","minLength":1}}}"#).unwrap();
    ToolSet::new(vec![ToolSpec::new("read", "Reads.", schema).unwrap()]).unwrap()
}

#[test]
fn requests_are_what_the_vendors_types_allow() {
    let Some(schema) = vendor() else { return };
    let shape = || {
        OutputSchema::new(
            "answer",
            RawJson::parse(r#"{"type":"object","properties":{"n":{"type":"integer","minimum":1}}}"#).unwrap(),
        )
    };
    let mut full = CallOptions::new("claude-sonnet-5").system("Be brief.").system("Today is Monday.").max_output(4_000);
    full.stop_sequences = vec!["END".into()];
    full.parallel_calls = Some(false);
    let extras = r#"{"metadata":{"user_id":"u1"},"service_tier":"auto","speed":"fast","container":"c1",
        "tools":[{"type":"web_search_20260318","name":"web_search","max_uses":3}],"output_config":{"effort":"max"},
        "thinking":{"type":"between_tools"},"betas":["b1"]}"#;
    let mut with_extras = full.clone();
    with_extras.extras.insert("anthropic".into(), RawJson::parse(extras).unwrap());
    let all = [
        CallOptions::new("claude-sonnet-5"),
        full.clone(),
        with_extras,
        full.clone().reasoning(Reasoning::Effort(Effort::XHigh)).output_schema(shape()),
        full.clone().reasoning(Reasoning::Off).tool_choice(ToolChoice::Required),
        full.clone().tool_choice(ToolChoice::Tool("read".into())),
        full.clone().tool_choice(ToolChoice::Never),
        CallOptions::new("claude-haiku-4-5").reasoning(Reasoning::Budget(9_000)),
        CallOptions::new("claude-opus-4-1").output_schema(shape()),
    ];
    let talk = talk();
    for wire in [AnthropicWire::new(), AnthropicWire::new().strict_tools()] {
        for options in &all {
            let call = talk.call_with(options.clone()).tools(tools()).note("A note.");
            let json = body(&wire.encode(&call).unwrap());
            assert_eq!(schema_faults(&schema, &json), Vec::<String>::new(), "{options:?}\n{json:#}");
        }
    }
    // The judge is awake.
    let mut broken = body(&AnthropicWire::new().encode(&talk.call()).unwrap());
    broken["messages"][0]["content"][0]["txet"] = "x".into();
    assert!(!schema_faults(&schema, &broken).is_empty());
    broken["messages"] = serde_json::json!([{"role": "user", "content": [{"type": "text"}]}]);
    assert!(!schema_faults(&schema, &broken).is_empty());
}
