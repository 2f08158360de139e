//! The table of cases names tests that exist.

use std::{collections::BTreeSet, fs, path::Path};

#[test]
fn every_named_test_exists() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let table = fs::read_to_string(tests.join("cases.md")).unwrap();
    let named: BTreeSet<&str> = table.split('`').filter(|word| word.contains("::")).collect();
    assert!(named.len() > 20, "the table was not read");
    for name in named {
        let (module, test) = name.split_once("::").unwrap();
        let across = module.starts_with("session_");
        let file = match across {
            true => tests.join(format!("../../../tests/tests/{module}.rs")),
            false => tests.join("it").join(format!("{module}.rs")),
        };
        let code = fs::read_to_string(&file).unwrap_or_else(|e| panic!("{name}: {}: {e}", file.display()));
        let marked =
            code.contains(&format!("#[test]\nfn {test}()")) || code.contains(&format!("    #[test]\n    fn {test}("));
        assert!(marked, "there is no test {name}");
    }
}
