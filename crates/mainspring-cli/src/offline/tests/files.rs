//! Files and folders: what is listed, counted and measured.

use std::os::unix::fs::symlink;

use super::{ask, tree::Folder};

fn first(text: &str) -> &str {
    text.lines().next().unwrap()
}

#[test]
fn more_than_one_listing_shows_is_counted_to_the_end() {
    let folder = Folder::new();
    for number in 0..700 {
        folder
            .put(&format!("a/{number}.rs"), "")
            .put(&format!("b/c/{number}.rs"), "")
            .put(&format!("b/d/{number}.md"), "");
    }
    let text = ask(folder.path(), "How many .rs files are here?");
    assert_eq!(first(&text), "**1400 files** in this folder (files `*.rs`), folders inside counted in.");
    let text = ask(folder.path(), "count all files in b");
    assert_eq!(first(&text), "**1400 files** in `b`, folders inside counted in.");
    // A single folder with more than a listing shows.
    for number in 700..1_300 {
        folder.put(&format!("a/{number}.rs"), "");
    }
    let text = ask(folder.path(), "How many files are in a?");
    assert_eq!(first(&text), "**at least 1000 files** in `a`, folders inside counted in.");
    assert!(text.contains("Not looked at to the end, because there is too much of it: `a`"), "{text}");
}

#[test]
fn names_are_found() {
    let folder = Folder::new();
    folder.put("a/main.rs", "").put("b/main.rs", "").put("b/main.rs.txt", "").put("c/notes", "").put("c/notes.md", "");
    folder.put("tests/x", "").put("[id]/[slug].tsx", "");
    let text = ask(folder.path(), "where is main.rs?");
    assert!(text.starts_with("**2 files** named `main.rs` in this folder"), "{text}");
    assert!(text.contains("- `a/main.rs`\n- `b/main.rs`\n"), "{text}");
    let text = ask(folder.path(), "find files called notes");
    assert!(text.contains("- `c/notes`\n- `c/notes.md`\n"), "{text}");
    let text = ask(folder.path(), "find files named \"[slug].tsx\"");
    assert!(text.contains("- `[id]/[slug].tsx`\n"), "{text}");
    let text = ask(folder.path(), "is there a folder called tests?");
    assert!(text.starts_with("**1 folder** named `tests`"), "{text}");
    let text = ask(folder.path(), "find files named nothing.rs");
    assert!(text.starts_with("**0 files** named `nothing.rs`"), "{text}");
}

#[test]
fn links_are_told_apart() {
    let folder = Folder::new();
    folder.put("a.txt", "");
    symlink("a.txt", folder.path().join("b.txt")).unwrap();
    let text = ask(folder.path(), "what files are here");
    assert!(text.starts_with("**1 file and 1 link** in this folder"), "{text}");
    assert!(text.contains("- `a.txt`\n- `b.txt` (a link)\n"), "{text}");
}

#[test]
fn files_are_measured() {
    let folder = Folder::new();
    folder.put("a.txt", "1\n2\n3").put("b.txt", "").put("c.bin", b"\x7FELF\0\0\x01").put("d.txt", "x".repeat(5_000));
    let text = ask(folder.path(), "how many lines has a.txt?");
    assert_eq!(first(&text), "**`a.txt` has 3 lines.**");
    let text = ask(folder.path(), "how many lines are in the .txt files?");
    assert_eq!(first(&text), "**4 lines in 3 files** in this folder (files `*.txt`).");
    let text = ask(folder.path(), "which file is the longest?");
    assert!(text.contains("The longest is `a.txt` with 3 lines."), "{text}");
    assert!(text.contains("Not counted, `c.bin`: "), "{text}");
    let text = ask(folder.path(), "What is the biggest file?");
    assert!(
        text.contains("**5012 bytes in 4 files**") && text.contains("The largest is `d.txt` with 5000 bytes."),
        "{text}"
    );
    let text = ask(folder.path(), "how many lines has nothing.txt");
    assert!(text.starts_with("There is no file or folder `nothing.txt`."), "{text}");
}
