//! Server-sent events: framing of small events, one large event, and the floors below them.

use std::hint::black_box;

use agent_core::SseDecoder;
use bytes::Bytes;

use super::{Case, Growth, PerUnit, VersusFloor};

/// How much a read from a socket gives at most.
pub const READ: usize = 16 * 1024;
const EVENTS_PER_ROUND: u64 = 512;
const READS_PER_MB: u64 = (1 << 20) / READ as u64;

pub(super) const FRAME_300: Case = Case {
    name: "sse-frame-300",
    unit: "event of 300 bytes",
    run: |n| frame(&openai_stream(), n),
    per_unit: PerUnit { lo: 2 * EVENTS_PER_ROUND, hi: 12 * EVENTS_PER_ROUND, max: Some(600) },
    growth: Some(Growth { n: 1 << 14, n_dev: 1 << 12, max_tenths: 23 }),
    floor: None,
};

pub(super) const FRAME_300_TYPED: Case = Case {
    name: "sse-frame-300-typed",
    unit: "event of 300 bytes with an event line",
    run: |n| frame(&anthropic_stream(), n),
    per_unit: PerUnit { lo: 2 * EVENTS_PER_ROUND, hi: 12 * EVENTS_PER_ROUND, max: Some(900) },
    growth: None,
    floor: None,
};

pub(super) const FRAME_300_BAD_COMMENT: Case = Case {
    name: "sse-frame-300-bad-comment",
    unit: "event of 300 bytes, each read ending in a comment that is no UTF-8",
    run: |n| {
        let mut chunks = openai_stream();
        for chunk in &mut chunks {
            // Instead of the line that the read's end cuts.
            let end = memchr::memrchr(b'\n', chunk).map_or(0, |end| end + 1);
            *chunk = [chunk.get(..end).unwrap_or_default(), b": \xff\n\n"].concat().into();
        }
        frame(&chunks, n);
    },
    per_unit: PerUnit { lo: 2 * EVENTS_PER_ROUND, hi: 12 * EVENTS_PER_ROUND, max: Some(1000) },
    growth: None,
    floor: None,
};

pub(super) const FLOOR_LINES: Case = Case {
    name: "sse-floor-lines",
    unit: "event of 300 bytes",
    run: |n| {
        let chunks = openai_stream();
        let mut floor = Floor::new(Check::Nothing);
        for _ in 0..n / EVENTS_PER_ROUND {
            chunks.iter().for_each(|chunk| floor.push(chunk));
        }
        black_box(floor.bytes);
    },
    per_unit: PerUnit { lo: 2 * EVENTS_PER_ROUND, hi: 12 * EVENTS_PER_ROUND, max: None },
    growth: None,
    floor: None,
};

pub(super) const ONE_EVENT: Case = Case {
    name: "sse-8mb",
    unit: "MB of one event",
    run: |n| {
        black_box(one_event(n));
    },
    per_unit: PerUnit { lo: 4, hi: 8, max: None },
    growth: Some(Growth { n: 4, n_dev: 4, max_tenths: 23 }),
    floor: Some(VersusFloor { name: "sse-floor-8mb", max_tenths: 20, routine: false }),
};

pub(super) const FLOOR_ONE_EVENT: Case = Case {
    name: "sse-floor-8mb",
    unit: "MB of one event",
    run: |n| {
        black_box(floor_one_event(n, Check::Nothing));
    },
    per_unit: PerUnit { lo: 4, hi: 8, max: None },
    growth: None,
    floor: None,
};

pub(super) const FLOOR_ONE_EVENT_UTF8: Case = Case {
    name: "sse-floor-8mb-utf8",
    unit: "MB of one event",
    run: |n| {
        black_box(floor_one_event(n, Check::Utf8));
    },
    per_unit: PerUnit { lo: 4, hi: 8, max: None },
    growth: None,
    floor: None,
};

pub(super) const MANY_LINES: Case = Case {
    name: "sse-many-lines",
    unit: "MB of one event of 64-byte data lines",
    run: |n| {
        let chunk = Bytes::from("data: 012345678901234567890123456789012345678901234567890123456\n".repeat(READ / 64));
        let mut decoder = SseDecoder::new();
        for _ in 0..n * READS_PER_MB {
            decoder.push(chunk.clone());
            drain(&mut decoder);
        }
        decoder.push(Bytes::from_static(b"\n"));
        black_box(drain(&mut decoder));
    },
    per_unit: PerUnit { lo: 2, hi: 4, max: None },
    growth: Some(Growth { n: 2, n_dev: 1, max_tenths: 23 }),
    floor: None,
};

