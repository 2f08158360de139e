//! Server-sent events, from bytes to events: the grammar of the WHATWG standard, sans-IO.
//!
//! Knows nothing of HTTP, of JSON or of reconnecting. A chunk goes in with [`SseDecoder::push`],
//! events come out of [`SseDecoder::next_event`] as slices of that chunk.

mod decoder;

use bytestring::ByteString;

pub use decoder::{SseDecoder, UnterminatedEvent};

/// One server-sent event.
///
/// An event whose `data` is one line that arrived in one chunk holds slices of that chunk: it
/// keeps the whole chunk's memory alive until it is dropped. Clones are cheap and share it too.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SseEvent {
    /// The type of the event: the value of the last `event` line. Empty means `message`.
    pub event: ByteString,
    /// The values of the `data` lines, joined with `\n`.
    pub data: ByteString,
    /// The id which this event set, if it set one. An empty id resets the last event id.
    ///
    /// [`SseDecoder::last_event_id`](crate::SseDecoder::last_event_id) knows the id that persists.
    pub id: Option<ByteString>,
}

/// Why a stream of server-sent events cannot be decoded any further.
///
/// Byte offsets count from the start of the stream, a byte order mark included, and do not depend
/// on how the stream was cut into chunks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SseError {
    /// The value of a `data`, `event` or `id` line is not UTF-8.
    #[error(
        "server-sent event: the `{field}` line has invalid UTF-8 at byte {offset} of the stream; \
         the standard allows UTF-8 only, check the response's charset and content encoding"
    )]
    InvalidUtf8 {
        /// The name of the field.
        field: &'static str,
        /// Where the first byte that is not UTF-8 lies.
        offset: u64,
    },
    /// The lines of one event, or one ignored line, are longer than the limit.
    #[error(
        "server-sent event: over the limit of {limit} bytes in the line that begins at byte \
         {offset} of the stream; raise it with `SseDecoder::with_limit`"
    )]
    TooLarge {
        /// The limit in bytes.
        limit: usize,
        /// Where the line that went over the limit begins.
        offset: u64,
    },
}
