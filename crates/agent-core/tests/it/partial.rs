//! Arguments while they stream: against serde_json, under every cut.
#![expect(clippy::string_slice, reason = "the text is cut at the ends of characters")]

use agent_core::PartialArguments;
use proptest::prelude::*;
use serde_json::{Map, Value};

/// Names, text and completeness of the fields.
fn fields(arguments: &PartialArguments) -> Vec<(&str, Option<&str>, bool)> {
    arguments.fields().map(|f| (f.name(), f.text(), f.is_complete())).collect()
}

#[test]
fn as_it_grows() {
    let check = |text: &str, expected: &[(&str, Option<&str>, bool)]| {
        let mut arguments = PartialArguments::new();
        arguments.push(text);
        assert_eq!(fields(&arguments), expected, "{text}");
        assert_eq!(arguments.json(), text);
        // One character at a time comes to the same.
        let mut slow = PartialArguments::new();
        text.chars().for_each(|c| slow.push(c.encode_utf8(&mut [0; 4])));
        assert_eq!(fields(&slow), expected, "{text}");
        assert_eq!(slow.into_text(), text);
    };
    check("", &[]);
    check("{", &[]);
    check(r#"{"na"#, &[]);
    check(r#"{"name""#, &[]);
    check(r#"{"name":"#, &[]);
    check(r#"{"name" : ""#, &[("name", Some(""), false)]);
    check(r#"{"name":"va"#, &[("name", Some("va"), false)]);
    check(r#"{"name":"va\"#, &[("name", Some("va"), false)]);
    check(r#"{"name":"va\u00e"#, &[("name", Some("va"), false)]);
    check(r#"{"name":"va\u00e9"#, &[("name", Some("vaé"), false)]);
    check(r#"{"name":"\ud83d"#, &[("name", Some(""), false)]);
    check(r#"{"name":"\ud83d\ude0"#, &[("name", Some(""), false)]);
    check(r#"{"name":"\ud83d\ude00"#, &[("name", Some("😀"), false)]);
    check(r#"{"name":"v""#, &[("name", Some("v"), true)]);
    check(r#"{"a":1"#, &[("a", None, false)]);
    check(r#"{"a":1,"#, &[("a", None, true)]);
    check(r#"{"a":1}"#, &[("a", None, true)]);
    check(r#"{"a":[1,{"b":"]}"#, &[("a", None, false)]);
    check(r#"{"a":[1,{"b":"]}\""}],"c":"x"}"#, &[("a", None, true), ("c", Some("x"), true)]);
    check("{\"\\u0061\\n\":\"\\b\\f\\/\\\\\\\"\"}", &[("a\n", Some("\u{8}\u{c}/\\\""), true)]);
    check(r#"{"":""}"#, &[("", Some(""), true)]);
    check(r#"{"a":"x"} {"b":"y"}"#, &[("a", Some("x"), true), ("b", Some("y"), true)][..1]);
    check(r#"["a"]"#, &[]);
    check("no json", &[]);
}

#[test]
fn fields_by_name() {
    let mut arguments = PartialArguments::new();
    arguments.push(r#"{"a": [1, "x"] , "b":tr"#);
    let raw = |name| arguments.field(name).map(|field| field.raw().to_owned());
    assert_eq!(raw("a").as_deref(), Some(r#"[1, "x"]"#));
    assert_eq!(raw("b").as_deref(), Some("tr"));
    assert_eq!(raw("c"), None);
}

#[test]
fn deep_nesting_is_only_counted() {
    let mut arguments = PartialArguments::new();
    let (open, close) = ("[".repeat(100_000), "]".repeat(100_000));
    arguments.push(&format!("{{\"a\":{open}"));
    assert!(!arguments.field("a").unwrap().is_complete());
    arguments.push(&format!("{close},\"b\":\"x\"}}"));
    assert_eq!(fields(&arguments), [("a", None, true), ("b", Some("x"), true)]);
}

fn value() -> impl Strategy<Value = Value> {
    let text = prop_oneof![any::<String>(), "[\\\\\"{}\\[\\],: a-c\u{e9}\u{1F600}\n\t]{0,12}"];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<i32>().prop_map(|n| Value::from(f64::from(n) / 8.0)),
        text.clone().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(text.clone(), inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn object() -> impl Strategy<Value = Map<String, Value>> {
    let name = prop_oneof![any::<String>(), "[a-c\"\\\\\u{e9}\n]{0,4}"];
    prop::collection::btree_map(name, value(), 0..5).prop_map(|map| map.into_iter().collect())
}

/// JSON with every character of a string that `pick` names written as `\u` escapes.
fn escaped(json: &str, pick: u64) -> String {
    let mut out = String::new();
    let mut random = pick | 1;
    for c in json.chars() {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        // Outside of strings serde_json writes only ASCII, and inside these only as text.
        if !c.is_ascii() && random.is_multiple_of(2) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                out += &format!("\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
    }
    out
}

proptest! {
    #[test]
    fn ends_as_serde_json_reads_it(
        object in object(),
        pretty: bool,
        pick: u64,
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
    ) {
        let value = Value::Object(object.clone());
        let json = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) };
        let json = escaped(&json.unwrap(), pick);
        prop_assert_eq!(&serde_json::from_str::<Value>(&json).unwrap(), &value);
        let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(json.len() + 1)).collect();
        at.retain(|at| json.is_char_boundary(*at));
        at.push(json.len());
        at.sort_unstable();

        let mut arguments = PartialArguments::new();
        let mut from = 0;
        for to in at {
            arguments.push(&json[from..to]);
            from = to;
            prop_assert_eq!(arguments.json(), &json[..to]);
            for field in arguments.fields() {
                let whole = object.get(field.name());
                prop_assert!(whole.is_some(), "{} is no field", field.name());
                let text = whole.and_then(Value::as_str);
                prop_assert_eq!(field.text().is_some(), text.is_some());
                let (so_far, text) = (field.text().unwrap_or(""), text.unwrap_or(""));
                prop_assert!(text.starts_with(so_far), "{so_far:?} of {text:?}");
                if field.is_complete() {
                    prop_assert_eq!(so_far, text);
                    let raw: Value = serde_json::from_str(field.raw()).unwrap();
                    prop_assert_eq!(Some(&raw), whole);
                } else {
                    prop_assert!(json[..to].ends_with(field.raw()));
                }
            }
        }
        let names: Vec<&str> = arguments.fields().map(|field| field.name()).collect();
        prop_assert_eq!(names, object.keys().collect::<Vec<_>>());
        prop_assert!(arguments.fields().all(|field| field.is_complete()));
    }

    #[test]
    fn any_text_is_survived(parts in prop::collection::vec(
        prop_oneof![
            any::<String>(),
            prop::sample::select(vec!["{\"a\":", "\"", "\\", "\\u", "d83d", "\\ud83d", "\\ude00", "}", "]", "[", ",", "1", "é"])
                .prop_map(str::to_owned),
        ],
        0..20,
    )) {
        let mut arguments = PartialArguments::new();
        let mut shown: Vec<(String, String)> = Vec::new();
        for part in &parts {
            arguments.push(part);
            // What was shown once stays, and only grows.
            let now: Vec<(String, String)> = arguments
                .fields()
                .map(|f| (f.name().to_owned(), f.text().unwrap_or("").to_owned()))
                .collect();
            prop_assert!(now.len() >= shown.len());
            for ((name, text), (old_name, old_text)) in now.iter().zip(&shown) {
                prop_assert_eq!(name, old_name);
                prop_assert!(text.starts_with(old_text.as_str()));
            }
            shown = now;
        }
        prop_assert_eq!(arguments.into_text(), parts.concat());
    }
}
