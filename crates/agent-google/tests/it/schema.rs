//! Schemas in the vendor's dialects.

use agent_core::{CallOptions, OutputSchema, ProviderErrorKind as Kind, ToolSet, ToolSpec};
use agent_google::{GoogleWire, SchemaDialect, lower_to_json_schema, lower_to_open_api};
use serde_json::{Value, json};

use crate::given::{MODEL, Talk, body, losses, raw};

/// A schema, what becomes of it, and how many losses are reported.
type Row = (Value, Value, usize);

fn check(rows: Vec<Row>, lower: fn(&agent_core::RawJson) -> Result<agent_google::Lowered, agent_core::ProviderError>) {
    for (schema, expected, lost) in rows {
        let lowered = lower(&raw(&schema.to_string())).unwrap();
        let found: Value = serde_json::from_str(lowered.schema.get()).unwrap();
        assert_eq!(found, expected, "{schema}");
        assert_eq!(lowered.lost.len(), lost, "{schema}: {:?}", lowered.lost);
    }
}

#[test]
fn schemas_are_lowered_as_the_table_says() {
    let string = json!({"type": "string"});
    check(
        vec![
            (string.clone(), string.clone(), 0),
            (json!({"$schema": "x", "type": "object", "additionalProperties": false}), json!({"type": "object"}), 0),
            (
                json!({"type": "object", "additionalProperties": {"type": "string"}}),
                json!({"type": "object", "description": "additionalProperties: {\"type\":\"string\"}"}),
                1,
            ),
            (json!({"type": ["integer", "null"]}), json!({"type": "integer", "nullable": true}), 0),
            (
                json!({"type": ["integer", "string"], "description": "d"}),
                json!({"anyOf": [{"type": "integer", "description": "d"}, {"type": "string", "description": "d"}]}),
                1,
            ),
            (json!({"enum": ["a", "", "b", null]}), json!({"type": "string", "enum": ["a", "b"], "nullable": true}), 1),
            (json!({"type": "integer", "enum": [1, 2]}), json!({"type": "integer", "description": "one of: 1, 2"}), 1),
            (json!({"const": "a"}), json!({"type": "string", "enum": ["a"]}), 0),
            (
                json!({"type": "string", "format": "uuid"}),
                json!({"type": "string", "description": "format: \"uuid\""}),
                1,
            ),
            (json!({"type": "string", "format": "date-time"}), json!({"type": "string", "format": "date-time"}), 0),
            (
                json!({"type": "number", "exclusiveMinimum": 0, "maximum": 9, "description": "n"}),
                json!({"type": "number", "maximum": 9, "description": "n\nexclusiveMinimum: 0"}),
                1,
            ),
            (json!({"type": "array"}), json!({"type": "array", "items": string}), 1),
            (
                json!({"type": "array", "prefixItems": [string, {"type": "integer"}]}),
                json!({"type": "array", "items": {"anyOf": [string, {"type": "integer"}]}}),
                1,
            ),
            (
                json!({"oneOf": [string, {"type": "null"}], "description": "d"}),
                json!({"type": "string", "nullable": true, "description": "d"}),
                0,
            ),
            (
                json!({"oneOf": [string, {"type": "integer"}, {"type": "null"}]}),
                json!({"anyOf": [{"type": "string", "nullable": true}, {"type": "integer", "nullable": true}]}),
                1,
            ),
            (
                json!({"type": "object", "properties": {"a": string}, "required": ["a", "b"]}),
                json!({"type": "object", "properties": {"a": string}, "required": ["a"]}),
                1,
            ),
            (
                json!({"allOf": [
                    {"type": "object", "properties": {"a": string}, "required": ["a"]},
                    {"type": "object", "properties": {"b": string, "a": {"type": "integer"}}, "required": ["b", "a"]},
                ]}),
                json!({"type": "object", "properties": {"a": {"type": "integer"}, "b": string}, "required": ["a", "b"]}),
                1,
            ),
            (json!({}), string.clone(), 1),
            (
                json!({"type": "object", "properties": {"a": true}}),
                json!({"type": "object", "properties": {"a": string}}),
                1,
            ),
            (
                json!({"type": "object", "properties": {"n": {"$ref": "#/$defs/a~1b", "description": "d"}},
                    "$defs": {"a/b": {"type": "integer", "description": "e"}}}),
                json!({"type": "object", "properties": {"n": {"type": "integer", "description": "d"}}}),
                0,
            ),
            (json!({"$ref": "other.json#/x", "minItems": 1}), json!({"type": "object"}), 2),
            (
                // What has to be there, as a side condition on an object: no union of its own.
                json!({"type": "object", "properties": {"a": string}, "anyOf": [{"required": ["a"]}, {}]}),
                json!({"type": "object", "properties": {"a": string}, "description": "anyOf: [{\"required\":[\"a\"]},{}]"}),
                1,
            ),
            (
                json!({"type": "string", "anyOf": [{"format": "email"}, {"format": "uri"}]}),
                json!({"type": "string", "description": "anyOf: [{\"format\":\"email\"},{\"format\":\"uri\"}]"}),
                1,
            ),
            (
                json!({"type": "object", "oneOf": [{"properties": {"a": string}}, {"properties": {"b": string}}]}),
                json!({"anyOf": [
                    {"type": "object", "properties": {"a": string}}, {"type": "object", "properties": {"b": string}},
                ]}),
                1,
            ),
            (
                json!({"anyOf": [{"const": "a"}, {"enum": ["b", "c"]}], "default": "a", "minLength": 1}),
                json!({"anyOf": [{"type": "string", "enum": ["a"]}, {"type": "string", "enum": ["b", "c"]}]}),
                1,
            ),
            (
                json!({"$ref": "#/$defs/T", "$defs": {"T": {"type": "object", "properties": {"next": {"$ref": "#/$defs/T"}}}}}),
                json!({"type": "object", "properties": {"next": {"type": "object"}}}),
                1,
            ),
        ],
        lower_to_open_api,
    );
}

