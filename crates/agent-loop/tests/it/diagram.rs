//! The page with the state diagram is the code's.

use agent_loop::Phase;

/// The page: every phase, and where it can go.
fn page() -> String {
    let mut page = String::from(
        "# The states of a run\n\n\
         Drawn from `Phase::DIAGRAM` in `crates/agent-loop/src/machine/phase.rs`; a test holds this page against it, and \
         another one takes every step. A journal that fails ends a run from anywhere.\n\n\
         ```mermaid\nstateDiagram-v2\n    [*] --> Start\n",
    );
    for (from, next) in Phase::DIAGRAM {
        for to in *next {
            page.push_str(&format!("    {from:?} --> {to:?}\n"));
        }
    }
    page.push_str("    Done --> [*]\n```\n");
    page
}

#[test]
fn the_page_is_drawn_from_the_code() {
    let path = format!("{}/../../docs/state-diagram.md", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, page()).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == page(), "{path} is not what the code says; run the tests with BLESS=1");
}
