//! Encodes each block once and every later request with what is there already.

use std::{
    fmt, mem,
    sync::{Arc, Mutex, PoisonError},
};

use bytes::Bytes;

use super::{Block, Piece, segments::Gather};
use crate::{ContextView, Log, Loss, MessageId, ViewEntry, id::IdMap, macros::getters};

/// How many encodings of one conversation are kept: the model in use, its fallbacks, a summariser.
const GENERATIONS: usize = 4;
/// How many lists of tools or system parts are kept for each.
const SECTIONS: usize = 8;

/// How many pieces are put together once they are there.
pub(super) const GROUP: usize = 32;

/// The encoded blocks of a conversation; a handle, cheap to clone.
///
/// Blocks are found by message id, version, block, generation and context, never by an address. A
/// view that only grew since the last call continues from the pieces of that call, so that a
/// request costs O(new messages).
#[derive(Clone, Default)]
pub struct PieceCache(Arc<Mutex<Vec<Generation>>>);

/// The messages of a request as pieces.
#[derive(Debug, Clone, Default)]
pub struct MessagePieces {
    pub(super) pieces: Log<Piece>,
    /// Groups of [`GROUP`] pieces put together as they are sent, so that a request is not gathered anew from thousands.
    pub(super) joined: Log<Arc<[Bytes]>>,
    losses: Log<Loss>,
    state: u64,
}

getters! { MessagePieces {
    /// The pieces, oldest message first.
    pieces -> &Log<Piece> = |this| &this.pieces;
    /// What of the messages the vendor cannot carry.
    losses -> &Log<Loss> = |this| &this.losses;
    /// The state in which the wire left its walk: it says how the body has to be closed.
    state -> u64 = |this| this.state;
} }

#[derive(Default)]
struct Generation {
    key: u64,
    /// How many entries of the view the pieces cover, and the mark of the last of them.
    covered: usize,
    mark: u128,
    messages: MessagePieces,
    blocks: IdMap<BlockKey, Block>,
    sections: IdMap<u128, Arc<[Block]>>,
}

/// Message, version, block, context.
type BlockKey = (MessageId, u64, u32, u64);

impl PieceCache {
    /// An empty cache.
    pub fn new() -> Self {
        Self::default()
    }

    /// The messages of a view as pieces.
    ///
    /// `generation` is a hash of everything besides the messages that changes their encoding: wire
    /// and version, target model, profile. `encode` is called for each message that the pieces of
    /// the last call do not cover, in order, and puts its blocks with [`MessageWalk::block`].
    ///
    /// # Errors
    /// Whatever `encode` returns; later calls encode anew then.
    pub fn messages<E>(
        &self,
        generation: u64,
        view: &ContextView,
        mut encode: impl FnMut(&mut MessageWalk, &ViewEntry) -> Result<(), E>,
    ) -> Result<MessagePieces, E> {
        // Taken out, so that no lock is held while the wire encodes.
        let mut kept = self.take(generation);
        let entries = view.entries();
        let last = kept.covered.checked_sub(1).and_then(|at| entries.get(at));
        let mut walk = MessageWalk { known: mem::take(&mut kept.blocks), ..MessageWalk::default() };
        if last.is_some_and(|entry| entry.mark() == kept.mark) {
            // The view only grew: every block that was used still is.
            (walk.pieces, walk.used) = (kept.messages, mem::take(&mut walk.known));
        } else {
            kept.covered = 0;
        }
        for entry in entries.iter_from(kept.covered) {
            (walk.message, walk.version) = (Some(entry.message().id()), entry.version());
            encode(&mut walk, entry)?;
        }
        // After an edit only the blocks that are still shown are kept.
        kept.blocks = walk.used;
        (kept.covered, kept.mark) = (entries.len(), entries.last().map_or(0, ViewEntry::mark));
        kept.messages = walk.pieces.clone();
        self.put(kept);
        Ok(walk.pieces)
    }

    /// The blocks of a section such as the tools, made once for each key (a hash of what they are
    /// made of).
    ///
    /// # Errors
    /// Whatever `build` returns.
    pub fn section<E>(
        &self,
        generation: u64,
        key: u128,
        build: impl FnOnce() -> Result<Vec<Block>, E>,
    ) -> Result<Arc<[Block]>, E> {
        let mut kept = self.take(generation);
        let known = kept.sections.get(&key).cloned();
        let blocks = known.map_or_else(|| build().map(Arc::<[Block]>::from), Ok);
        if let Ok(blocks) = &blocks {
            // A tool list that changes all the time must not grow the cache without end.
            if kept.sections.len() >= SECTIONS {
                kept.sections.clear();
            }
            kept.sections.insert(key, blocks.clone());
        }
        self.put(kept);
        blocks
    }

    fn take(&self, key: u64) -> Generation {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = all.iter().position(|generation| generation.key == key);
        at.map_or_else(|| Generation { key, ..Generation::default() }, |at| all.remove(at))
    }

    fn put(&self, generation: Generation) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|other| other.key != generation.key);
        if all.len() >= GENERATIONS {
            all.remove(0);
        }
        all.reserve_exact(1);
        all.push(generation);
    }
}

impl fmt::Debug for PieceCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PieceCache")
    }
}

/// Where a wire puts the blocks of the message that it encodes.
#[derive(Debug, Default)]
pub struct MessageWalk {
    pieces: MessagePieces,
    known: IdMap<BlockKey, Block>,
    used: IdMap<BlockKey, Block>,
    message: Option<MessageId>,
    version: u64,
}

impl MessageWalk {
    /// What the wire noted after the block before: 0 at the beginning. It holds what the next
    /// separator depends on, for example whether a user message is open.
    pub fn state(&self) -> u64 {
        self.pieces.state
    }

    /// Notes what the next block has to know of this one.
    pub fn set_state(&mut self, state: u64) {
        self.pieces.state = state;
    }

    /// Puts a block behind the ones before: the cached one, or what `encode` makes.
    ///
    /// `index` tells the blocks of one message apart. `context` is a bit set of everything outside
    /// the message that changes this block's bytes.
    ///
    /// # Errors
    /// Whatever `encode` returns.
    pub fn block<E>(
        &mut self,
        index: u32,
        context: u64,
        lead: &'static str,
        encode: impl FnOnce() -> Result<Block, E>,
    ) -> Result<(), E> {
        let message = self.message.unwrap_or(MessageId::from_bits(0));
        let key = (message, self.version, index, context);
        let block = match self.used.get(&key).or_else(|| self.known.get(&key)) {
            Some(block) => block.clone(),
            None => encode()?,
        };
        self.used.insert(key, block.clone());
        let pieces = &mut self.pieces.pieces;
        pieces.push(Piece::after(pieces.last(), lead, block));
        if let Some(start) = pieces.len().checked_sub(GROUP).filter(|start| start % GROUP == 0) {
            let mut gather = Gather::default();
            pieces.iter_from(start).for_each(|piece| gather.piece(piece, &[]));
            self.pieces.joined.push(gather.finish().into());
        }
        Ok(())
    }

    /// Reports something of the message that the vendor cannot carry.
    pub fn loss(&mut self, loss: Loss) {
        self.pieces.losses.push(loss);
    }
}
