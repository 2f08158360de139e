//! `search`: what is found, in which order, and what is said of the rest.

use std::{fs, os::unix::fs::PermissionsExt};

use agent_tools::Search;
use serde_json::json;

use crate::folder::{Folder, call, details, output, text};

fn tree() -> Folder {
    let folder = Folder::new();
    folder.put("b.rs", "fn one() {}\n// TODO: two\nfn three() {}\n// TODO: four\n").put("a/x.txt", "todo\nTODO here");
    folder.put(".gitignore", "*.log\n").put("err.log", "TODO\n").put(".env", "TODO\n").put(".git/x", "TODO\n");
    folder.put("binary", b"TODO\0\x01\x02\n").link("link.rs", "b.rs").link("out", folder.outside());
    folder
}

#[tokio::test]
async fn what_is_found() {
    let folder = tree();
    let search = Search::new(&folder.workspace()).unwrap();
    let a = "a/x.txt:\n2: TODO here\n\n";
    let b = "b.rs:\n2: // TODO: two\n4: // TODO: four\n\n";
    for (arguments, expected) in [
        (r#"{"pattern":"TODO"}"#, format!("{a}{b}[3 lines in 2 files]\n")),
        (r#"{"pattern":"TODO","glob":"*.rs"}"#, format!("{b}[2 lines in 1 file]\n")),
        (r#"{"pattern":"TODO","path":"a"}"#, format!("{a}[1 line in 1 file]\n")),
        (r#"{"pattern":"TODO","path":"link.rs"}"#, format!("{b}[2 lines in 1 file]\n")),
        (r#"{"pattern":"^todo$"}"#, "a/x.txt:\n1: todo\n\n[1 line in 1 file]\n".to_owned()),
        (r#"{"pattern":"HERE","ignore_case":true}"#, format!("{a}[1 line in 1 file]\n")),
        (r#"{"pattern":"one()","literal":true}"#, "b.rs:\n1: fn one() {}\n\n[1 line in 1 file]\n".to_owned()),
        (r#"{"pattern":"the secret"}"#, "[no matches]\n".to_owned()),
        (
            r#"{"pattern":"one|four","context":1,"path":"b.rs"}"#,
            "b.rs:\n1: fn one() {}\n2- // TODO: two\n3- fn three() {}\n4: // TODO: four\n\n[2 lines in 1 file]\n"
                .to_owned(),
        ),
    ] {
        assert_eq!(call(&search, arguments).await.as_deref(), Ok(expected.as_str()), "{arguments}");
    }
    let all = call(&search, r#"{"pattern":"TODO","all":true,"glob":"*.log"}"#).await.unwrap();
    assert_eq!(all, "err.log:\n1: TODO\n\n[1 line in 1 file]\n");
    let error = call(&search, r#"{"pattern":"x","path":"out"}"#).await.unwrap_err();
    assert!(error.contains("outside the folders"), "{error}");
    let error = call(&search, r#"{"pattern":"x","path":"none"}"#).await.unwrap_err();
    assert_eq!(error, "there is no file or folder `none`");
}

#[tokio::test]
async fn the_limit_is_over_all_files() {
    let folder = Folder::new();
    for i in 0..30 {
        folder.put(&format!("f{i:02}"), "hit\n".repeat(10));
    }
    let search = Search::new(&folder.workspace()).unwrap();
    let shown = output(&search, r#"{"pattern":"hit","limit":25}"#).await.unwrap();
    assert_eq!(text(&shown).matches(": hit").count(), 25);
    assert!(text(&shown).ends_with("[25 lines in 3 files; there may be more: the limit is reached]\n"));
    assert_eq!(details(&shown), json!({"matches": 25, "files": 3, "complete": false, "unreadable": []}));
    // Just as many as there are.
    let shown = call(&search, r#"{"pattern":"hit","limit":300}"#).await.unwrap();
    assert!(shown.ends_with("[300 lines in 30 files]\n"));
    assert_eq!(call(&search, r#"{"pattern":"hit","limit":300}"#).await.unwrap(), shown, "the same on every run");
}

#[tokio::test]
async fn long_lines_and_long_answers_are_cut() {
    let folder = Folder::new();
    folder.put("f", format!("{}\n", "x".repeat(100_000)));
    let search = Search::new(&folder.workspace()).unwrap();
    let shown = call(&search, r#"{"pattern":"x"}"#).await.unwrap();
    assert_eq!(
        shown,
        format!(
            "f:\n1: {} …\n\n[1 line in 1 file]\n[… is where a long line is cut: read shows more of it]\n",
            "x".repeat(500)
        )
    );
    folder.put("f", format!("{}\n", "x".repeat(400)).repeat(1_000));
    let shown = call(&search, r#"{"pattern":"x","limit":1000}"#).await.unwrap();
    assert!(shown.len() < 51_000 && shown.ends_with("this is as much as can be shown]\n"), "{}", shown.len());
}

#[tokio::test]
async fn what_cannot_be_searched_is_said() {
    let folder = Folder::new();
    folder.put("closed", "hit\n").put("open", "nothing\n").put("sub/x", "hit\n");
    for name in ["closed", "sub"] {
        fs::set_permissions(folder.path(name), fs::Permissions::from_mode(0o0)).unwrap();
    }
    let closed = fs::File::open(folder.path("closed")).is_err();
    let search = Search::new(&folder.workspace()).unwrap();
    let shown = output(&search, r#"{"pattern":"hit"}"#).await.unwrap();
    fs::set_permissions(folder.path("sub"), fs::Permissions::from_mode(0o755)).unwrap();
    // Who may read everything (as root in a container) finds both.
    if closed {
        assert!(!text(&shown).contains("[no matches]"), "{shown:?}");
        assert!(text(&shown).contains("[0 lines in 0 files]\n[not searched: closed: permission denied]\n"));
        assert_eq!(details(&shown)["unreadable"].as_array().unwrap().len(), 2);
    } else {
        assert!(text(&shown).ends_with("[2 lines in 2 files]\n"), "{shown:?}");
    }
    assert_eq!(details(&shown)["complete"], !closed);
}

#[tokio::test]
async fn a_bad_pattern_is_explained() {
    let folder = Folder::new();
    let search = Search::new(&folder.put("f", "a(b\n").workspace()).unwrap();
    let error = call(&search, r#"{"pattern":"a(b"}"#).await.unwrap_err();
    assert!(error.starts_with("invalid arguments: the pattern cannot be searched for; set literal"), "{error}");
    assert!(error.contains("unclosed group"), "{error}");
    let found = call(&search, r#"{"pattern":"a(b","literal":true}"#).await.unwrap();
    assert_eq!(found, "f:\n1: a(b\n\n[1 line in 1 file]\n");
}

#[tokio::test]
async fn small_and_large_files_and_files_without_a_size_are_searched_alike() {
    let folder = Folder::new();
    let wide: Vec<u8> = "\u{FEFF}über hit\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    // Around the size up to which a file is read at once.
    for extra in [0, 1, 2] {
        let mut text = "x\n".repeat(32 * 1024 - 2);
        text.push_str(&"y".repeat(extra));
        folder.put(&format!("f{extra}"), text + "hit");
    }
    folder.put("zero", "hit\n\0\n").put("wide", wide);
    let search = Search::new(&folder.workspace().also_read("/proc/self").unwrap()).unwrap();
    let shown = call(&search, r#"{"pattern":"hit"}"#).await.unwrap();
    let expected =
        "f0:\n32767: hit\n\nf1:\n32767: yhit\n\nf2:\n32767: yyhit\n\nwide:\n1: über hit\n\n[4 lines in 4 files]\n";
    assert_eq!(shown, expected);
    let path = format!("/proc/{}/status", std::process::id());
    let shown = call(&search, &json!({"pattern": "^Pid:", "path": path}).to_string()).await.unwrap();
    assert!(shown.ends_with(&format!("\t{}\n\n[1 line in 1 file]\n", std::process::id())), "{shown}");
}
