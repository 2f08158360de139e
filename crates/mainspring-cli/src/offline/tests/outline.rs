//! Headings and what else files say of themselves.

use super::{ask, tree::Folder};

/// The headings that an answer shows, with their level.
fn outline(markdown: &str) -> Vec<String> {
    let folder = Folder::new();
    folder.put("x.md", markdown);
    let text = ask(folder.path(), "summarise x.md");
    text.lines().filter(|line| line.trim_start().starts_with("- **")).map(str::to_owned).collect()
}

#[test]
fn markdown_headings() {
    assert_eq!(
        outline("# One\n\nFirst. Second.\nThird\n\n## Two ##\ntext\nover lines. More\n### Three\n"),
        ["- **One** (line 1): First.", "  - **Two** (line 6): text over lines.", "    - **Three** (line 9)"]
    );
    assert_eq!(
        outline("Title\n=====\n\nBody, e.g. this. Rest\n\nPart\nof it\n---\n\n---\n\n- item\n"),
        ["- **Title** (line 1): Body, e.g. this.", "  - **Part of it** (line 6): - item"]
    );
    assert_eq!(
        outline("# A\n```sh\n# no\n```\n~~~~\n~~~\n## no\n~~~~\n    # no\n<!-- \n# no\n-->\n#no\n# B"),
        ["- **A** (line 1): #no", "- **B** (line 14)"]
    );
    assert_eq!(outline("---\ntitle: x\n---\n# A\r\n\r\nText.\r\n"), ["- **A** (line 4): Text."]);
    assert_eq!(outline("text\n\nmore\n"), Vec::<String>::new());
}

#[test]
fn other_files() {
    let folder = Folder::new();
    folder.put("a.rs", "//! What it is.\n//! More.\n//!\n//! Rest.\nuse x;\npub struct A {\n}\nfn no() {}\n    pub fn b(&self) -> u8 {\n");
    folder
        .put("Cargo.toml", "[package]\nname = \"x\"\n[dependencies]\n")
        .put("x.bin", b"\x7FELF\0\0\x01")
        .put("e.md", "");
    let text = ask(folder.path(), "Summarise a.rs");
    for part in [
        "has 9 lines",
        "It says of itself: What it is. More.\n",
        "- line 6: `pub struct A`\n- line 9: `pub fn b(&self) -> u8`\n",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let text = ask(folder.path(), "summarize Cargo.toml");
    assert!(text.contains("- line 1: `[package]`\n- line 3: `[dependencies]`\n"), "{text}");
    let text = ask(folder.path(), "summarise x.bin");
    assert!(text.contains("I could not read `x.bin`: ") && text.contains("a program (ELF)"), "{text}");
    let text = ask(folder.path(), "summarise e.md");
    assert!(text.starts_with("**`e.md`** has 0 lines."), "{text}");
    let text = ask(folder.path(), "summarise gone.md");
    assert!(text.starts_with("There is no file or folder `gone.md`. This folder has `Cargo.toml`"), "{text}");
    let text = ask(folder.path(), "show Cargo.toml");
    assert!(text.contains("```text\n[package]\nname = \"x\"\n[dependencies]\n```\n"), "{text}");
}

#[test]
fn a_long_file_is_read_to_its_end() {
    let folder = Folder::new();
    let filler = "word\n".repeat(2_400);
    folder.put("long.md", format!("# First\n{filler}\n# Last\n\nThe end.\n"));
    let text = ask(folder.path(), "headings of long.md");
    assert!(text.contains("has 2405 lines") && text.contains("- **Last** (line 2403): The end."), "{text}");
}