#[test]
fn json_schema_keeps_references_and_closed_objects() {
    let tree = json!({"type": "object", "properties": {"next": {"$ref": "#/$defs/T"}}, "additionalProperties": false});
    check(
        vec![
            (json!({"$ref": "#/$defs/T", "$defs": {"T": tree}}), json!({"$ref": "#/$defs/T", "$defs": {"T": tree}}), 0),
            (
                json!({"$ref": "#/definitions/T", "definitions": {"T": tree.clone()}, "minItems": 1}),
                json!({"$ref": "#/$defs/T", "$defs": {"T": tree}}),
                1,
            ),
            (json!({"const": 1, "type": "integer"}), json!({"enum": [1], "type": "integer"}), 0),
            (json!({"oneOf": [{"type": "string"}]}), json!({"anyOf": [{"type": "string"}]}), 1),
            (
                json!({"type": "string", "pattern": "a", "description": "d"}),
                json!({"type": "string", "description": "d\npattern: \"a\""}),
                1,
            ),
        ],
        lower_to_json_schema,
    );
}

#[test]
fn what_grows_or_nests_without_end_is_refused() {
    let mut nested = json!({"type": "string"});
    for _ in 0..70 {
        nested = json!({"type": "array", "items": nested});
    }
    for lower in [lower_to_open_api, lower_to_json_schema] {
        assert_eq!(lower(&raw(&nested.to_string())).unwrap_err().kind(), Kind::Unsupported);
    }
    // Each level has the next one ten times.
    let mut definitions = serde_json::Map::new();
    for level in 0..9 {
        let next = json!({"$ref": format!("#/$defs/{}", level + 1)});
        let properties: serde_json::Map<_, _> = (0..10).map(|i| (i.to_string(), next.clone())).collect();
        definitions.insert(level.to_string(), json!({"type": "object", "properties": properties}));
    }
    definitions.insert("9".into(), json!({"type": "string"}));
    let bomb = json!({"$ref": "#/$defs/0", "$defs": definitions});
    assert_eq!(lower_to_open_api(&raw(&bomb.to_string())).unwrap_err().kind(), Kind::Unsupported);
}

