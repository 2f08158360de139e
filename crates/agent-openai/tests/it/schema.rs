//! Schemas: strict ones, and those that are only said; and bodies by the vendor's own types.

use std::fs;

use agent_core::{
    CallOptions, DocumentBlock, Effort, ImageBlock, MediaSource, ModelFacts, OutputSchema, RawJson, Reasoning,
    ToolChoice, ToolSet, ToolSpec, Wire,
};
use agent_openai::{ChatWire, Profile, lower_strict_schema};
use agent_testkit::schema_faults;
use serde_json::{Value, json};

use crate::given::{Talk, body, of, tools};

/// In the order of its keys, whatever serde_json keeps.
fn schema(value: Value) -> RawJson {
    agent_core::canonical(&RawJson::of(&value).unwrap()).unwrap()
}

fn losses(wire: &ChatWire, options: CallOptions) -> Vec<String> {
    let encoded = wire.encode(&Talk::new().call(options)).unwrap();
    encoded.losses.iter().map(|loss| loss.what.to_string()).collect()
}

#[test]
fn strict_schemas_are_closed_and_what_is_lost_is_said() {
    let original = schema(json!({
        "type": "object",
        "$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}, "required": []}},
        "properties": {
            "name": {"type": "string", "minLength": 1, "description": "Whose."},
            "kind": {"enum": ["a", "b"]},
            "size": {"type": "string", "enum": ["s", "m"]},
            "node": {"$ref": "#/$defs/node"},
            "all": {"allOf": [{"$ref": "#/$defs/node"}]},
            "one": {"oneOf": [{"type": "string"}, {"type": "integer", "minimum": 1}]},
            "list": {"type": "array", "items": {"type": "number"}, "minItems": 1, "uniqueItems": true, "default": []},
            "nullable": {"type": ["string", "null"]},
        },
        "required": ["name"],
        "additionalProperties": true,
    }));
    let lowered = lower_strict_schema(&original).unwrap();
    let node = json!({"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]});
    let expected = json!({
        "type": "object",
        "$defs": {"node": {
            "type": "object", "properties": {"next": node}, "required": ["next"], "additionalProperties": false}},
        "properties": {
            "name": {"type": "string", "description": "Whose.\nminLength: 1"},
            "kind": {"anyOf": [{"enum": ["a", "b"]}, {"type": "null"}]},
            "size": {"type": ["string", "null"], "enum": ["s", "m", null]},
            "node": node,
            "all": {"anyOf": [{"anyOf": [{"$ref": "#/$defs/node"}]}, {"type": "null"}]},
            "one": {"anyOf": [
                {"anyOf": [{"type": "string"}, {"type": "integer", "minimum": 1}]}, {"type": "null"}]},
            "list": {"type": ["array", "null"], "items": {"type": "number"}, "minItems": 1,
                     "description": "default: []\nuniqueItems: true"},
            "nullable": {"type": ["string", "null"]},
        },
        "required": ["all", "kind", "list", "name", "node", "nullable", "one", "size"],
        "additionalProperties": false,
    });
    assert_eq!(serde_json::from_str::<Value>(lowered.schema.get()).unwrap(), expected);
    assert_eq!(
        lowered.lost,
        [
            "/properties/list: `uniqueItems` is told, not enforced",
            "/properties/name: `minLength` is told, not enforced",
            "/properties/one: `oneOf` became `anyOf`",
        ]
    );
    let again = lower_strict_schema(&lowered.schema).unwrap();
    assert_eq!((again.schema, again.lost), (lowered.schema, vec![]), "it is lowered once");
}

#[test]
fn what_cannot_be_strict_is_refused_with_its_place() {
    for (value, place) in [
        (json!({"type": "string"}), "`/`"),
        (json!({"type": "object"}), "`/`"),
        (
            json!({"type": "object", "properties": {"m": {"type": "object", "additionalProperties": {"type": "string"}}}}),
            "`/properties/m`",
        ),
        (json!({"type": "object", "properties": {"a/b": {}}}), "`/properties/a~1b`"),
        (json!({"type": "object", "properties": {"a": {"$ref": "https://a.example/b.json"}}}), "`/properties/a`"),
        (
            json!({"type": "object", "properties": {"a": {"allOf": [{"type": "string"}, {"minLength": 1}]}}}),
            "`/properties/a`",
        ),
    ] {
        let error = lower_strict_schema(&schema(value)).unwrap_err().to_string();
        assert!(error.contains(place), "{error}");
    }
}

#[test]
fn the_schema_of_an_answer_is_enforced_or_said() {
    let answer =
        || OutputSchema::new("answer", schema(json!({"type": "object", "properties": {"n": {"type": "integer"}}})));
    let options = || CallOptions::new("m").system("You help.").output_schema(answer());
    let strict = body(&of("openai"), &Talk::new().call(options()));
    assert_eq!(strict["response_format"]["json_schema"]["strict"], true);
    assert_eq!(strict["response_format"]["json_schema"]["schema"]["required"], json!(["n"]));
    assert_eq!(losses(&of("openai"), options()), Vec::<String>::new());

    let guide = body(&of("vllm"), &Talk::new().call(options()));
    assert_eq!(guide["response_format"]["json_schema"].get("strict"), None);
    assert_eq!(guide["response_format"]["json_schema"]["schema"].get("required"), None);

    for (name, format) in [("deepseek", json!({"type": "json_object"})), ("minimax", Value::Null)] {
        let sent = body(&of(name), &Talk::new().call(options()));
        assert_eq!(sent["response_format"], format, "{name}");
        let system = sent["messages"][0]["content"].as_str().unwrap();
        // The vendor wants the word in the prompt.
        assert!(system.starts_with("You help.\n\n") && system.contains("JSON"), "{system}");
        assert!(system.ends_with(r#"{"properties":{"n":{"type":"integer"}},"type":"object"}"#), "{system}");
        assert_eq!(losses(&of(name), options()).len(), 1, "{name}");
    }
    let alone = body(&of("deepseek"), &Talk::new().call(CallOptions::new("m").output_schema(answer())));
    assert_eq!(alone["messages"][0]["role"], "system");

    let open = OutputSchema::new("answer", schema(json!({"type": "object"})));
    let sent = body(&of("openai"), &Talk::new().call(CallOptions::new("m").output_schema(open.clone())));
    assert_eq!(sent["response_format"]["json_schema"].get("strict"), None);
    let lost = losses(&of("openai"), CallOptions::new("m").output_schema(open));
    assert!(lost[0].contains("a guide only"), "{lost:?}");
}

#[test]
fn tools_are_strict_where_that_is_asked_for() {
    let wire = of("openai").strict_tools();
    let open = ToolSpec::new("open", "", schema(json!({"type": "object"}))).unwrap();
    let set = ToolSet::new(tools().specs().iter().cloned().chain([open]).collect()).unwrap();
    let call = Talk::new().call(CallOptions::new("m")).tools(set);
    let sent = body(&wire, &call);
    let function = |at: usize| sent["tools"][at]["function"].clone();
    assert_eq!(function(0)["strict"], true);
    assert_eq!(function(0)["parameters"]["properties"]["city"]["type"], json!(["string", "null"]));
    assert_eq!(function(1).get("strict"), None);
    let lost: Vec<_> = wire.encode(&call).unwrap().losses.iter().map(|loss| loss.what.to_string()).collect();
    assert!(lost.len() == 1 && lost[0].starts_with("tool `open` is not strict"), "{lost:?}");
    let plain = body(&of("vllm").strict_tools(), &call);
    assert_eq!(plain["tools"][0]["function"].get("strict"), None, "the profile has it not");
}

#[test]
fn profiles_of_your_own_are_read_from_a_file() {
    let text = r#"[
        {"name": "gateway", "like": "deepseek", "base": "https://llm.example/v1", "parallel": true},
        {"name": "second", "like": "gateway", "effort": "none"}
    ]"#;
    let read = Profile::read(text).unwrap();
    assert!(read[0].replays_reasoning && read[0].parallel && read[1].parallel);
    assert_eq!((&*read[1].base, read[1].effort), ("https://llm.example/v1", agent_openai::EffortStyle::None));
    let unknown = Profile::read(r#"[{"name":"a","like":"nobody"}]"#).unwrap_err().to_string();
    assert!(unknown.contains("`nobody`") && unknown.contains("deepseek"), "{unknown}");
    let typo =
        std::error::Error::source(&Profile::read(r#"[{"name":"a","paralel":true}]"#).unwrap_err()).unwrap().to_string();
    assert!(typo.contains("paralel"), "{typo}");
    assert!(Profile::all().len() > 15, "the bundled file is read");
}

#[test]
fn requests_are_what_the_vendors_types_allow() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../shared/fixtures/vectors/schemas/openai-chat-create-streaming.json"
    );
    let Ok(text) = fs::read(path) else {
        eprintln!("skipped: there is no {path}");
        return;
    };
    let document: Value = serde_json::from_slice(&text).unwrap();
    let mut facts = ModelFacts::new("openai", "gpt-x");
    (facts.abilities.images, facts.abilities.documents, facts.abilities.reasoning) = (true, true, true);
    let wire = of("openai").model(facts);
    let mut talk = Talk::new();
    let image = ImageBlock::new(MediaSource::Base64("iVBO".into()));
    let pdf = DocumentBlock::new(MediaSource::Base64("JVBE".into())).name("b.pdf");
    talk.user_blocks(vec!["Look".into(), image.into(), pdf.into()]);
    talk.tool_turn(&wire, "Hm.");
    talk.user("And?");
    let answer =
        OutputSchema::new("answer", schema(json!({"type": "object", "properties": {"n": {"type": "integer"}}})));
    let mut full = CallOptions::new("gpt-x").system("Be brief.").system("Today is Monday.").max_output(4_000);
    (full.stop_sequences, full.parallel_calls, full.seed) = (vec!["END".into()], Some(false), Some(7));
    full.extras.insert("openai".into(), RawJson::parse(r#"{"service_tier":"flex","store":false}"#).unwrap());
    let all = [
        CallOptions::new("gpt-x"),
        full.clone(),
        full.clone().reasoning(Reasoning::Effort(Effort::High)).output_schema(answer),
        full.clone().tool_choice(ToolChoice::Required),
        full.clone().tool_choice(ToolChoice::Tool("weather".into())),
        full.tool_choice(ToolChoice::Never),
    ];
    for wire in [wire.clone(), wire.clone().strict_tools()] {
        for options in &all {
            let json = body(&wire, &talk.call(options.clone()).note("A note."));
            assert_eq!(schema_faults(&document, &json), Vec::<String>::new(), "{options:?}\n{json:#}");
        }
    }
    // The judge is awake.
    let mut broken = body(&wire, &talk.call(CallOptions::new("gpt-x")));
    broken["messages"][0]["contents"] = "x".into();
    assert!(!schema_faults(&document, &broken).is_empty());
}