/// 512 events of 300 bytes as OpenAI sends them, in reads of 16 KiB.
#[must_use]
pub fn openai_stream() -> Vec<Bytes> {
    stream("")
}

fn anthropic_stream() -> Vec<Bytes> {
    stream("event: content_block_delta\n")
}

fn stream(before: &str) -> Vec<Bytes> {
    let head = concat!(
        r#"data: {"id":"chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT","object":"chat.completion.chunk","#,
        r#""created":1741569952,"model":"gpt-4o-2024-08-06","service_tier":"default","#,
        r#""system_fingerprint":"fp_6ec83003ad","choices":[{"index":0,"delta":{"content":""#,
    );
    let tail = "\"},\"logprobs\":null,\"finish_reason\":null}],\"usage\":null}\n\n";
    let mut body = String::new();
    for i in 0..EVENTS_PER_ROUND {
        let end = body.len() + 300 - tail.len();
        body.push_str(before);
        body.push_str(head);
        while body.len() < end {
            body.push(if (i + body.len() as u64).is_multiple_of(7) { ' ' } else { 'w' });
        }
        body.push_str(tail);
    }
    body.into_bytes().chunks(READ).map(Bytes::copy_from_slice).collect()
}

/// Decodes `n` events (a multiple of 512) of the stream.
fn frame(chunks: &[Bytes], n: u64) {
    let mut decoder = SseDecoder::new();
    let mut bytes = 0;
    for _ in 0..n / EVENTS_PER_ROUND {
        for chunk in chunks {
            decoder.push(chunk.clone());
            bytes += drain(&mut decoder);
        }
    }
    black_box(bytes);
}

/// Takes all events there are; the bytes of their data.
pub fn drain(decoder: &mut SseDecoder) -> usize {
    let mut bytes = 0;
    while let Some(Ok(event)) = decoder.next_event() {
        bytes += black_box(&event).data.len();
    }
    bytes
}

/// Decodes one event of `megabytes` in reads of 16 KiB; the bytes of its data.
#[must_use]
pub fn one_event(megabytes: u64) -> usize {
    let chunk = Bytes::from(vec![b'x'; READ]);
    let mut decoder = SseDecoder::new();
    let mut bytes = 0;
    decoder.push(Bytes::from_static(b"data: "));
    for _ in 0..megabytes * READS_PER_MB {
        decoder.push(chunk.clone());
        bytes += drain(&mut decoder);
    }
    decoder.push(Bytes::from_static(b"\n\n"));
    bytes + drain(&mut decoder)
}

/// The floor's work for the same event; the bytes of its data.
#[must_use]
pub fn floor_one_event(megabytes: u64, check: Check) -> usize {
    let chunk = vec![b'x'; READ];
    let mut floor = Floor::new(check);
    floor.push(b"data: ");
    for _ in 0..megabytes * READS_PER_MB {
        floor.push(&chunk);
    }
    floor.push(b"\n\n");
    floor.bytes
}

/// What the floor does with a data line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Check {
    /// It only finds where it ends.
    Nothing,
    /// It checks that it is UTF-8, which everyone who wants text must.
    Utf8,
}

/// The least that can be done: lines split by memchr, a line cut by a read's end carried.
#[derive(Debug)]
pub struct Floor {
    carry: Vec<u8>,
    check: Check,
    /// The bytes of the data lines so far.
    pub bytes: usize,
}

impl Floor {
    /// A floor at the start of a stream.
    #[must_use]
    pub fn new(check: Check) -> Self {
        Self { carry: Vec::new(), check, bytes: 0 }
    }

    /// Splits one read.
    pub fn push(&mut self, mut read: &[u8]) {
        if !self.carry.is_empty() {
            let Some((line, rest)) = split_line(read) else {
                self.carry.extend_from_slice(read);
                return;
            };
            self.carry.extend_from_slice(line);
            read = rest;
            let mut carry = std::mem::take(&mut self.carry);
            self.line(&carry);
            carry.clear();
            self.carry = carry;
        }
        while let Some((line, rest)) = split_line(read) {
            self.line(line);
            read = rest;
        }
        self.carry.extend_from_slice(read);
    }

    fn line(&mut self, line: &[u8]) {
        if let Some(data) = line.strip_prefix(b"data: ") {
            if self.check == Check::Utf8 && str::from_utf8(data).is_err() {
                return;
            }
            self.bytes += black_box(data).len();
        }
    }
}

fn split_line(read: &[u8]) -> Option<(&[u8], &[u8])> {
    let (line, rest) = read.split_at_checked(memchr::memchr(b'\n', read)?)?;
    Some((line, rest.split_first()?.1))
}
