//! Every example runs, without a key and without a network, and says what it is there to show.
#![expect(clippy::disallowed_methods, clippy::string_slice, reason = "tests may fail so")]

use std::{collections::BTreeSet, fs, path::Path, process::Command};

/// What each says, in this order.
const SAYS: [(&str, &[&str]); 10] = [
    ("approvals", &["Deny", "Allow", "I said hello, and removed nothing."]),
    ("budget", &["One.", "Two.", "stopped: budget", "requests were sent"]),
    ("first_prompt", &["19 + 23 is 42.", "was spent"]),
    ("machine", &["do    Append", "write runStarted", "do    Send", "done  Completed: It is noon."]),
    ("models", &["claude"]),
    ("own_tool", &["b must not be 0", "42", "Completed after 3 turns"]),
    ("quickstart", &["Paris, of course.", "4 messages"]),
    ("steer_and_cancel", &["-> list", "Cancelled", "Keep it short, please."]),
    ("streaming", &["-> list", "Cargo workspace", "tokens]"]),
    ("two_providers", &["a town in Norway", "cold there", "/v1/messages", "/v1/chat/completions"]),
];

#[test]
fn every_example_runs_and_says_what_it_shows() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files = fs::read_dir(root.join("examples")).unwrap().map(|file| file.unwrap().path());
    let names: BTreeSet<String> = files.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    assert_eq!(names, SAYS.iter().map(|(name, _)| (*name).to_owned()).collect(), "the table has every example");
    // Beside the folder of this test's own program, where cargo puts them.
    let folder = std::env::current_exe().unwrap().parent().unwrap().parent().unwrap().join("examples");
    for (name, words) in SAYS {
        let lines = fs::read_to_string(root.join("examples").join(format!("{name}.rs"))).unwrap().lines().count();
        assert!(lines <= 100, "{name} has {lines} lines: an example is read in one go");
        let output = Command::new(folder.join(name)).current_dir(root.join("..")).env_clear().output();
        let output = output.unwrap_or_else(|e| panic!("{name}: {e}; `cargo test` builds the examples"));
        let (said, complaint) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{name}: {said}{complaint}");
        let mut rest = &*said;
        for word in words {
            let at = rest.find(word).unwrap_or_else(|| panic!("{name} does not say {word:?} there:\n{said}"));
            rest = &rest[at + word.len()..];
        }
    }
}
