//! Responses (<https://platform.openai.com/docs/api-reference/responses>).

mod decode;
mod done;
mod event;
mod items;
mod options;
mod request;
mod slots;
mod usage;
mod wire;

pub use self::{
    decode::ResponsesDecoder,
    wire::{ReasoningSummary, ResponsesWire},
};

/// The name of Responses in origins.
pub const RESPONSES_PROTOCOL: &str = "openai-responses";
