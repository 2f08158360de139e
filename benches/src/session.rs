//! What the benchmarks of sessions share: the payload, and the floor of a walk through an index.

#![expect(clippy::disallowed_methods, reason = "a floor reads a file too")]

use std::{fs::File, hint::black_box, io::Read, path::Path, sync::Arc};

use agent_core::{IdSource, MessageId};

/// The text of a message: 300 bytes.
#[must_use]
pub fn payload() -> String {
    const LINE: &str = "A line of a message, as people write it: 50 bytes.";
    [LINE; 6].concat()
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

/// The least that a reader can do that finds every line and whether it is whole: how many lines there are.
#[must_use]
pub fn scan(path: &Path) -> usize {
    let (mut buffer, mut starts, mut filled, mut sum) = (vec![0u8; 256 << 10], Vec::new(), 0, 0u64);
    let Ok(mut file) = File::open(path) else { return 0 };
    let mut offset = 0usize;
    while let Ok(got @ 1..) = file.read(buffer.get_mut(filled..).unwrap_or_default()) {
        filled += got;
        let mut begin = 0;
        for end in memchr::memchr_iter(b'\n', buffer.get(..filled).unwrap_or_default()) {
            sum ^= xxhash_rust::xxh3::xxh3_64(buffer.get(begin..end).unwrap_or_default());
            starts.push(offset + begin);
            begin = end + 1;
        }
        buffer.copy_within(begin..filled, 0);
        (filled, offset) = (filled - begin, offset + begin);
    }
    black_box(sum);
    starts.len()
}
