//! Every recorded answer gives what the manifest says, under every cut.

use std::{fs, path::PathBuf};

use agent_core::{AssistantMessage, ContentBlock, ProviderErrorKind as Kind, StopReason, Wire};
use agent_openai::ResponsesWire;
use agent_testkit::{byte_pieces, random_cuts, two_piece_cuts};
use bytes::Bytes;
use http::{HeaderMap, StatusCode};

use super::decode;

const CUTS: usize = if cfg!(debug_assertions) { 200 } else { usize::MAX };

fn folder() -> Option<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/fixtures/wires");
    if !folder.exists() {
        eprintln!("skipped: there is no {}", folder.display());
        return None;
    }
    Some(folder)
}

/// Text, reasoning (its first letters and how many there are), calls with ids, how many blocks of the vendor's own,
/// whether reasoning can go back, why it stopped, prompt and generated tokens and those of reasoning: from the manifest.
type Right = (
    &'static str,
    &'static str,
    (&'static str, usize),
    &'static [&'static str],
    usize,
    bool,
    &'static str,
    (u64, u64, u64),
);

const SKY: &str = "The sky looks blue because molecules in Earth’s atmosphere scatter shorter blue wavelength";

const ANSWERS: [Right; 19] = [
    ("openai-responses/reasoning", SKY, ("", 0), &[], 0, true, "endTurn", (21, 45, 8)),
    ("openai-responses/reasoning-completed-empty-output", SKY, ("", 0), &[], 0, true, "endTurn", (21, 45, 8)),
    (
        "openai-responses/reasoning-tools",
        "",
        ("", 0),
        &[r#"get_weather {"city":"Paris","country":"France","unit":"C"} call_j1UinAcTy1fjspOBHyCkJxR2"#],
        0,
        true,
        "toolUse",
        (106, 45, 17),
    ),
    (
        "openai-responses/multi-tool-order",
        "",
        ("", 0),
        &[
            r#"get_weather {"city":"Paris","country":"France","unit":"C"} call_weather_001"#,
            r#"get_time {"timezone":"Europe/Paris"} call_time_002"#,
            r#"get_currency {"from":"USD","to":"EUR","amount":100} call_currency_003"#,
        ],
        0,
        true,
        "toolUse",
        (150, 80, 10),
    ),
    (
        "openai-responses/parallel-tool-calls",
        "",
        ("", 0),
        &["lookup_harbor_label {} call_REDACTED_1", "lookup_orchard_label {} call_REDACTED_2"],
        0,
        false,
        "toolUse",
        (160, 49, 0),
    ),
    ("openai-responses/incomplete-max-tokens", "", ("", 0), &[], 0, true, "maxTokens", (20, 32, 32)),
    (
        "openai-responses/incomplete-mid-tool",
        "",
        ("", 0),
        &[r#"add {"x":48151 call_REDACTED_1"#],
        0,
        false,
        "maxTokens",
        (83, 16, 0),
    ),
    (
        "openai-responses/encrypted-reasoning",
        "125",
        ("**Calculating multiples of three**\n\nI need to find", 436),
        &[],
        0,
        true,
        "endTurn",
        (37, 59, 52),
    ),
    (
        "openai-responses/refusal",
        "I'm sorry, I can't assist with that.",
        ("", 0),
        &[],
        0,
        false,
        "refusal",
        (43, 11, 0),
    ),
    (
        "openai-responses/custom-tool",
        "",
        ("", 0),
        &[r#"write_sql {"input":"SELECT * FROM users WHERE age > 25"} call_custom_sql_001"#],
        0,
        false,
        "toolUse",
        (50, 20, 0),
    ),
    ("openai-responses/mcp-approval", "", ("", 0), &[], 2, false, "endTurn", (422, 48, 0)),
    (
        "openai-responses/copilot-id-rotation",
        "There are **3** letter **“r”**s in **“strawberry.”**",
        ("**Counting character occurrences**", 34),
        &[],
        0,
        false,
        "endTurn",
        (19, 105, 44),
    ),
    (
        "openai-responses/raw-reasoning-text",
        "4",
        ("The user asks: \"What is 2+2?\" They expect a straig", 85),
        &[],
        0,
        false,
        "endTurn",
        (78, 37, 22),
    ),
    ("azure/responses-text", "Hello", ("", 0), &[], 0, false, "endTurn", (11, 11, 0)),
    (
        "azure/responses-tool-call",
        "",
        ("", 0),
        &[r#"weather {"location":"San Francisco"} call_H5DxLSFnsGhiROnUiDHmgyc8"#],
        0,
        false,
        "toolUse",
        (45, 24, 0),
    ),
    (
        "recorded-peers/llama-server-responses-text",
        "Hello from a tiny model.",
        ("Let me think", 12),
        &[],
        0,
        false,
        "endTurn",
        (22, 12, 0),
    ),
    (
        "recorded-peers/llama-server-responses-tool",
        "",
        ("Let me think", 12),
        &[r#"get_weather {"city":"Paris"} call_Z8PQtmPeQR1iw6otTW7YQ0EoYVDo9pdE"#],
        0,
        false,
        "toolUse",
        (319, 61, 0),
    ),
    (
        "recorded-peers/litellm-responses-tool",
        "",
        ("Let me think", 12),
        &[r#"get_weather {"city":"Paris"} call_g2NFQ4DMRwnQoI0V3P14QrE5lyYMWFDe"#],
        0,
        false,
        "toolUse",
        (319, 61, 0),
    ),
    ("openai-responses/custom-grammar-tool", "", ("", 0), &[], 0, true, "toolUse", (358, 68, 8)),
];

fn cuts(bytes: &Bytes) -> impl Iterator<Item = Vec<Bytes>> {
    let stride = bytes.len().div_ceil(CUTS).max(1);
    [vec![bytes.clone()], byte_pieces(bytes)]
        .into_iter()
        .chain(two_piece_cuts(bytes).step_by(stride).map(Vec::from))
        .chain(random_cuts(bytes, 3).take(16))
}

fn said(message: &AssistantMessage) -> String {
    message.content.iter().filter_map(ContentBlock::as_text).collect()
}

#[test]
fn every_recorded_answer_is_what_the_manifest_says_under_every_cut() {
    let Some(folder) = folder() else { return };
    for (name, text, (thought, letters), calls, own, goes_back, stop, counts) in ANSWERS {
        let bytes = Bytes::from(fs::read(folder.join(format!("{name}.sse"))).unwrap());
        let message = decode([bytes.clone()]).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(said(&message).starts_with(text), "{name}: {}", said(&message));
        let mut thoughts = message.content.iter().filter_map(|block| match block {
            ContentBlock::Thinking(block) => Some(block),
            _ => None,
        });
        let reasoning = thoughts.next();
        let shown = reasoning.map(|block| block.text.clone()).unwrap_or_default();
        assert!(shown.starts_with(thought), "{name}: {shown}");
        assert_eq!(shown.chars().count(), letters, "{name}: {shown}");
        assert_eq!(reasoning.is_some_and(|block| block.signature.is_some()), goes_back, "{name}");
        let found: Vec<String> = message
            .tool_calls()
            .map(|(_, call)| {
                format!("{} {} {}", call.name, call.arguments.text(), call.vendor_id.as_deref().unwrap_or("-"))
            })
            .collect();
        if name.ends_with("custom-grammar-tool") {
            let patch = "apply_patch {\"input\":\"*** Begin Patch\\n*** Update File: hello.py";
            assert!(found[0].starts_with(patch) && found[0].ends_with("call_dnKaJCb74pLKobQZDVi5yv2U"), "{found:?}");
        } else {
            assert_eq!(found, calls, "{name}");
        }
        assert_eq!(
            message.content.iter().filter(|block| matches!(block, ContentBlock::Opaque(_))).count(),
            own,
            "{name}"
        );
        assert_eq!(message.stop_reason, StopReason::from_name(stop), "{name}");
        let usage = message.usage;
        assert_eq!((usage.prompt(), usage.generated(), usage.reasoning), counts, "{name}");
        for pieces in cuts(&bytes) {
            let lengths: Vec<_> = pieces.iter().map(Bytes::len).collect();
            assert_eq!(decode(pieces).unwrap(), message, "{name} cut {lengths:?}");
        }
    }
}

#[test]
fn recorded_errors_are_of_their_kind() {
    let Some(folder) = folder() else { return };
    let bytes = Bytes::from(fs::read(folder.join("openai-responses/error-mid-stream.sse")).unwrap());
    for pieces in cuts(&bytes) {
        assert_eq!(decode(pieces).unwrap_err().kind(), Kind::Quota);
    }
    let body = fs::read(folder.join("openai-responses/error-400.json")).unwrap();
    let error = ResponsesWire::openai().classify(StatusCode::BAD_REQUEST, &HeaderMap::new(), &body);
    assert_eq!(error.kind(), Kind::InvalidRequest, "{error}");
}
