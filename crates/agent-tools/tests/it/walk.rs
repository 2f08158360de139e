//! What `list` and `search` pass over, and that a folder that is swapped while they walk leads nowhere.

use std::{
    fs,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use agent_tools::{List, Search, Workspace};

use crate::folder::{Folder, call};

async fn check(workspace: &Workspace, arguments: &str, expected: &str) {
    let list = List::new(workspace).unwrap();
    assert_eq!(call(&list, arguments).await.as_deref(), Ok(expected), "{arguments}");
}

#[tokio::test]
async fn rules_of_all_folders_count_the_nearest_first() {
    let folder = Folder::new();
    folder.put(".gitignore", "*.log\n/top\nsub/only\n!.shown\nbad[\n").put(".ignore", "!kept.log\n*.tmp\n");
    folder.put("a.log", "").put("kept.log", "").put("top", "").put("only", "").put(".shown", "").put(".hidden", "");
    folder.put("sub/.gitignore", "!b.log\nx/\n").put("sub/b.log", "").put("sub/c.log", "").put("sub/only", "");
    folder.put("sub/top", "").put("sub/x/f", "").put("sub/deep/x", "").put("sub/deep/d.tmp", "");
    let workspace = folder.workspace();
    let sub = "b.log\ndeep/\ndeep/x\ntop\n";
    let below: String = sub.lines().map(|line| format!("sub/{line}\n")).collect();
    check(&workspace, "{}", &format!(".shown\nkept.log\nonly\nsub/\n{below}")).await;
    // The rules above the start count, too.
    check(&workspace, r#"{"path":"sub"}"#, sub).await;
    let inner = Workspace::new(folder.path("sub")).unwrap();
    // Those above the workspace do where a repository reaches so far, and a repository is an end.
    check(&inner, "{}", "b.log\nc.log\ndeep/\ndeep/d.tmp\ndeep/x\nonly\ntop\n").await;
    folder.put(".git/info/exclude", "deep\n");
    check(&inner, "{}", "b.log\ntop\n").await;
    folder.put("sub/.git/HEAD", "");
    check(&inner, "{}", "b.log\nc.log\ndeep/\ndeep/d.tmp\ndeep/x\nonly\ntop\n").await;
}

#[tokio::test]
async fn rules_behind_a_link_do_not_count() {
    let folder = Folder::new();
    folder.put("rules", "f\n").put("f", "").link(".gitignore", "rules");
    check(&folder.workspace(), "{}", "f\nrules\n").await;
}

#[tokio::test]
async fn deep_folders_end() {
    let folder = Folder::new();
    folder.put(&format!("{}f", "d/".repeat(300)), "hit\n");
    let shown = call(&Search::new(&folder.workspace()).unwrap(), r#"{"pattern":"hit"}"#).await.unwrap();
    assert!(shown.starts_with("[0 lines in 0 files]\n[not searched: d/d/"), "{shown}");
    assert!(shown.ends_with(": too deep]\n"), "{shown}");
}

/// A thread exchanges a folder and a link to outside as fast as it can; no tool may ever see what is out there.
#[tokio::test]
async fn a_folder_that_is_swapped_leads_nowhere() {
    let folder = Folder::new();
    folder.put("real/deep/inside.txt", "hit inside\n").link("link", folder.outside());
    fs::create_dir_all(folder.outside().join("deep")).unwrap();
    fs::write(folder.outside().join("deep/outside.txt"), "hit outside\n").unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let (at, stopped) = (folder.path(""), Arc::clone(&stop));
    let swapping = std::thread::spawn(move || {
        let mut swaps = 0_u64;
        while !stopped.load(Ordering::Relaxed) {
            for (from, to) in [("real", "d"), ("d", "real"), ("link", "d"), ("d", "link")] {
                fs::rename(at.join(from), at.join(to)).unwrap();
            }
            swaps += 1;
        }
        swaps
    });
    let workspace = folder.workspace();
    let (list, search) = (List::new(&workspace).unwrap(), Search::new(&workspace).unwrap());
    let mut inside = 0;
    for _ in 0..300 {
        for (tool, arguments) in [
            (&list as &dyn agent_core::Tool, r#"{"path":"d"}"#),
            (&list, r#"{"glob":"d/**"}"#),
            (&search, r#"{"pattern":"hit","path":"d"}"#),
            (&search, r#"{"pattern":"hit"}"#),
            (&search, r#"{"pattern":"hit","path":"d/deep"}"#),
        ] {
            let shown = call(tool, arguments).await.unwrap_or_else(|e| e);
            assert!(!shown.contains("outside.txt") && !shown.contains("secret"), "{arguments}: {shown}");
            inside += usize::from(shown.contains("inside.txt"));
        }
    }
    stop.store(true, Ordering::Relaxed);
    assert!(swapping.join().unwrap() > 100 && inside > 100, "both sides were met");
}
