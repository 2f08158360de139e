//! The table of cases names tests that exist.

use std::{collections::BTreeSet, fs, path::Path};

#[test]
fn every_named_test_exists() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let table = fs::read_to_string(tests.join("cases.md")).unwrap();
    let named: BTreeSet<&str> = table.split('`').filter(|word| word.contains("::")).collect();
    assert!(named.len() >= 3, "the table was not read");
    for name in named {
        let (module, test) = name.split_once("::").unwrap();
        let file = tests.join("it").join(format!("{module}.rs"));
        let code = fs::read_to_string(&file).unwrap_or_else(|e| panic!("{name}: {}: {e}", file.display()));
        let before = code.find(&format!("fn {test}()")).and_then(|at| code.get(..at)).unwrap_or_default();
        let marked = before.lines().rev().nth(1).is_some_and(|line| line.starts_with("#[") && line.contains("test"));
        let marked = marked || before.ends_with("#[test]\n");
        assert!(marked, "there is no test {name}");
    }
}
