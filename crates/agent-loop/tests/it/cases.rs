//! The table of cases names tests that exist.

use std::{collections::BTreeSet, fs, path::Path};

#[test]
fn every_named_test_exists() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let table = fs::read_to_string(tests.join("cases.md")).unwrap();
    let named: BTreeSet<&str> = table.split('`').filter(|word| word.matches('_').count() > 1).collect();
    assert!(named.len() > 50, "the table was not read");
    let code: String =
        fs::read_dir(tests.join("it")).unwrap().map(|file| fs::read_to_string(file.unwrap().path()).unwrap()).collect();
    for name in named {
        let there = [format!("#[test]\nfn {name}()"), format!("#[test]\n    fn {name}(")];
        assert!(there.iter().any(|marked| code.contains(marked)), "there is no test {name}");
    }
}
