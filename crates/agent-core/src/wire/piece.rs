//! The pieces that a request body is made of.

use bytes::Bytes;

use super::ChainHash;
use crate::macros::{getters, setters};

/// How many input tokens something can cost at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TokenBound {
    /// At most this many tokens.
    AtMost(u64),
    /// Nobody can say: an address that the provider fetches, a tool that the provider runs.
    Unknown,
}

impl TokenBound {
    /// Nothing.
    pub const ZERO: Self = Self::AtMost(0);

    /// One token for each byte, which is the most that text can cost: no token of a byte-level
    /// tokenizer is shorter than a byte, and JSON escapes only add bytes.
    pub fn bytes(len: usize) -> Self {
        Self::AtMost(size(len))
    }

    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        match (self, other) {
            (Self::AtMost(a), Self::AtMost(b)) => Self::AtMost(a.saturating_add(b)),
            _ => Self::Unknown,
        }
    }
}

/// One encoded block: the JSON of a tool, a system block, an option or a content block, without the
/// separators before and after it. Encoded once, sent in every later request.
///
/// A block ends in a marker slot: a cache marker may be written between `body` and `close`.
#[derive(Debug, Clone)]
pub struct Block {
    body: Bytes,
    close: &'static str,
    bound: TokenBound,
    hash: ChainHash,
}

impl Block {
    /// A block of text, bounded by [`TokenBound::bytes`].
    pub fn new(body: impl Into<Bytes>) -> Self {
        let body = body.into();
        Self { bound: TokenBound::bytes(body.len()), hash: ChainHash::of(&[&body]), body, close: "" }
    }

    /// Sets what stands behind the marker slot, usually `}`.
    #[must_use]
    pub fn close(mut self, close: &'static str) -> Self {
        self.close = close;
        self.hash = ChainHash::of(&[&self.body, close.as_bytes()]);
        self
    }
}

setters! { Block {
    /// Sets the bound, for images and documents, whose bytes are not text.
    bound(bound: TokenBound) => bound = bound;
} }

/// A block in its place in a body: its separator before it, and sums over all pieces up to it.
#[derive(Debug, Clone)]
pub struct Piece {
    lead: &'static str,
    block: Block,
    own: ChainHash,
    chain: ChainHash,
    end: u64,
    bound: TokenBound,
}

getters! { Piece {
    /// The separator before the block.
    lead -> &'static str = |this| this.lead;
    /// The encoded bytes up to the marker slot.
    body -> &Bytes = |this| &this.block.body;
    /// What stands behind the marker slot.
    close -> &'static str = |this| this.block.close;
    /// The hash over this and all pieces before it in its list.
    chain -> ChainHash = |this| this.chain;
    /// How many bytes this and all pieces before it in its list have, without markers.
    end -> u64 = |this| this.end;
    /// What this and all pieces before it in its list cost at most.
    bound -> TokenBound = |this| this.bound;
} }

impl Piece {
    /// Puts a block behind a piece, with a separator between them.
    pub(super) fn after(previous: Option<&Self>, lead: &'static str, block: Block) -> Self {
        let own = ChainHash::of(&[lead.as_bytes()]).then(block.hash);
        let (chain, start, bound) = previous.map_or_else(Default::default, |p| (p.chain, p.end, Some(p.bound)));
        let frame = lead.len().saturating_add(block.close.len());
        let bound = bound.unwrap_or(TokenBound::ZERO).plus(block.bound).plus(TokenBound::bytes(frame));
        let end = start.saturating_add(size(frame)).saturating_add(size(block.body.len()));
        Self { lead, block, own, chain: chain.then(own), end, bound }
    }

    pub(super) fn own_hash(&self) -> ChainHash {
        self.own
    }

    fn bytes(&self) -> impl Iterator<Item = &u8> {
        self.lead.as_bytes().iter().chain(self.body()).chain(self.close().as_bytes())
    }

    pub(super) fn own_len(&self) -> u64 {
        size(self.bytes().count())
    }

    /// Where two pieces differ first, in bytes from their beginning.
    pub(super) fn first_difference(&self, other: &Self) -> u64 {
        size(self.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count())
    }
}

pub(super) fn size(n: usize) -> u64 {
    u64::try_from(n).unwrap_or(u64::MAX)
}
