//! Tool arguments: what counts as an object, as cut off, as wrong.
#![expect(clippy::string_slice, reason = "the text is cut at the ends of characters")]
#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use agent_core::{ArgumentFault, Arguments};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::given::raw;

const CUT_OFF: Result<&str, ArgumentFault> = Err(ArgumentFault::CutOff);
const NOT_JSON: Result<&str, ArgumentFault> = Err(ArgumentFault::NotJson);

fn no_object(found: &'static str) -> Result<&'static str, ArgumentFault> {
    Err(ArgumentFault::NotObject { found })
}

#[test]
fn sorted() {
    let check = |text: &str, expected: Result<&str, ArgumentFault>| {
        let arguments = Arguments::from_text(text);
        let got = match (arguments.as_object(), arguments.fault()) {
            (Some(object), None) => Ok(object.get()),
            (None, Some(fault)) => Err(fault),
            both => panic!("{text}: {both:?}"),
        };
        assert_eq!(got, expected, "{text}");
        if got.is_err() {
            assert_eq!(arguments.text(), text);
        }
    };
    // Nothing is an empty object.
    for empty in ["", " ", "\n\t\r ", "null", " null\n", "{}"] {
        check(empty, Ok("{}"));
    }
    check(" {\"a\" : 1e0} \n", Ok("{\"a\" : 1e0}"));
    check(r#"{"a":1,"a":2}"#, Ok(r#"{"a":1,"a":2}"#));
    check(r#"{"a":"\ud800"}"#, Ok(r#"{"a":"\ud800"}"#)); // a lone half is a matter of the tool's
    check(r#"{"a":99999999999999999999e999}"#, Ok(r#"{"a":99999999999999999999e999}"#));

    for cut in ["{", r#"{""#, r#"{"a""#, r#"{"a":"#, r#"{"a":tru"#, r#"{"a":1,"#, "[1,", "\"x", "nul"] {
        check(cut, CUT_OFF);
    }
    for cut in [r#"{"a":-"#, r#"{"a":1."#, r#"{"a":[1e"#, r#"{"a":1E-"#, r#"{"a":"\"#] {
        check(cut, CUT_OFF);
    }
    for wrong in ["{,}", r#"{"a":1,}"#, "{}{}", "{} x", "{'a':1}", "{a:1}", "{]", "hello"] {
        check(wrong, NOT_JSON);
    }
    for wrong in ["\u{feff}{}", "```json\n{}\n```", "{\"a\":\"\n\"}", "{\"a\":NaN}", "{\"a\":01}"] {
        check(wrong, NOT_JSON);
    }
    for wrong in [r#"{"a":-}"#, r#"{"a":1.}"#, r#"{"a":1e+}"#, r#"{"a":--"#, "-x"] {
        check(wrong, NOT_JSON);
    }
    check("[1]", no_object("array"));
    check(r#""{\"a\":1}""#, no_object("string"));
    check(" -1.5e3 ", no_object("number"));
    check("true", no_object("boolean"));
    check("false", no_object("boolean"));
}

#[test]
fn faults_name_the_type() {
    let check = |text: &str, found| {
        let fault = Arguments::from_text(text).fault();
        assert_eq!(fault, Some(ArgumentFault::NotObject { found }));
        let said = format!("the arguments are a JSON {found}, not a JSON object");
        assert_eq!(fault.map(|f| f.to_string()), Some(said));
    };
    check("[1]", "array");
    check("\"x\"", "string");
    check("7", "number");
    check("true", "boolean");
}

/// An object with everything in it that can be cut.
const WHOLE: &str = r#"{"path":"a\"\\\u00e9\ud83d\ude00é😀","n":[-1.5e+10,0.5,12,true,false,null],"o":{"x":{}}}"#;

#[test]
fn cut_off_at_every_byte() {
    for (at, _) in WHOLE.char_indices().skip(1) {
        let cut = &WHOLE[..at];
        assert_eq!(Arguments::from_text(cut).fault(), Some(ArgumentFault::CutOff), "{cut}");
    }
    assert_eq!(Arguments::from_text(WHOLE).fault(), None);
}

#[test]
fn deep_nesting_is_no_stack_overflow() {
    let deep = "{\"a\":".repeat(100_000);
    assert_eq!(Arguments::from_text(deep.clone()).fault(), Some(ArgumentFault::CutOff));
    let whole = format!("{deep}1{}", "}".repeat(100_000));
    let arguments = Arguments::from_text(whole.clone());
    assert_eq!(arguments.as_object().map(|raw| raw.get().len()), Some(whole.len()));
    assert_eq!(round_trip(&arguments), arguments);
}

#[test]
fn replayed() {
    let check = |text: &str, expected: &str| {
        assert_eq!(Arguments::from_text(text).replay(), expected);
    };
    check(r#"{"a": 1e0}"#, r#"{"a": 1e0}"#);
    check("null", "{}");
    check(r#"{"a":""#, r#"{"invalidArguments":"{\"a\":\""}"#);
    check("[\"\n\u{1}\"]", r#"{"invalidArguments":"[\"\n\u0001\"]"}"#);
}

#[test]
fn written() {
    let check = |arguments: Arguments, json: &str| {
        assert_eq!(serde_json::to_string(&arguments).unwrap(), json);
        assert_eq!(round_trip(&arguments), arguments);
    };
    check(Arguments::default(), "{}");
    check(Arguments::from(raw(r#" {"b":1e0,"a":1} "#)), r#"{"b":1e0,"a":1}"#);
    check(Arguments::from(raw("[1]")), r#""[1]""#);
    check(Arguments::from_text(r#""{}""#), r#""\"{}\"""#);
    check(Arguments::from_text(r#"{"a""#), r#""{\"a\"""#);
    // What others may have written.
    let read = |json: &str| serde_json::from_str::<Arguments>(json).unwrap();
    assert_eq!(read("null"), Arguments::empty());
    assert_eq!(read("[1]"), Arguments::from_text("[1]"));
    assert_eq!(read(r#""{\"a\":1}""#), Arguments::from_text(r#"{"a":1}"#));
    assert_eq!(read(r#""\ud800""#).fault(), Arguments::from_text("\"x\"").fault());
}

fn round_trip(arguments: &Arguments) -> Arguments {
    serde_json::from_str(&serde_json::to_string(arguments).unwrap()).unwrap()
}

fn jsonish() -> impl Strategy<Value = String> {
    let token = prop::sample::select(vec![
        "{", "}", "[", "]", ",", ":", "\"", "\\", "u", "d800", "null", "true", "1", "-", ".", "e", " ", "a", "é",
    ]);
    prop_oneof![any::<String>(), prop::collection::vec(token, 0..20).prop_map(|t| t.concat())]
}

proptest! {
    #[test]
    fn any_text_is_kept_and_replays_as_an_object(text in jsonish()) {
        let arguments = Arguments::from_text(text.clone());
        prop_assert_eq!(round_trip(&arguments), arguments.clone());
        let replay = Arguments::from_text(arguments.replay());
        prop_assert!(replay.as_object().is_some());
        match arguments.fault() {
            None => prop_assert_eq!(arguments.replay(), arguments.text()),
            Some(_) => {
                prop_assert_eq!(arguments.text(), &text);
                let value: Value = serde_json::from_str(&arguments.replay()).unwrap();
                prop_assert_eq!(value, json!({ "invalidArguments": text }));
            }
        }
    }
}
