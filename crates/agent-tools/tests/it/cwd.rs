//! The working folder that is kept between calls.

use agent_core::Tool;
use agent_tools::Bash;

use crate::{
    folder::{Folder, call},
    shell::command,
};

/// Runs command lines one after the other and compares what each shows.
async fn check(folder: &Folder, lines: &[(&str, &str)]) {
    let bash = Bash::new(&folder.workspace()).unwrap().keep_folder();
    let top = std::fs::canonicalize(folder.path("")).unwrap().display().to_string();
    for (line, expected) in lines {
        let shown = call(&bash, &command(line)).await.unwrap();
        assert_eq!(shown.replace(&top, "TOP"), *expected, "{line}");
    }
}

#[tokio::test]
async fn a_command_begins_where_the_last_one_ended() {
    let folder = Folder::new();
    folder.put("a/b/f", "").put("it's/f", "").link("link", "a");
    let now = |at: &str| format!("[exit code 0]\n[the working folder is now `{at}`]");
    check(
        &folder,
        &[
            ("pwd", "TOP\n[exit code 0]"),
            ("cd a", &now("a")),
            ("pwd; cd b", &format!("TOP/a\n{}", now("a/b"))),
            ("pwd", "TOP/a/b\n[exit code 0]"),
            ("cd ..; exit 3", "[exit code 3]\n[the working folder is now `a`]"),
            ("(cd b)", "[exit code 0]"),
            ("cd b & wait", "[exit code 0]"),
            ("cd none 2>/dev/null", "[exit code 1]"),
            ("# only a remark", "[exit code 0]"),
            ("exec pwd", "TOP/a\n[exit code 0]"),
            ("cd ../\"it's\"\npwd", &format!("TOP/it's\n{}", now("it's"))),
            ("cd ../link; kill -9 $$", "[ended by signal 9]"),
            ("pwd", "TOP/it's\n[exit code 0]"),
            ("cd ../link", &now("a")),
            ("cd ..", &now(".")),
        ],
    )
    .await;
}

#[tokio::test]
async fn a_folder_outside_or_gone_is_not_kept() {
    let folder = Folder::new();
    folder.put("a/f", "");
    let outside = "[the shell ended outside the folders that may be used; the next call begins where this one did]";
    check(
        &folder,
        &[
            ("cd /", &format!("[exit code 0]\n{outside}")),
            ("pwd", "TOP\n[exit code 0]"),
            ("cd a; cd ../../out", &format!("[exit code 0]\n{outside}")),
            ("pwd", "TOP\n[exit code 0]"),
        ],
    )
    .await;
    let bash = Bash::new(&folder.workspace()).unwrap().keep_folder();
    call(&bash, &command("cd a")).await.unwrap();
    std::fs::remove_dir_all(folder.path("a")).unwrap();
    let shown = call(&bash, &command("pwd")).await.unwrap();
    let top = std::fs::canonicalize(folder.path("")).unwrap().display().to_string();
    let expected = "TOP\n[exit code 0]\n[the working folder `a` is gone; this command began in `.`]";
    assert_eq!(shown.replace(&top, "TOP"), expected);
}

#[tokio::test]
async fn it_is_kept_by_choice_only_and_the_model_knows() {
    let folder = Folder::new();
    folder.put("a/f", "");
    let bash = Bash::new(&folder.workspace()).unwrap();
    assert!(bash.spec().description().ends_with("The working folder is the same at the start of every call."));
    assert_eq!(call(&bash, &command("cd a")).await.unwrap(), "[exit code 0]");
    assert_eq!(call(&bash, &command("ls")).await.unwrap(), "a\n[exit code 0]");
    let bash = bash.keep_folder();
    assert!(bash.spec().description().ends_with("cd holds for the calls that come."));
    // A call that says where it runs begins there.
    assert_eq!(call(&bash, r#"{"command":"ls","folder":"a"}"#).await.unwrap().lines().next(), Some("f"));
}
