//! Finding lines where something is in the way: limits, places that are not there, files that are no text.

use std::fs;

use super::{
    LOOKING, agent, ask, number, talk, talk_with,
    tree::{Folder, contains, tree, truth},
};

fn first(text: &str) -> &str {
    text.lines().next().unwrap()
}

#[test]
fn more_than_one_search_shows_is_counted_to_the_end() {
    let folder = Folder::new();
    // One file of it is more than a search shows, by lines; another by bytes.
    folder.put("a/many.txt", "TODO\nno\n".repeat(2_500));
    folder.put("a/wide.txt", format!("TODO {}\n", "x".repeat(400)).repeat(700));
    for number in 0..30 {
        folder.put(&format!("b/{number}/c.rs"), "// TODO: it\n".repeat(50));
    }
    folder.put("top.txt", "TODO\n");
    let text = ask(folder.path(), "Find every TODO and say which file has most");
    assert_eq!(first(&text), "**4701 matching lines in 33 files** in this folder have `TODO`.");
    assert!(text.contains("\n`a/many.txt` has the most: 2500 lines.\n"), "{text}");
    let text = ask(folder.path(), "which folder has the most TODO?");
    assert!(text.contains("\n`a/` has the most: 3200 lines.\n"), "{text}");
    let text = ask(folder.path(), "how many TODO are in b?");
    assert_eq!(first(&text), "**1500 matching lines in 30 files** in `b` have `TODO`.");
    let text = ask(folder.path(), "how many TODO are in *.txt files?");
    assert_eq!(first(&text), "**3201 matching lines in 3 files** in this folder (files `*.txt`) have `TODO`.");
    let text = ask(folder.path(), "how many lines in a/*.txt have the word TODO");
    assert_eq!(first(&text), "**3200 matching lines in 2 files** in `a` (files `/*.txt`) have the word `TODO`.");
}

#[test]
fn what_cannot_be_counted_to_the_end_is_at_least() {
    let folder = Folder::new();
    folder.put("many.txt", "abc 1\n".repeat(1_500)).put("few.txt", "abd 2\n".repeat(3));
    let text = ask(folder.path(), "Which file has most matches of /ab. \\d/ ?");
    assert_eq!(first(&text), "**at least 1003 matching lines in 2 files** in this folder have a match of `/ab. \\d/`.");
    assert!(text.contains("`many.txt` has the most: at least 1000 lines."), "{text}");
    // Two of them: which has more is not known.
    folder.put("more.txt", "abc 1\n".repeat(1_600));
    let text = ask(folder.path(), "Which file has most matches of /ab. \\d/ ?");
    assert!(text.contains("As far as was counted, "), "{text}");
}

#[test]
fn what_stands_in_the_part_of_a_line_that_is_not_shown_is_not_denied() {
    let folder = Folder::new();
    let (many, long) = ("TODO\n".repeat(1_200), "x".repeat(5_000));
    folder.put("a.txt", format!("{many}{long} TODO\n"));
    let text = ask(folder.path(), "how many TODO in a.txt");
    assert_eq!(first(&text), "**at least 1200 matching lines in 1 file** in `a.txt` have `TODO`.");
    // Where the search has shown it, it is known.
    folder.put("a.txt", format!("{long} TODO\n{many}"));
    let text = ask(folder.path(), "how many TODO in a.txt");
    assert_eq!(first(&text), "**1201 matching lines in 1 file** in `a.txt` have `TODO`.");
}

#[test]
fn a_place_that_is_not_there_is_said() {
    let folder = Folder::new();
    folder.put("lib/deep/inner/x.rs", "TODO\n").put("other/y.rs", "TODO\n").put("z.txt", "");
    let text = ask(folder.path(), "find TODO in nowhere/");
    let said = "There is no file or folder `nowhere`. This folder has `lib/`, `other/`, `z.txt`.";
    assert_eq!(first(&text), said);
    assert!(!text.contains("matching"), "{text}");
    // One of two is there.
    let text = ask(folder.path(), "find TODO in nowhere/ and other/");
    assert_eq!(
        text.lines().take(2).collect::<Vec<_>>(),
        [said, "**1 matching line in 1 file** in `other` has `TODO`."]
    );
    // A name that only one place has.
    let text = ask(folder.path(), "find TODO in inner/");
    let said = "There is no `inner` in this folder; I took `lib/deep/inner`, the only one of that name.";
    let found = "**1 matching line in 1 file** in `lib/deep/inner` has `TODO`.";
    assert_eq!(text.lines().take(2).collect::<Vec<_>>(), [said, found]);
    let text = ask(folder.path(), "find TODO in ../");
    assert!(text.contains("outside the folders that may be used"), "{text}");
}

#[test]
fn what_is_skipped_is_said() {
    let folder = Folder::new();
    folder.put(".gitignore", "out/\n").put("out/a.txt", "TODO\n").put(".env", "TODO\n").put("b.bin", b"\0TODO\n");
    folder.put("c.txt", "TODO\n");
    let text = ask(folder.path(), "find TODO");
    assert_eq!(first(&text), "**1 matching line in 1 file** in this folder has `TODO`.");
    assert!(text.contains("Hidden files, binary files and what .gitignore names are left out."), "{text}");
    let text = ask(folder.path(), "find TODO, also in hidden and ignored files");
    assert_eq!(first(&text), "**4 matching lines in 4 files** in this folder have `TODO`.");
    assert!(text.contains("Hidden and ignored files are counted in."), "{text}");
}

