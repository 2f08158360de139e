//! The table of cases names tests that exist.

use std::{collections::BTreeSet, fs, path::Path};

#[test]
fn every_named_test_exists() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let table = fs::read_to_string(tests.join("cases.md")).unwrap();
    let named: BTreeSet<&str> = table.split('`').filter(|word| word.contains("::")).collect();
    assert!(named.len() > 25, "the table was not read");
    for name in named {
        let (module, test) = name.split_once("::").unwrap();
        let file = tests.join("it").join(format!("{module}.rs"));
        let code = fs::read_to_string(&file).unwrap_or_else(|e| panic!("{name}: {}: {e}", file.display()));
        assert!(code.contains(&format!("#[test]\nfn {test}()")), "there is no test {name}");
    }
}
