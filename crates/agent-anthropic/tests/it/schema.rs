//! Schemas in the vendor's dialect, and what is reported.

use agent_anthropic::{lower_output_schema, lower_tool_schema};
use agent_core::{ProviderErrorKind as Kind, RawJson};

fn raw(text: &str) -> RawJson {
    RawJson::parse(text).unwrap()
}

fn check(schema: &str, expected: &str, lost: &[&str]) {
    let lowered = lower_output_schema(&raw(schema)).unwrap();
    assert_eq!((lowered.schema.get(), lowered.lost), (expected, lost.iter().map(ToString::to_string).collect()));
}

#[test]
fn objects_are_closed_and_keys_keep_their_order() {
    check(
        concat!(
            r#"{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"object","properties":{}}},"#,
            r#""required":["z"]}"#
        ),
        concat!(
            r#"{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"object","properties":{},"#,
            r#""additionalProperties":false}},"required":["z"],"additionalProperties":false}"#
        ),
        &[],
    );
    check(
        r#"{"type":"object","additionalProperties":{"type":"string"}}"#,
        r#"{"type":"object","additionalProperties":false}"#,
        &["/: `additionalProperties` became `false`"],
    );
}

#[test]
fn what_the_dialect_lacks_is_told_to_the_model_and_reported() {
    check(
        concat!(
            r#"{"type":"array","description":"Ages","items":{"type":"integer","minimum":0,"maximum":150},"#,
            r#""minItems":1,"maxItems":9}"#
        ),
        concat!(
            r#"{"type":"array","items":{"type":"integer","description":"minimum: 0\nmaximum: 150"},"#,
            r#""minItems":1,"description":"Ages\nmaxItems: 9"}"#
        ),
        &[
            "/items: `minimum` is told, not enforced",
            "/items: `maximum` is told, not enforced",
            "/: `maxItems` is told, not enforced",
        ],
    );
    check(
        r#"{"type":"string","format":"email","pattern":"^a+$"}"#,
        r#"{"type":"string","format":"email","pattern":"^a+$"}"#,
        &[],
    );
    check(
        r#"{"type":"string","format":"color","pattern":"(?=a)b"}"#,
        r#"{"type":"string","description":"format: \"color\"\npattern: \"(?=a)b\""}"#,
        &["/: `format` is told, not enforced", "/: `pattern` is told, not enforced"],
    );
    check(
        r#"{"oneOf":[{"type":"string"},true]}"#,
        r#"{"anyOf":[{"type":"string"},{}]}"#,
        &["/oneOf/1: a place for any value, which the vendor may refuse", "/: `oneOf` became `anyOf`"],
    );
    // A pointer escapes what it has to.
    let lost = lower_output_schema(&raw(r#"{"properties":{"a/b~":{"minLength":1}}}"#)).unwrap().lost;
    assert_eq!(lost, ["/properties/a~1b~0: `minLength` is told, not enforced"]);
}

#[test]
fn what_cannot_be_said_at_all_is_an_error() {
    let refused = [
        r##"{"type":"object","properties":{"next":{"$ref":"#"}}}"##,
        r##"{"$defs":{"A":{"anyOf":[{"$ref":"#/$defs/B"}]},"B":{"items":{"$ref":"#/$defs/A"}}},"$ref":"#/$defs/A"}"##,
        r#"{"$ref":"https://a.example/schema"}"#,
    ];
    for schema in refused {
        assert_eq!(lower_output_schema(&raw(schema)).unwrap_err().kind(), Kind::Unsupported, "{schema}");
    }
    let deep = format!("{}{{}}{}", r#"{"items":"#.repeat(70), "}".repeat(70));
    assert_eq!(lower_output_schema(&raw(&deep)).unwrap_err().kind(), Kind::Unsupported);
    let twice = concat!(
        r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/A"},"b":{"$ref":"#/$defs/A"}},"##,
        r##""$defs":{"A":{"type":"string"}}}"##
    );
    assert!(lower_output_schema(&raw(twice)).is_ok(), "used twice is not in itself");
}

#[test]
fn tools_keep_their_schema_but_for_choices_at_the_top_and_strange_names() {
    let plain = raw(r#"{"properties":{"a":{"anyOf":[{"type":"string","minLength":1}]}},"type":"object"}"#);
    let lowered = lower_tool_schema(&plain).unwrap();
    assert_eq!((lowered.schema, lowered.lost.len()), (plain, 0));

    let merged = lower_tool_schema(&raw(concat!(
        r##"{"$defs":{"B":{"properties":{"b":{}},"required":["b"]}},"allOf":[{"properties":{"c":{}},"##,
        r##""required":["c"]}],"anyOf":[{"properties":{"a":{}},"required":["a","x"]},{"$ref":"#/$defs/B"}],"##,
        r##""properties":{"x":{}},"type":"object"}"##
    )))
    .unwrap();
    assert_eq!(
        merged.schema.get(),
        concat!(
            r#"{"$defs":{"B":{"properties":{"b":{}},"required":["b"]}},"type":"object","properties":{"x":{},"#,
            r#""c":{},"a":{},"b":{}},"required":["c"]}"#
        ),
    );
    assert_eq!(merged.lost, ["/: `allOf` was merged into one object", "/: `anyOf` was merged into one object"]);

    let strange = raw(r#"{"properties":{"größe":{},"ok":{}},"required":["größe"],"type":"object"}"#);
    let named = lower_tool_schema(&strange).unwrap();
    assert_eq!(named.schema.get(), r#"{"type":"object","properties":{"ok":{}}}"#);
    assert!(named.lost[0].contains("`größe`"));
}
