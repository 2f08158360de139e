//! The table of cases names tests that exist.

use std::{collections::BTreeSet, fs, path::Path};

#[test]
fn every_named_test_exists() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let table = fs::read_to_string(tests.join("cases.md")).unwrap();
    let named: BTreeSet<&str> = table.split('`').filter(|word| word.matches('_').count() > 2).collect();
    assert!(named.len() > 10, "the table was not read");
    let folders = [tests.join("it"), tests.join("it/responses")];
    let files = folders.iter().flat_map(|folder| fs::read_dir(folder).unwrap()).map(|file| file.unwrap().path());
    let code: String = files.filter(|path| path.is_file()).map(|path| fs::read_to_string(path).unwrap()).collect();
    for name in named {
        let plain = code.contains(&format!("#[test]\nfn {name}()"));
        // A property.
        assert!(plain || code.contains(&format!("#[test]\n    fn {name}(")), "there is no test {name}");
    }
}
