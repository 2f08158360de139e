//! Blocks that core does not know, and unknown fields of those that it knows, keep their bytes.

use agent_core::{ContentBlock, Message};

#[test]
fn unknown_fields_and_blocks_are_written_back_as_they_were() {
    for block in [
        r#"{"type":"text","text":"a","later":{"b":1e0,"a":[1.50, 2]}}"#,
        r#"{"type":"image","source":{"url":"https://example.com/a.png"},"alt":"\u00e9"}"#,
        r#"{"type":"opaque","origin":{"protocol":"p","provider":"q","model":"m"},"data":{"z":1, "a":2},"later":-0.0}"#,
        r#"{"type":"audio", "seconds": 1E2, "samples": [0.10, 1]}"#,
    ] {
        let read: ContentBlock = serde_json::from_str(block).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), block);
        let message = format!(r#"{{"role":"user","id":"00000000000000000000000001","content":[{block}],"later":1.0}}"#);
        let read: Message = serde_json::from_str(&message).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), message);
    }
}
