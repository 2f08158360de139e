//! The vocabulary and the seams of Mainspring.

mod sse;

pub use sse::{SseDecoder, SseError, SseEvent, UnterminatedEvent};
