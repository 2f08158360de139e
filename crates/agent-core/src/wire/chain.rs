//! The hash chain of a request, and where two requests part.

use serde::{Deserialize, Serialize};

use super::{CacheOrder, ChainHash, Piece, Section, Segments, piece::size};
use crate::{Log, Money};

/// What of a request the vendor's cache sees, as hashes; small enough to stand in every record of a
/// call, so that the guard works across a restart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Chain {
    /// Model, endpoint, headers.
    pub identity: ChainHash,
    /// Options that break everything.
    pub options: ChainHash,
    /// The tools.
    pub tools: ChainHash,
    /// The system prompt.
    pub system: ChainHash,
    /// Options that break the cached messages.
    pub message_options: ChainHash,
    /// The rolling hash over the messages.
    pub messages: ChainHash,
    /// How many pieces the messages have.
    pub count: u64,
    /// How many bytes the chain covers.
    pub bytes: u64,
    /// Whether the vendor's cache sees the system prompt before the tools.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub system_first: bool,
}

/// Why the vendor's cache will not find what the last request left in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum CacheBreakCause {
    /// Another model, endpoint or header that the cache looks at.
    Identity,
    /// An option that breaks everything.
    Options,
    /// The tool list.
    Tools,
    /// The system prompt.
    System,
    /// An option that breaks the cached messages.
    MessageOptions,
    /// An earlier message: edited, hidden, or encoded in another way.
    Messages,
}

/// Where a request parts from the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Divergence {
    /// What changed.
    pub cause: CacheBreakCause,
    /// The first segment that differs, counted from 0 in body order. Where the pieces of the last
    /// request are gone (after a restart), the first one that can differ.
    pub segment: usize,
    /// The first byte of the body that differs, from 0 and without markers; known only while the
    /// pieces of the last request are in memory.
    pub byte: Option<u64>,
    /// How many bytes of the last request's chain are still shared.
    pub kept_bytes: u64,
}

/// A break of the prompt cache, priced before anything is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CacheBreak {
    /// The first segment that differs, from 0 in body order.
    pub first_segment: usize,
    /// The first byte of the body that differs, where it is known.
    pub byte: Option<u64>,
    /// What changed.
    pub cause: CacheBreakCause,
    /// Tokens that the cache held and that have to be read anew. An estimate: the last request's
    /// prompt tokens in proportion to the bytes that are not shared.
    pub tokens_lost: u64,
    /// What reading them anew costs more than finding them, where the price is known.
    pub cost: Option<Money>,
}

impl CacheBreak {
    /// Prices a divergence. `prompt_tokens` is what the last request's prompt had, `lost_price` what
    /// a token costs more when it is not found in the cache.
    pub fn new(at: &Divergence, last: &Chain, prompt_tokens: u64, lost_price: Option<Money>) -> Self {
        let share = u128::from(prompt_tokens) * u128::from(last.bytes.saturating_sub(at.kept_bytes));
        let tokens = share.checked_div(u128::from(last.bytes)).unwrap_or_default();
        let tokens_lost = u64::try_from(tokens).unwrap_or(u64::MAX).min(prompt_tokens);
        let cost = lost_price.map(|price| price.times(tokens_lost));
        Self { first_segment: at.segment, byte: at.byte, cause: at.cause, tokens_lost, cost }
    }
}

impl Chain {
    pub(super) fn of(
        order: CacheOrder,
        identity: ChainHash,
        prelude: &[(Section, Piece)],
        messages: &Log<Piece>,
    ) -> Self {
        let mut chain = Self { identity, system_first: order == CacheOrder::SystemFirst, ..Self::default() };
        for (section, piece) in prelude {
            let slot = match section {
                Section::Irrelevant => continue,
                Section::Option => &mut chain.options,
                Section::Tools => &mut chain.tools,
                Section::System => &mut chain.system,
                Section::MessageOption => &mut chain.message_options,
            };
            *slot = slot.then(piece.own_hash());
            chain.bytes = chain.bytes.saturating_add(piece.own_len());
        }
        if let Some(last) = messages.last() {
            (chain.messages, chain.count) = (last.chain(), size(messages.len()));
            chain.bytes = chain.bytes.saturating_add(last.end());
        }
        chain
    }

    /// One hash over everything, in the vendor's cache order.
    pub fn head(&self) -> ChainHash {
        let (a, b) = if self.system_first { (self.system, self.tools) } else { (self.tools, self.system) };
        [self.options, a, b, self.message_options, self.messages].into_iter().fold(self.identity, ChainHash::then)
    }

