//! The sandbox of `bash`: what holds is said, and what is said holds.

use agent_tools::{Bash, Sandbox, SandboxMode, SandboxStatus, Workspace};

use crate::{
    folder::{Folder, call},
    shell::command,
};

#[test]
fn without_being_asked_for_there_is_none() {
    let folder = Folder::new();
    let bash = Bash::new(&folder.workspace()).unwrap();
    assert_eq!(bash.sandbox_status(), &SandboxStatus::Off);
    assert_eq!(Sandbox::default().probe(&folder.workspace()), SandboxStatus::Off);
    assert_eq!(SandboxStatus::Off.to_string(), "commands run without a sandbox: none was asked for");
}

#[tokio::test]
async fn required_is_whole_or_refused_and_best_effort_says_what_there_is() {
    let folder = Folder::new();
    let workspace = folder.workspace();
    let status = Sandbox::new(SandboxMode::Required).probe(&workspace);
    println!("{status}");
    let best = Bash::new(&workspace).unwrap().sandbox(&Sandbox::new(SandboxMode::BestEffort)).unwrap();
    assert_eq!(best.sandbox_status(), &status);
    assert_eq!(call(&best, &command("echo runs")).await.as_deref(), Ok("runs\n[exit code 0]"));
    let required = Bash::new(&workspace).unwrap().sandbox(&Sandbox::new(SandboxMode::Required));
    match status {
        SandboxStatus::Active { .. } => assert_eq!(required.unwrap().sandbox_status(), &status),
        _ => assert_eq!(required.unwrap_err().status, status),
    }
    // As data, for a program that prints it its own way.
    let told = serde_json::to_value(best.sandbox_status()).unwrap();
    assert!(["active", "partial", "notAvailable"].contains(&told["status"].as_str().unwrap()), "{told}");
    assert_eq!(
        cfg!(all(feature = "sandbox", target_os = "linux")),
        told["status"] != "notAvailable" || told["reason"].as_str().unwrap().contains("kernel")
    );
}

/// A tool in a sandbox that holds, or `None` where this system has none, which is said.
fn confined(workspace: &Workspace, sandbox: &Sandbox) -> Option<Bash> {
    let bash = Bash::new(workspace).unwrap().sandbox(sandbox).unwrap();
    match bash.sandbox_status() {
        SandboxStatus::Active { .. } => Some(bash),
        status => {
            println!("skipped: {status}");
            None
        }
    }
}

#[tokio::test]
async fn only_the_folders_of_the_workspace_are_written() {
    let folder = Folder::new();
    folder.put("ro/f", "old\n").put("d/f", "old\n").link("out", folder.outside());
    let top = Workspace::new(folder.path("d")).unwrap().also_read(folder.path("ro")).unwrap();
    let Some(bash) = confined(&top, &Sandbox::new(SandboxMode::BestEffort)) else { return };
    let out = folder.outside().display().to_string();
    for line in [
        format!("echo new > {out}/secret.txt"),
        format!(": >> {out}/secret.txt"),
        format!("rm {out}/secret.txt"),
        format!("mv {out}/secret.txt f"),
        format!("ln {out}/secret.txt hard"),
        format!("mkdir {out}/new"),
        format!("truncate -s 0 {out}/secret.txt"),
        "echo new > ../ro/f".to_owned(),
        "echo new > ../out/secret.txt".to_owned(),
        format!("ln -s {out} l && echo new > l/secret.txt"),
        // What a command starts is inside, too, whatever it does to be alone.
        format!("sh -c 'echo new > {out}/secret.txt'"),
        format!("setsid -w sh -c 'echo new > {out}/secret.txt'"),
        format!("(echo new > {out}/secret.txt) & wait $!"),
    ] {
        let shown = call(&bash, &command(&line)).await.unwrap();
        assert!(!shown.contains("[exit code 0]"), "{line}: {shown}");
    }
    assert_eq!(std::fs::read_to_string(folder.outside().join("secret.txt")).unwrap(), "the secret\n");
    assert_eq!(std::fs::read_dir(folder.outside()).unwrap().count(), 1);
    assert_eq!(folder.get("ro/f"), "old\n");
    // What is allowed works: reading all, writing inside and to temporary files, devices.
    let line = format!(
        "cat {out}/secret.txt ../ro/f > f; cat f; mkdir -p x/y; mv f x/y/g; rm -r x; echo no > /dev/null; \
        t=$(mktemp) && echo temporary > $t && cat $t; rm $t"
    );
    let shown = call(&bash, &command(&line)).await.unwrap();
    assert_eq!(shown, "the secret\nold\ntemporary\n[exit code 0]");
    let line = "cd $TMPDIR/..; pwd; echo x > mine";
    let shown = call(&bash, &command(line)).await.unwrap();
    assert!(shown.contains("ermission denied") && shown.ends_with("[exit code 1]"), "{shown}");
    // This process is as free as before.
    std::fs::write(folder.outside().join("ours"), "x").unwrap();
    let more = Sandbox::new(SandboxMode::BestEffort).writable(folder.outside());
    let Some(bash) = confined(&top, &more) else { return };
    assert_eq!(call(&bash, &command(&format!("rm {out}/ours"))).await.as_deref(), Ok("[exit code 0]"));
}

