//! Failed responses and texts with secrets: nothing panics, and redacting twice changes nothing.
#![no_main]

use agent_core::{RawJson, StructuralValidator, Validator, canonical, classify, coerce, redact};
use http::{HeaderMap, StatusCode};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    for status in [400, 401, 429, 500] {
        let status = StatusCode::from_u16(status).unwrap_or_default();
        let _ = classify(status, &HeaderMap::new(), data).to_string();
    }
    let Ok(text) = std::str::from_utf8(data) else { return };
    let once = redact(text);
    assert_eq!(redact(&once), once);
    let Ok(raw) = RawJson::parse(text) else { return };
    if let Ok(sorted) = canonical(&raw) {
        assert_eq!(canonical(&sorted).ok(), Some(sorted));
    }
    let _ = StructuralValidator.validate(&raw, &raw);
    let _ = coerce(&raw, &raw);
});
