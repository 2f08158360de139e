//! The bytes of the persistence format do not depend on serde_json's `preserve_order`.
#![expect(clippy::unwrap_used, reason = "a golden line that cannot be read fails the test")]

use agent_core::{JournalRecord, Message, RawJson, canonical};
use serde::{Serialize, de::DeserializeOwned};

fn check<T: DeserializeOwned + Serialize>(lines: &str) {
    for line in lines.lines() {
        let value: T = serde_json::from_str(line).unwrap();
        assert_eq!(serde_json::to_string(&value).unwrap(), line);
    }
}

#[test]
fn preserve_order_is_on() {
    let value: serde_json::Value = serde_json::from_str(r#"{"b":1,"a":2}"#).unwrap();
    assert_eq!(value.to_string(), r#"{"b":1,"a":2}"#);
}

#[test]
fn the_same_bytes_as_without_it() {
    check::<Message>(include_str!("../../../../crates/agent-core/tests/golden/kept.jsonl"));
    check::<Message>(include_str!("../../../../crates/agent-core/tests/golden/messages.jsonl"));
    check::<JournalRecord>(include_str!("../../../../crates/agent-core/tests/golden/records.jsonl"));
}

#[test]
fn canonical_order_is_by_key() {
    let raw = RawJson::parse(r#"{"b":1e0,"a":{"d":1,"c":2}}"#).unwrap();
    assert_eq!(canonical(&raw).unwrap().get(), r#"{"a":{"c":2,"d":1},"b":1e0}"#);
}
