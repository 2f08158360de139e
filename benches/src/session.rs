//! What the benchmarks of sessions share: the payload, and the floor of a walk through an index.

use std::sync::Arc;

use agent_core::{IdSource, MessageId};

/// The text of a message: 300 bytes.
#[must_use]
pub fn payload() -> String {
    "A line of a message, as people write them. ".repeat(7).chars().take(300).collect()
}

/// An index of entries that follow one another, and nothing else.
#[derive(Debug)]
pub struct Floor {
    nodes: Vec<(u128, u32)>,
    kind: Arc<str>,
}

/// An entry as a walk returns it: its name, its number, its parent's name, its kind.
pub type Walked = (u128, u64, Option<u128>, Arc<str>);

impl Floor {
    /// An index of so many entries.
    #[must_use]
    pub fn new(entries: u64) -> Self {
        let mut ids = IdSource::seeded(1);
        let nodes = (0..entries).map(|at| (MessageId::bits(ids.message(0)), u32::try_from(at).unwrap_or(u32::MAX)));
        Self { nodes: nodes.collect(), kind: "messageAppended".into() }
    }

    /// The entries from the beginning to the last.
    #[must_use]
    pub fn path(&self) -> Vec<Walked> {
        let mut path = Vec::new();
        let mut at = self.nodes.len();
        while let Some((id, parent)) = at.checked_sub(1).and_then(|at| self.nodes.get(at)) {
            let above = usize::try_from(*parent).unwrap_or(usize::MAX);
            let above_id = above.checked_sub(1).and_then(|above| self.nodes.get(above)).map(|(id, _)| *id);
            path.push((*id, u64::try_from(at).unwrap_or(u64::MAX), above_id, self.kind.clone()));
            at = above;
        }
        path.reverse();
        path
    }
}
