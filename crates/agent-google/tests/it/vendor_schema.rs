//! Contents of requests against the JSON Schema of the vendor's own types, where it lies beside the checkout.

use std::{fs, path::PathBuf};

use agent_core::{CallOptions, ContentBlock, DocumentBlock, ImageBlock, MediaSource, ToolResultMessage, UserMessage};
use agent_google::GoogleWire;
use serde_json::Value;

use crate::given::{MODEL, STOP, Talk, body, parts};

/// What is wrong with a value, in the small part of JSON Schema that the document uses.
fn faults(schema: &Value, value: &Value, root: &Value, at: &str) -> Vec<String> {
    if let Some(reference) = schema["$ref"].as_str() {
        return faults(&root["$defs"][reference.rsplit('/').next().unwrap()], value, root, at);
    }
    if let Some(choices) = schema["anyOf"].as_array() {
        let all: Vec<_> = choices.iter().map(|choice| faults(choice, value, root, at)).collect();
        return all.into_iter().min_by_key(Vec::len).unwrap();
    }
    let mut found = Vec::new();
    if schema["enum"].as_array().is_some_and(|all| !all.contains(value)) {
        found.push(format!("{at}: {value} is none of {}", schema["enum"]));
    }
    let fits = match schema["type"].as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("boolean") => value.is_boolean(),
        Some("integer") => value.is_i64(),
        Some("number") => value.is_number(),
        Some("null") => value.is_null(),
        _ => true,
    };
    if !fits {
        found.push(format!("{at}: {value} is no {}", schema["type"]));
    }
    for item in value.as_array().into_iter().flatten() {
        found.extend(faults(&schema["items"], item, root, &format!("{at}/-")));
    }
    for (name, inner) in value.as_object().into_iter().flatten().filter(|_| schema["additionalProperties"] != true) {
        match schema["properties"].get(name) {
            Some(schema) => found.extend(faults(schema, inner, root, &format!("{at}/{name}"))),
            None => found.push(format!("{at}: {name} is not known")),
        }
    }
    found
}

#[test]
fn contents_are_the_vendor_s_types() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/fixtures/vectors/schemas");
    let Ok(text) = fs::read_to_string(folder.join("gemini-content.json")) else {
        eprintln!("skipped: there is no {}", folder.display());
        return;
    };
    let schema: Value = serde_json::from_str(&text).unwrap();
    for wire in [GoogleWire::gemini(), GoogleWire::vertex("p", "global")] {
        let mut talk = Talk::new();
        let image = || ContentBlock::Image(ImageBlock::new(MediaSource::Base64("aGk=".into())).media_type("image/png"));
        let file =
            DocumentBlock::new(MediaSource::Url("https://example.com/a.pdf".into())).media_type("application/pdf");
        let id = talk.id();
        talk.push(UserMessage::new(id, vec![image(), ContentBlock::Document(file)]));
        let answer = talk.answers(
            &wire,
            &[
                &parts(r#"{"text":"Hm.","thought":true,"thoughtSignature":"dA=="}"#),
                &parts(r#"{"text":"Hi","thoughtSignature":"dA=="}"#),
                &parts(r#"{"functionCall":{"name":"f","args":{"a":[1]},"id":"x"},"thoughtSignature":"dA=="}"#),
                &parts(r#"{"functionCall":{"name":"f","args":"no object"}}"#),
                &parts(r#"{"executableCode":{"code":"1","language":"PYTHON"}}"#),
                &parts(r#"{"inlineData":{"mimeType":"image/png","data":"aGk="},"thoughtSignature":"dA=="}"#),
                STOP,
            ],
        );
        for (call, _) in answer.tool_calls() {
            let id = talk.id();
            talk.push(ToolResultMessage::new(id, call, "f", vec!["one".into(), image()]));
        }
        for model in [MODEL, "gemini-2.5-flash", "gemini-3.1-pro-preview"] {
            let sent = body(&wire, &talk.call(CallOptions::new(model)));
            let contents = sent["contents"].as_array().unwrap();
            assert_eq!(contents.len(), 3, "{model}");
            for content in contents {
                assert_eq!(faults(&schema, content, &schema, ""), Vec::<String>::new(), "{model}");
            }
        }
    }
    // It can tell.
    let wrong = serde_json::json!({"role": "user", "parts": [{"text": 7, "texts": "x"}]});
    assert_eq!(faults(&schema, &wrong, &schema, "").len(), 2);
}
