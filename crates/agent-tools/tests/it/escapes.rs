//! Attempts to get out of the workspace, by every tool, and while somebody changes what stands there.

use std::{
    fs,
    os::{fd::AsRawFd as _, unix::fs::FileTypeExt as _},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use agent_core::Tool;
use agent_tools::{Bash, Edit, List, Read, Search, Workspace, Write};
use serde_json::{Value, json};

use crate::folder::{Folder, call};

/// A call of each tool that takes a path, for what stands at `path`.
fn calls(workspace: &Workspace, path: &str) -> Vec<(Box<dyn Tool>, Value)> {
    let edits = json!([{"old_text": "the", "new_text": "a"}]);
    vec![
        (Box::new(Read::new(workspace).unwrap()), json!({"path": path})),
        (Box::new(Read::new(workspace).unwrap()), json!({"path": path, "from_byte": 0})),
        (Box::new(List::new(workspace).unwrap()), json!({"path": path, "all": true})),
        (Box::new(Search::new(workspace).unwrap()), json!({"path": path, "pattern": "secret", "all": true})),
        (Box::new(Write::new(workspace).unwrap()), json!({"path": path, "content": "mine"})),
        (Box::new(Edit::new(workspace).unwrap()), json!({"path": path, "edits": edits})),
        (Box::new(Bash::new(workspace).unwrap()), json!({"command": "cat *", "folder": path})),
    ]
}

/// What is outside, to be compared with what it was.
fn outside(folder: &Folder) -> Vec<(PathBuf, String)> {
    let all = fs::read_dir(folder.outside()).unwrap().map(|entry| entry.unwrap().path());
    let mut all: Vec<_> = all.map(|path| (path.clone(), fs::read_to_string(path).unwrap_or_default())).collect();
    all.sort();
    all
}

#[tokio::test]
async fn no_tool_gets_out_by_any_path() {
    let folder = Folder::new();
    let out = folder.outside().display().to_string();
    folder.put("a/f", "inside\n").put("x/ ", "").put("x/...", "");
    folder
        .link("l", &out)
        .link("f", folder.outside().join("secret.txt"))
        .link("new", folder.outside().join("new.txt"))
        .link("up", "..")
        .link("a/up", "../..")
        .link("root", "/")
        .link("proc", "/proc/self/root")
        .link("cwd", "/proc/self/cwd");
    let before = outside(&folder);
    // Handles of this process, by which the kernel would lead anywhere.
    let open = [fs::File::open(&out).unwrap(), fs::File::open(folder.outside().join("secret.txt")).unwrap()];
    let [dir, file] = open.each_ref().map(|file| format!("/proc/self/fd/{}", file.as_raw_fd()));
    let pid = std::process::id();
    let mut paths: Vec<String> = [
        "..",
        "../",
        "../.",
        "./..",
        ".//..",
        "../out",
        "../out/",
        "../out/.",
        "../OUT",
        "..//out//secret.txt",
        "../out/secret.txt",
        "../in/../out/secret.txt",
        "a/../../out/secret.txt",
        "none/../../out/secret.txt",
        "none/none/../../../out/new.txt",
        "../out/none/new.txt",
        "l",
        "l/",
        "l/.",
        "l/secret.txt",
        "l/new.txt",
        "f",
        "new",
        "up/out/secret.txt",
        "up/out/new.txt",
        "a/up/out/secret.txt",
        "l/../out/secret.txt",
        "root/etc/passwd",
        "/",
        "//",
        "/etc/passwd",
        "/etc/none",
        "/root/.ssh/id_rsa",
        "/dev/zero",
        "/dev/fd/0",
        "/dev/stdin",
        "proc",
        "proc/etc/passwd",
        "cwd",
        "cwd/../Cargo.toml",
        "/proc/self/environ",
        "/proc/self/cwd",
        "/proc/self/root/etc/passwd",
        "/proc/self/mem",
        "/proc/1/root",
    ]
    .map(str::to_owned)
    .to_vec();
    paths.extend([
        out.clone(),
        format!("{out}/secret.txt"),
        format!("{out}/new.txt"),
        format!("/{out}/../out/secret.txt"),
    ]);
    paths.extend([format!("{dir}/secret.txt"), format!("{dir}/new.txt"), dir, file, format!("/proc/{pid}/cwd")]);
    let workspace = folder.workspace();
    for path in &paths {
        for (tool, arguments) in calls(&workspace, path) {
            let error = call(&*tool, &arguments.to_string()).await.expect_err(path);
            assert!(error.ends_with("is outside the folders that may be used"), "{path}: {error}");
        }
    }
    // What other systems or programs would take for a way out is a name here, and one that is not there.
    for path in [
        "..\\out\\secret.txt",
        "%2e%2e/out",
        "file:///etc/passwd",
        "~/x",
        "~",
        "$HOME",
        ". .",
        "...",
        ".../out",
        ".. /out",
        "\u{FF0E}\u{FF0E}/out/secret.txt",
        "a/f/../../out",
        "a/f/",
        "\0",
        "..\0/out",
        "a/f\0",
        &"d/".repeat(5_000),
        &"n".repeat(5_000),
    ] {
        for (tool, arguments) in calls(&workspace, path) {
            let shown = call(&*tool, &arguments.to_string()).await.unwrap_or_else(|e| e);
            assert!(!shown.contains("the secret") && !shown.contains("root:"), "{path}: {shown}");
        }
    }
    assert_eq!(outside(&folder), before);
}

/// Does something again and again on another thread until it is dropped.
struct Meanwhile {
    stop: Arc<AtomicBool>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Meanwhile {
    fn new(mut act: impl FnMut() + Send + 'static) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                act();
            }
        });
        Self { stop, thread: Some(thread) }
    }
}

