//! Where cache markers stand: on tools, system prompt, and two places in the messages
//! (<https://docs.claude.com/en/docs/build-with-claude/prompt-caching>).

use agent_core::{CacheLifetime, Chain, Log, MarkerSlot, Piece};

/// How many markers a request may have.
const MARKERS: usize = 4;
/// How many blocks before a marker the vendor looks for what it has cached.
const LOOK_BACK: usize = 20;

/// The text of a marker; `None` where none is wanted.
fn marker(lifetime: CacheLifetime) -> Option<&'static str> {
    match lifetime {
        CacheLifetime::Off => None,
        CacheLifetime::Hour => Some(r#","cache_control":{"type":"ephemeral","ttl":"1h"}"#),
        _ => Some(r#","cache_control":{"type":"ephemeral"}"#),
    }
}

pub(super) struct Places<'a> {
    /// Of tools, system prompt and messages.
    pub(super) messages: CacheLifetime,
    /// Of tools and system prompt, where another one is set.
    pub(super) prefix: Option<CacheLifetime>,
    /// The pieces before the messages that take a marker: the last tool, the last part of the system prompt.
    pub(super) prelude: Vec<usize>,
    pub(super) pieces: &'a Log<Piece>,
    pub(super) previous: Option<&'a Chain>,
    /// Markers that the caller has put elsewhere in the request.
    pub(super) taken: usize,
}

impl Places<'_> {
    /// The markers, at most four with those of the caller.
    ///
    /// In the messages one stands at the end, and one where the last request ended, so that what that one cached is
    /// found. Where nobody knows where it ended, the second one stands at most 20 blocks before the end. Slots that
    /// neither tools nor system prompt need go to further places of a turn of more than 20 blocks.
    pub(super) fn slots(&self) -> Vec<(MarkerSlot, &'static str)> {
        let Some(text) = marker(self.messages) else { return Vec::new() };
        let long = self.prefix == Some(CacheLifetime::Hour) || self.messages == CacheLifetime::Hour;
        let prefix_text = if long { marker(CacheLifetime::Hour).unwrap_or(text) } else { text };
        let free = MARKERS.saturating_sub(self.taken);
        let prelude = self.prelude.iter().rev().take(free.saturating_sub(1));
        let mut slots: Vec<_> = prelude.map(|at| (MarkerSlot::Prelude(*at), prefix_text)).collect();
        slots.reverse();
        let places = self.in_messages(free.saturating_sub(slots.len()));
        slots.extend(places.into_iter().map(|at| (MarkerSlot::Message(at), text)));
        slots
    }

    fn in_messages(&self, free: usize) -> Vec<usize> {
        let Some(end) = self.pieces.len().checked_sub(1).and_then(|end| self.at_or_before(end)) else {
            return Vec::new();
        };
        let known = self.previous_end().and_then(|at| self.at_or_before(at)).filter(|at| *at < end);
        let second = known.or_else(|| (end.checked_sub(LOOK_BACK)?..end).find(|at| self.takes_marker(*at)));
        let mut places = vec![end];
        places.extend(second.filter(|at| *at < end));
        // Steps of 20 blocks from the second place on, as far as there are markers.
        while let (true, Some(last)) = (places.len() < free, places.last()) {
            let next = self.at_or_before(last + LOOK_BACK).filter(|at| at > last && at + LOOK_BACK / 2 < end);
            match next.filter(|_| places.len() > 1) {
                Some(next) => places.push(next),
                None => break,
            }
        }
        places.truncate(free);
        places.sort_unstable();
        places
    }

    /// Where the last request's messages ended, if this one continues them.
    fn previous_end(&self) -> Option<usize> {
        let previous = self.previous?;
        let at = usize::try_from(previous.count).ok()?.checked_sub(1)?;
        (self.pieces.get(at)?.chain() == previous.messages).then_some(at)
    }

    /// The nearest place from here backwards that takes a marker.
    fn at_or_before(&self, at: usize) -> Option<usize> {
        (0..=at).rev().take(LOOK_BACK).find(|at| self.takes_marker(*at))
    }

    /// Blocks that take a marker are open at their end.
    fn takes_marker(&self, at: usize) -> bool {
        self.pieces.get(at).is_some_and(|piece| piece.close() == "}")
    }
}
