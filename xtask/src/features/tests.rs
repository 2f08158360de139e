//! The builds of a crate with features.

use super::selections;

#[test]
fn none_each_and_all() {
    let lines: Vec<_> =
        selections(&["a".to_owned(), "b".to_owned()]).iter().map(|selection| selection.join(" ")).collect();
    assert_eq!(
        lines,
        [
            "--no-default-features",
            "--no-default-features --features a",
            "--no-default-features --features b",
            "--all-features"
        ]
    );
}
