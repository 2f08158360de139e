//! What a command leaves running: reported, read, and ended.

use std::fs;

use agent_tools::{Bash, Output};
use serde_json::json;

use crate::{
    folder::{Folder, call, details, output, text},
    shell::{command, ends, runs},
};

#[tokio::test]
async fn the_shell_is_not_outwaited_by_a_background_job() {
    let folder = Folder::new();
    let bash = Bash::new(&folder.workspace()).unwrap();
    for (line, open) in [("sleep 1000 & echo $!", true), ("sleep 1000 >/dev/null 2>&1 & echo $!", false)] {
        let done = output(&bash, &command(line)).await.unwrap();
        let shown = text(&done);
        let pid: u32 = shown.lines().next().unwrap().parse().unwrap();
        assert!(runs(pid) && !done.is_error);
        assert!(shown.contains("\n[exit code 0]\n[still running in the background: "), "{shown}");
        // By its name, or by that of the shell that is just about to become it.
        assert!(shown.contains(&format!("{pid} (")), "{shown}");
        assert_eq!(details(&done)["background"], json!([pid]));
        assert_eq!((details(&done)["outputStillOpen"] == true, shown.contains("still holds the output")), (open, open));
        // The model can end it as it is told to.
        let end = shown.split('`').nth(1).unwrap();
        assert_eq!(call(&bash, &command(end)).await.as_deref(), Ok("[exit code 0]"));
        ends(pid).await;
    }
}

#[tokio::test]
async fn what_a_job_writes_later_is_kept_and_it_lives_on() {
    let folder = Folder::new();
    let workspace = folder.workspace();
    let (bash, pages) = (Bash::new(&workspace).unwrap(), Output::new(&workspace).unwrap());
    let line = "echo first; (until [ -e go ]; do :; done; echo second; echo third; exec sleep 1000) & echo $!";
    let done = output(&bash, &command(line)).await.unwrap();
    let pid: u32 = text(&done).lines().nth(1).unwrap().parse().unwrap();
    let handle = details(&done)["output"].as_str().unwrap().to_owned();
    assert!(text(&done).ends_with(&format!("it goes on in output `{handle}`]")), "{done:?}");
    let page = json!({"handle": handle}).to_string();
    let before = format!("first\n{pid}\n");
    assert!(call(&pages, &page).await.unwrap().starts_with(&format!("{before}[bytes 0 to ")));
    folder.put("go", "");
    let whole = format!("{before}second\nthird\n");
    let expected = format!("{whole}[bytes 0 to {} of {}]", whole.len() - 1, whole.len());
    let mut shown = String::new();
    for _ in 0..1_000_000 {
        shown = call(&pages, &page).await.unwrap();
        if shown == expected {
            break;
        }
        tokio::task::yield_now().await;
    }
    assert_eq!(shown, expected);
    assert!(runs(pid), "writing to nobody would have ended it");
    drop(bash);
    ends(pid).await;
}

#[tokio::test]
async fn background_jobs_end_with_the_tool() {
    let folder = Folder::new();
    let bash = Bash::new(&folder.workspace()).unwrap();
    let done = call(&bash, &command("sleep 1000 >/dev/null 2>&1 & echo $!")).await.unwrap();
    let pid = done.lines().next().unwrap().parse().unwrap();
    assert!(runs(pid));
    drop(bash);
    ends(pid).await;
}

#[tokio::test]
async fn background_jobs_end_with_the_tool_whatever_they_have_become() {
    let folder = Folder::new();
    let bash = Bash::new(&folder.workspace()).unwrap();
    let line = "(until [ -e go ]; do :; done; exec sleep 1000) >/dev/null 2>&1 & echo $!";
    let pid: u32 = call(&bash, &command(line)).await.unwrap().lines().next().unwrap().parse().unwrap();
    folder.put("go", "");
    while fs::read_to_string(format!("/proc/{pid}/comm")).unwrap() != "sleep\n" {
        tokio::task::yield_now().await;
    }
    drop(bash);
    ends(pid).await;
}
