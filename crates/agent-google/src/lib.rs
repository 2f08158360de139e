//! Google's Gemini models over the Gemini API and Vertex AI, without I/O.
#![doc = include_str!("../README.md")]

mod auth;
mod decode;
mod error;
mod json;
mod models;
mod place;
mod replay;
mod request;
mod schema;
mod wire;

pub use crate::{
    auth::{AuthorizedUser, GoogleTokens, MetadataServer, ServiceAccount, Signer, TokenGrant},
    decode::GoogleDecoder,
    models::{ALWAYS_THINKS, BEFORE_3, facts_of},
    place::ApiVersion,
    replay::{replays_to, same_model},
    schema::{Lowered, SchemaDialect, lower_to_json_schema, lower_to_open_api},
    wire::GoogleWire,
};

#[cfg(feature = "service-account")]
pub use crate::auth::RsaSigner;

/// The name of the protocol in origins.
pub const PROTOCOL: &str = "gemini";
