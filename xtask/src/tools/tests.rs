//! Version texts of tools.

use super::{Accepts, Tool, serves, version};

#[test]
fn versions() {
    assert_eq!(version("cargo-nextest 0.9.143 (60fa45f63 2026-08-04)"), Some([0, 9, 143]));
    assert_eq!(version("rustc 1.96.0 (abc) (built from a source tarball)"), Some([1, 96, 0]));
    assert_eq!(version("1.96.0-nightly"), Some([1, 96, 0]));
    assert_eq!(version("no version"), None);
    assert_eq!(version(""), None);
}

#[test]
fn which_versions_serve() {
    let check = |accepts, output, expected| {
        let tool = Tool { name: "x", version: "0.9.143", accepts };
        assert_eq!(serves(&tool, output), expected, "{accepts:?} {output}");
    };
    check(Accepts::OrNewer, "cargo-x 0.9.143", true);
    check(Accepts::OrNewer, "cargo-x 0.10.0", true);
    check(Accepts::OrNewer, "cargo-x 0.9.99", false);
    check(Accepts::Exactly, "cargo-x 0.9.143", true);
    check(Accepts::Exactly, "cargo-x 0.9.144", false);
    check(Accepts::Exactly, "", false);
}
