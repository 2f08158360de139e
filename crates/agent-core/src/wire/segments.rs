//! A request body as immutable pieces.

use std::{collections::VecDeque, sync::Arc};

use bytes::{Bytes, BytesMut};

use super::{Block, Chain, ChainHash, MessagePieces, Piece, TokenBound, piece::size, piece_cache::GROUP};
use crate::{Log, macros::getters};

/// Small pieces are put together into frames of about this size, in bytes.
const FRAME: usize = 16 * 1024;
/// Pieces from this size on go as they are.
const LARGE: usize = 4 * 1024;

/// What a piece before the messages is, and so what breaks when it changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Section {
    /// Options that the vendor's cache ignores, such as an output limit or a temperature.
    Irrelevant,
    /// Options that break the cached messages, but not tools and system.
    MessageOption,
    /// Options that break everything.
    Option,
    /// A tool.
    Tools,
    /// A part of the system prompt.
    System,
}

/// In which order the vendor's cache sees tools and system; messages always come last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CacheOrder {
    /// Tools, then system, then messages (Anthropic, Bedrock, OpenAI).
    ToolsFirst,
    /// System, then tools, then messages.
    SystemFirst,
}

/// Where a cache marker is put.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum MarkerSlot {
    /// Behind a piece before the messages, counted from 0 in body order.
    Prelude(usize),
    /// Behind a piece of the messages, from 0.
    Message(usize),
}

/// A request body: pieces in body order, the messages last; a clone is O(1).
///
/// The bytes of a segment never change. Markers and a transient tail stand outside the chain.
#[derive(Debug, Clone)]
pub struct Segments {
    prelude: Arc<[(Section, Piece)]>,
    messages: Log<Piece>,
    joined: Log<Arc<[Bytes]>>,
    markers: Arc<[(MarkerSlot, Bytes)]>,
    tail: Bytes,
    tail_bound: TokenBound,
    chain: Chain,
}

/// Puts a body together.
///
/// ```
/// use agent_core::{Block, CacheOrder, MessagePieces, Section, SegmentsBuilder};
/// let segments = SegmentsBuilder::new(CacheOrder::ToolsFirst)
///     .identity(b"toy-1 https://example.com")
///     .push(Section::Irrelevant, "{\"max_tokens\":", Block::new("5"))
///     .push(Section::Tools, ",\"tools\":[", Block::new("{\"name\":\"add\"").close("}"))
///     .messages(MessagePieces::default())
///     .end("],\"messages\":[]}")
///     .finish();
/// let body = br#"{"max_tokens":5,"tools":[{"name":"add"}],"messages":[]}"#;
/// assert_eq!(segments.to_bytes(), &body[..]);
/// ```
#[derive(Debug)]
pub struct SegmentsBuilder {
    order: CacheOrder,
    identity: ChainHash,
    prelude: Vec<(Section, Piece)>,
    messages: MessagePieces,
    markers: Vec<(MarkerSlot, Bytes)>,
    tail: BytesMut,
    tail_bound: TokenBound,
}

impl SegmentsBuilder {
    /// An empty body for a vendor whose cache sees it in this order.
    pub fn new(order: CacheOrder) -> Self {
        Self {
            order,
            identity: ChainHash::default(),
            prelude: Vec::new(),
            messages: MessagePieces::default(),
            markers: Vec::new(),
            tail: BytesMut::new(),
            tail_bound: TokenBound::ZERO,
        }
    }

    /// Adds to what stands in front of the chain and not in the body: model, endpoint, headers that
    /// the vendor's cache looks at.
    #[must_use]
    pub fn identity(mut self, part: &[u8]) -> Self {
        self.identity = self.identity.then(ChainHash::of(&[part]));
        self
    }

    /// Adds a piece before the messages, in body order, with the separator before it.
    #[must_use]
    pub fn push(mut self, section: Section, lead: &'static str, block: Block) -> Self {
        let piece = Piece::after(self.prelude.last().map(|(_, piece)| piece), lead, block);
        self.prelude.push((section, piece));
        self
    }

    /// How many pieces stand before the messages so far.
    pub fn prelude_len(&self) -> usize {
        self.prelude.len()
    }

    /// Sets the messages.
    #[must_use]
    pub fn messages(mut self, messages: MessagePieces) -> Self {
        self.messages = messages;
        self
    }

    /// Puts a marker into the slot of a piece; slots without a piece are ignored.
    #[must_use]
    pub fn marker(mut self, slot: MarkerSlot, marker: impl Into<Bytes>) -> Self {
        self.markers.push((slot, marker.into()));
        self
    }

    /// Adds a block behind the last message that only this request carries.
    #[must_use]
    pub fn tail(mut self, lead: &'static str, block: &Block) -> Self {
        let piece = Piece::after(None, lead, block.clone());
        self.tail_bound = self.tail_bound.plus(piece.bound());
        [lead.as_bytes(), piece.body(), piece.close().as_bytes()]
            .iter()
            .for_each(|part| self.tail.extend_from_slice(part));
        self
    }

    /// Adds the closing brackets.
    #[must_use]
    pub fn end(mut self, close: &str) -> Self {
        self.tail.extend_from_slice(close.as_bytes());
        self.tail_bound = self.tail_bound.plus(TokenBound::bytes(close.len()));
        self
    }

    /// The body.
    pub fn finish(mut self) -> Segments {
        self.markers.sort_by_key(|(slot, _)| *slot);
        let chain = Chain::of(self.order, self.identity, &self.prelude, self.messages.pieces());
        Segments {
            prelude: self.prelude.into(),
            messages: self.messages.pieces,
            joined: self.messages.joined,
            markers: self.markers.into(),
            tail: self.tail.freeze(),
            tail_bound: self.tail_bound,
            chain,
        }
    }
}

