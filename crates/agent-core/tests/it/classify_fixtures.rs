//! The recorded errors of the vendors, each with the kind that its manifest means.

use std::{fs, path::Path};

use agent_core::{ProviderErrorKind as Kind, classify};
use http::{HeaderMap, StatusCode};
use serde_json::Value;

/// What each recorded error means. A new recording without a row fails the test.
const KINDS: [(&str, Kind); 16] = [
    ("anthropic/error-400.json", Kind::InvalidRequest),
    ("anthropic/error-401.json", Kind::Auth),
    ("anthropic/error-404.json", Kind::NotFound),
    ("anthropic/synthetic-error-429.json", Kind::RateLimited),
    ("anthropic/synthetic-error-529.json", Kind::Overloaded),
    ("anthropic/synthetic-error-prompt-too-long.json", Kind::ContextOverflow),
    ("bedrock/error-stream-request.json", Kind::InvalidRequest),
    ("gemini/error-429.json", Kind::RateLimited),
    ("gemini/synthetic-error-503.json", Kind::Overloaded),
    ("openai-chat/error-400.json", Kind::InvalidRequest),
    ("openai-chat/error-401.json", Kind::Auth),
    ("openai-chat/llamacpp-context-overflow.json", Kind::ContextOverflow),
    ("openai-chat/synthetic-error-context-length.json", Kind::ContextOverflow),
    ("openai-chat/openrouter-error-429.json", Kind::RateLimited),
    ("openai-responses/error-400.json", Kind::InvalidRequest),
    ("recorded-peers/llama-server-error-bad-json-schema.json", Kind::InvalidRequest),
];

#[test]
fn recorded_errors() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/fixtures/wires");
    let Ok(manifest) = fs::read(folder.join("manifest.json")) else {
        eprintln!("skipped: there is no {}", folder.display());
        return;
    };
    let peers = fs::read(folder.join("recorded-peers/manifest.json")).unwrap();
    let mut entries: Vec<Value> = serde_json::from_slice(&manifest).unwrap();
    entries.extend(serde_json::from_slice::<Vec<Value>>(&peers).unwrap());
    let mut seen = 0;
    for entry in &entries {
        let file = entry["file"].as_str().unwrap();
        let named = file.contains("error") || file.contains("overflow");
        if !named || !file.ends_with(".json") {
            continue;
        }
        let row = KINDS.iter().find(|(name, _)| *name == file);
        let (_, kind) = row.unwrap_or_else(|| panic!("no row for {file}"));
        let status = entry["http_status"].as_u64().and_then(|s| u16::try_from(s).ok()).unwrap();
        let body = fs::read(folder.join(file)).unwrap();
        let status = StatusCode::from_u16(status).unwrap();
        let error = classify(status, &HeaderMap::new(), &body);
        assert_eq!(error.kind(), *kind, "{file} under {status}: {error}");
        assert!(!error.message().is_empty(), "{file}");
        seen += 1;
    }
    assert_eq!(seen, KINDS.len());
}
