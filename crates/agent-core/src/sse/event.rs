//! One server-sent event.

use bytestring::ByteString;

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
