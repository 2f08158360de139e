//! The pieces that a request body is made of.

use bytes::Bytes;

use super::ChainHash;

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
    /// A block that costs at most one token for each byte.
    ///
    /// That bound holds for every byte-level tokenizer, since no token is shorter than a byte, and
    /// JSON escapes only add bytes.
    pub fn new(body: impl Into<Bytes>) -> Self {
        let body = body.into();
        let bound = TokenBound::AtMost(u64::try_from(body.len()).unwrap_or(u64::MAX));
        let hash = ChainHash::of(&[&body]);
        Self { body, close: "", bound, hash }
    }

    /// Sets what stands behind the marker slot, usually `}`.
    #[must_use]
    pub fn close(mut self, close: &'static str) -> Self {
        self.close = close;
        self.hash = ChainHash::of(&[&self.body, close.as_bytes()]);
        self
    }

    /// Sets the bound, for images and documents, whose bytes are not text.
    #[must_use]
    pub fn bound(mut self, bound: TokenBound) -> Self {
        self.bound = bound;
        self
    }

    /// The encoded bytes up to the marker slot.
    pub fn body(&self) -> &Bytes {
        &self.body
    }
}

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

impl Piece {
    /// Puts a block behind a piece, with a separator between them.
    pub(super) fn after(previous: Option<&Self>, lead: &'static str, block: Block) -> Self {
        let own = ChainHash::of(&[lead.as_bytes()]).then(block.hash);
        let (chain, end, bound) = match previous {
            Some(piece) => (piece.chain.then(own), piece.end, piece.bound),
            None => (ChainHash::default().then(own), 0, TokenBound::ZERO),
        };
        let frame = length(lead.len().saturating_add(block.close.len()));
        let bound = bound.plus(block.bound).plus(TokenBound::AtMost(frame));
        let end = end.saturating_add(frame).saturating_add(length(block.body.len()));
        Self { lead, block, own, chain, end, bound }
    }

    /// The separator before the block.
    pub fn lead(&self) -> &'static str {
        self.lead
    }

    /// The encoded bytes up to the marker slot.
    pub fn body(&self) -> &Bytes {
        &self.block.body
    }

    /// What stands behind the marker slot.
    pub fn close(&self) -> &'static str {
        self.block.close
    }

    /// The hash over this and all pieces before it in its list.
    pub fn chain(&self) -> ChainHash {
        self.chain
    }

    /// How many bytes this and all pieces before it in its list have, without markers.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// What this and all pieces before it in its list cost at most.
    pub fn bound(&self) -> TokenBound {
        self.bound
    }

    pub(super) fn own_hash(&self) -> ChainHash {
        self.own
    }

    pub(super) fn own_len(&self) -> u64 {
        let len = self.lead.len().saturating_add(self.body().len());
        length(len.saturating_add(self.close().len()))
    }

    /// Where two pieces differ first, in bytes from their beginning.
    pub(super) fn first_difference(&self, other: &Self) -> u64 {
        let bytes = |p: &Self| [p.lead.as_bytes(), p.body(), p.close().as_bytes()].concat();
        let (a, b) = (bytes(self), bytes(other));
        let same = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
        length(same)
    }
}

fn length(n: usize) -> u64 {
    u64::try_from(n).unwrap_or(u64::MAX)
}