#[test]
fn losses_are_reported_with_every_request() {
    let schema = raw(r#"{"type":"object","properties":{"n":{"type":"integer","multipleOf":2}}}"#);
    let tools = ToolSet::new(vec![
        ToolSpec::new("f", "", schema.clone()).unwrap(),
        ToolSpec::new("none", "", raw(r#"{"type":"object","properties":{}}"#)).unwrap(),
    ])
    .unwrap();
    let wire = GoogleWire::gemini();
    let call = Talk::new().call(CallOptions::new(MODEL)).tools(tools);
    for _ in 0..2 {
        assert_eq!(losses(&wire, &call), ["tool `f` /properties/n: `multipleOf` is told, not enforced"]);
    }
    let number = json!({"type": "integer", "description": "multipleOf: 2"});
    let expected = json!({"type": "object", "properties": {"n": number}});
    let sent = body(&wire, &call)["tools"][0]["functionDeclarations"].clone();
    assert_eq!(sent, json!([{"name": "f", "parameters": expected}, {"name": "none"}]));
    let sent = body(&wire.dialect(SchemaDialect::JsonSchema), &call)["tools"][0]["functionDeclarations"].clone();
    assert_eq!(sent[0]["parametersJsonSchema"], expected);
}

#[test]
fn a_schema_of_the_answer_is_native_where_it_may_be() {
    let schema = raw(r#"{"type":"object","properties":{"b":{"type":"string"},"a":{"type":"integer","multipleOf":2}}}"#);
    let options = |model: &str| CallOptions::new(model).output_schema(OutputSchema::new("answer", schema.clone()));
    let wire = GoogleWire::gemini();
    let talk = Talk::new();
    for call in [talk.call(options(MODEL)), talk.plain_call(options("gemini-2.5-flash"))] {
        let config = body(&wire, &call)["generationConfig"].clone();
        assert_eq!(config["responseMimeType"], "application/json");
        assert_eq!(config["responseSchema"]["propertyOrdering"], json!(["b", "a"]));
        assert_eq!(
            losses(&wire, &call),
            ["the schema of the answer /properties/a: `multipleOf` is told, not enforced"]
        );
    }
    let bytes = wire_bytes(&wire, &talk.call(options(MODEL)));
    assert!(bytes.find("\"b\":{").unwrap() < bytes.find("\"a\":{").unwrap(), "the order of the fields is kept");
    let json = wire.clone().dialect(SchemaDialect::JsonSchema);
    assert!(body(&json, &talk.call(options(MODEL)))["generationConfig"]["responseJsonSchema"].is_object());

    // Beside functions an older model is told in words.
    let old = talk.call(options("gemini-2.5-flash").system("You help."));
    let sent = body(&wire, &old);
    assert_eq!(sent["generationConfig"], json!({}));
    let system = sent["systemInstruction"]["parts"].as_array().unwrap();
    assert_eq!((system.len(), &system[0]["text"]), (2, &json!("You help.")));
    assert!(system[1]["text"].as_str().unwrap().contains("\"multipleOf\":2"));
    assert_eq!(losses(&wire, &old).len(), 1);
}

#[test]
fn case_34_a_tool_named_like_the_schema_is_a_tool() {
    let schema = OutputSchema::new("weather", raw(r#"{"type":"object","properties":{"a":{"type":"string"}}}"#));
    let sent = body(&GoogleWire::gemini(), &Talk::new().call(CallOptions::new(MODEL).output_schema(schema)));
    assert_eq!(sent["tools"][0]["functionDeclarations"].as_array().unwrap().len(), 1);
    assert!(sent.get("toolConfig").is_none());
}

fn wire_bytes(wire: &GoogleWire, call: &agent_core::ModelCall) -> String {
    use agent_core::Wire;
    String::from_utf8(wire.encode(call).unwrap().segments.to_bytes().to_vec()).unwrap()
}