#[tokio::test]
async fn there_is_no_network() {
    let folder = Folder::new();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let line = command(&format!("exec 3<>/dev/tcp/127.0.0.1/{port} && echo connected"));
    let Some(bash) = confined(&folder.workspace(), &Sandbox::new(SandboxMode::BestEffort)) else { return };
    let shown = call(&bash, &line).await.unwrap();
    assert!(shown.contains("not permitted") && !shown.contains("connected"), "{shown}");
    assert!(agent_core::Tool::spec(&bash).description().ends_with("and there is no network."));
    let open = Sandbox::new(SandboxMode::BestEffort).allow_network();
    let bash = confined(&folder.workspace(), &open).expect("landlock was there");
    assert_eq!(call(&bash, &line).await.as_deref(), Ok("connected\n[exit code 0]"));
    assert!(!agent_core::Tool::spec(&bash).description().contains("network"));
}

#[tokio::test]
async fn commands_end_each_other_and_nothing_else() {
    let folder = Folder::new();
    let Some(bash) = confined(&folder.workspace(), &Sandbox::new(SandboxMode::BestEffort)) else { return };
    if bash.sandbox_status().to_string().contains("without signals") {
        println!("skipped: {}", bash.sandbox_status());
        return;
    }
    let shown = call(&bash, &command(&format!("kill -0 {}", std::process::id()))).await.unwrap();
    assert!(shown.contains("not permitted"), "{shown}");
    let left = call(&bash, &command("sleep 1000 >/dev/null 2>&1 & echo $!")).await.unwrap();
    let pid = left.lines().next().unwrap().parse().unwrap();
    assert!(crate::shell::runs(pid));
    assert_eq!(call(&bash, &command(left.split('`').nth(1).unwrap())).await.as_deref(), Ok("[exit code 0]"));
    crate::shell::ends(pid).await;
}

#[tokio::test]
async fn the_folder_is_kept_inside_too_and_temporary_files_go_with_the_tool() {
    let folder = Folder::new();
    folder.put("a/f", "");
    let Some(bash) = confined(&folder.workspace(), &Sandbox::new(SandboxMode::BestEffort)) else { return };
    let bash = bash.keep_folder();
    let shown = call(&bash, &command("echo $TMPDIR; touch $TMPDIR/x; cd a")).await.unwrap();
    let (temporary, rest) = shown.split_once('\n').unwrap();
    assert_eq!(rest, "[exit code 0]\n[the working folder is now `a`]");
    assert!(std::path::Path::new(temporary).join("x").exists());
    drop(bash);
    assert!(!std::path::Path::new(temporary).exists());
}

#[tokio::test]
async fn timeouts_and_drops_end_what_is_inside() {
    let folder = Folder::new();
    let Some(bash) = confined(&folder.workspace(), &Sandbox::new(SandboxMode::BestEffort)) else { return };
    let (pid, ended) = crate::shell::until_told(&bash, "sleep 1000 & echo $!; wait", |cancel| cancel.cancel()).await;
    assert!(ended.is_error);
    crate::shell::ends(pid).await;
    let left = call(&bash, &command("sleep 1000 & echo $!")).await.unwrap();
    let pid = left.lines().next().unwrap().parse().unwrap();
    drop(bash);
    crate::shell::ends(pid).await;
}
