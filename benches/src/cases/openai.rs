//! The Chat Completions wire: what a streamed delta costs from bytes to events, framing included.

use std::hint::black_box;

use agent_core::{Decoder, Events, Wire};
use agent_openai::ChatWire;
use bytes::Bytes;
use http::HeaderMap;

use super::{Case, Growth, PerUnit, sse::READ};

macro_rules! chunk {
    ($delta:literal, $padding:literal) => {
        concat!(
            "data: {\"id\":\"chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT\",\"object\":\"chat.completion.chunk\",",
            "\"created\":1741570283,\"model\":\"gpt-x-2026-08-06\",\"service_tier\":\"default\",",
            "\"system_fingerprint\":\"fp_fc9f1d7035\",\"choices\":[{\"index\":0,\"delta\":{",
            $delta,
            "},\"logprobs\":null,\"finish_reason\":null}],\"usage\":null",
            $padding,
            "}\n\n"
        )
    };
}

const TEXT: &str = chunk!("\"content\":\" more\"", "");
const PADDED: &str = chunk!("\"content\":\" more\"", ",\"obfuscation\":\"x7Gh2\"");
const ARGUMENTS: &str = chunk!("\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"12345\"}}]", "");
const OPEN: &str =
    chunk!("\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"\"}}]", "");

macro_rules! delta {
    ($name:ident, $case:literal, $unit:literal, $text:expr, $max:literal) => {
        pub(super) const $name: Case = Case {
            name: $case,
            unit: $unit,
            run: |n| deltas(&Bytes::from($text.repeat(READ / $text.len())), n),
            per_unit: PerUnit { lo: 1_000, hi: 11_000, max: Some($max) },
            growth: Some(Growth { n: 1 << 14, n_dev: 1 << 12, max_tenths: 23 }),
            floor: None,
        };
    };
}

delta!(TEXT_DELTA, "openai-text-delta", "streamed chunk of 300 bytes with 5 of text", TEXT, 1_600);
delta!(PADDED_DELTA, "openai-padded-delta", "the same with padding", PADDED, 1_900);
delta!(ARGUMENTS_DELTA, "openai-arguments-delta", "streamed chunk with 5 bytes of arguments", ARGUMENTS, 1_700);

/// Reads so many deltas, as many at once as a read gives.
fn deltas(read: &Bytes, n: u64) {
    let mut decoder = ChatWire::openai().decoder(&HeaderMap::new());
    let mut events = Events::new();
    let mut feed = |bytes: Bytes| {
        assert!(decoder.feed(bytes, &mut events).is_ok(), "the stream is good");
        let mut seen = 0;
        while let Some(event) = events.pop() {
            black_box(&event);
            seen += 1;
        }
        seen
    };
    feed(Bytes::from_static(OPEN.as_bytes()));
    let mut left = n;
    while left > 0 {
        left = left.saturating_sub(feed(read.clone()));
    }
}
