//! Which compilers serve, which crates are built.

use super::{CRATES, too_old};
use crate::layers::LAYERS;

#[test]
fn compilers() {
    assert_eq!(too_old("rustc 1.96.0 (x 2026-05-25) (built from a source tarball)\n"), None);
    assert_eq!(too_old("rustc 1.95.0 (x)"), None);
    let expected = "/usr/bin/rustc is `rustc 1.85.0 (x)`, needed is 1.95.0 or newer";
    assert_eq!(too_old("rustc 1.85.0 (x)"), Some(expected.to_owned()));
    assert!(too_old("").is_some());
}

#[test]
fn the_crates_are_in_the_layer_table() {
    for name in CRATES {
        assert!(LAYERS.iter().any(|(row, ..)| row == name), "{name}");
    }
}
