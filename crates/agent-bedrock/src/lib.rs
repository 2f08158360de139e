//! Amazon Bedrock's ConverseStream, without I/O.
#![doc = include_str!("../README.md")]

mod event_stream;
mod sign;

pub use crate::{
    event_stream::{EventHeaderValue, EventMessage, EventStreamDecoder, EventStreamError, MAX_HEADERS, MAX_MESSAGE},
    sign::{PathForm, PayloadHash, PayloadHasher, SigV4, Signature, SignedRequest},
};
