//! The hash of a body, continued from where the last request had the same bytes.

use std::{
    collections::VecDeque,
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use agent_core::{ChainHash, MarkerSlot, Piece, Segments};
use bytes::Bytes;
use sha2::{Digest, Sha256};

use super::hex;

/// How many places of bodies are remembered: a few for each conversation that goes on, 0.3 KB each.
const PLACES: usize = 1024;

/// The SHA-256 of a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PayloadHash {
    hex: String,
    hashed_bytes: u64,
}

impl PayloadHash {
    /// The hash of bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self { hex: hex(&Sha256::digest(bytes)), hashed_bytes: size(bytes.len()) }
    }

    /// The hash in hexadecimal digits.
    pub fn hex(&self) -> &str {
        &self.hex
    }

    /// How many bytes were read for it; the others were read for an earlier request.
    pub fn hashed_bytes(&self) -> u64 {
        self.hashed_bytes
    }
}

/// Hashes bodies, and remembers the state of the hash in front of every movable cache marker and behind the messages.
///
/// A body that begins like an earlier one is hashed from the oldest marker on that moved, so that signing a long
/// conversation costs what is new of it. A handle, cheap to clone; at most 0.3 MB.
#[derive(Clone, Default)]
pub struct PayloadHasher(Arc<Mutex<VecDeque<Place>>>);

/// A state of the hash, behind the body of the message piece before `at` and in front of its markers.
#[derive(Clone)]
struct Place {
    at: usize,
    /// What stands before the messages, markers included.
    prelude: ChainHash,
    /// The messages.
    chain: ChainHash,
    /// The markers among the messages before this place.
    markers: ChainHash,
    state: Sha256,
}

impl Place {
    fn is_same(&self, other: &Self) -> bool {
        (self.at, self.prelude, self.chain, self.markers) == (other.at, other.prelude, other.chain, other.markers)
    }
}

impl fmt::Debug for PayloadHasher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PayloadHasher")
    }
}

impl PayloadHasher {
    /// A hasher that knows no body.
    pub fn new() -> Self {
        Self::default()
    }

    /// The hash of a body.
    pub fn hash(&self, segments: &Segments) -> PayloadHash {
        let prelude = prelude_key(segments);
        let mut walk = match self.find(segments, prelude) {
            Some(place) => Walk { state: place.state, at: place.at, read: 0 },
            None => Walk::of_prelude(segments),
        };
        let mut found = Vec::new();
        let mut place = |walk: &Walk, chain: ChainHash| {
            let markers = markers_key(segments, walk.at);
            found.push(Place { at: walk.at, prelude, chain, markers, state: walk.state.clone() });
        };
        let messages = segments.messages();
        match walk.at.checked_sub(1).and_then(|last| Some((last, messages.get(last)?))) {
            Some((last, piece)) => walk.close(segments, MarkerSlot::Message(last), piece),
            None => place(&walk, ChainHash::default()),
        }
        for piece in messages.iter_from(walk.at) {
            let slot = MarkerSlot::Message(walk.at);
            walk.put(piece.lead().as_bytes());
            walk.put(piece.body());
            walk.at = walk.at.saturating_add(1);
            if walk.at == messages.len() || markers_at(segments, slot).next().is_some() {
                place(&walk, piece.chain());
            }
            walk.close(segments, slot, piece);
        }
        walk.put(segments.tail());
        self.keep(found);
        PayloadHash { hex: hex(&walk.state.finalize()), hashed_bytes: walk.read }
    }

    /// The place that is farthest back in this body.
    fn find(&self, segments: &Segments, prelude: ChainHash) -> Option<Place> {
        let places = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = |place: &&Place| {
            let chain = match place.at.checked_sub(1) {
                Some(last) => segments.messages().get(last).map(Piece::chain),
                None => Some(ChainHash::default()),
            };
            place.prelude == prelude && chain == Some(place.chain) && place.markers == markers_key(segments, place.at)
        };
        places.iter().filter(fits).max_by_key(|place| place.at).cloned()
    }

    fn keep(&self, found: Vec<Place>) {
        let mut places = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for place in found {
            places.retain(|known| !known.is_same(&place));
            if places.len() >= PLACES {
                places.pop_front();
            }
            places.push_back(place);
        }
    }
}

/// A hash on its way through a body.
struct Walk {
    state: Sha256,
    at: usize,
    read: u64,
}

impl Walk {
    fn of_prelude(segments: &Segments) -> Self {
        let mut walk = Self { state: Sha256::new(), at: 0, read: 0 };
        for (index, (_, piece)) in segments.prelude().iter().enumerate() {
            walk.put(piece.lead().as_bytes());
            walk.put(piece.body());
            walk.close(segments, MarkerSlot::Prelude(index), piece);
        }
        walk
    }

    fn close(&mut self, segments: &Segments, slot: MarkerSlot, piece: &Piece) {
        markers_at(segments, slot).for_each(|marker| self.put(marker));
        self.put(piece.close().as_bytes());
    }

    fn put(&mut self, bytes: &[u8]) {
        self.read = self.read.saturating_add(size(bytes.len()));
        self.state.update(bytes);
    }
}

fn markers_at(segments: &Segments, slot: MarkerSlot) -> impl Iterator<Item = &Bytes> {
    segments.markers().iter().filter(move |(at, _)| *at == slot).map(|(_, marker)| marker)
}

fn prelude_key(segments: &Segments) -> ChainHash {
    let pieces = segments.prelude().last().map_or_else(ChainHash::default, |(_, piece)| piece.chain());
    fold_markers(segments, pieces, |slot| matches!(slot, MarkerSlot::Prelude(_)))
}

/// The markers behind the message pieces before the last of the first `at` ones.
fn markers_key(segments: &Segments, at: usize) -> ChainHash {
    let before = |slot| matches!(slot, MarkerSlot::Message(index) if index < at.saturating_sub(1));
    fold_markers(segments, ChainHash::default(), before)
}

fn fold_markers(segments: &Segments, from: ChainHash, counts: impl Fn(MarkerSlot) -> bool) -> ChainHash {
    let markers = segments.markers().iter().filter(|(slot, _)| counts(*slot));
    markers.fold(from, |key, (slot, marker)| key.then(ChainHash::of(&[format!("{slot:?}").as_bytes(), marker])))
}

fn size(n: usize) -> u64 {
    u64::try_from(n).unwrap_or(u64::MAX)
}
