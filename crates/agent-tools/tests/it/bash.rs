//! `bash` with real shells: what is kept, what is passed on, and that nothing outlives its call unseen.

use std::time::Duration;

use agent_core::{Access, RawJson, Tool};
use agent_tools::Bash;
use serde_json::json;

use crate::{
    folder::{Folder, call, context, details, output, settled, text},
    shell::{command, ends, until_told, watched},
};

async fn check(line: &str, expected: &str) {
    let folder = Folder::new();
    let bash = Bash::new(&folder.workspace()).unwrap();
    assert_eq!(call(&bash, &command(line)).await.as_deref(), Ok(expected), "{line}");
}

#[tokio::test]
async fn every_exit_is_a_result() {
    check("echo out; echo err >&2; echo out", "out\nerr\nout\n[exit code 0]").await;
    check("printf 'no end'; exit 3", "no end\n[exit code 3]").await;
    check("true", "[exit code 0]").await;
    check("kill -9 $$", "[ended by signal 9]").await;
    let folder = Folder::new();
    let bash = Bash::new(&folder.workspace()).unwrap();
    let done = output(&bash, &command("printf abc; exit 7")).await.unwrap();
    assert!(!done.is_error);
    let mut found = details(&done);
    found.as_object_mut().unwrap().remove("durationMs").unwrap();
    let expected = json!({"exitCode": 7, "outputBytes": 3, "timedOut": false, "cancelled": false,
        "outputStillOpen": false});
    assert_eq!(found, expected);
}

