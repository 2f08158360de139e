//! No path leads out of the workspace.

use std::{fs, os::unix::fs::FileTypeExt};

use agent_tools::{Read, Workspace};

use crate::folder::{Folder, call};

const OUTSIDE: &str = "is outside the folders that may be used";

#[tokio::test]
async fn every_way_out_is_refused() {
    let folder = Folder::new();
    folder.put("a.txt", "inside\n").put("sub/b.txt", "below\n");
    let out = folder.outside();
    folder
        .link("to_secret", out.join("secret.txt"))
        .link("to_out", &out)
        .link("relative", "../out/secret.txt")
        .link("chain", "relative")
        .link("sub/up", "../..")
        .link("dangling", out.join("nothing"))
        .link("root", "/");
    let read = Read::new(&folder.workspace()).unwrap();
    let secret = out.join("secret.txt").display().to_string();
    let nowhere = out.join("nothing").display().to_string();
    for path in [
        "../out/secret.txt",
        "..",
        "../..",
        "missing/../../out/secret.txt",
        "missing/deeper/../../../out/secret.txt",
        "sub/../../out/secret.txt",
        "a.txt/../../out/secret.txt",
        "to_secret",
        "to_out/secret.txt",
        "to_out/../out/secret.txt",
        "relative",
        "chain",
        "sub/up/out/secret.txt",
        "dangling",
        "root/etc/passwd",
        "/etc/passwd",
        "/no/such/place",
        "/proc/self/root/etc/passwd",
        "/proc/self/cwd",
        &secret,
        &nowhere,
    ] {
        let error = call(&read, &format!(r#"{{"path":"{path}"}}"#)).await.unwrap_err();
        // The one that goes on behind a file is stopped there; none says more than this.
        let stopped = path.starts_with("a.txt/") && error.contains("not a directory");
        assert!(error.contains(OUTSIDE) || stopped, "{path}: {error}");
        assert!(!error.contains("secret\n"), "{path}: {error}");
    }
}

#[tokio::test]
async fn what_stays_inside_is_allowed_however_it_is_written() {
    let folder = Folder::new();
    folder.put("a.txt", "inside\n").put("sub/b.txt", "below\n");
    folder
        .link("link", "a.txt")
        .link("sub/back", "../a.txt")
        .link("absolute", folder.path("sub/b.txt"))
        .link("through", "sub/back");
    let read = Read::new(&folder.workspace()).unwrap();
    let whole = folder.path("a.txt").display().to_string();
    for (path, expected) in [
        ("a.txt", "     1\tinside\n"),
        ("./sub/../a.txt", "     1\tinside\n"),
        ("missing/../a.txt", "     1\tinside\n"),
        ("../in/a.txt", "     1\tinside\n"),
        ("link", "     1\tinside\n"),
        ("sub/back", "     1\tinside\n"),
        ("through", "     1\tinside\n"),
        ("absolute", "     1\tbelow\n"),
        (&whole, "     1\tinside\n"),
    ] {
        assert_eq!(call(&read, &format!(r#"{{"path":"{path}"}}"#)).await.as_deref(), Ok(expected), "{path}");
    }
}

#[tokio::test]
async fn loops_of_links_end() {
    let folder = Folder::new();
    folder.link("a", "b").link("b", "a").link("self", "self/x");
    let read = Read::new(&folder.workspace()).unwrap();
    for path in ["a", "b", "self"] {
        let error = call(&read, &format!(r#"{{"path":"{path}"}}"#)).await.unwrap_err();
        assert_eq!(error, format!("`{path}`: more than 40 links"));
    }
}

#[tokio::test]
async fn roots_behind_links_and_several_roots() {
    let folder = Folder::new();
    folder.put("real/a.txt", "one\n").put("more/b.txt", "two\n").link("alias", "real");
    let workspace = Workspace::new(folder.path("alias")).unwrap().also(folder.path("more")).unwrap();
    let read = Read::new(&workspace).unwrap();
    let other = folder.path("more/b.txt").display().to_string();
    for path in ["a.txt", &folder.path("alias/a.txt").display().to_string(), "../more/b.txt", &other] {
        call(&read, &format!(r#"{{"path":"{path}"}}"#)).await.unwrap_or_else(|e| panic!("{path}: {e}"));
    }
    // A name that only begins like a root is not in it.
    folder.put("more2/c.txt", "three\n");
    let error = call(&read, r#"{"path":"../more2/c.txt"}"#).await.unwrap_err();
    assert!(error.contains(OUTSIDE), "{error}");
    assert!(Workspace::new(folder.path("real/a.txt")).is_err(), "a file is no folder");
}

#[tokio::test]
async fn what_is_no_regular_file_is_refused_without_waiting() {
    let folder = Folder::new();
    folder.put("a.txt", "x");
    let made = std::process::Command::new("mkfifo").arg(folder.path("pipe")).status().unwrap();
    assert!(made.success() && fs::metadata(folder.path("pipe")).unwrap().file_type().is_fifo());
    let _socket = std::os::unix::net::UnixListener::bind(folder.path("s")).unwrap();
    let workspace = folder.workspace().also_read("/dev").unwrap();
    let read = Read::new(&workspace).unwrap();
    for (path, what) in [
        ("pipe", "is a named pipe, and has to be a regular file"),
        ("s", "is a socket, and has to be a regular file"),
        ("/dev/zero", "is a device, and has to be a regular file"),
        (".", "is a folder, and has to be a file"),
        ("none", "there is no file or folder `none`"),
    ] {
        let error = call(&read, &format!(r#"{{"path":"{path}"}}"#)).await.unwrap_err();
        assert!(error.contains(what), "{path}: {error}");
    }
}
