//! OpenAI Chat Completions and the servers that are compatible with it, without I/O.
#![doc = include_str!("../README.md")]

mod chat;
mod json;
mod profile;
mod repeat;
mod replay;
mod schema;
mod wire;

pub use crate::{
    chat::{ChatDecoder, TextSyntax},
    profile::{EffortStyle, Profile, ProfileError, StructuredStyle},
    replay::{ReasoningReplay, replay_of},
    schema::{Lowered, lower_strict_schema},
    wire::ChatWire,
};

/// The name of the protocol in origins.
pub const PROTOCOL: &str = "openai-chat";
