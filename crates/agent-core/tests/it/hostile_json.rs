//! Messages that nobody should have written: an error that names the place, never a crash.

use agent_core::{JournalRecord, Message};

const ID: &str = "01ARZ3NDEKTSV4RRFFQ69G5FAV";

fn message(text: &str) -> Result<Message, String> {
    serde_json::from_str(&text.replace("ID", ID)).map_err(|e| e.to_string())
}

#[test]
fn errors_name_the_field() {
    let check = |text: &str, expected: &str| {
        let error = message(text).unwrap_err();
        assert!(error.starts_with(expected), "{text}: {error}");
    };
    check("1", "message: cannot be read");
    check("[]", "message: cannot be read");
    check("{}", "message: the field `role` is missing");
    check(r#"{"role":1}"#, "message: the field `role` cannot be read");
    check(r#"{"role":"system"}"#, "a message has the unknown role `system`; a newer version may have written it");
    check(r#"{"role":"user","content":[]}"#, "user message: the field `id` is missing");
    check(r#"{"role":"user","id":"x","content":[]}"#, "user message: the field `id` cannot be read");
    check(r#"{"role":"user","id":"ID"}"#, "user message: the field `content` is missing");
    let of_user = "user message: the field `content` cannot be read";
    check(r#"{"role":"user","id":"ID","content":"x"}"#, of_user);
    check(r#"{"role":"user","id":"ID","content":[{}]}"#, of_user);
    check(r#"{"role":"user","id":"ID","content":[{"type":"text","text":1}]}"#, of_user);
    check(
        r#"{"role":"user","id":"ID","content":[],"timestampMs":-1}"#,
        "user message: the field `timestampMs` cannot be read",
    );
    check(r#"{"role":"assistant","id":"ID","content":[]}"#, "assistant message: the field `stopReason` is missing");
    check(
        r#"{"role":"toolResult","id":"ID","call":"ID","toolName":"t","content":[]}"#,
        "tool result: the field `call` cannot be read",
    );
    check(r#"{"role":"note","id":"ID"}"#, "note: the field `kind` is missing");
    let twice = "message: the field `id` stands there twice";
    check(r#"{"role":"user","id":"ID","content":[],"id":"ID"}"#, twice);
    check(r#"{"role":"user","\u0069d":"ID","content":[],"id":"ID"}"#, twice);
    check(r#"{"role":"user","id":"ID","content":[],"x":1,"x":2}"#, "message: the field `x` stands there twice");
}

#[test]
fn deep_nesting_is_no_stack_overflow() {
    const LEVELS: usize = 100_000;
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let deep = format!("{}1{}", open.repeat(LEVELS), close.repeat(LEVELS));
        let cut = open.repeat(LEVELS);
        for place in [
            r#"{"role":"user","id":"ID","content":DEEP}"#,
            r#"{"role":"user","id":DEEP,"content":[]}"#,
            r#"{"role":"user","id":"ID","content":[{"type":DEEP}]}"#,
            "DEEP",
        ] {
            assert!(message(&place.replace("DEEP", &deep)).is_err(), "{place}");
            assert!(message(&place.replace("DEEP", &cut)).is_err(), "{place}");
            let record = format!(r#"{{"body":{{"messageAppended":{place}}}}}"#);
            let record = record.replace("DEEP", &deep).replace("ID", ID);
            assert!(serde_json::from_str::<JournalRecord>(&record).is_err(), "{place}");
        }
        // An unknown field of an origin is skipped.
        let origin = r#"{"role":"assistant","id":"ID","content":[],"stopReason":"x","origin":DEEP}"#;
        assert_eq!(message(&origin.replace("DEEP", &deep)).is_ok(), open != "[");
        // Where nobody looks into a value, it is kept.
        let kept = r#"{"role":"user","id":"ID","content":[{"type":"odd","x":DEEP}],"y":DEEP}"#;
        let kept = kept.replace("DEEP", &deep).replace("ID", ID);
        let read = message(&kept).unwrap();
        assert!(serde_json::to_string(&read).unwrap() == kept);
    }
}

#[test]
fn many_fields_take_linear_time() {
    let many: Vec<String> = (0..100_000).map(|n| format!("\"k{n}\":1")).collect();
    let text = format!(r#"{{"role":"user","id":"{ID}","content":[],{}}}"#, many.join(","));
    assert!(serde_json::to_string(&message(&text).unwrap()).unwrap() == text);
}