#[test]
fn nothing_found_is_said_with_the_other_case() {
    let folder = Folder::new();
    folder.put("a.txt", "todo\nTodo\n");
    let text = ask(folder.path(), "find TODO");
    let said = ["No line in this folder has `TODO`.", "With other capitals there are 2 lines."];
    assert_eq!(text.lines().take(2).collect::<Vec<_>>(), said);
    let text = ask(folder.path(), "find BUG");
    assert!(text.starts_with("No line in this folder has `BUG`.\nLines"), "{text}");
}

#[test]
fn a_folder_that_cannot_be_read_is_said() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = Folder::new();
    folder.put("locked/a.txt", "TODO\n").put("open/b.txt", "TODO\n");
    let locked = folder.path().join("locked");
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o0)).unwrap();
    let readable = fs::read_dir(&locked).is_ok();
    let text = ask(folder.path(), "find TODO");
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o755)).unwrap();
    // Who may read everything finds both.
    let found = if readable { "**2 matching" } else { "**1 matching" };
    assert!(text.starts_with(found), "{text}");
    assert_eq!(text.contains("Not read: locked"), !readable, "{text}");
}

#[test]
fn an_expression_that_is_none_is_explained() {
    let folder = Folder::new();
    folder.put("a.txt", "TODO\n");
    let text = ask(folder.path(), "find /a(b/ in a.txt");
    assert!(text.contains("the pattern cannot be searched for"), "{text}");
}

#[test]
fn several_patterns_are_told_apart_and_changes_are_refused() {
    let folder = Folder::new();
    folder.put("a.rs", "TODO FIXME\nTODO\nFIXME\n").put("b.rs", "FIXME\n");
    let text = ask(folder.path(), "find every TODO and FIXME and fix them");
    let said = [
        "**4 matching lines in 2 files** in this folder have `TODO` or `FIXME`.",
        "- `TODO`: 2 lines in 1 file",
        "- `FIXME`: 3 lines in 2 files",
        "",
        "1 file has both: `a.rs`.",
    ];
    assert_eq!(text.lines().take(5).collect::<Vec<_>>(), said);
    assert!(text.contains("Nothing was changed"), "{text}");
    let text = ask(folder.path(), "how many times does FIXME occur? ");
    assert!(text.contains("It occurs 3 times on these lines."), "{text}");
}

#[test]
fn it_makes_no_more_calls_than_it_needs() {
    let folder = Folder::new();
    folder.put("src/a.rs", "TODO\n").put("docs/b.md", "TODO\n");
    let calls = talk(folder.path(), LOOKING, &["Find every TODO in src/ and say which file has most"]).remove(0).calls;
    assert_eq!(calls, [r#"search {"pattern":"TODO","literal":true,"path":"src","limit":1000}"#]);
}

#[test]
fn a_result_that_the_run_cuts_is_noticed() {
    let mut less = 0;
    for seed in 0..40 {
        let folder = tree(seed ^ 0xCA7);
        let sum: usize = truth(folder.path()).lines("", |line| contains(line, "TODO"), "").values().sum();
        let answer = talk_with(&agent(folder.path(), LOOKING, Some(400)), &["find every TODO"]).remove(0);
        match number(&answer.text, "line") {
            Some((lines, false)) => assert_eq!(lines, sum, "seed {seed}: {}", answer.text),
            Some((lines, true)) => {
                less += 1;
                assert!(lines <= sum, "seed {seed}: {}", answer.text);
            }
            None => assert!(sum == 0 || answer.text.contains("not everything could be searched"), "{}", answer.text),
        }
    }
    assert!(less > 5, "the cap has cut too little: {less}");
}

#[test]
fn a_name_of_two_lines_is_not_counted_on() {
    let folder = Folder::new();
    folder.put("a\nb.txt", "TODO\n").put("c.txt", "TODO\n");
    let text = ask(folder.path(), "find TODO");
    assert!(text.starts_with("**at least 1 matching line in at least 1 file**"), "{text}");
    assert!(text.contains("Not looked at to the end"), "{text}");
}

/// The main job of the README.
#[test]
fn the_repository_itself() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let truth = truth(std::path::Path::new(root).join("crates").as_path());
    let truth = truth.lines("", |line| contains(line, "TODO"), "");
    let text = ask(root.as_ref(), "Find every TODO in crates/ and say which file has most");
    assert_eq!(number(&text, "line"), Some((truth.values().sum(), false)), "{text}");
    assert_eq!(number(&text, "file"), Some((truth.len(), false)), "{text}");
    let most = *truth.values().max().unwrap();
    let best: Vec<_> = truth.iter().filter(|(_, lines)| **lines == most).map(|(path, _)| path).collect();
    assert!(best.iter().any(|path| text.contains(&format!("`crates/{path}` "))), "{best:?} in {text}");
    assert!(text.contains(&format!("{most} line")), "{text}");
}
