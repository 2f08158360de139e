//! `write`: whole or not at all, and never over something else.

use std::{
    fs,
    os::unix::fs::{MetadataExt, PermissionsExt},
};

use agent_core::{Access, RawJson, Tool, ToolError};
use agent_tools::{Read, Write};

use crate::folder::{Folder, call, context, details, output, settled};

#[tokio::test]
async fn files_and_their_folders_are_made() {
    let folder = Folder::new();
    let write = Write::new(&folder.workspace()).unwrap();
    let made = output(&write, r#"{"path":"a/b/c.txt","content":"one\n"}"#).await.unwrap();
    assert_eq!(details(&made), serde_json::json!({"path": "a/b/c.txt", "bytes": 4, "created": true}));
    assert_eq!(folder.get("a/b/c.txt"), "one\n");
    let replaced = call(&write, r#"{"path":"a/b/c.txt","content":""}"#).await;
    assert_eq!(replaced.as_deref(), Ok("replaced `a/b/c.txt` (0 bytes)"));
    assert_eq!(folder.get("a/b/c.txt"), "");
    let names: Vec<_> = fs::read_dir(folder.path("a/b")).unwrap().collect();
    assert_eq!(names.len(), 1, "nothing else is left behind: {names:?}");
}

#[tokio::test]
async fn the_mode_is_kept_and_links_stay_links() {
    let folder = Folder::new();
    folder.put("script", "old").put("target", "old").link("link", "target");
    fs::set_permissions(folder.path("script"), fs::Permissions::from_mode(0o751)).unwrap();
    let write = Write::new(&folder.workspace()).unwrap();
    call(&write, r#"{"path":"script","content":"new"}"#).await.unwrap();
    assert_eq!(fs::metadata(folder.path("script")).unwrap().mode() & 0o7777, 0o751);
    call(&write, r#"{"path":"link","content":"new"}"#).await.unwrap();
    assert!(fs::symlink_metadata(folder.path("link")).unwrap().is_symlink());
    assert_eq!(folder.get("target"), "new");
}

#[tokio::test]
async fn a_reader_sees_the_old_or_the_new_whole() {
    let folder = Folder::new();
    folder.put("f", "a".repeat(100_000));
    let open = fs::File::open(folder.path("f")).unwrap();
    let write = Write::new(&folder.workspace()).unwrap();
    call(&write, r#"{"path":"f","content":"b"}"#).await.unwrap();
    assert_eq!(std::io::read_to_string(open).unwrap(), "a".repeat(100_000), "the old file is not written into");
}

#[tokio::test]
async fn other_places_are_refused() {
    let folder = Folder::new();
    let out = folder.outside();
    folder.put("file", "x").put("d/x", "x").link("to_secret", out.join("secret.txt")).link("new", out.join("new.txt"));
    folder.link("up", "..");
    let read_only = folder.path("d").display().to_string();
    let workspace = agent_tools::Workspace::new(folder.path("")).unwrap();
    let write = Write::new(&workspace).unwrap();
    let made = std::process::Command::new("mkfifo").arg(folder.path("pipe")).status().unwrap();
    assert!(made.success());
    for (path, what) in [
        ("d", "is a folder, and has to be a file"),
        ("pipe", "is a named pipe, and has to be a regular file"),
        ("file/x", "not a directory"),
        ("to_secret", "is outside the folders"),
        ("new", "is outside the folders"),
        ("up/out/new.txt", "is outside the folders"),
        ("missing/../../out/new.txt", "is outside the folders"),
        ("missing/x/../../../out/deep/new.txt", "is outside the folders"),
    ] {
        let error = call(&write, &format!(r#"{{"path":"{path}","content":"y"}}"#)).await.unwrap_err();
        assert!(error.contains(what), "{path}: {error}");
    }
    assert_eq!(fs::read_dir(&out).unwrap().count(), 1, "nothing came into being outside");
    assert_eq!(fs::read_to_string(out.join("secret.txt")).unwrap(), "the secret\n");
    let elsewhere = Folder::new();
    let workspace = elsewhere.workspace().also_read(&read_only).unwrap();
    let error = call(&Write::new(&workspace).unwrap(), &format!(r#"{{"path":"{read_only}/y","content":""}}"#)).await;
    assert!(error.unwrap_err().contains("may be read and not written"));
}

#[tokio::test]
async fn a_file_that_changed_since_it_was_read_is_refused() {
    let folder = Folder::new();
    folder.put("f", "one\n");
    let workspace = folder.workspace();
    let (read, write) = (Read::new(&workspace).unwrap(), Write::new(&workspace).unwrap());
    call(&read, r#"{"path":"f"}"#).await.unwrap();
    folder.put("f", "somebody else's\n");
    let error = call(&write, r#"{"path":"f","content":"mine"}"#).await.unwrap_err();
    assert_eq!(error, "`f` has changed since it was read; read it again first");
    assert_eq!(folder.get("f"), "somebody else's\n");
    call(&read, r#"{"path":"f"}"#).await.unwrap();
    call(&write, r#"{"path":"f","content":"mine"}"#).await.unwrap();
    call(&write, r#"{"path":"f","content":"mine again"}"#).await.unwrap();
    assert_eq!(folder.get("f"), "mine again");
}

#[tokio::test]
async fn what_was_cancelled_before_it_began_does_nothing() {
    let folder = Folder::new();
    let write = Write::new(&folder.workspace()).unwrap();
    let context = context();
    context.cancel.cancel();
    let arguments = RawJson::parse(r#"{"path":"f","content":"x"}"#).unwrap();
    let ended = settled(write.call(arguments, context).await);
    assert!(matches!(ended, Err(ToolError::Cancelled)), "{ended:?}");
    assert!(!folder.path("f").exists());
}

#[tokio::test]
async fn one_path_has_one_key_however_it_is_written() {
    let folder = Folder::new();
    folder.put("d/f", "x").link("link", "d").link("file", "d/f");
    let write = Write::new(&folder.workspace()).unwrap();
    let key = |path: &str| write.effects(&RawJson::parse(format!(r#"{{"path":"{path}"}}"#)).unwrap()).access;
    let whole = folder.path("d/f").display().to_string();
    for path in ["./d/f", "d/../d/f", "link/f", "file", &whole] {
        assert_eq!(key(path), key("d/f"), "{path}");
    }
    assert_ne!(key("d/g"), key("d/f"));
    assert!(matches!(key("d/new"), Access::Exclusive(_)));
}