impl Drop for Meanwhile {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap();
    }
}

fn rename(at: &Path, pairs: &[(&str, &str)]) {
    for (from, to) in pairs {
        // A tool may have put something of its own there.
        let _ = fs::rename(at.join(from), at.join(to));
    }
}

#[tokio::test]
async fn a_folder_on_the_way_that_is_swapped_for_a_link() {
    let folder = Folder::new();
    folder.put("real/secret.txt", "the inside\n").link("link", folder.outside());
    let before = outside(&folder);
    let at = folder.path("");
    let swap = [("real", "d"), ("d", "real"), ("link", "d"), ("d", "link")];
    let meanwhile = Meanwhile::new(move || rename(&at, &swap));
    let workspace = folder.workspace();
    let mut inside = 0;
    for round in 0..150 {
        for path in ["d/secret.txt", "d/new.txt", "d/deep/new.txt", "d"] {
            for (tool, arguments) in calls(&workspace, path).into_iter().take(6) {
                let shown = call(&*tool, &arguments.to_string()).await.unwrap_or_else(|e| e);
                assert!(!shown.contains("the secret"), "round {round}: {path}: {shown}");
                inside += usize::from(shown.contains("inside") || shown.contains("mine"));
            }
        }
    }
    drop(meanwhile);
    assert!(inside > 10, "the inside was met {inside} times");
    assert_eq!(outside(&folder), before);
}

#[tokio::test]
async fn a_file_that_is_swapped_for_a_link_or_a_pipe() {
    let folder = Folder::new();
    folder.put("file", "the inside\n").link("link", folder.outside().join("secret.txt"));
    assert!(std::process::Command::new("mkfifo").arg(folder.path("pipe")).status().unwrap().success());
    assert!(fs::metadata(folder.path("pipe")).unwrap().file_type().is_fifo());
    let before = outside(&folder);
    let at = folder.path("");
    let swap = [("file", "f"), ("f", "file"), ("link", "f"), ("f", "link"), ("pipe", "f"), ("f", "pipe")];
    let meanwhile = Meanwhile::new(move || rename(&at, &swap));
    let workspace = folder.workspace();
    for round in 0..300 {
        for (tool, arguments) in calls(&workspace, "f").into_iter().take(6) {
            let shown = call(&*tool, &arguments.to_string()).await.unwrap_or_else(|e| e);
            assert!(!shown.contains("the secret"), "round {round}: {shown}");
        }
    }
    drop(meanwhile);
    assert_eq!(outside(&folder), before);
}

#[tokio::test]
async fn parents_that_are_swapped_while_they_are_made() {
    let folder = Folder::new();
    folder.link("link", folder.outside());
    let before = outside(&folder);
    let at = folder.path("");
    // Between making a folder and going into it, it becomes a link to outside.
    let swap = [("a", "kept"), ("link", "a"), ("a", "link"), ("kept", "a")];
    let meanwhile = Meanwhile::new(move || rename(&at, &swap));
    let write = Write::new(&folder.workspace()).unwrap();
    let mut written = 0;
    for round in 0..500 {
        let done = call(&write, &json!({"path": format!("a/b{round}/c/f"), "content": "mine"}).to_string()).await;
        written += usize::from(done.is_ok());
    }
    drop(meanwhile);
    assert!(written > 0);
    assert_eq!(outside(&folder), before);
}

#[tokio::test]
async fn no_temporary_file_is_left_whatever_happened() {
    let folder = Folder::new();
    folder.put("f", "0\n");
    let at = folder.path("f");
    let mut number = 0;
    // Somebody else writes the same file all the time, so most calls have to give up at the last moment.
    let meanwhile = Meanwhile::new(move || {
        number += 1;
        fs::write(&at, format!("{number}\n")).unwrap();
    });
    let workspace = folder.workspace();
    let write = Write::new(&workspace).unwrap();
    let mut refused = 0;
    for _ in 0..200 {
        let done = call(&write, r#"{"path":"f","content":"mine\n"}"#).await;
        refused += usize::from(done.is_err_and(|e| e.contains("changed")));
    }
    drop(meanwhile);
    assert!(refused > 0, "nobody met");
    let names: Vec<_> = fs::read_dir(folder.path("")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["f"]);
}
