//! The Anthropic Messages wire, without I/O.
#![doc = include_str!("../README.md")]

mod count;
mod decode;
mod json;
mod models;
mod replay;
mod request;
mod revision;
mod schema;
mod wire;

pub use crate::{
    count::{AnthropicTokenCounter, CountTokensWire},
    decode::AnthropicDecoder,
    models::{ALWAYS_THINKS, BUDGET_THINKING, NO_FORCED_TOOL, facts_of},
    replay::{replays_to, same_model},
    revision::{KeyHeader, Revision},
    schema::{Lowered, lower_output_schema, lower_tool_schema},
    wire::{AnthropicWire, ForeignThinking},
};

/// The name of the protocol in origins.
pub const PROTOCOL: &str = "anthropic-messages";
