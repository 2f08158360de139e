//! `list`: what is shown of a folder, and what is said of the rest.

use std::{fs, os::unix::fs::PermissionsExt};

use agent_core::{RawJson, Tool};
use agent_tools::List;
use serde_json::json;

use crate::folder::{Folder, call, details, output};

fn tree() -> Folder {
    let folder = Folder::new();
    folder.put("a.rs", "").put("b/c.rs", "").put("b/d/e/f/deep.rs", "").put("b/x.txt", "").put(".hidden", "");
    folder.put(".gitignore", "build/\n*.log\n").put("build/out.rs", "").put("b/err.log", "").put(".git/config", "");
    folder.link("link", "b").link("b/out", folder.outside());
    folder
}

#[tokio::test]
async fn what_is_listed() {
    let folder = tree();
    let list = List::new(&folder.workspace()).unwrap();
    for (arguments, expected) in [
        ("{}", "a.rs\nb/\nb/c.rs\nb/d/\nb/d/e/\nb/out (link)\nb/x.txt\nlink (link)\n"),
        (r#"{"depth":1}"#, "a.rs\nb/\nlink (link)\n"),
        (r#"{"path":"b","depth":1}"#, "c.rs\nd/\nout (link)\nx.txt\n"),
        (r#"{"path":"link","depth":1}"#, "c.rs\nd/\nout (link)\nx.txt\n"),
        (r#"{"glob":"*.rs"}"#, "a.rs\nb/c.rs\nb/d/e/f/deep.rs\n"),
        (r#"{"glob":"b/*.rs"}"#, "b/c.rs\n"),
        (r#"{"glob":"*.log"}"#, "[nothing]\n"),
        (r#"{"glob":"*.log","all":true}"#, "b/err.log\n"),
        (r#"{"depth":1,"all":true}"#, ".gitignore\n.hidden\na.rs\nb/\nbuild/\nlink (link)\n"),
        (r#"{"limit":2}"#, "a.rs\nb/\n[2 shown, there is more: the limit is reached; give a deeper path or a glob]\n"),
        (r#"{"limit":8}"#, "a.rs\nb/\nb/c.rs\nb/d/\nb/d/e/\nb/out (link)\nb/x.txt\nlink (link)\n"),
    ] {
        assert_eq!(call(&list, arguments).await.as_deref(), Ok(expected), "{arguments}");
    }
    let shown = output(&list, r#"{"path":"b/d","limit":1}"#).await.unwrap();
    assert_eq!(details(&shown), json!({"path": "b/d", "entries": 1, "complete": false, "unreadable": []}));
    assert!(list.effects(&RawJson::parse("{}").unwrap()).idempotent);
}

#[tokio::test]
async fn what_cannot_be_listed() {
    let folder = tree();
    let list = List::new(&folder.workspace()).unwrap();
    for (arguments, what) in [
        (r#"{"path":".."}"#, "outside the folders"),
        (r#"{"path":"b/out"}"#, "outside the folders"),
        (r#"{"path":"none"}"#, "there is no file or folder `none`"),
        (r#"{"path":"a.rs"}"#, "`a.rs` is a file; list shows folders, read shows files"),
        (r#"{"glob":"[a"}"#, "invalid arguments: the glob `[a` cannot be read"),
        (r#"{"limit":0}"#, "invalid arguments: /limit"),
    ] {
        let error = call(&list, arguments).await.unwrap_err();
        assert!(error.contains(what), "{arguments}: {error}");
    }
    // Who may read everything sees everything.
    fs::set_permissions(folder.path("b/d"), fs::Permissions::from_mode(0o0)).unwrap();
    let closed = fs::read_dir(folder.path("b/d")).is_err();
    let shown = call(&list, r#"{"path":"b"}"#).await.unwrap();
    fs::set_permissions(folder.path("b/d"), fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(shown.contains("[not looked into: d"), closed, "{shown}");
}
