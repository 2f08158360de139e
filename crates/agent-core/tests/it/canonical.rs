//! Canonical JSON.

use agent_core::{CanonicalError, JsonError, RawJson, canonical};
use proptest::prelude::*;
use serde_json::Value;

use crate::given::raw;

#[test]
fn spellings() {
    let check = |text: &str, expected: &str| {
        assert_eq!(canonical(&raw(text)).unwrap().get(), expected);
        assert_eq!(canonical(&raw(expected)).unwrap().get(), expected);
    };
    check(" null ", "null");
    check("{ }", "{}");
    check("[ ]", "[]");
    check(r#"{"b":1,"a":2}"#, r#"{"a":2,"b":1}"#);
    check(r#"{"b":[{"d":1,"c":2}],"a":{"f":1,"e":2}}"#, r#"{"a":{"e":2,"f":1},"b":[{"c":2,"d":1}]}"#);
    // An array has an order of its own.
    check("[ 2 , 1 ]", "[2,1]");
    // Numbers and strings keep their spelling.
    check("[1e0,1.50,-0,1E+2,12345678901234567890123]", "[1e0,1.50,-0,1E+2,12345678901234567890123]");
    check(r#"["\u00e9","é","\/"," a "]"#, r#"["\u00e9","é","\/"," a "]"#);
    // Keys are compared, and written, as what they mean.
    check(r#"{"\u0062":1,"a":2}"#, r#"{"a":2,"b":1}"#);
    check("{\"\u{1F600}\":1,\"\u{ffff}\":2}", "{\"\u{ffff}\":2,\"\u{1F600}\":1}"); // code points
    check(r#"{"":1,"\n":2}"#, r#"{"":1,"\n":2}"#);
}

#[test]
fn twice() {
    for text in [r#"{"a":1,"a":2}"#, r#"[{"x":{"a":1,"\u0061":2}}]"#] {
        let error = canonical(&raw(text)).unwrap_err();
        let twice = matches!(
            &error,
            CanonicalError::Json(JsonError::Duplicate { field, .. }) if field == "a"
        );
        assert!(twice, "{error:?}");
        assert_eq!(error.to_string(), "JSON object: the field `a` stands there twice");
    }
}

#[test]
fn depth() {
    let nested =
        |levels: usize, open: &str, close: &str| raw(&format!("{}1{}", open.repeat(levels), close.repeat(levels)));
    for (open, close) in [("[", "]"), ("{\"a\":", "}"), ("[{\"a\":", "}]")] {
        let levels = 128 / open.matches(['[', '{']).count();
        assert!(canonical(&nested(levels, open, close)).is_ok());
        for deeper in [levels + 1, 100_000] {
            let error = canonical(&nested(deeper, open, close)).unwrap_err();
            assert!(matches!(error, CanonicalError::TooDeep { limit: 128 }), "{error:?}");
        }
    }
}

#[test]
fn many_keys_take_linear_time() {
    let many: Vec<String> = (0..200_000).map(|n| format!("\"k{n:06}\":1")).collect();
    let text = format!("{{{}}}", many.join(","));
    assert_eq!(canonical(&raw(&text)).unwrap().get(), text);
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map(any::<String>(), inner, 0..5)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// The value's JSON with the keys of every object backwards.
fn backwards(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let pair =
                |(name, value): (&String, &Value)| format!(" {} :\n{}", Value::from(name.as_str()), backwards(value));
            let mut fields: Vec<_> = map.iter().map(pair).collect();
            fields.reverse();
            format!("{{{}}}", fields.join(","))
        }
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(backwards).collect();
            format!("[\t{}]", items.join(", "))
        }
        other => other.to_string(),
    }
}

proptest! {
    #[test]
    fn one_spelling_for_a_value(value in value()) {
        let once = canonical(&RawJson::of(&value).unwrap()).unwrap();
        prop_assert_eq!(&canonical(&once).unwrap(), &once);
        prop_assert_eq!(&canonical(&raw(&backwards(&value))).unwrap(), &once);
        prop_assert_eq!(once.read::<Value>().unwrap(), value);
    }
}
