//! A request body as immutable pieces.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};

use super::{Block, Chain, ChainHash, MessagePieces, Piece, TokenBound};
use crate::transcript::Log;

/// Frames are filled up to this size with small pieces; pieces of a quarter of it go as they are.
const FRAME: usize = 16 * 1024;

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
        self.tail.extend_from_slice(lead.as_bytes());
        self.tail.extend_from_slice(piece.body());
        self.tail.extend_from_slice(piece.close().as_bytes());
        self
    }

    /// Adds the closing brackets.
    #[must_use]
    pub fn end(mut self, close: &str) -> Self {
        self.tail.extend_from_slice(close.as_bytes());
        self
    }

    /// The body.
    pub fn finish(mut self) -> Segments {
        self.markers.sort_by_key(|(slot, _)| *slot);
        let chain = Chain::of(self.order, self.identity, &self.prelude, self.messages.pieces());
        Segments {
            prelude: self.prelude.into(),
            messages: self.messages.pieces,
            markers: self.markers.into(),
            tail: self.tail.freeze(),
            tail_bound: self.tail_bound,
            chain,
        }
    }
}

impl Segments {
    /// The hash chain of the body.
    pub fn chain(&self) -> &Chain {
        &self.chain
    }

    /// The pieces before the messages, in body order.
    pub fn prelude(&self) -> &[(Section, Piece)] {
        &self.prelude
    }

    /// The pieces of the messages.
    pub fn messages(&self) -> &Log<Piece> {
        &self.messages
    }

    /// How many bytes the body has, markers and tail included.
    pub fn content_length(&self) -> u64 {
        let markers = self.markers.iter().filter(|(slot, _)| self.has(*slot));
        let outside = markers.map(|(_, marker)| marker.len()).sum::<usize>() + self.tail.len();
        let prelude = self.prelude.last().map_or(0, |(_, piece)| piece.end());
        let messages = self.messages.last().map_or(0, Piece::end);
        prelude + messages + u64::try_from(outside).unwrap_or(u64::MAX)
    }

    /// What the body costs at most, in input tokens, without a vendor's overhead for each message.
    pub fn bound(&self) -> TokenBound {
        let prelude = self.prelude.last().map_or(TokenBound::ZERO, |(_, piece)| piece.bound());
        let messages = self.messages.last().map_or(TokenBound::ZERO, Piece::bound);
        let end = u64::try_from(self.tail.len()).unwrap_or(u64::MAX);
        prelude.plus(messages).plus(self.tail_bound).plus(TokenBound::AtMost(end))
    }

    fn has(&self, slot: MarkerSlot) -> bool {
        match slot {
            MarkerSlot::Prelude(at) => at < self.prelude.len(),
            MarkerSlot::Message(at) => at < self.messages.len(),
        }
    }

    /// The body as frames: large pieces as they are, without a copy, small ones put together.
    pub fn frames(&self) -> Frames {
        Frames { segments: self.clone(), at: 0, part: Part::Lead, marker: 0, held: None }
    }

    fn piece(&self, at: usize) -> Option<(MarkerSlot, &Piece)> {
        match self.prelude.get(at) {
            Some((_, piece)) => Some((MarkerSlot::Prelude(at), piece)),
            None => {
                let at = at.checked_sub(self.prelude.len())?;
                self.messages.get(at).map(|piece| (MarkerSlot::Message(at), piece))
            }
        }
    }

    /// The whole body in one buffer.
    pub fn to_bytes(&self) -> Bytes {
        let mut all = BytesMut::new();
        self.frames().for_each(|frame| all.extend_from_slice(&frame));
        all.freeze()
    }
}

/// The frames of a body, in order.
#[derive(Debug)]
pub struct Frames {
    segments: Segments,
    at: usize,
    part: Part,
    marker: usize,
    held: Option<Bytes>,
}

#[derive(Debug, Clone, Copy)]
enum Part {
    Lead,
    Body,
    Marker,
    Close,
    Done,
}

impl Frames {
    fn next_part(&mut self) -> Option<Bytes> {
        let piece = self.segments.piece(self.at);
        let (part, bytes) = match (self.part, piece) {
            (Part::Done, _) => return None,
            (_, None) => (Part::Done, self.segments.tail.clone()),
            (Part::Lead, Some((_, piece))) => (Part::Body, Bytes::from_static(piece.lead().as_bytes())),
            (Part::Body, Some((_, piece))) => (Part::Marker, piece.body().clone()),
            (Part::Marker, Some((slot, _))) => match self.segments.markers.get(self.marker) {
                Some((place, marker)) if *place == slot => {
                    self.marker += 1;
                    (Part::Marker, marker.clone())
                }
                _ => (Part::Close, Bytes::new()),
            },
            (Part::Close, Some((_, piece))) => {
                self.at += 1;
                (Part::Lead, Bytes::from_static(piece.close().as_bytes()))
            }
        };
        self.part = part;
        Some(bytes)
    }
}

impl Iterator for Frames {
    type Item = Bytes;

    fn next(&mut self) -> Option<Bytes> {
        if let Some(large) = self.held.take() {
            return Some(large);
        }
        let mut frame = BytesMut::new();
        while frame.len() < FRAME {
            match self.next_part() {
                Some(part) if part.len() >= FRAME / 4 => {
                    if frame.is_empty() {
                        return Some(part);
                    }
                    self.held = Some(part);
                    break;
                }
                Some(part) => frame.extend_from_slice(&part),
                None => break,
            }
        }
        (!frame.is_empty()).then(|| frame.freeze())
    }
}
