//! The hash chain of a request, and where two requests part.

use serde::{Deserialize, Serialize};

use super::{CacheOrder, ChainHash, Piece, Section, Segments};
use crate::{budget::Money, transcript::Log};

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
    pub fn new(divergence: &Divergence, previous: &Chain, prompt_tokens: u64, lost_price: Option<Money>) -> Self {
        let lost = previous.bytes.saturating_sub(divergence.kept_bytes);
        let share = u128::from(prompt_tokens) * u128::from(lost);
        let tokens = share.checked_div(u128::from(previous.bytes)).unwrap_or_default();
        let tokens_lost = u64::try_from(tokens).unwrap_or(u64::MAX).min(prompt_tokens);
        Self {
            first_segment: divergence.segment,
            byte: divergence.byte,
            cause: divergence.cause,
            tokens_lost,
            cost: lost_price.map(|price| price.times(tokens_lost)),
        }
    }
}

impl Chain {
    pub(super) fn of(
        order: CacheOrder,
        identity: ChainHash,
        prelude: &[(Section, Piece)],
        messages: &Log<Piece>,
    ) -> Self {
        let system_first = order == CacheOrder::SystemFirst;
        let mut chain = Self { identity, system_first, ..Self::default() };
        for (section, piece) in prelude {
            let own = piece.own_hash();
            let slot = match section {
                Section::Irrelevant => continue,
                Section::Option => &mut chain.options,
                Section::Tools => &mut chain.tools,
                Section::System => &mut chain.system,
                Section::MessageOption => &mut chain.message_options,
            };
            *slot = slot.then(own);
            chain.bytes = chain.bytes.saturating_add(piece.own_len());
        }
        if let Some(last) = messages.last() {
            chain.messages = last.chain();
            chain.count = u64::try_from(messages.len()).unwrap_or(u64::MAX);
            chain.bytes = chain.bytes.saturating_add(last.end());
        }
        chain
    }

    /// One hash over everything, in the vendor's cache order.
    pub fn head(&self) -> ChainHash {
        let (first, second) = if self.system_first { (self.system, self.tools) } else { (self.tools, self.system) };
        let parts = [self.options, first, second, self.message_options, self.messages];
        parts.into_iter().fold(self.identity, ChainHash::then)
    }
}

impl Segments {
    /// Where this request parts from the last one, if the last one is not a prefix of it.
    ///
    /// O(1) where it is one. `pieces` are those of the last request, while they are in memory: they
    /// tell the segment and the byte.
    pub fn diverges_from(&self, last: &Chain, pieces: Option<&Self>) -> Option<Divergence> {
        use CacheBreakCause as Cause;
        let chain = self.chain();
        let tools = (chain.tools != last.tools).then_some(Cause::Tools);
        let system = (chain.system != last.system).then_some(Cause::System);
        let (first, second) = if chain.system_first { (system, tools) } else { (tools, system) };
        let cause = (chain.identity != last.identity)
            .then_some(Cause::Identity)
            .or((chain.options != last.options).then_some(Cause::Options))
            .or(first)
            .or(second)
            .or((chain.message_options != last.message_options).then_some(Cause::MessageOptions));
        match cause {
            Some(cause) => Some(self.prelude_divergence(cause, pieces)),
            None => self.message_divergence(last, pieces),
        }
    }

