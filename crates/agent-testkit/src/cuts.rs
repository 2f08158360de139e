//! Cuts of bytes: what a network does to a stream, for tests of decoders.

use bytes::Bytes;

/// How many random cuttings [`every_cut`] adds.
const RANDOM: usize = 32;

/// The cuttings that a decoder has to survive: whole, byte by byte, in two at every place, and 32
/// random ones (seeded, always the same). Slices of one buffer, nothing is copied.
///
/// ```
/// let bytes = bytes::Bytes::from("data: a\n\n");
/// assert!(agent_testkit::every_cut(&bytes).all(|pieces| pieces.concat() == bytes));
/// ```
pub fn every_cut(bytes: &Bytes) -> impl Iterator<Item = Vec<Bytes>> + use<> {
    [vec![bytes.clone()], byte_pieces(bytes)]
        .into_iter()
        .chain(two_piece_cuts(bytes).map(Vec::from))
        .chain(random_cuts(bytes, 1).take(RANDOM))
}

/// Each byte alone.
pub fn byte_pieces(bytes: &Bytes) -> Vec<Bytes> {
    (0..bytes.len()).map(|at| bytes.slice(at..=at)).collect()
}

/// In two, at every place from before the first byte to behind the last: one of the pieces is empty
/// at either end.
pub fn two_piece_cuts(bytes: &Bytes) -> impl Iterator<Item = [Bytes; 2]> + use<> {
    let bytes = bytes.clone();
    (0..=bytes.len()).map(move |at| [bytes.slice(..at), bytes.slice(at..)])
}

/// Cuttings at random places, without end; the same seed gives the same ones. No piece is empty.
pub fn random_cuts(bytes: &Bytes, seed: u64) -> impl Iterator<Item = Vec<Bytes>> + use<> {
    let (bytes, mut random) = (bytes.clone(), Random(seed));
    std::iter::from_fn(move || {
        // The mean length of a piece changes from cutting to cutting.
        let longest = 1 + random.below(bytes.len());
        let mut pieces = Vec::new();
        let mut rest = bytes.clone();
        while !rest.is_empty() {
            let len = (1 + random.below(longest)).min(rest.len());
            pieces.push(rest.split_to(len));
        }
        Some(pieces)
    })
}

/// SplitMix64.
struct Random(u64);

impl Random {
    /// A number below `limit`; 0 where the limit is 0.
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^= z >> 31;
        let limit = u64::try_from(limit).unwrap_or(u64::MAX);
        usize::try_from(z.checked_rem(limit).unwrap_or(0)).unwrap_or(0)
    }
}
