//! Every recorded answer gives what the manifest says, under every cut.

use std::{fs, path::PathBuf};

use agent_core::{AssistantMessage, ContentBlock, ProviderErrorKind as Kind, StopReason, Wire};
use agent_google::GoogleWire;
use agent_testkit::{byte_pieces, random_cuts, two_piece_cuts};
use bytes::Bytes;
use http::{HeaderMap, StatusCode};

use crate::given::decode;

const CUTS: usize = if cfg!(debug_assertions) { 400 } else { usize::MAX };

fn folder() -> Option<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/fixtures/wires");
    if !folder.exists() {
        eprintln!("skipped: there is no {}", folder.display());
        return None;
    }
    Some(folder)
}

struct Right {
    file: &'static str,
    /// The beginning of the text, and how many characters it has.
    text: (&'static str, usize),
    /// The same of the thoughts.
    thought: (&'static str, usize),
    calls: &'static [&'static str],
    stop: &'static str,
    /// Parts with a signature.
    signed: usize,
    /// Prompt (with what the vendor's tools put there), output, thoughts; they add up to the vendor's total.
    usage: (u64, u64, u64),
    /// Opaque blocks.
    opaque: usize,
}

const NONE: (&str, usize) = ("", 0);
const COOK: &str = r#"cookRecipe {"recipe":{"ingredients":[{"amount":"16 oz","name":"Lasagna noodles"},"#;

const ANSWERS: &[Right] = &[
    right("gemini/thinking", ("The sky is blue", 216), ("**Defining Atmospheric Color**", 1604), (12, 35, 697)),
    Right {
        calls: &[r#"get_weather {"country":"Egypt","unit":"C","city":"Cairo"}"#],
        signed: 1,
        ..right("gemini/tool", ("To determine", 440), ("**Defining the Problem**", 322), (135, 136, 226))
    },
    Right {
        calls: &[r#"get_weather {"unit":"C","city":"Cairo"}"#],
        signed: 1,
        ..right("gemini/builtin-with-functions", NONE, NONE, (90, 22, 76))
    },
    Right {
        signed: 1,
        opaque: 2,
        ..right("gemini/url-context", ("The title of the most recent post", 117), NONE, (62 + 5852, 51, 158))
    },
    Right {
        calls: &["lookup_harbor_label {}", "lookup_orchard_label {}"],
        ..right("gemini/parallel-function-calls", NONE, NONE, (170, 26, 0))
    },
    Right {
        calls: &["lookup_harbor_label {}"],
        signed: 1,
        ..right("gemini/thinking-then-tool", NONE, ("**Calculating Divisibility**", 293), (120, 13, 343))
    },
    Right {
        stop: "maxTokens",
        ..right("gemini/max-tokens", ("Thomas, the lighthouse keeper", 122), NONE, (15, 24, 0))
    },
    Right {
        calls: &[r#"weather {"location":"San Francisco"}"#],
        signed: 1,
        ..right("gemini/gemini3-thought-signature", NONE, NONE, (29, 15, 804))
    },
    Right {
        calls: &["get_country {}"],
        signed: 1,
        ..right("gemini/signature-round-trip-1", NONE, NONE, (29, 10, 202))
    },
    right("gemini/signature-round-trip-2", ("The capital of Mexico is Mexico City.", 37), NONE, (257, 8, 0)),
    Right {
        // The official library hands the pieces out; joined they are four calls.
        calls: &[
            "read_theme {}",
            r#"read_screen {"id":"A"}"#,
            r#"read_screen {"id":"B"}"#,
            r#"read_screen {"id":"C"}"#,
        ],
        signed: 1,
        ..right("gemini/no-args-tool", NONE, ("**Processing User Requests**", 320), (249, 58, 183))
    },
    Right {
        signed: 2,
        opaque: 2,
        ..right("gemini/code-execution", ("17 squared is 289.", 18), NONE, (89 + 112, 30, 91))
    },
    Right { stop: "refusal", ..right("gemini/synthetic-safety", ("Part", 4), NONE, (0, 0, 0)) },
    Right { stop: "error", ..right("gemini/synthetic-malformed-function-call", NONE, NONE, (5, 0, 0)) },
    Right { calls: &[COOK], signed: 1, ..right("vertex/nested-streamed-arguments", NONE, NONE, (0, 0, 0)) },
    Right { signed: 1, ..right("vertex/service-tier-flex", ("OK", 2), NONE, (5, 1, 100)) },
    right("recorded-peers/litellm-gemini-text", ("Hello from a tiny model.", 24), NONE, (22, 12, 0)),
    Right {
        calls: &[r#"get_weather {"city":"Paris"}"#],
        ..right("recorded-peers/litellm-gemini-tool", NONE, NONE, (288, 61, 0))
    },
];

const fn right(
    file: &'static str,
    text: (&'static str, usize),
    thought: (&'static str, usize),
    usage: (u64, u64, u64),
) -> Right {
    Right { file, text, thought, calls: &[], stop: "endTurn", signed: 0, usage, opaque: 0 }
}

fn cuts(bytes: &Bytes) -> impl Iterator<Item = Vec<Bytes>> {
    let stride = bytes.len().div_ceil(CUTS).max(1);
    [vec![bytes.clone()], byte_pieces(bytes)]
        .into_iter()
        .chain(two_piece_cuts(bytes).step_by(stride).map(Vec::from))
        .chain(random_cuts(bytes, 3).take(32))
}

fn count(text: &str) -> usize {
    text.chars().count()
}

/// How many signatures a message has.
fn signatures(message: &AssistantMessage) -> usize {
    let text = serde_json::to_string(&message.content).unwrap();
    let thoughts =
        message.content.iter().filter(|block| matches!(block, ContentBlock::Thinking(t) if t.signature.is_some()));
    text.matches("\"thoughtSignature\":").count() + text.matches("\"signature\":").count() - thoughts.count()
}

#[test]
fn every_recorded_answer_is_what_the_manifest_says_under_every_cut() {
    let Some(folder) = folder() else { return };
    for right in ANSWERS {
        let name = right.file;
        let bytes = Bytes::from(fs::read(folder.join(format!("{name}.sse"))).unwrap());
        let message = decode([bytes.clone()]).unwrap_or_else(|e| panic!("{name}: {e}"));
        let (mut said, mut thought, mut opaque) = (String::new(), String::new(), 0);
        for block in &message.content {
            match block {
                ContentBlock::Text(text) => said.push_str(&text.text),
                ContentBlock::Thinking(block) => thought.push_str(&block.text),
                ContentBlock::Opaque(_) => opaque += 1,
                _ => {}
            }
        }
        assert!(said.starts_with(right.text.0) && count(&said) == right.text.1, "{name}: {said}");
        assert!(thought.starts_with(right.thought.0) && count(&thought) == right.thought.1, "{name}: {thought}");
        let calls: Vec<String> =
            message.tool_calls().map(|(_, call)| format!("{} {}", call.name, compact(call.arguments.text()))).collect();
        assert_eq!(calls.len(), right.calls.len(), "{name}: {calls:?}");
        for (found, expected) in calls.iter().zip(right.calls) {
            assert!(found == expected || (found.starts_with(expected) && *expected == COOK), "{name}: {found}");
        }
        let stop = if calls.is_empty() { right.stop } else { "toolUse" };
        assert_eq!(message.stop_reason, StopReason::from_name(stop), "{name}");
        assert_eq!(signatures(&message), right.signed, "{name}");
        assert_eq!(opaque, right.opaque, "{name}: {:?}", message.content);
        let usage = (message.usage.prompt(), message.usage.output, message.usage.reasoning);
        if name != "vertex/nested-streamed-arguments" {
            assert_eq!(usage, right.usage, "{name}");
        }
        for pieces in cuts(&bytes) {
            let lengths: Vec<_> = pieces.iter().map(Bytes::len).collect();
            assert_eq!(decode(pieces).unwrap(), message, "{name} cut {lengths:?}");
        }
    }
}

/// Without the spaces that some servers put behind separators.
fn compact(text: &str) -> String {
    text.replace("\": ", "\":").replace(", \"", ",\"")
}

#[test]
fn pieces_with_paths_are_joined_into_one_call() {
    let Some(folder) = folder() else { return };
    let bytes = Bytes::from(fs::read(folder.join("vertex/nested-streamed-arguments.sse")).unwrap());
    let message = decode([bytes]).unwrap();
    let (_, call) = message.tool_calls().next().unwrap();
    let arguments: serde_json::Value = serde_json::from_str(call.arguments.text()).unwrap();
    let recipe = &arguments["recipe"];
    assert_eq!(recipe["name"], "Lasagna");
    let ingredients = recipe["ingredients"].as_array().unwrap();
    assert_eq!((ingredients.len(), &ingredients[9]), (10, &serde_json::json!({"amount": "1/2 tsp", "name": "Pepper"})));
    let steps = recipe["steps"].as_array().unwrap();
    assert_eq!(steps.len(), 10);
    assert_eq!(steps[1], "Cook lasagna noodles according to package directions, drain and set aside.");
    assert_eq!(steps[4], "In a 9x13 baking dish, spread a thin layer of meat sauce.");
}

#[test]
fn recorded_errors_are_of_their_kind() {
    let Some(folder) = folder() else { return };
    let wire = GoogleWire::gemini();
    for (name, status, kind, wait) in [
        ("error-429.json", 429, Kind::RateLimited, Some(34_400)),
        ("error-404.sse", 404, Kind::NotFound, None),
        ("synthetic-error-503.json", 503, Kind::Overloaded, None),
    ] {
        let body = fs::read(folder.join("gemini").join(name)).unwrap();
        let error = wire.classify(StatusCode::from_u16(status).unwrap(), &HeaderMap::new(), &body);
        assert_eq!(error.kind(), kind, "{name}: {error}");
        assert_eq!(error.retry_after(0).map(|wait| wait.as_millis()), wait, "{name}");
        // The same in place of an answer.
        for pieces in cuts(&body.clone().into()) {
            assert_eq!(decode(pieces).unwrap_err().kind(), kind, "{name}");
        }
    }
}

#[test]
fn an_answer_cut_anywhere_before_its_end_is_never_a_success() {
    let Some(folder) = folder() else { return };
    for right in ANSWERS.iter().filter(|right| !right.file.contains("malformed")) {
        let bytes = fs::read(folder.join(format!("{}.sse", right.file))).unwrap();
        let end = String::from_utf8_lossy(&bytes)
            .find("\"finishReason\": \"")
            .or(String::from_utf8_lossy(&bytes).find("\"finishReason\":\""))
            .unwrap();
        let stride = end.div_ceil(100).max(1);
        for at in (1..end).step_by(stride) {
            let error = decode([Bytes::copy_from_slice(&bytes[..at])]).unwrap_err();
            assert!(matches!(error.kind(), Kind::Network | Kind::Protocol), "{} cut at {at}: {error}", right.file);
        }
    }
}