    fn prelude_divergence(&self, cause: CacheBreakCause, pieces: Option<&Self>) -> Divergence {
        let section = match cause {
            CacheBreakCause::Tools => Some(Section::Tools),
            CacheBreakCause::System => Some(Section::System),
            CacheBreakCause::Options => Some(Section::Option),
            CacheBreakCause::MessageOptions => Some(Section::MessageOption),
            _ => None,
        };
        let own = |segments: &Self| -> Vec<(usize, Piece)> {
            let indexed = segments.prelude().iter().enumerate();
            let of_section = indexed.filter(|(_, (s, _))| section.is_none_or(|of| of == *s));
            of_section.map(|(at, (_, piece))| (at, piece.clone())).collect()
        };
        let mine = own(self);
        let theirs = pieces.map(own);
        // The first pair that differs, or the first piece that only one of the two has.
        let same = theirs.as_ref().map_or(0, |theirs| {
            let pairs = mine.iter().zip(theirs);
            pairs.take_while(|((_, a), (_, b))| a.own_hash() == b.own_hash()).count()
        });
        let segment = mine.get(same).map_or_else(|| mine.last().map_or(0, |(at, _)| at + 1), |(at, _)| *at);
        let known = theirs.filter(|_| section.is_some());
        let byte = known.map(|theirs| {
            let start = self.start_of(segment);
            let pair = mine.get(same).zip(theirs.get(same));
            pair.map_or(start, |((_, a), (_, b))| start.saturating_add(a.first_difference(b)))
        });
        // In cache order everything before the section survives; what stands behind it does not.
        let kept_bytes = match cause {
            CacheBreakCause::MessageOptions => self.prelude_bytes(|_| true),
            CacheBreakCause::System if !self.chain().system_first => {
                self.prelude_bytes(|s| matches!(s, Section::Option | Section::Tools))
            }
            CacheBreakCause::Tools if self.chain().system_first => {
                self.prelude_bytes(|s| matches!(s, Section::Option | Section::System))
            }
            _ => 0,
        };
        Divergence { cause, segment, byte, kept_bytes }
    }

    fn message_divergence(&self, last: &Chain, pieces: Option<&Self>) -> Option<Divergence> {
        let count = usize::try_from(last.count).unwrap_or(usize::MAX);
        let here = count.checked_sub(1).and_then(|at| self.messages().get(at));
        if count == 0 || here.is_some_and(|piece| piece.chain() == last.messages) {
            return None;
        }
        let prelude = self.prelude().len();
        let kept_prelude = self.prelude_bytes(|_| true);
        // Chains are equal up to the first difference and never after it: search by halves.
        let old = pieces.map(Segments::messages).filter(|old| old.len() == count);
        let same = old.map(|old| {
            let (mut low, mut high) = (0, old.len().min(self.messages().len()));
            while low < high {
                let middle = low.midpoint(high);
                let equal = old.get(middle).map(Piece::chain) == self.messages().get(middle).map(Piece::chain);
                (low, high) = if equal { (middle + 1, high) } else { (low, middle) };
            }
            low
        });
        let at = same.unwrap_or(0);
        let kept = at.checked_sub(1).and_then(|at| self.messages().get(at)).map_or(0, Piece::end);
        let byte = old.map(|old| {
            let start = self.start_of(prelude + at);
            let pair = self.messages().get(at).zip(old.get(at));
            pair.map_or(start, |(a, b)| start.saturating_add(a.first_difference(b)))
        });
        Some(Divergence {
            cause: CacheBreakCause::Messages,
            segment: prelude + at,
            byte,
            kept_bytes: kept_prelude.saturating_add(kept),
        })
    }

    /// Where a segment begins in the body, without markers.
    fn start_of(&self, segment: usize) -> u64 {
        let prelude_end = |count: usize| {
            let last = count.checked_sub(1).and_then(|at| self.prelude().get(at));
            last.map_or(0, |(_, piece)| piece.end())
        };
        match segment.checked_sub(self.prelude().len()) {
            None => prelude_end(segment),
            Some(at) => {
                let before = at.checked_sub(1).and_then(|at| self.messages().get(at));
                prelude_end(self.prelude().len()).saturating_add(before.map_or(0, Piece::end))
            }
        }
    }

    fn prelude_bytes(&self, of: impl Fn(Section) -> bool) -> u64 {
        let counted = self.prelude().iter().filter(|(s, _)| *s != Section::Irrelevant && of(*s));
        counted.map(|(_, piece)| piece.own_len()).fold(0, u64::saturating_add)
    }
}
