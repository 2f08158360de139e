//! Options of a call as fields of the request, by model and revision.

use agent_anthropic::{ALWAYS_THINKS, AnthropicWire, BUDGET_THINKING, NO_FORCED_TOOL, Revision, facts_of};
use agent_core::{
    CallOptions, Effort, OutputSchema, ProviderErrorKind as Kind, RawJson, Reasoning, TokenBound, ToolChoice, ToolSet,
    ToolSpec, Wire,
};
use serde_json::{Value, json};

use crate::given::{Talk, request};

fn raw(text: &str) -> RawJson {
    RawJson::parse(text).unwrap()
}

fn tools(names: &[&str]) -> ToolSet {
    let spec = |name: &&str| ToolSpec::new(*name, "A tool.", raw(r#"{"type":"object"}"#)).unwrap();
    ToolSet::new(names.iter().map(spec).collect()).unwrap()
}

fn call(options: CallOptions, names: &[&str]) -> agent_core::ModelCall {
    let mut talk = Talk::new();
    talk.says("Hi");
    talk.call_with(options).tools(tools(names))
}

/// The fields of a request besides messages and tools, and the losses.
fn fields(wire: &AnthropicWire, options: CallOptions, names: &[&str]) -> (Value, Vec<String>) {
    let (mut json, losses) = request(wire, &call(options, names));
    let map = json.as_object_mut().unwrap();
    ["messages", "tools", "model", "stream", "system"].iter().for_each(|name| _ = map.remove(*name));
    (json, losses)
}

fn options(model: &str) -> CallOptions {
    CallOptions::new(model).max_output(9_000)
}

#[test]
fn effort_and_budget_follow_the_model() {
    let thinks = |model: &str, reasoning| fields(&AnthropicWire::new(), options(model).reasoning(reasoning), &[]);
    let adaptive = |effort: &str| {
        let config = json!({"effort": effort});
        json!({"max_tokens": 9000, "thinking": {"type": "adaptive"}, "output_config": config})
    };
    let budget = |tokens: u64| json!({"max_tokens": 9000, "thinking": {"type": "enabled", "budget_tokens": tokens}});
    let nothing = json!({"max_tokens": 9000});
    let off = json!({"max_tokens": 9000, "thinking": {"type": "disabled"}});
    let cases = [
        ("claude-sonnet-5", Reasoning::Default, nothing.clone(), 0),
        ("claude-sonnet-5", Reasoning::Off, off, 0),
        ("claude-sonnet-5", Reasoning::Effort(Effort::Minimal), adaptive("low"), 0),
        ("claude-sonnet-5", Reasoning::Effort(Effort::XHigh), adaptive("xhigh"), 0),
        ("claude-sonnet-5", Reasoning::Effort(Effort::Max), adaptive("max"), 0),
        ("claude-opus-4-6", Reasoning::Effort(Effort::XHigh), adaptive("high"), 1),
        ("claude-sonnet-5", Reasoning::Budget(3_000), adaptive("medium"), 1),
        ("claude-opus-5-5", Reasoning::Off, nothing.clone(), 1),
        ("claude-haiku-4-5", Reasoning::Effort(Effort::Medium), budget(4_096), 0),
        ("claude-haiku-4-5", Reasoning::Budget(10), budget(1_024), 0),
        ("claude-haiku-4-5", Reasoning::Budget(50_000), budget(7_976), 1),
        ("claude-3-haiku-20240307", Reasoning::Effort(Effort::High), nothing, 1),
    ];
    for (model, reasoning, expected, lost) in cases {
        let (got, losses) = thinks(model, reasoning);
        assert_eq!((got, losses.len()), (expected, lost), "{model} {reasoning:?}: {losses:?}");
    }
}

#[test]
fn a_budget_leaves_room_for_the_answer_and_keeps_the_callers_limit() {
    let max = |options: CallOptions| {
        let (json, losses) = fields(&AnthropicWire::new(), options.reasoning(Reasoning::Budget(60_000)), &[]);
        (json["max_tokens"].as_u64().unwrap(), json["thinking"]["budget_tokens"].as_u64(), losses.len())
    };
    assert_eq!(max(CallOptions::new("claude-haiku-4-5")), (61_024, Some(60_000), 0));
    assert_eq!(max(CallOptions::new("claude-haiku-4-5").max_output(5_000)), (5_000, Some(3_976), 1));
    assert_eq!(max(CallOptions::new("claude-haiku-4-5").max_output(2_000)), (2_000, None, 1));
}

#[test]
fn the_longest_answer_is_the_callers_the_models_or_a_default() {
    let max = |wire: &AnthropicWire, options| fields(wire, options, &[]).0["max_tokens"].as_u64().unwrap();
    let wire = AnthropicWire::new();
    assert_eq!(max(&wire, CallOptions::new("claude-sonnet-5")), 64_000);
    assert_eq!(max(&wire, CallOptions::new("claude-sonnet-5").max_output(128_000)), 128_000, "a guess limits nothing");
    let mut facts = facts_of("anthropic", "claude-sonnet-5");
    facts.max_output = Some(10_000);
    let knowing = AnthropicWire::new().model(facts.clone());
    assert_eq!(max(&knowing, CallOptions::new("claude-sonnet-5").max_output(128_000)), 10_000);
    facts.max_output = None;
    assert_eq!(max(&AnthropicWire::new().model(facts), CallOptions::new("claude-sonnet-5")), 8_192);
}

#[test]
fn names_tell_family_and_version() {
    let of = |model: &str| facts_of("anthropic", model);
    let has = |model: &str, quirk: &str| of(model).quirks.iter().any(|known| known == quirk);
    for old in [
        "claude-3-5-sonnet-20241022",
        "claude-haiku-4-5@20251001",
        "claude-opus-4-20250514",
        "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
    ] {
        assert!(has(old, BUDGET_THINKING), "{old}");
    }
    for new in ["claude-opus-4-6", "claude-sonnet-5[1m]", "anthropic/claude-sonnet-4.6", "my-model", "claude-next"] {
        assert!(!has(new, BUDGET_THINKING) && of(new).abilities.structured_output, "{new}");
    }
    assert!(
        !of("claude-opus-4-20250514").abilities.structured_output && of("claude-opus-4-5").abilities.structured_output
    );
    assert!(has("claude-fable-5-1", NO_FORCED_TOOL) && has("claude-opus-5-5", ALWAYS_THINKS));
    assert!(!has("claude-fable-5", NO_FORCED_TOOL) && !has("claude-sonnet-5-5", NO_FORCED_TOOL));
}

#[test]
fn sampling_goes_where_the_revision_and_the_model_have_it() {
    let ask = |wire: &AnthropicWire, model: &str, temperature: f64, reasoning| {
        let mut options = options(model).temperature(temperature).reasoning(reasoning);
        (options.top_p, options.seed) = (Some(0.5), Some(1));
        let (json, losses) = fields(wire, options, &[]);
        (json.get("temperature").and_then(Value::as_f64), json.get("top_p").is_some(), losses.len())
    };
    let (new, old) = (AnthropicWire::new(), AnthropicWire::new().revision(Revision::V2023_06_01));
    let think = Reasoning::Effort(Effort::Low);
    assert_eq!(ask(&new, "claude-haiku-4-5", 0.2, Reasoning::Default), (None, false, 3));
    assert_eq!(ask(&old, "claude-haiku-4-5", 0.2, Reasoning::Default), (Some(0.2), false, 2));
    assert_eq!(ask(&old, "claude-haiku-4-5", 1.5, Reasoning::Default), (Some(1.0), false, 3));
    assert_eq!(ask(&old, "claude-haiku-4-5", f64::NAN, Reasoning::Default), (Some(1.0), false, 3));
    assert_eq!(ask(&old, "claude-haiku-4-5", 0.2, think), (None, false, 3));
    assert_eq!(ask(&old, "claude-opus-5", 0.2, Reasoning::Default), (None, false, 3));
}

#[test]
fn tool_choice_and_the_parallel_switch() {
    let ask = |model: &str, choice: ToolChoice, parallel| {
        let mut options = options(model).tool_choice(choice);
        options.parallel_calls = parallel;
        let (json, losses) = fields(&AnthropicWire::new(), options, &["read"]);
        (json.get("tool_choice").cloned().unwrap_or_default(), losses.len())
    };
    let read = || ToolChoice::Tool("read".into());
    let cases = [
        ("claude-sonnet-5", ToolChoice::Auto, None, Value::Null, 0),
        ("claude-sonnet-5", ToolChoice::Auto, Some(true), Value::Null, 0),
        (
            "claude-sonnet-5",
            ToolChoice::Auto,
            Some(false),
            json!({"type": "auto", "disable_parallel_tool_use": true}),
            0,
        ),
        ("claude-sonnet-5", ToolChoice::Never, Some(false), json!({"type": "none"}), 0),
        ("claude-sonnet-5", ToolChoice::Required, None, json!({"type": "any"}), 0),
        (
            "claude-sonnet-5",
            read(),
            Some(false),
            json!({"type": "tool", "name": "read", "disable_parallel_tool_use": true}),
            0,
        ),
        ("claude-fable-5-1", read(), None, Value::Null, 1),
    ];
    for (model, choice, parallel, expected, lost) in cases {
        assert_eq!(ask(model, choice.clone(), parallel), (expected, lost), "{model} {choice:?} {parallel:?}");
    }
    let none = call(options("claude-sonnet-5").tool_choice(ToolChoice::Required), &[]);
    assert_eq!(AnthropicWire::new().encode(&none).unwrap_err().kind(), Kind::InvalidRequest);
    assert_eq!(
        fields(&AnthropicWire::new(), options("claude-sonnet-5").tool_choice(ToolChoice::Never), &[]).1.len(),
        0
    );
}

#[test]
fn a_forced_call_switches_thinking_off_and_says_so() {
    let ask = |model: &str, reasoning| {
        let options = options(model).tool_choice(ToolChoice::Required).reasoning(reasoning);
        let (json, losses) = fields(&AnthropicWire::new(), options, &["read"]);
        (json["thinking"]["type"].as_str().map(str::to_owned), json.get("output_config").is_some(), losses.len())
    };
    let off = || Some("disabled".to_owned());
    assert_eq!(ask("claude-sonnet-5", Reasoning::Effort(Effort::High)), (off(), false, 1));
    assert_eq!(ask("claude-sonnet-5", Reasoning::Default), (off(), false, 0), "models of today may think unasked");
    assert_eq!(ask("claude-haiku-4-5", Reasoning::Budget(2_000)), (None, false, 1));
}

#[test]
fn the_shape_of_an_answer_is_enforced_or_forced() {
    let shape = |schema: &str| OutputSchema::new("answer", raw(schema));
    let object = r#"{"type":"object","properties":{"n":{"type":"integer","minimum":1}}}"#;
    let recursive = r##"{"type":"object","properties":{"next":{"$ref":"#"}}}"##;
    let native = options("claude-sonnet-5").output_schema(shape(object)).reasoning(Reasoning::Effort(Effort::Low));
    // A tool of the same name is any other tool.
    let (json, losses) = fields(&AnthropicWire::new(), native, &["answer"]);
    assert_eq!(json["output_config"]["effort"], "low");
    assert_eq!(json["output_config"]["format"]["type"], "json_schema");
    assert_eq!(json["output_config"]["format"]["schema"]["additionalProperties"], false);
    assert_eq!((json.get("tool_choice"), losses.len()), (None, 1));

    for (model, schema) in [("claude-opus-4-1", object), ("claude-sonnet-5", recursive)] {
        let (json, losses) =
            request(&AnthropicWire::new(), &call(options(model).output_schema(shape(schema)), &["read"]));
        assert_eq!(json["tool_choice"], json!({"type": "tool", "name": "answer"}), "{model}");
        assert_eq!(json["tools"][1]["input_schema"], serde_json::from_str::<Value>(schema).unwrap());
        assert!(losses.iter().any(|loss| loss.contains("call of the tool `answer`")), "{losses:?}");
    }
    let refused = call(options("claude-fable-5-1").output_schema(shape(recursive)), &[]);
    assert_eq!(AnthropicWire::new().encode(&refused).unwrap_err().kind(), Kind::Unsupported);
}

#[test]
fn extras_of_the_provider_ride_in_the_request() {
    let mut options = options("claude-sonnet-5");
    options.stop_sequences = vec!["END".into(), " ".into()];
    let text = r#"{"service_tier":"auto","metadata":{"user_id":"u1"},"betas":["b1","b2"],"tool_choice":{"type":"none"},
        "tools":[{"type":"web_search_20260318","name":"web_search"}]}"#;
    options.extras.insert("anthropic".into(), raw(text));
    options.extras.insert("openai".into(), raw(r#"{"store":true}"#));
    let wire = AnthropicWire::new().beta("b0").beta("b1");
    let call = call(options.clone(), &["read"]);
    let (json, losses) = request(&wire, &call);
    assert_eq!((&json["service_tier"], &json["metadata"]["user_id"]), (&json!("auto"), &json!("u1")));
    assert_eq!((&json["tool_choice"], &json["stop_sequences"]), (&json!({"type": "none"}), &json!(["END"])));
    assert_eq!(json["tools"][1], json!({"type": "web_search_20260318", "name": "web_search"}));
    assert_eq!((json.get("betas"), json.get("store"), losses.len()), (None, None, 1));
    let encoded = wire.encode(&call).unwrap();
    assert_eq!(encoded.parts.headers["anthropic-beta"], "b0,b1,b2");
    assert_eq!(encoded.overhead, TokenBound::Unknown, "the vendor runs a tool of its own");
    for text in [r#"{"model":"x"}"#, r#"{"messages":[]}"#, "[]"] {
        options.extras.insert("anthropic".into(), raw(text));
        let error = wire.encode(&self::call(options.clone(), &[])).unwrap_err();
        assert_eq!(error.kind(), Kind::InvalidRequest, "{text}");
    }
}

#[test]
fn losses_of_tools_are_told_with_every_request() {
    let schema = raw(r#"{"type":"object","anyOf":[{"properties":{"a":{"type":"string","maxLength":3}}}]}"#);
    let set = ToolSet::new(vec![ToolSpec::new("t", "", schema).unwrap()]).unwrap();
    let mut talk = Talk::new();
    talk.says("Hi");
    let call = talk.call().tools(set);
    let (plain, strict) = (AnthropicWire::new(), AnthropicWire::new().strict_tools());
    for _ in 0..2 {
        let (json, losses) = request(&plain, &call);
        assert_eq!(losses, ["tool `t` /: `anyOf` was merged into one object"]);
        assert_eq!((json["tools"][0].get("strict"), json["tools"][0].get("description")), (None, None));
        let (json, losses) = request(&strict, &call);
        assert_eq!((losses.len(), &json["tools"][0]["strict"]), (2, &json!(true)));
    }
}
