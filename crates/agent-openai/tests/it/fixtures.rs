//! Every recorded answer gives what the manifest says, under every cut.

use std::{fs, path::PathBuf};

use agent_core::{AssistantMessage, ContentBlock, ProviderErrorKind as Kind, StopReason, Wire};
use agent_openai::{ChatWire, Profile};
use agent_testkit::{byte_pieces, random_cuts, two_piece_cuts};
use bytes::Bytes;
use http::{HeaderMap, StatusCode};

use crate::given::decode;

const CUTS: usize = if cfg!(debug_assertions) { 400 } else { usize::MAX };

fn folder() -> Option<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/fixtures/wires/openai-chat");
    if !folder.exists() {
        eprintln!("skipped: there is no {}", folder.display());
        return None;
    }
    Some(folder)
}

/// Text, calls with ids, why it stopped, prompt and generated tokens: from the manifest.
type Right = (&'static str, &'static str, &'static [&'static str], &'static str, (u64, u64));

/// Recorded from real servers on our own machine.
const PEERS: [Right; 5] = [
    ("llama-server-chat-text", "Hello from a tiny model.", &[], "endTurn", (21, 7)),
    ("llama-server-chat-after-tool", "Hello from a tiny model.", &[], "endTurn", (0, 0)),
    (
        "llama-server-chat-reasoning-tool",
        "",
        &[r#"get_weather {"city":"Paris"} sYCVign781LUTkk0gYaBBDpXmEEwgGww"#],
        "toolUse",
        (0, 0),
    ),
    ("llama-server-max-tokens", "", &[], "maxTokens", (0, 0)),
    ("litellm-chat-tool", "", &[r#"get_weather {"city":"Paris"} LMujPd8RAd6xFplR7eSAOruao54Hf8FL"#], "toolUse", (0, 0)),
];

const ANSWERS: [Right; 13] = [
    (
        "tool-call",
        "",
        &[r#"get_weather {"city": "Paris", "country": "France", "unit": "C"} call_yakbak_fixture_0"#],
        "toolUse",
        (163, 11),
    ),
    (
        "parallel-tool-calls",
        "",
        &[r#"alpha {"value": "red"} call_REDACTED_1"#, r#"beta {"value": "blue"} call_REDACTED_2"#],
        "toolUse",
        (90, 42),
    ),
    ("zero-argument-tool", "", &["ping {} call_REDACTED_1"], "toolUse", (56, 10)),
    (
        "nested-arguments",
        "",
        &[r#"record_payload {"label":"café 東京","values":[3,5,8],"meta":{"active":true}} call_REDACTED_1"#],
        "toolUse",
        (93, 30),
    ),
    ("refusal", "I'm very sorry, but I can't assist with that.", &[], "refusal", (49, 12)),
    ("length-reasoning-exhausted", "", &[], "maxTokens", (16, 16)),
    (
        "length-partial-text",
        "### The Splendor of Maple Trees\n\nMaple trees, belonging to the genus",
        &[],
        "maxTokens",
        (17, 16),
    ),
    ("moderation-and-usage", "Paris.", &[], "endTurn", (13, 11)),
    (
        "github-copilot-tool",
        "",
        &[r#"get_weather {"city":"Paris","country":"France","unit":"C"} call_YC2QMIr5bbEvqMl96iKr7oCN"#],
        "toolUse",
        (0, 0),
    ),
    (
        "deepseek-reasoning-tool",
        "",
        &[r#"weather {"location": "San Francisco"} call_00_ioIn7yN9p1ZOMNpDLwd4MgAF"#],
        "toolUse",
        (339, 83),
    ),
    ("groq-tool", "", &["weather {} tk85n1k4m"], "toolUse", (210, 15)),
    ("synthetic-content-filter", "Part", &[], "refusal", (0, 0)),
    ("synthetic-crlf-comments", "aé😀", &[], "endTurn", (0, 0)),
];

fn cuts(bytes: &Bytes) -> impl Iterator<Item = Vec<Bytes>> {
    let stride = bytes.len().div_ceil(CUTS).max(1);
    [vec![bytes.clone()], byte_pieces(bytes)]
        .into_iter()
        .chain(two_piece_cuts(bytes).step_by(stride).map(Vec::from))
        .chain(random_cuts(bytes, 3).take(32))
}

fn said(message: &AssistantMessage) -> String {
    message.content.iter().filter_map(ContentBlock::as_text).collect()
}

#[test]
fn every_recorded_answer_is_what_the_manifest_says_under_every_cut() {
    let Some(folder) = folder() else { return };
    let peers = folder.join("../recorded-peers");
    let all = ANSWERS.iter().map(|right| (&folder, right)).chain(PEERS.iter().map(|right| (&peers, right)));
    for (folder, &(name, text, calls, stop, (prompt, generated))) in all {
        let bytes = Bytes::from(fs::read(folder.join(format!("{name}.sse"))).unwrap());
        let message = decode([bytes.clone()]).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(said(&message), text, "{name}");
        let found: Vec<String> = message
            .tool_calls()
            .map(|(_, call)| {
                format!("{} {} {}", call.name, call.arguments.text(), call.vendor_id.as_deref().unwrap_or("-"))
            })
            .collect();
        assert_eq!(found, calls, "{name}");
        assert_eq!(message.stop_reason, StopReason::from_name(stop), "{name}");
        assert_eq!((message.usage.prompt(), message.usage.generated()), (prompt, generated), "{name}");
        for pieces in cuts(&bytes) {
            let lengths: Vec<_> = pieces.iter().map(Bytes::len).collect();
            assert_eq!(decode(pieces).unwrap(), message, "{name} cut {lengths:?}");
        }
        if name == "deepseek-reasoning-tool" {
            assert_eq!((message.usage.cache_read, message.usage.reasoning), (320, 39));
            let thought = message.content.iter().find_map(|block| match block {
                ContentBlock::Thinking(block) => Some(block.text.chars().count()),
                _ => None,
            });
            assert_eq!(thought, Some(191));
        }
    }
}

#[test]
fn recorded_errors_are_of_their_kind() {
    let Some(folder) = folder() else { return };
    let wire = ChatWire::of(Profile::compatible());
    for (name, status, kind) in [
        ("llamacpp-context-overflow", 400, Kind::ContextOverflow),
        ("error-401", 401, Kind::Auth),
        ("error-400", 400, Kind::InvalidRequest),
        ("openrouter-error-429", 429, Kind::RateLimited),
        ("synthetic-error-context-length", 400, Kind::ContextOverflow),
    ] {
        let body = fs::read(folder.join(format!("{name}.json"))).unwrap();
        let error = wire.classify(StatusCode::from_u16(status).unwrap(), &HeaderMap::new(), &body);
        assert_eq!(error.kind(), kind, "{name}: {error}");
    }
    let cut = Bytes::from(fs::read(folder.join("synthetic-cut-no-done.sse")).unwrap());
    for pieces in cuts(&cut) {
        assert_eq!(decode(pieces).unwrap_err().kind(), Kind::Network);
    }
}
