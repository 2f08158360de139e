//! Which compilers serve.

use super::too_old;

#[test]
fn compilers() {
    assert_eq!(too_old("rustc 1.96.0 (x 2026-05-25) (built from a source tarball)\n"), None);
    assert_eq!(too_old("rustc 1.95.0 (x)"), None);
    let expected = "/usr/bin/rustc is `rustc 1.85.0 (x)`, needed is 1.95.0 or newer";
    assert_eq!(too_old("rustc 1.85.0 (x)"), Some(expected.to_owned()));
    assert!(too_old("").is_some());
}
