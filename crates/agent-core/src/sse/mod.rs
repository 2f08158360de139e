//! Server-sent events, from bytes to events: the grammar of the WHATWG standard, sans-IO.
//!
//! Knows nothing of HTTP, of JSON or of reconnecting. A chunk goes in with [`SseDecoder::push`],
//! events come out of [`SseDecoder::next_event`] as slices of that chunk.

mod chunk;
mod cut;
mod decoder;
mod error;
mod event;
mod field;
mod pending;

pub use decoder::{SseDecoder, UnterminatedEvent};
pub use error::SseError;
pub use event::SseEvent;
