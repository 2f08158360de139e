//! What a model is told of tools, and what is refused.
#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use agent_core::{ToolSet, ToolSpec, ToolSpecError};

use crate::given::raw;

const SCHEMA: &str = r#"{"type":"object"}"#;

fn spec(name: &str, description: &str, schema: &str) -> ToolSpec {
    ToolSpec::new(name, description, raw(schema)).unwrap()
}

#[test]
fn names() {
    for fine in ["a", "Read_file-2", "0", &"x".repeat(64)] {
        assert_eq!(spec(fine, "", SCHEMA).name(), fine);
    }
    for bad in ["", "a b", "a.b", "a/b", "é", "a\n", &"x".repeat(65)] {
        let error = ToolSpec::new(bad, "", raw(SCHEMA)).unwrap_err();
        assert!(matches!(&error, ToolSpecError::Name { name } if name == bad), "{error:?}");
        let said = format!("`{bad}` is no tool name: 1 to 64 letters, digits, `_` and `-` are allowed");
        assert_eq!(error.to_string(), said);
    }
}

#[test]
fn schemas() {
    let kept = spec("t", "d", r#" { "type" : "object" , "properties":{"b":{"x":1e0},"a":{}} } "#);
    assert_eq!(kept.schema().get(), r#"{"properties":{"a":{},"b":{"x":1e0}},"type":"object"}"#);
    for bad in [
        "{}",
        "[]",
        "null",
        "true",
        "\"object\"",
        r#"{"type":"array"}"#,
        r#"{"type":["object"]}"#,
        r#"{"type":null}"#,
        r#"{"Type":"object"}"#,
        r#"{"type":"object","type":"object"}"#,
    ] {
        let error = ToolSpec::new("t", "", raw(bad)).unwrap_err();
        assert!(matches!(&error, ToolSpecError::NotObject { name } if name == "t"), "{error:?}");
    }
    let deep = format!("{}{}", "{\"a\":".repeat(200), "1".to_owned() + &"}".repeat(200));
    for bad in [format!(r#"{{"type":"object","a":{deep}}}"#), r#"{"type":"object","a":{"b":1,"b":2}}"#.to_owned()] {
        let error = ToolSpec::new("t", "", raw(&bad)).unwrap_err();
        assert!(matches!(&error, ToolSpecError::Schema { name, .. } if name == "t"), "{error:?}");
        assert!(std::error::Error::source(&error).is_some());
    }
}

#[test]
fn labels() {
    let tool = spec("t", "d", SCHEMA);
    assert_eq!((tool.display_label(), tool.description()), ("t", "d"));
    let tool = tool.label("Tool");
    assert_eq!((tool.display_label(), tool.name()), ("Tool", "t"));
}

fn set(specs: &[(&str, &str, &str)]) -> ToolSet {
    ToolSet::new(specs.iter().map(|(n, d, s)| spec(n, d, s)).collect()).unwrap()
}

#[test]
fn sets() {
    let two = vec![spec("a", "", SCHEMA), spec("b", "", SCHEMA), spec("a", "x", SCHEMA)];
    let error = ToolSet::new(two).unwrap_err();
    assert!(matches!(&error, ToolSpecError::Duplicate { name } if name == "a"), "{error:?}");
    let tools = set(&[("b", "", SCHEMA), ("a", "", SCHEMA)]);
    let names: Vec<&str> = tools.specs().iter().map(ToolSpec::name).collect();
    assert_eq!(names, ["b", "a"]);
    assert_eq!(format!("{tools:?}"), r#"["b", "a"]"#);
    assert_eq!(ToolSet::default().hash(), set(&[]).hash());
}

#[test]
fn the_hash_sees_every_part() {
    let other = r#"{"type":"object","properties":{}}"#;
    let sets = [
        set(&[]),
        set(&[("a", "d", SCHEMA)]),
        set(&[("b", "d", SCHEMA)]),
        set(&[("a", "e", SCHEMA)]),
        set(&[("a", "d", other)]),
        set(&[("ad", "", SCHEMA)]), // the parts do not run together
        set(&[("a", "d", SCHEMA), ("b", "d", SCHEMA)]),
        set(&[("b", "d", SCHEMA), ("a", "d", SCHEMA)]),
    ];
    for (i, a) in sets.iter().enumerate() {
        for (j, b) in sets.iter().enumerate() {
            assert_eq!(a.hash() == b.hash(), i == j, "{i} and {j}");
        }
    }
    // The order of keys and the label are not what a model is told.
    let spaced = set(&[("a", "d", r#"{ "properties":{} , "type":"object" }"#)]);
    assert_eq!(spaced.hash(), sets[4].hash());
    let labelled = ToolSet::new(vec![spec("a", "d", SCHEMA).label("A")]).unwrap();
    assert_eq!(labelled.hash(), sets[1].hash());
}
