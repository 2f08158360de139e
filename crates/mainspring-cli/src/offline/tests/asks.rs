//! What requests in many wordings are taken for.

use super::tree::Random;
use crate::offline::{
    ask::{Ask, Files, Find, PatternKind, Rank, Scope, What},
    outline, results,
};

fn place(scope: &Scope) -> String {
    let mut text = String::new();
    if !scope.paths.is_empty() {
        text += &format!(" in {}", scope.paths.join(" + "));
    }
    if let Some(glob) = scope.glob() {
        text += &format!(" glob {glob}");
    }
    if !scope.without.is_empty() {
        text += &format!(" without {}", scope.without.join(" + "));
    }
    if scope.all {
        text += " all";
    }
    text
}

fn rank(rank: Option<Rank>) -> &'static str {
    match rank {
        Some(Rank::Most) => ", most",
        Some(Rank::Fewest) => ", fewest",
        None => "",
    }
}

/// A request in short.
fn short(ask: &Ask) -> String {
    match ask {
        Ask::Find(find) => {
            let Find { patterns, scope, by_folder, top, occurrences, changes, .. } = find;
            let patterns: Vec<String> = patterns
                .iter()
                .map(|pattern| {
                    let shown = match &pattern.kind {
                        PatternKind::Text => pattern.shown.clone(),
                        PatternKind::Word => format!("word {}", pattern.shown),
                        PatternKind::Regex => format!("/{}/", pattern.shown),
                        PatternKind::Definition(what) => format!("{what} {}", pattern.shown).trim().to_owned(),
                    };
                    if pattern.ignore_case { format!("{shown} (any case)") } else { shown }
                })
                .collect();
            let mut text = format!("find {}{}{}", patterns.join(" | "), place(scope), rank(find.rank));
            for (on, what) in [(*by_folder, ", by folder"), (*occurrences, ", times"), (*changes, ", changes")] {
                text += if on { what } else { "" };
            }
            if let Some(top) = top {
                text += &format!(", top {top}");
            }
            text
        }
        Ask::Files(Files { scope, name, what, deep, counts }) => {
            let verb = if *counts { "count" } else { "list" };
            let what = match what {
                What::Files => "files",
                What::Folders => "folders",
                What::Both => "both",
            };
            let name = name.as_ref().map(|name| format!(" named {name}")).unwrap_or_default();
            format!("{verb} {what}{name}{}{}", place(scope), if *deep { ", deep" } else { "" })
        }
        Ask::Lines(scope, by) => format!("lines{}{}", place(scope), rank(*by)),
        Ask::Sizes(scope, by) => format!("sizes{}{}", place(scope), rank(Some(*by))),
        Ask::Outline(path) => format!("outline {path}"),
        Ask::Show(path) => format!("show {path}"),
        Ask::Other(other) => format!("{other:?}"),
    }
}

