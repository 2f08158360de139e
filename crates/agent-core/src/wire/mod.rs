//! A protocol sans IO, the one driver that sends for all of them, and requests as segments.

mod answer;
mod chain;
mod decoder;
mod hash;
mod http_provider;
mod piece;
mod piece_cache;
mod segments;

use http::{HeaderMap, StatusCode, request::Parts};

pub use self::{
    answer::AnswerReader,
    chain::{CacheBreak, CacheBreakCause, Chain, Divergence},
    decoder::{Decoder, Events},
    hash::ChainHash,
    http_provider::HttpProvider,
    piece::{Block, Piece, TokenBound},
    piece_cache::{MessagePieces, MessageWalk, PieceCache},
    segments::{CacheOrder, Frames, MarkerSlot, Section, Segments, SegmentsBuilder},
};
use crate::{Credential, Losses, ModelCall, Origin, ProviderError};

/// A protocol: what to send and how to read the reply, without sending.
pub trait Wire: Send + Sync + 'static {
    /// Reads one reply.
    type Decoder: Decoder;

    /// Who answers calls of this model.
    fn origin(&self, model: &str) -> Origin;

    /// The request for a call, without credentials.
    ///
    /// # Errors
    /// [`ProviderError`] of kind `Unsupported` or `InvalidRequest` where the call cannot be carried.
    fn encode(&self, call: &ModelCall) -> Result<Encoded, ProviderError>;

    /// Puts credentials on a request; called for every attempt. `now_ms` is in milliseconds since
    /// the Unix epoch.
    ///
    /// # Errors
    /// [`ProviderError`] of kind `Auth` where the wire cannot use this kind of credential.
    fn authorize(
        &self,
        parts: &mut Parts,
        segments: &Segments,
        credential: &Credential,
        now_ms: u64,
    ) -> Result<(), ProviderError>;

    /// A reader for the reply with these headers, streamed or whole.
    fn decoder(&self, headers: &HeaderMap) -> Self::Decoder;

    /// The error that a response with an error status means. The general rules are
    /// [`classify`](crate::classify)'s.
    fn classify(&self, status: StatusCode, headers: &HeaderMap, body: &[u8]) -> ProviderError {
        crate::error::classify(status, headers, body)
    }
}

/// A request as a wire makes it.
#[derive(Debug)]
#[non_exhaustive]
pub struct Encoded {
    /// Method, address and headers, without credentials.
    pub parts: Parts,
    /// The body.
    pub segments: Segments,
    /// What the vendor adds to the input in tokens, at most.
    pub overhead: TokenBound,
    /// How many tokens the vendor will generate at most; `None` where nothing limits them.
    pub max_output: Option<u64>,
    /// What the vendor cannot carry.
    pub losses: Losses,
}

impl Encoded {
    /// A request without losses, overhead or output limit.
    pub fn new(parts: Parts, segments: Segments) -> Self {
        let overhead = TokenBound::ZERO;
        Self { parts, segments, overhead, max_output: None, losses: Losses::default() }
    }
}