    /// Where the vendor's cache sees a section; options that it ignores it does not see.
    fn rank(&self, section: Section) -> Option<u8> {
        match section {
            Section::Irrelevant => None,
            Section::Option => Some(0),
            Section::Tools => Some(if self.system_first { 2 } else { 1 }),
            Section::System => Some(if self.system_first { 1 } else { 2 }),
            Section::MessageOption => Some(3),
        }
    }
}

impl Segments {
    /// Where this request parts from the last one, if the last one is not a prefix of it.
    ///
    /// O(1) where it is one. `pieces` are those of the last request, while they are in memory: they
    /// tell the segment and the byte.
    pub fn diverges_from(&self, last: &Chain, pieces: Option<&Self>) -> Option<Divergence> {
        use CacheBreakCause as Cause;
        let now = self.chain();
        if now.identity != last.identity {
            return Some(Divergence { cause: Cause::Identity, segment: 0, byte: None, kept_bytes: 0 });
        }
        let changed = [
            (now.options != last.options, Section::Option, Cause::Options),
            (now.tools != last.tools, Section::Tools, Cause::Tools),
            (now.system != last.system, Section::System, Cause::System),
            (now.message_options != last.message_options, Section::MessageOption, Cause::MessageOptions),
        ];
        let first = changed.into_iter().filter(|(changed, ..)| *changed).min_by_key(|(_, s, _)| now.rank(*s));
        match first {
            Some((_, section, cause)) => Some(self.prelude_divergence(now.rank(section), cause, pieces)),
            None => self.message_divergence(last, pieces),
        }
    }

    fn prelude_divergence(&self, rank: Option<u8>, cause: CacheBreakCause, last: Option<&Self>) -> Divergence {
        let mine = self.cached_prelude();
        let theirs = last.map(Self::cached_prelude);
        let same = match &theirs {
            Some(theirs) => mine.iter().zip(theirs).take_while(|(a, b)| a.2.own_hash() == b.2.own_hash()).count(),
            None => mine.iter().take_while(|(r, ..)| *r < rank).count(),
        };
        let kept_bytes = mine.iter().take(same).map(|(.., piece)| piece.own_len()).sum();
        let segment = mine.get(same).map_or(self.prelude().len(), |(_, at, _)| *at);
        let byte =
            theirs.map(|theirs| self.byte_of(segment, mine.get(same).map(|p| p.2), theirs.get(same).map(|p| p.2)));
        Divergence { cause, segment, byte, kept_bytes }
    }

    /// What the cache sees before the messages, in its order, with the places in body order.
    fn cached_prelude(&self) -> Vec<(Option<u8>, usize, &Piece)> {
        let ranked = self.prelude().iter().enumerate().map(|(at, (s, piece))| (self.chain().rank(*s), at, piece));
        let mut ranked: Vec<_> = ranked.filter(|(rank, ..)| rank.is_some()).collect();
        ranked.sort_by_key(|(rank, at, _)| (*rank, *at));
        ranked
    }

    fn message_divergence(&self, last: &Chain, pieces: Option<&Self>) -> Option<Divergence> {
        let end = usize::try_from(last.count).ok()?.checked_sub(1)?;
        if self.messages().get(end).is_some_and(|piece| piece.chain() == last.messages) {
            return None;
        }
        let old = pieces.map(Self::messages).filter(|old| old.len() == end + 1);
        let pairs = old.into_iter().flat_map(|old| old.iter().zip(self.messages().iter()));
        let same = pairs.take_while(|(a, b)| a.chain() == b.chain()).count();
        let kept = same.checked_sub(1).and_then(|at| self.messages().get(at)).map_or(0, Piece::end);
        let before: u64 = self.cached_prelude().iter().map(|(.., piece)| piece.own_len()).sum();
        let segment = self.prelude().len() + same;
        let byte = old.map(|old| self.byte_of(segment, self.messages().get(same), old.get(same)));
        Some(Divergence { cause: CacheBreakCause::Messages, segment, byte, kept_bytes: before.saturating_add(kept) })
    }

    /// The byte of the body, without markers, where a segment parts from what stood there before.
    fn byte_of(&self, segment: usize, mine: Option<&Piece>, theirs: Option<&Piece>) -> u64 {
        let start = segment.checked_sub(1).map_or(0, |before| self.end_of(before));
        start.saturating_add(mine.zip(theirs).map_or(0, |(a, b)| a.first_difference(b)))
    }
}