fn check(cases: &[(&str, &str)]) {
    let mut wrong = Vec::new();
    for (prompt, expected) in cases {
        let prompts: Vec<String> = prompt.split(" >> ").map(str::to_owned).collect();
        let got = short(&Ask::of(&prompts));
        if got != *expected {
            wrong.push(format!("{prompt}\n    got  {got}\n    want {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {} wrong:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

#[test]
fn finding() {
    check(&[
        ("Find every TODO in crates/ and say which file has most", "find TODO in crates, most"),
        ("find every todo in crates and tell me which file has the most", "find todo in crates, most"),
        ("Which file in crates/ has the most TODOs?", "find TODO in crates, most"),
        ("which file has the fewest FIXMEs", "find FIXME, fewest"),
        ("How many TODOs are there in src?", "find TODO in src"),
        ("How many TODO comments are in src/ and tests/?", "find TODO in src + tests"),
        ("list all FIXME in src/ and tests/", "find FIXME in src + tests"),
        ("List all TODO, FIXME and HACK comments", "find TODO | FIXME | HACK"),
        ("find TODO/FIXME in src", "find TODO | FIXME in src"),
        ("Find all occurrences of foo_bar", "find foo_bar, times"),
        ("how often does unwrap() appear in src/main.rs?", "find unwrap() in src/main.rs, times"),
        ("how many times is `clone` used in the src folder", "find clone in src, times"),
        ("Where is parse_config used?", "find parse_config"),
        ("where do we use HashMap in crates/agent-core", "find HashMap in crates/agent-core"),
        ("which files mention tokio", "find tokio"),
        ("Which files contain \"hello world\"?", "find hello world"),
        ("what files import serde_json in *.rs files", "find serde_json glob *.rs"),
        ("which files mention Cargo.toml", "find Cargo.toml"),
        ("search for unsafe in Rust files", "find unsafe glob *.rs"),
        ("search the code for unsafe", "find unsafe"),
        ("Search for the word cat in docs/", "find word cat in docs"),
        ("grep TODO src", "find TODO in src"),
        ("grep -rni todo src tests", "find todo (any case) in src + tests"),
        ("rg foo.bar", "find foo.bar"),
        ("grep for /fn \\w+_test/ in src/", "find /fn \\w+_test/ in src"),
        ("grep -- please look for 'a|b' in notes.txt", "find a|b in notes.txt"),
        ("look for println! in crates", "find println! in crates"),
        ("find panic!", "find panic!"),
        ("find TODO excluding hidden files", "find TODO"),
        ("find TODO in src/, tests/ and docs/.", "find TODO in src + tests + docs"),
        ("src/ and tests/: find TODO", "find TODO in src + tests"),
        ("find all unwrap() calls under src", "find unwrap() in src"),
        ("find todo case-insensitively", "find todo (any case)"),
        ("find todo, ignoring case, in src", "find todo (any case) in src"),
        ("Find /todo/i in docs", "find /todo/ (any case) in docs"),
        ("find the whole word id in src/lib.rs", "find word id in src/lib.rs"),
        ("show me the top 5 files by TODO", "find TODO, most, top 5"),
        ("Count TODO in *.rs", "find TODO glob *.rs"),
        ("count the number of unwrap in .rs files", "find unwrap glob *.rs"),
        ("Are there any FIXMEs left?", "find FIXME"),
        ("is there a TODO in README.md", "find TODO in README.md"),
        ("find TODO in src/**/*.rs", "find TODO in src glob *.rs"),
        ("find TODO in src/*.rs", "find TODO in src glob /*.rs"),
        ("find TODO in 'my folder'", "find TODO in my folder"),
        ("find TODO except in tests/", "find TODO without tests"),
        ("find TODO in crates excluding crates/a and *.md", "find TODO in crates without crates/a + *.md"),
        ("find TODO in this repo", "find TODO"),
        ("find all TODOs here", "find TODO"),
        ("find TODO in hidden files", "find TODO all"),
        ("find TODO including ignored files", "find TODO all"),
        ("which crate has the most unwrap in crates/", "find unwrap in crates, most, by folder"),
        ("which folder has most TODOs", "find TODO, most, by folder"),
        ("find every TODO and fix them", "find TODO, changes"),
        ("Can you please find every TODO in crates?", "find TODO in crates"),
        ("I want to find all uses of Arc::new in crates", "find Arc::new in crates"),
        ("Show all lines with 'foo bar' in src/a.txt", "find foo bar in src/a.txt"),
        ("find error handling in docs", "find error handling in docs"),
        ("In crates/, find every TODO.", "find TODO in crates"),
        ("crates/: how many TODOs?", "find TODO in crates"),
        ("search crates for 'impl Provider for'", "find impl Provider for in crates"),
        ("search docs for TODO", "find TODO in docs"),
        ("look through docs for TODO", "find TODO in docs"),
        ("search everything for TODO", "find TODO"),
        ("top 3 files by /unwrap\\(\\)/", "find /unwrap\\(\\)/, most, top 3"),
        ("find TODO comments but only in tests", "find TODO in tests"),
        ("find TODO in src but not in src/tests", "find TODO in src without src/tests"),
        ("find TODO outside of tests/", "find TODO without tests"),
        ("search for TODO ignoring vendor/", "find TODO without vendor"),
        ("find 'x' in files matching *_test.go", "find x glob *_test.go"),
        ("who calls parse_args?", "find parse_args"),
        ("which files contain both TODO and FIXME", "find TODO | FIXME"),
        ("Suche TODO", "Chat"),
    ]);
}

#[test]
fn definitions() {
    check(&[
        ("how many functions named test", "find functions test"),
        ("How many functions are in src/lib.rs?", "find functions in src/lib.rs"),
        ("count the structs in crates/", "find structs in crates"),
        ("where is the struct Workspace defined?", "find struct Workspace"),
        ("Where is Workspace defined?", "find definitions Workspace"),
        ("find functions starting with parse_ in src", "find functions parse_ in src"),
        ("where is the main function?", "find function main"),
        ("find the parse_args function in src", "find function parse_args in src"),
        ("where is struct Agent", "find struct Agent"),
        ("find all struct definitions named Agent", "find struct Agent"),
        ("How many tests are there in crates?", "find the beginning of a test in crates"),
        ("which file has the most functions in src", "find functions in src, most"),
    ]);
}

#[test]
fn files() {
    check(&[
        ("what files are here", "list files"),
        ("What files are there in src?", "list files in src"),
        ("list the rust files in src", "list files in src glob *.rs, deep"),
        ("show the folders", "list folders"),
        ("show me all folders in crates/", "list folders in crates, deep"),
        ("which folders are in crates", "list folders in crates"),
        ("list everything in docs", "list both in docs, deep"),
        ("what is in docs/?", "list both in docs"),
        ("list crates/", "list both in crates"),
        ("ls", "list both"),
        ("ls src", "list both in src"),
        ("count the .rs files", "count files glob *.rs, deep"),
        ("How many .md files are here?", "count files glob *.md, deep"),
        ("how many markdown files are in docs", "count files in docs glob *.{md,markdown}, deep"),
        ("how many files are in src", "count files in src, deep"),
        ("how many folders are there", "count folders, deep"),
        ("list *.toml", "list files glob *.toml, deep"),
        ("find all *.toml files", "list files glob *.toml, deep"),
        ("find files named mod.rs", "list files named mod.rs, deep"),
        ("where is main.rs?", "list files named main.rs, deep"),
        ("find README.md", "list files named README.md, deep"),
        ("is there a README?", "list files named README, deep"),
        ("is there a folder called tests", "list folders named tests, deep"),
        ("how many lines has README.md", "lines in README.md"),
        ("How many lines of code are in src/?", "lines in src"),
        ("how long is src/main.rs", "lines in src/main.rs"),
        ("line count of Cargo.toml", "lines in Cargo.toml"),
        ("How many lines of Rust code are in crates?", "lines in crates glob *.rs"),
        ("which file is the longest in src", "lines in src, most"),
        ("what is the biggest file", "sizes, most"),
        ("which is the smallest file in docs/", "sizes in docs, fewest"),
        ("what is the newest file", "Times"),
        ("which files were modified today", "Times"),
    ]);
}

#[test]
fn outlines() {
    check(&[
        ("summarise docs/errors.md", "outline docs/errors.md"),
        ("Summarize README.md", "outline README.md"),
        ("summarize the README", "outline README"),
        ("what are the headings of README.md", "outline README.md"),
        ("give me an overview of src/lib.rs", "outline src/lib.rs"),
        ("What is docs/run.md about?", "outline docs/run.md"),
        ("what's in CHANGELOG.md?", "outline CHANGELOG.md"),
        ("what does src/main.rs do?", "outline src/main.rs"),
        ("show README.md", "show README.md"),
        ("read src/main.rs", "show src/main.rs"),
        ("cat Cargo.toml", "show Cargo.toml"),
    ]);
}

#[test]
fn other_things() {
    check(&[
        ("hello", "Chat"),
        ("Hi there, how are you?", "Chat"),
        ("what can you do?", "Chat"),
        ("who are you", "Chat"),
        ("Tell me a joke", "Chat"),
        ("thanks!", "Chat"),
        ("What is the capital of France?", "Chat"),
        ("write a test for parse", "Change"),
        ("please fix the bug in src/main.rs", "Change"),
        ("Delete all TODO comments", "Change"),
        ("run the tests", "Change"),
        ("rename foo to bar in src/", "Change"),
        ("which files don't contain TODO", "Missing"),
        ("find files without a licence header", "Missing"),
        ("how many files have no TODO", "Missing"),
        ("which files do not have tests", "Missing"),
        ("", "Chat"),
        ("?!", "Chat"),
    ]);
}

#[test]
fn going_on() {
    check(&[
        ("find TODO in crates/ >> and in tests/?", "find TODO in tests"),
        ("find TODO in crates/ >> what about FIXME?", "find FIXME in crates"),
        ("find TODO in crates/ >> only in *.md files", "find TODO in crates glob *.md"),
        ("how many .rs files are in src >> and in tests?", "count files in tests, deep"),
        ("summarise README.md >> and CHANGELOG.md", "outline CHANGELOG.md"),
        ("find TODO in crates/ >> which one has the most?", "find TODO in crates, most"),
        ("find TODO in crates/ >> and which file has fewest", "find TODO in crates, fewest"),
        ("find TODO in crates/ >> which file is the biggest?", "sizes, most"),
        ("what is the smallest file in docs >> and the biggest?", "sizes in docs, most"),
        ("hello >> and in tests?", "Missing"),
        ("find TODO >> thanks", "Chat"),
    ]);
}

#[test]
fn anything_can_be_said() {
    let words = "find every TODO in crates/ and say which file has most how many \" ' ` / ( ) * ** [ ] , . ? ! :: -i the \
         except files of .rs README.md ./ ../ functions named both any case 3 top „ » \u{301} 😀 \n - hidden lines what about";
    let words: Vec<&str> = words.split(' ').collect();
    let mut random = Random(7);
    for _ in 0..2_000 {
        let text: Vec<&str> = (0..random.below(12)).map(|_| random.pick(&words)).collect();
        // With and without spaces: what counts is that there is an answer.
        for text in [text.join(" "), text.concat()] {
            let before = "find TODO in src".to_owned();
            let ask = Ask::of(&[before, text.clone()]);
            if let Ask::Find(find) = &ask {
                assert!(find.patterns.iter().all(|pattern| !pattern.text.is_empty()), "{text}: {ask:?}");
                assert!(!find.patterns.is_empty(), "{text}: {ask:?}");
            }
        }
    }
}

#[test]
fn any_result_can_be_read() {
    let pieces = "1: a|12: TODO …|x.rs:|x.rs: (binary from here on)||[2 lines in 1 file]|[no matches]|[1 line in 1 file; there may \
         be more: the limit is reached]|[not searched: x: y]|[… 12 bytes left out …]|a/|b (link)|[nothing]|     1\tx|     3\ty|\
         [lines 1 to 2 of 9; offset 3 reads on]|[bytes 0 to 0 of 12]|[`x` is empty]|[lines 1 to |[`x`: image/png, 12 bytes]";
    let pieces: Vec<&str> = pieces.split('|').collect();
    let mut random = Random(9);
    for _ in 0..2_000 {
        let text: Vec<&str> = (0..random.below(8)).map(|_| random.pick(&pieces)).collect();
        let text = text.join("\n");
        let found = results::matches(&text);
        let lines: usize = found.files.iter().map(|file| file.lines.len()).sum();
        if found.whole && lines > 0 {
            assert!(text.contains(&format!("[{lines} line")), "{text}: {found:?}");
        }
        let _ = (results::listing(&text), results::size(&text));
        if let Some(page) = results::page(&text) {
            assert!(!text.contains("bytes left out"), "{text}: {page:?}");
            outline::headings(&page.lines);
        }
    }
}

#[test]
fn names_at_a_gap_are_not_trusted() {
    let listing = results::listing("a/\nb.rs\nc.r\n[… 12 bytes left out …]\nx.rs\ny.rs\n");
    let paths: Vec<&str> = listing.entries.iter().map(|entry| entry.path.as_str()).collect();
    assert_eq!((paths, listing.whole), (vec!["a", "b.rs", "y.rs"], false));
}