getters! { Segments {
    /// The hash chain of the body.
    chain -> &Chain = |this| &this.chain;
    /// The pieces before the messages, in body order.
    prelude -> &[(Section, Piece)] = |this| &this.prelude;
    /// The pieces of the messages.
    messages -> &Log<Piece> = |this| &this.messages;
    /// The markers, in body order; those of slots without a piece are not sent.
    markers -> &[(MarkerSlot, Bytes)] = |this| &this.markers;
    /// What stands behind the messages.
    tail -> &Bytes = |this| &this.tail;
} }

impl Segments {
    /// How many bytes the body has, markers and tail included.
    pub fn content_length(&self) -> u64 {
        let markers = self.markers.iter().filter(|(slot, _)| self.index(*slot) < self.len());
        let outside = markers.map(|(_, marker)| marker.len()).sum::<usize>() + self.tail.len();
        self.len().checked_sub(1).map_or(0, |last| self.end_of(last)).saturating_add(size(outside))
    }

    /// What the body costs at most, in input tokens, without a vendor's overhead for each message.
    pub fn bound(&self) -> TokenBound {
        let last = [self.prelude.last().map(|(_, piece)| piece), self.messages.last()];
        last.into_iter().flatten().map(Piece::bound).fold(self.tail_bound, TokenBound::plus)
    }

    /// The body as frames: large pieces as they are, without a copy, small ones put together.
    pub fn frames(&self) -> Frames {
        let size = usize::try_from(self.content_length()).unwrap_or(usize::MAX);
        let gather = Gather { small: BytesMut::with_capacity(size.min(FRAME)), ready: VecDeque::new() };
        Frames { segments: self.clone(), at: 0, marker: 0, gather }
    }

    /// The whole body in one buffer.
    pub fn to_bytes(&self) -> Bytes {
        let mut all = BytesMut::new();
        self.frames().for_each(|frame| all.extend_from_slice(&frame));
        all.freeze()
    }

    fn len(&self) -> usize {
        self.prelude.len() + self.messages.len()
    }

    fn index(&self, slot: MarkerSlot) -> usize {
        match slot {
            MarkerSlot::Prelude(at) => at,
            MarkerSlot::Message(at) => self.prelude.len().saturating_add(at),
        }
    }

    fn piece(&self, at: usize) -> Option<&Piece> {
        match self.prelude.get(at) {
            Some((_, piece)) => Some(piece),
            None => self.messages.get(at.checked_sub(self.prelude.len())?),
        }
    }

    /// Where a segment ends in the body, without markers.
    pub(super) fn end_of(&self, at: usize) -> u64 {
        let before = if at < self.prelude.len() { None } else { self.prelude.last().map(|(_, piece)| piece.end()) };
        self.piece(at).map_or(0, Piece::end).saturating_add(before.unwrap_or(0))
    }
}

/// The frames of a body, in order.
#[derive(Debug)]
pub struct Frames {
    segments: Segments,
    /// The next piece; one past the last stands for the tail.
    at: usize,
    /// The next marker.
    marker: usize,
    gather: Gather,
}

/// Small parts put together, large ones as they are.
#[derive(Debug, Default)]
pub(super) struct Gather {
    small: BytesMut,
    ready: VecDeque<Bytes>,
}

impl Gather {
    pub(super) fn piece(&mut self, piece: &Piece, markers: &[(MarkerSlot, Bytes)]) {
        self.small.extend_from_slice(piece.lead().as_bytes());
        self.put(piece.body());
        markers.iter().for_each(|(_, marker)| self.small.extend_from_slice(marker));
        self.small.extend_from_slice(piece.close().as_bytes());
    }

    fn put(&mut self, part: &Bytes) {
        let is_large = part.len() >= LARGE;
        if !is_large {
            self.small.extend_from_slice(part);
        }
        if !self.small.is_empty() && (is_large || self.small.len() >= FRAME) {
            self.ready.push_back(self.small.split().freeze());
        }
        if is_large {
            self.ready.push_back(part.clone());
        }
    }

    pub(super) fn finish(mut self) -> Vec<Bytes> {
        self.ready.extend(Some(self.small.freeze()).filter(|rest| !rest.is_empty()));
        self.ready.into()
    }
}

impl Iterator for Frames {
    type Item = Bytes;

    fn next(&mut self) -> Option<Bytes> {
        let Self { segments, at, marker, gather } = self;
        while gather.ready.is_empty() && *at <= segments.len() {
            let slot = |marker: usize| segments.markers.get(marker).map(|(slot, _)| segments.index(*slot));
            // A group without a marker is there as it is sent.
            let message = at.checked_sub(segments.prelude.len()).filter(|message| message % GROUP == 0);
            let group = message.and_then(|message| segments.joined.get(message / GROUP));
            if let Some(group) = group.filter(|_| slot(*marker).is_none_or(|slot| slot >= *at + GROUP)) {
                group.iter().for_each(|part| gather.put(part));
                *at += GROUP;
                continue;
            }
            match segments.piece(*at) {
                Some(piece) => {
                    let first = *marker;
                    while slot(*marker).is_some_and(|slot| slot == *at) {
                        *marker += 1;
                    }
                    gather.piece(piece, segments.markers.get(first..*marker).unwrap_or_default());
                }
                None => {
                    gather.put(&segments.tail);
                    if !gather.small.is_empty() {
                        gather.ready.push_back(gather.small.split().freeze());
                    }
                }
            }
            *at += 1;
        }
        gather.ready.pop_front()
    }
}
