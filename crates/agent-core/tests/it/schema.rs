//! The structural check and the coercions, by tables.

use agent_core::{RawJson, StructuralValidator, Validator, coerce};

fn raw(text: &str) -> RawJson {
    RawJson::parse(text).unwrap()
}

/// What the check says of these arguments; an empty list where they fit.
fn found(schema: &str, arguments: &str) -> Vec<String> {
    match StructuralValidator.validate(&raw(schema), &raw(arguments)) {
        Ok(()) => Vec::new(),
        Err(all) => all.iter().map(ToString::to_string).collect(),
    }
}

/// Each keyword lets through what fits and names what does not, with its place.
#[test]
fn every_keyword_of_the_structural_check() {
    let check = |keywords: &str, fits: &[&str], wrong: &[(&str, &str)]| {
        let schema = format!(r#"{{"type":"object","properties":{{"v":{{{keywords}}}}}}}"#);
        for value in fits {
            assert_eq!(found(&schema, &format!("{{\"v\":{value}}}")), [""; 0], "{keywords} and {value}");
        }
        for (value, problem) in wrong {
            assert_eq!(found(&schema, &format!("{{\"v\":{value}}}")), [*problem], "{keywords} and {value}");
        }
    };
    check(r#""type":"string""#, &["\"\""], &[("1", "/v: is a integer, and has to be string")]);
    check(r#""type":"integer""#, &["1", "-1", "1.0"], &[("1.5", "/v: is a number, and has to be integer")]);
    check(r#""type":"number""#, &["1", "1.5"], &[("\"1\"", "/v: is a string, and has to be number")]);
    check(r#""type":["string","null"]"#, &["\"a\"", "null"], &[("[]", "/v: is a array, and has to be string or null")]);
    check(r#""type":"boolean""#, &["true"], &[("{}", "/v: is a object, and has to be boolean")]);
    check(r#""enum":["a",1]"#, &["\"a\"", "1", "1.0"], &[("\"b\"", "/v: has to be one of [\"a\",1]")]);
    check(r#""const":2"#, &["2", "2.0"], &[("3", "/v: has to be 2")]);
    check(
        r#""const":{"a":[1,{}]}"#,
        &["{\"a\":[1.0,{}]}"],
        &[
            ("{\"a\":[1]}", "/v: has to be {\"a\":[1,{}]}"),
            ("{\"a\":[1,{}],\"b\":1}", "/v: has to be {\"a\":[1,{}]}"),
            ("{\"b\":[1,{}]}", "/v: has to be {\"a\":[1,{}]}"),
        ],
    );
    let large = "/v: has to be 9007199254740993";
    check(r#""const":9007199254740993"#, &["9007199254740993"], &[("9007199254740992", large)]);
    check(r#""minimum":2"#, &["2", "\"no number\""], &[("1", "/v: has to be at least 2")]);
    check(r#""maximum":2"#, &["2"], &[("3", "/v: has to be at most 2")]);
    check(r#""exclusiveMinimum":2"#, &["2.1"], &[("2", "/v: has to be more than 2")]);
    check(r#""exclusiveMaximum":2"#, &["1.9"], &[("2", "/v: has to be less than 2")]);
    check(r#""minLength":2"#, &["\"éé\""], &[("\"é\"", "/v: has to have at least 2 characters")]);
    check(r#""maxLength":2"#, &["\"éé\""], &[("\"abc\"", "/v: may have at most 2 characters")]);
    check(r#""minItems":1"#, &["[1]"], &[("[]", "/v: has to have at least 1 items")]);
    check(r#""maxItems":1"#, &["[1]"], &[("[1,2]", "/v: may have at most 1 items")]);
    check(
        r#""items":{"type":"integer"}"#,
        &["[]", "[1]"],
        &[("[1,\"2\"]", "/v/1: is a string, and has to be integer")],
    );
    check(r#""required":["a"]"#, &["{\"a\":1}", "1"], &[("{}", "/v: has no field `a`, which is required")]);
    check(
        r#""additionalProperties":false,"properties":{"a":{}}"#,
        &["{\"a\":1}"],
        &[("{\"b\":1}", "/v: has a field `b`, which does not exist")],
    );
    check(
        r#""additionalProperties":{"type":"string"}"#,
        &["{\"b\":\"\"}"],
        &[("{\"b\":1}", "/v/b: is a integer, and has to be string")],
    );
    let either = r#"[{"type":"string"},{"type":"object","required":["a"]}]"#;
    for name in ["anyOf", "oneOf"] {
        let shapes = "/v: fits none of the 2 shapes that are allowed here";
        check(&format!("\"{name}\":{either}"), &["\"\"", "{\"a\":1}"], &[("1", shapes), ("{}", shapes)]);
    }
    // What depends on a keyword that is not looked at is not looked at either.
    check(r#""patternProperties":{"^x":{}},"additionalProperties":false"#, &["{\"xa\":1}"], &[]);
    check(r#""prefixItems":[{"type":"string"}],"items":false"#, &["[\"a\"]"], &[]);
    check(r##""$ref":"#/$defs/x","unknown":true"##, &["1", "{}"], &[]);
}

#[test]
fn everything_that_is_wrong_is_said_at_once_with_its_place() {
    let schema =
        r#"{"type":"object","required":["a","b"],"properties":{"c/d":{"type":"array","items":{"minimum":1}}}}"#;
    assert_eq!(
        found(schema, r#"{"c/d":[0,1,0]}"#),
        [
            "/: has no field `a`, which is required",
            "/: has no field `b`, which is required",
            "/c~1d/0: has to be at least 1",
            "/c~1d/2: has to be at least 1",
        ]
    );
}

#[test]
fn a_schema_of_false_allows_nothing_and_hostile_nesting_ends() {
    assert_eq!(found("false", "{}"), ["/: is not allowed here"]);
    assert_eq!(found("true", "{}"), [""; 0]);
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(found("{}", &deep), ["/: the arguments cannot be read as JSON"]);
    let (unchanged, made) = coerce(&raw("{}"), &raw(&deep));
    assert!(unchanged.get() == deep && made.is_empty());
    // Every level of these could be mended in several ways, and the innermost in none.
    for level in [r#"{"type":["array","array","object"],"items":"#, r#"{"type":"array","items":{},"anyOf":["#] {
        let close = if level.ends_with('[') { "]}" } else { "}" };
        let schema = format!("{}false{}", level.repeat(50), close.repeat(50));
        let text = raw(r#""[\"[\\\"x\\\"]\"]""#);
        assert_eq!(coerce(&raw(&schema), &text), (text, vec![]));
    }
}

/// Coerced text and what was reported, as `place from>to`.
fn coerced(property: &str, value: &str) -> (String, Vec<String>) {
    let schema = format!(r#"{{"type":"object","properties":{{"v":{property}}}}}"#);
    let (arguments, made) = coerce(&raw(&schema), &raw(&format!("{{\"v\":{value}}}")));
    (arguments.get().to_owned(), made.iter().map(|c| format!("{} {}>{}", c.place, c.from, c.to)).collect())
}

#[test]
fn the_listed_coercions_are_made_and_reported() {
    let check = |property: &str, value: &str, becomes: &str, report: &str| {
        assert_eq!(
            coerced(property, value),
            (format!("{{\"v\":{becomes}}}"), vec![report.to_owned()]),
            "{property} {value}"
        );
    };
    check(r#"{"type":"integer"}"#, "\"5\"", "5", "/v string>integer");
    check(r#"{"type":"integer"}"#, "\" 5 \"", "5", "/v string>integer");
    check(r#"{"type":"integer"}"#, "5.0", "5", "/v number>integer");
    check(r#"{"type":"number"}"#, "\"1.50\"", "1.50", "/v string>number");
    check(r#"{"type":"boolean"}"#, "\"true\"", "true", "/v string>boolean");
    check(r#"{"type":"string"}"#, "1.50", "\"1.50\"", "/v number>string");
    check(r#"{"type":"string"}"#, "true", "\"true\"", "/v boolean>string");
    check(r#"{"type":"array"}"#, "\"[1,2]\"", "[1,2]", "/v string>array");
    check(r#"{"type":"object"}"#, r#""{\"a\":1}""#, r#"{"a":1}"#, "/v string>object");
    check(r#"{"type":"array","items":{"type":"string"}}"#, "\"a\"", "[\"a\"]", "/v string>array");
    check(r#"{"type":["integer","null"]}"#, "\"7\"", "7", "/v string>integer");
    check(r#"{"type":"integer"}"#, "\"5.0\"", "5", "/v string>integer");
    check(r#"{"type":["string","integer"]}"#, "5e0", "5", "/v number>integer");
    check(r#"{"anyOf":[{"type":"integer"},{"type":"null"}]}"#, "\"7\"", "7", "/v string>integer");
    check(r#"{"oneOf":[{"type":"null"},{"type":"boolean"}]}"#, "\"true\"", "true", "/v string>boolean");
    assert_eq!(coerced(r#"{"type":"string"}"#, "null"), ("{}".to_owned(), vec!["/v null>absent".to_owned()]));
    assert_eq!(
        coerced(r#"{"type":"array","items":{"type":"integer"}}"#, "\"3\""),
        ("{\"v\":[3]}".to_owned(), vec!["/v string>array".to_owned(), "/v/0 string>integer".to_owned()])
    );
}

#[test]
fn what_fits_or_cannot_be_mended_keeps_its_bytes() {
    let check = |property: &str, value: &str| {
        assert_eq!(coerced(property, value), (format!("{{\"v\":{value}}}"), vec![]), "{property} {value}");
    };
    check(r#"{"type":"integer"}"#, "\"five\"");
    check(r#"{"type":"integer"}"#, "\"5.5\"");
    check(r#"{"type":"integer"}"#, "5");
    check(r#"{"type":"number"}"#, "5.0");
    check(r#"{"type":["number","integer"]}"#, "5.0");
    check(r#"{"type":"integer"}"#, "5.5");
    check(r#"{"type":"integer"}"#, "1e300");
    check(r#"{"type":"boolean"}"#, "\"yes\"");
    check(r#"{"type":"string"}"#, "\"5\"");
    check(r#"{"type":"string"}"#, "[1]");
    check(r#"{"type":["string","null"]}"#, "null");
    check(r#"{"type":"object"}"#, "\"no json\"");
    check("{}", "\"5\"");
    // The mended value would not fit either.
    check(r#"{"type":"integer","enum":[1,2]}"#, "\"5\"");
    check(r#"{"type":"array","items":{"type":"integer"}}"#, "\"x\"");
    check(r#"{"type":"array","items":{"type":"array"}}"#, "[null]");
    check(r#"{"anyOf":[{"type":"integer","maximum":4},{"type":"null"}]}"#, "\"5\"");
    check(r#"{"anyOf":[{"type":"string"},{"type":"integer"}]}"#, "\"5\"");
    check(r#"{"anyOf":[{"properties":{"n":{"type":"integer"}},"required":["m"]}]}"#, r#"{"n":"1"}"#);
    check(r#"{"type":"string"}"#, "{}");
    let schema = raw(r#"{"type":"object","required":["v"],"properties":{"v":{"type":"string"}}}"#);
    assert_eq!(coerce(&schema, &raw(r#"{"v":null}"#)).1, [], "a required field stays, and the check names it");
    // Beside a change everything else keeps its bytes.
    let schema = raw(r#"{"properties":{"n":{"type":"integer"}}}"#);
    let (arguments, _) = coerce(&schema, &raw(r#"{ "z": 1.50e0, "n":"1", "a": {"y" : 1} }"#));
    assert_eq!(arguments.get(), r#"{"z":1.50e0,"n":1,"a":{"y" : 1}}"#);
}