#[tokio::test]
async fn input_is_empty_and_the_folder_is_the_workspace() {
    let folder = Folder::new();
    folder.put("sub/f", "x");
    let bash = Bash::new(&folder.workspace()).unwrap();
    assert_eq!(call(&bash, &command("cat; read x || echo none; ls")).await.unwrap(), "none\nsub\n[exit code 0]");
    assert_eq!(call(&bash, r#"{"command":"ls","folder":"sub"}"#).await.unwrap(), "f\n[exit code 0]");
    for (at, what) in [
        ("../out", "outside the folders"),
        ("/", "outside the folders"),
        ("none", "there is no file or folder `none`"),
        ("sub/f", "`sub/f` is a file, and has to be a folder"),
    ] {
        let error = call(&bash, &json!({"command": "pwd", "folder": at}).to_string()).await.unwrap_err();
        assert!(error.contains(what), "{error}");
    }
}

#[tokio::test]
async fn the_end_of_a_long_output_is_kept() {
    let folder = Folder::new();
    let bash = Bash::new(&folder.workspace()).unwrap();
    let line = "seq 1000000 1050000; echo 'error: the last line' >&2; exit 1";
    let shown = call(&bash, &command(line)).await.unwrap();
    assert!(shown.len() < 50_000, "{} bytes", shown.len());
    assert!(shown.starts_with("1000000\n1000001\n"));
    assert!(shown.ends_with("\n1050000\nerror: the last line\n[exit code 1]"));
    let note = shown.lines().find(|line| line.starts_with('[')).unwrap();
    assert!(note.contains(" of 400029 bytes left out; the whole is output `"), "{note}");
    assert!(shown.lines().all(|line| line.len() == 7 || line.starts_with(['[', 'e'])), "only whole lines are shown");
    // One line without an end.
    let shown = call(&bash, &command("head -c 400000 /dev/zero | tr '\\0' x; printf END")).await.unwrap();
    assert!(shown.starts_with("xxx") && shown.ends_with("xEND\n[exit code 0]"));
}

#[tokio::test]
async fn progress_comes_while_it_runs() {
    let folder = Folder::new();
    let bash = Bash::new(&folder.workspace()).unwrap();
    let (context, mut told) = watched();
    // It ends only when the test has seen its first line.
    let line = "echo begun; until [ -e go ]; do :; done; echo grüße";
    let run = bash.call(RawJson::parse(command(line)).unwrap(), context);
    let see = async {
        assert_eq!(told.recv().await.as_deref(), Some("begun\n"));
        folder.put("go", "");
    };
    let (outcome, ()) = tokio::join!(run, see);
    assert_eq!(text(&settled(outcome).unwrap()), "begun\ngrüße\n[exit code 0]");
    assert_eq!(told.recv().await.as_deref(), Some("grüße\n"));
}

#[tokio::test]
async fn a_timeout_ends_the_group_and_keeps_the_output() {
    let folder = Folder::new();
    let bash = Bash::new(&folder.workspace()).unwrap().timeout(Duration::from_secs(1));
    let (pid, ended) = until_told(&bash, "sleep 1000 & echo $!; wait", |_| ()).await;
    let expected = format!("{pid}\n[timed out after 1000 ms; it was ended, with all it started]");
    assert_eq!((text(&ended), ended.is_error), (expected, true));
    assert_eq!(details(&ended)["timedOut"], true);
    ends(pid).await;
    // A call can ask for less, not for more.
    let ended = call(&bash, r#"{"command":"sleep 1000","timeout_ms":50}"#).await.unwrap();
    assert!(ended.contains("timed out after 50 ms"), "{ended}");
    let ended = call(&bash, r#"{"command":"sleep 1000","timeout_ms":5000000}"#).await.unwrap();
    assert!(ended.contains("timed out after 1000 ms"), "{ended}");
}

#[tokio::test]
async fn cancel_ends_the_group_and_keeps_the_output() {
    let folder = Folder::new();
    let bash = Bash::new(&folder.workspace()).unwrap();
    let (pid, ended) = until_told(&bash, "(sleep 1000; true) & echo $!; wait", |cancel| cancel.cancel()).await;
    let expected = format!("{pid}\n[cancelled; it was ended, with all it started]");
    assert_eq!((text(&ended), ended.is_error), (expected, true));
    ends(pid).await;
}

#[tokio::test]
async fn who_ignores_the_signal_is_killed() {
    let folder = Folder::new();
    let bash = Bash::new(&folder.workspace()).unwrap();
    let line = "trap '' TERM; sh -c 'echo $$; while :; do sleep 1000; done' & wait";
    let (pid, _) = until_told(&bash, line, |cancel| cancel.cancel()).await;
    ends(pid).await;
}

#[tokio::test]
async fn dropping_ends_the_group() {
    let folder = Folder::new();
    let bash = Bash::new(&folder.workspace()).unwrap();
    let (context, mut told) = watched();
    let line = "trap '' TERM; sleep 1000 & echo $!; wait; sleep 1000";
    let run = bash.call(RawJson::parse(command(line)).unwrap(), context);
    let pid = tokio::select! {
        outcome = run => panic!("{outcome:?}"),
        told = told.recv() => told.unwrap().trim().parse().unwrap(),
    };
    ends(pid).await;
}

#[tokio::test]
async fn what_was_cancelled_before_it_began_is_not_started() {
    let folder = Folder::new();
    let bash = Bash::new(&folder.workspace()).unwrap();
    let context = context();
    context.cancel.cancel();
    let ended = settled(bash.call(RawJson::parse(command("touch started")).unwrap(), context).await);
    assert_eq!(ended.unwrap_err().to_string(), "cancelled");
    assert!(!folder.path("started").exists());
}

#[tokio::test]
async fn the_environment_is_a_short_list() {
    let names = |shown: &str| {
        let names = shown.lines().filter_map(|line| Some(line.split_once('=')?.0.to_owned()));
        names.collect::<std::collections::BTreeSet<_>>()
    };
    let folder = Folder::new();
    let bash = Bash::new(&folder.workspace()).unwrap();
    let found = names(&call(&bash, &command("env")).await.unwrap());
    // The last four are the shell's own.
    let listed = ["PATH", "HOME", "LANG", "TERM", "USER", "SHELL", "TMPDIR", "PWD", "SHLVL", "OLDPWD", "_"];
    assert!(found.iter().all(|name| listed.contains(&name.as_str())), "{found:?}");
    assert!(found.contains("PATH"));
    // Cargo sets this one for every test; it stands for a key.
    assert!(std::env::var("CARGO_PKG_NAME").is_ok() && !found.contains("CARGO_PKG_NAME"));
    let bash = bash.allow_env("CARGO_PKG_NAME").env("MINE", "1");
    let shown = call(&bash, &command("env")).await.unwrap();
    assert!(shown.contains("CARGO_PKG_NAME=agent-tools\n") && shown.contains("MINE=1\n"), "{shown}");
}

#[tokio::test]
async fn effects() {
    let folder = Folder::new();
    let bash = Bash::new(&folder.workspace()).unwrap().approval(agent_core::Approval::Needed);
    let effects = bash.effects(&RawJson::parse(command("true")).unwrap());
    assert_eq!(effects.access, Access::Exclusive("shell".to_owned()));
    assert_eq!((effects.timeout_ms, effects.approval), (Some(130_000), agent_core::Approval::Needed));
    assert!(!effects.idempotent);
}
