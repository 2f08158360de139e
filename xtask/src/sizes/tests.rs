//! Planted files, each of which `sizes` must find.

use std::{env, fs, path::PathBuf, process};

use super::{Limits, Sizes, judge_folder};

const LIMITS: Limits<'_> = Limits { exceptions: &[], code: &[("agent-core", 10, "small")] };

/// A folder that goes away with its value.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str, files: &[(&str, String)]) -> Self {
        let root = env::temp_dir().join(format!("xtask-sizes-{name}-{}", process::id()));
        for (path, text) in files {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Self(root)
    }

    fn judge(&self, limits: &Limits<'_>) -> Sizes {
        judge_folder(&self.0, limits).unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A folder that stays behind in the temp folder harms no other test.
        drop(fs::remove_dir_all(&self.0));
    }
}

fn comment(lines: usize) -> String {
    format!("//! doc\n{}", "// line\n".repeat(lines - 1))
}

fn code(lines: usize) -> String {
    format!("//! doc\n{}", "const A: u8 = 1;\n".repeat(lines))
}

#[track_caller]
fn check(name: &str, path: &str, text: String, limits: &Limits<'_>, expected: &[&str]) {
    let sizes = Folder::new(name, &[(path, text)]).judge(limits);
    let faults: Vec<_> = sizes.faults.iter().map(ToString::to_string).collect();
    assert_eq!(faults, expected);
}

const SPLIT: &str = "split it by idea, or give it a row with a reason in EXCEPTIONS in xtask/src/sizes.rs";

#[test]
fn a_long_file_is_found() {
    check("at", "crates/a/src/lib.rs", comment(400), &LIMITS, &[]);
    let expected = format!("crates/a/src/lib.rs: 401 lines, at most 400; {SPLIT}");
    check("over", "crates/a/src/lib.rs", comment(401), &LIMITS, &[&expected]);
    let tests = format!("{}#[cfg(test)]\nmod tests {{\n}}\n", comment(400));
    check("inline", "crates/a/src/lib.rs", tests, &LIMITS, &[]);
    let hidden = "target/debug/build/x.rs";
    check("target", hidden, "fn f() {}".to_owned(), &LIMITS, &[]);
}

#[test]
fn a_long_test_file_is_found() {
    check("test-at", "crates/a/src/x/tests.rs", comment(800), &LIMITS, &[]);
    let expected = format!("crates/a/tests/it/x.rs: 801 lines, at most 800; {SPLIT}");
    check("test-over", "crates/a/tests/it/x.rs", comment(801), &LIMITS, &[&expected]);
}

#[test]
fn an_exception_holds_and_must_be_needed() {
    let limits = Limits { exceptions: &[("a.rs", 500, "a table")], code: &[] };
    check("excepted", "a.rs", comment(500), &limits, &[]);
    let expected = format!("a.rs: 501 lines, at most 500; {SPLIT}");
    check("excepted-over", "a.rs", comment(501), &limits, &[&expected]);
    let row = "remove its row from EXCEPTIONS in xtask/src/sizes.rs";
    let expected = format!("a.rs: 400 lines, within the usual 400, but excepted; {row}");
    check("not-needed", "a.rs", comment(400), &limits, &[&expected]);
    let expected = format!("a.rs: is excepted but does not exist; {row}");
    check("gone", "b.rs", comment(1), &limits, &[&expected]);
}

#[test]
fn a_file_without_its_purpose_is_found() {
    let expected = "src/bin/a.rs: its first line does not begin with `//!`; say there what the file is for";
    check("no-doc", "src/bin/a.rs", "fn main() {}\n".to_owned(), &LIMITS, &[expected]);
    check("late-doc", "src/bin/a.rs", "\n//! late\n".to_owned(), &LIMITS, &[expected]);
    check("empty", "src/bin/a.rs", String::new(), &LIMITS, &[expected]);
}

#[test]
fn a_crate_over_budget_is_found() {
    check("code-at", "crates/agent-core/src/lib.rs", code(10), &LIMITS, &[]);
    let expected = "agent-core: 11 lines of code, at most 10 (small); \
        move what only one sibling needs to that sibling";
    check("code-over", "crates/agent-core/src/lib.rs", code(11), &LIMITS, &[expected]);
    check("other", "crates/agent-loop/src/lib.rs", code(11), &LIMITS, &[]);
}

#[test]
fn tests_and_benches_are_not_code() {
    let files = [
        ("crates/agent-core/src/lib.rs", code(3)),
        ("crates/agent-core/src/tests.rs", code(20)),
        ("crates/agent-core/tests/it/main.rs", code(20)),
        ("crates/agent-core/benches/b.rs", code(20)),
        ("xtask/src/main.rs", code(20)),
    ];
    let sizes = Folder::new("not-code", &files).judge(&LIMITS);
    assert_eq!(sizes.files, 5);
    assert_eq!(sizes.code.into_iter().collect::<Vec<_>>(), [("agent-core".to_owned(), 3)]);
    assert_eq!(sizes.faults, []);
}
