//! Cuts hold every byte once and reach every place.

use std::collections::BTreeSet;

use agent_testkit::{byte_pieces, every_cut, random_cuts, two_piece_cuts};
use bytes::Bytes;

#[test]
fn every_cut_is_the_same_bytes() {
    for text in ["", "a", "ab", "data: a\n\ndata: \u{e4}\n\n"] {
        let bytes = Bytes::from(text);
        let cuts: Vec<Vec<Bytes>> = every_cut(&bytes).collect();
        assert_eq!(cuts.len(), 2 + text.len() + 1 + 32);
        assert!(cuts.iter().all(|pieces| pieces.concat() == text.as_bytes()));
    }
}

#[test]
fn two_pieces_at_every_place() {
    let bytes = Bytes::from("abc");
    let cuts: Vec<_> = two_piece_cuts(&bytes).collect();
    let expected = [["", "abc"], ["a", "bc"], ["ab", "c"], ["abc", ""]];
    assert_eq!(cuts, expected.map(|pair| pair.map(Bytes::from)));
    assert_eq!(byte_pieces(&bytes), ["a", "b", "c"].map(Bytes::from));
}

#[test]
fn random_cuts_are_seeded_and_varied() {
    let bytes = Bytes::from(vec![7; 100]);
    let lengths = |seed| -> Vec<Vec<usize>> {
        let cuts = random_cuts(&bytes, seed).take(50);
        cuts.map(|pieces| pieces.iter().map(Bytes::len).collect()).collect()
    };
    assert_eq!(lengths(1), lengths(1));
    assert_ne!(lengths(1), lengths(2));
    assert!(lengths(1).iter().flatten().all(|len| *len > 0));
    // Fifty cuttings come near every place.
    let mut places = BTreeSet::new();
    for cut in lengths(1) {
        let mut at = 0;
        for len in cut {
            at += len;
            places.insert(at);
        }
    }
    assert!(places.len() > 90, "{places:?}");
}
