//! The table of cases names tests that exist.

use std::{collections::BTreeSet, fs, path::Path};

#[test]
fn every_named_test_exists() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let table = fs::read_to_string(tests.join("cases.md")).unwrap();
    let named: BTreeSet<&str> = table.split('`').filter(|word| word.matches('_').count() > 2).collect();
    assert!(named.len() > 10, "the table was not read");
    let files = fs::read_dir(tests.join("it")).unwrap();
    let code: String = files.map(|file| fs::read_to_string(file.unwrap().path()).unwrap()).collect();
    for name in named {
        assert!(code.contains(&format!("#[test]\nfn {name}()")), "there is no test {name}");
    }
}
