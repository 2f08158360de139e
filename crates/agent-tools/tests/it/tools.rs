//! The sets of tools.

use agent_core::{Access, RawJson, ToolSet};

use crate::folder::Folder;

#[test]
fn sets_have_names_in_order_and_effects() {
    let folder = Folder::new();
    let workspace = folder.workspace();
    let all = agent_tools::all(&workspace).unwrap();
    let names: Vec<_> = all.iter().map(|tool| tool.spec().name().to_owned()).collect();
    assert_eq!(names, ["bash", "edit", "list", "output", "read", "search", "write"]);
    assert!(ToolSet::new(all.iter().map(|tool| tool.spec().clone()).collect()).is_ok());
    let arguments = RawJson::parse(r#"{"path":"f"}"#).unwrap();
    let read_only = agent_tools::read_only(&workspace).unwrap();
    assert!(read_only.iter().all(|tool| tool.effects(&arguments).access == Access::Shared));
    let shared = all.iter().filter(|tool| tool.effects(&arguments).access == Access::Shared).count();
    assert_eq!(shared, read_only.len() + 1, "whatever changes something excludes others");
}
