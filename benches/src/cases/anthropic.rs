//! The Anthropic wire: what a streamed delta costs from bytes to events, framing included.

use std::hint::black_box;

use agent_anthropic::AnthropicWire;
use agent_core::{Decoder, Events, Wire};
use bytes::Bytes;
use http::HeaderMap;

use super::{Case, Growth, PerUnit, sse::READ};

const START: &str = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\
    \"model\":\"claude-sonnet-5\",\"usage\":{\"input_tokens\":1}}}\n\nevent: content_block_start\n\
    data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n";
const DELTA: &str = "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\
    \"delta\":{\"type\":\"text_delta\",\"text\":\" and some more of it\"}}\n\n";

pub(super) const TEXT_DELTA: Case = Case {
    name: "anthropic-text-delta",
    unit: "streamed text delta of 20 bytes",
    run: |n| deltas(&Bytes::from(DELTA.repeat(READ / DELTA.len())), n),
    per_unit: PerUnit { lo: 1_000, hi: 11_000, max: Some(1_600) },
    growth: Some(Growth { n: 1 << 14, n_dev: 1 << 12, max_tenths: 23 }),
    floor: None,
};

/// Reads so many deltas, as many at once as a read gives.
fn deltas(read: &Bytes, n: u64) {
    let mut decoder = AnthropicWire::new().decoder(&HeaderMap::new());
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
    feed(Bytes::from_static(START.as_bytes()));
    let mut left = n;
    while left > 0 {
        left = left.saturating_sub(feed(read.clone()));
    }
}
