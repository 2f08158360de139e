//! Planted dependencies, each of which `deps` must find.

use super::{BUDGETS, FEATURES, judge_budget, judge_features, judge_versions};
use crate::{layers::LAYERS, metadata::parse_tree};

const TREE: &str = "a v1.0.0|std\nb v1.0.0|\nb v2.0.0|\na v1.0.0|std (*)\na v1.0.0|\n";

#[test]
fn a_tree_over_budget_is_found() {
    let tree = parse_tree(TREE);
    let (figures, fault) = judge_budget("x", &tree, &[("x", 3, "small")]);
    assert_eq!((figures.as_str(), fault), ("x 3 of 3", None));
    let (figures, fault) = judge_budget("x", &tree, &[("x", 2, "small")]);
    assert_eq!(figures, "x 3 of 2");
    assert_eq!(
        fault.unwrap().to_string(),
        "x: 3 crates in its tree, at most 2 (small); \
         `cargo tree -p x -e normal,build` shows them; drop a dependency"
    );
}

#[test]
fn a_crate_without_a_budget_is_found() {
    let (_, fault) = judge_budget("agent-new", &parse_tree(TREE), BUDGETS);
    assert_eq!(fault.unwrap().what, "has no crate budget");
}

#[test]
fn features_need_a_row() {
    assert_eq!(judge_features("agent-core", &[]), None);
    assert_eq!(judge_features("agent-http", &["ring".to_owned()]), None);
    let fault = judge_features("agent-core", &["default".to_owned(), "tokio".to_owned()]);
    assert_eq!(fault.unwrap().what, "has features (default, tokio)");
}

#[track_caller]
fn check(manifest: &str, expected: &[&str]) {
    let faults = judge_versions("agent-x", &manifest.parse().unwrap());
    let what: Vec<_> = faults.iter().map(|fault| fault.what.split(' ').next().unwrap_or_default()).collect();
    assert_eq!(what, expected, "{manifest}");
}

#[test]
fn versions_outside_of_the_workspace_table_are_found() {
    check("[dependencies]\na.workspace = true\nb = { workspace = true, features = ['c'] }", &[]);
    check("[dev-dependencies]\nagent-testkit = { path = '../agent-testkit' }", &[]);
    check("[dependencies]\na = '1'\nb = { version = '1', features = [] }", &["a", "b"]);
    check("[dependencies.a]\nversion = '1'", &["a"]);
    check("[build-dependencies]\na = { git = 'https://x' }", &["a"]);
    check("[dev-dependencies]\n\"a\" = '1'", &["a"]);
    check("[target.'cfg(unix)'.dependencies]\na = '1'", &["a"]);
    check("[dependencies]\na = { path = '../a', version = '1' }", &["a"]);
}

#[test]
fn the_tables_name_the_same_crates() {
    let crates: Vec<_> =
        LAYERS.iter().filter(|(_, folder, _)| folder.starts_with("crates/")).map(|(name, ..)| *name).collect();
    let budgets: Vec<_> = BUDGETS.iter().map(|(name, ..)| *name).collect();
    assert_eq!(budgets, crates);
    assert!(FEATURES.iter().all(|(name, _)| crates.contains(name)));
}
