//! OpenAI's two protocols, Chat Completions and Responses, and the servers that speak them, without I/O.
#![doc = include_str!("../README.md")]

mod azure;
mod chat;
mod json;
mod profile;
mod repeat;
mod replay;
mod responses;
mod schema;
mod server;
mod wire;

pub use crate::{
    chat::{ChatDecoder, TextSyntax},
    profile::{EffortStyle, Profile, ProfileError, StructuredStyle},
    replay::{ReasoningReplay, replay_of},
    responses::{RESPONSES_PROTOCOL, ReasoningSummary, ResponsesDecoder, ResponsesWire},
    schema::{Lowered, lower_strict_schema},
    server::KeyHeader,
    wire::ChatWire,
};

/// The name of Chat Completions in origins.
pub const PROTOCOL: &str = "openai-chat";
