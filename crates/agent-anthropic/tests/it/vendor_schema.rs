//! Bodies of requests against the JSON Schema of the vendor's own types, where it lies beside the checkout.

use std::fs;

use agent_anthropic::AnthropicWire;
use agent_core::{
    Arguments, CallOptions, ContentBlock, DocumentBlock, Effort, ImageBlock, MediaSource, Message, OutputSchema,
    RawJson, Reasoning, StopReason, ThinkingBlock, ToolCall, ToolChoice, ToolResultMessage, ToolSet, ToolSpec, Wire,
};
use serde_json::Value;

use crate::given::{Talk, body};

/// What is wrong with a value, in the small part of JSON Schema that these documents use. Unlike the standard's, a
/// property that an object does not list is a fault.
fn faults(schema: &Value, value: &Value, root: &Value, at: &str) -> Vec<String> {
    if schema["$ref"].is_string() {
        return faults(resolve(schema, root), value, root, at);
    }
    if let Some(choices) = schema["anyOf"].as_array() {
        let sent = |choice: &&Value| !is_of_answers(resolve(choice, root));
        let all: Vec<_> = choices.iter().filter(sent).map(|choice| faults(choice, value, root, at)).collect();
        return match all.iter().any(Vec::is_empty) {
            true => Vec::new(),
            false => all.into_iter().min_by_key(Vec::len).unwrap(),
        };
    }
    let mut found = Vec::new();
    if schema.get("const").is_some_and(|expected| expected != value) {
        found.push(format!("{at}: {value} is not {}", schema["const"]));
    }
    if schema["enum"].as_array().is_some_and(|all| !all.contains(value)) {
        found.push(format!("{at}: {value} is none of {}", schema["enum"]));
    }
    let fits = match schema["type"].as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("boolean") => value.is_boolean(),
        Some("integer") => value.is_u64(),
        Some("null") => value.is_null(),
        _ => true,
    };
    if !fits {
        found.push(format!("{at}: {value} is no {}", schema["type"]));
    }
    for item in value.as_array().into_iter().flatten().filter(|_| schema.get("items").is_some()) {
        found.extend(faults(&schema["items"], item, root, &format!("{at}/-")));
    }
    for name in schema["required"].as_array().into_iter().flatten() {
        if value.is_object() && value.get(name.as_str().unwrap()).is_none() {
            found.push(format!("{at}: {name} is missing"));
        }
    }
    for (name, inner) in value.as_object().into_iter().flatten().filter(|_| schema["additionalProperties"] != true) {
        match schema["properties"].get(name) {
            Some(schema) => found.extend(faults(schema, inner, root, &format!("{at}/{name}"))),
            None if schema["properties"].is_object() => found.push(format!("{at}: {name} is not known")),
            None => {}
        }
    }
    found
}

fn resolve<'a>(schema: &'a Value, root: &'a Value) -> &'a Value {
    let target = schema["$ref"].as_str().and_then(|name| name.strip_prefix('#'));
    target.map_or(schema, |pointer| root.pointer(pointer).unwrap())
}

/// The types of a request also take the blocks of answers, which allow any property.
fn is_of_answers(schema: &Value) -> bool {
    let tag = schema["properties"]["type"]["const"].as_str();
    schema["additionalProperties"] == true && tag.is_some_and(|tag| tag != "object")
}

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
            assert_eq!(faults(&schema, &json, &schema, ""), Vec::<String>::new(), "{options:?}\n{json:#}");
        }
    }
    // The judge is awake.
    let mut broken = body(&AnthropicWire::new().encode(&talk.call()).unwrap());
    broken["messages"][0]["content"][0]["txet"] = "x".into();
    assert!(!faults(&schema, &broken, &schema, "").is_empty());
    broken["messages"] = serde_json::json!([{"role": "user", "content": [{"type": "text"}]}]);
    assert!(!faults(&schema, &broken, &schema, "").is_empty());
}
