//! Vectors and recorded wires, under every cut, against the reference.
#![expect(clippy::print_stderr, reason = "a test that skips says so aloud")]
#![expect(clippy::unwrap_used, reason = "a fixture that cannot be read fails the test")]

use std::fs;
use std::path::{Path, PathBuf};

use agent_core::UnterminatedEvent::{Discard, Dispatch};
use base64::Engine;
use serde_json::Value;

use crate::sse_reference::{Event, Random, decode, decoder, every_cut, reference};

fn fixtures(inside: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/fixtures").join(inside);
    if path.exists() {
        return Some(path);
    }
    eprintln!("skipped: there is no {}", path.display());
    None
}

#[test]
fn vectors() {
    let Some(path) = fixtures("vectors/sse/cases.json") else { return };
    let cases: Vec<Value> = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    assert!(!cases.is_empty());
    for case in &cases {
        let bytes = base64::engine::general_purpose::STANDARD.decode(case["bytes_base64"].as_str().unwrap()).unwrap();
        let text = |event: &Value, field: &str| event[field].as_str().unwrap_or("").to_owned();
        let mut last_id = String::new();
        let expected: Vec<Event> = case["events"]
            .as_array()
            .unwrap()
            .iter()
            .map(|event| {
                if let Some(id) = event["id"].as_str() {
                    id.clone_into(&mut last_id);
                }
                (text(event, "event"), text(event, "data"), last_id.clone())
            })
            .collect();
        let found = every_cut(&bytes, || decoder(Discard));
        assert_eq!(found, (expected, None), "{}", case["name"]);
        assert_eq!(found.0, reference(&bytes, Discard), "{}", case["name"]);
    }
}

#[test]
fn wires() {
    let Some(path) = fixtures("wires") else { return };
    let mut streams = Vec::new();
    find(&path, &mut streams);
    assert!(!streams.is_empty());
    let mut random = Random(0x5eed);
    for path in &streams {
        let bytes = fs::read(path).unwrap();
        let name = path.display();
        for mode in [Discard, Dispatch] {
            let expected = (reference(&bytes, mode), None);
            for most in [1, 7, 100, 1000] {
                let pieces = random.pieces(&bytes, most);
                assert_eq!(decode(decoder(mode), pieces), expected, "{name}, up to {most}");
            }
        }
        let expected = (reference(&bytes, Discard), None);
        for at in cuts(&bytes) {
            let (a, b) = bytes.split_at(at);
            assert!(decode(decoder(Discard), [a, b]) == expected, "{name} cut at {at}");
        }
    }
}

/// Every cut of a small stream; of a large one those near line ends and every 13th. With optimisation,
/// `cargo test --release -p agent-core --test it sse_fixtures`, every cut of all.
fn cuts(bytes: &[u8]) -> Vec<usize> {
    let near = |at: usize| {
        let around = bytes.get(at.saturating_sub(8)..bytes.len().min(at + 8)).unwrap_or_default();
        around.iter().any(|byte| matches!(byte, b'\n' | b'\r' | 0x80..))
    };
    let every = bytes.len() <= 4096 || !cfg!(debug_assertions);
    (0..=bytes.len()).filter(|at| every || at % 13 == 0 || near(*at)).collect()
}

fn find(folder: &Path, streams: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            find(&path, streams);
        } else if path.extension().is_some_and(|extension| extension == "sse") {
            streams.push(path);
        }
    }
}
