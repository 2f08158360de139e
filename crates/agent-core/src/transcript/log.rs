//! An append-only list that is shared in O(1).
//!
//! Small chunks behind `Arc`s: a clone copies one pointer, and an append to a shared log copies at
//! most one chunk and the list of chunks. The persistent vectors of the registry cost three to six
//! crates of core's budget of 30 and can do far more than appending.

use std::{fmt, sync::Arc};

const CHUNK: usize = 32;
/// How much room the first chunk has at first.
const FIRST: usize = 4;

/// An append-only list, cheap to clone; clones do not see each other's appends.
///
/// ```
/// let mut log = agent_core::Log::new();
/// log.push(1);
/// let earlier = log.clone();
/// log.push(2);
/// assert_eq!((earlier.len(), log.len()), (1, 2));
/// ```
pub struct Log<T> {
    chunks: Arc<Vec<Arc<Vec<T>>>>,
    len: usize,
}

impl<T> Log<T> {
    /// An empty list.
    pub fn new() -> Self {
        Self { chunks: Arc::default(), len: 0 }
    }

    /// How many items there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no items.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The item at a position, from 0.
    pub fn get(&self, index: usize) -> Option<&T> {
        self.chunks.get(index / CHUNK)?.get(index % CHUNK)
    }

    /// The newest item.
    pub fn last(&self) -> Option<&T> {
        self.chunks.last()?.last()
    }

    /// The items, oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &T> + Clone {
        self.chunks.iter().flat_map(|chunk| chunk.iter())
    }

    /// The items from a position on; starts there without a walk over the earlier ones.
    pub fn iter_from(&self, index: usize) -> impl Iterator<Item = &T> + Clone {
        let chunks = self.chunks.get(index / CHUNK..).unwrap_or_default();
        chunks.iter().flat_map(|chunk| chunk.iter()).skip(index % CHUNK)
    }
}

impl<T: Clone> Log<T> {
    /// Appends an item.
    pub fn push(&mut self, item: T) {
        let chunks = Arc::make_mut(&mut self.chunks);
        match chunks.last_mut() {
            Some(chunk) if chunk.len() < CHUNK => Arc::make_mut(chunk).push(item),
            _ => {
                // Most logs are short: a conversation that waits is not to hold room for 32 turns.
                let mut chunk = Vec::with_capacity(if chunks.is_empty() { FIRST } else { CHUNK });
                chunk.push(item);
                chunks.push(Arc::new(chunk));
            }
        }
        self.len += 1;
    }
}

impl<T> Clone for Log<T> {
    fn clone(&self) -> Self {
        Self { chunks: self.chunks.clone(), len: self.len }
    }
}

impl<T> Default for Log<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: fmt::Debug> fmt::Debug for Log<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<T: PartialEq> PartialEq for Log<T> {
    fn eq(&self, other: &Self) -> bool {
        self.len == other.len && self.iter().eq(other.iter())
    }
}

impl<T: Clone> Extend<T> for Log<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        items.into_iter().for_each(|item| self.push(item));
    }
}

impl<T: Clone> FromIterator<T> for Log<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let mut log = Self::new();
        log.extend(items);
        log
    }
}
