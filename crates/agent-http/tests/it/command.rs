//! Credentials that a program prints.

use std::{path::PathBuf, sync::Arc, time::Duration};

use agent_core::CredentialSource;
use agent_http::{CommandCredential, Fetch};
use agent_testkit::PausedTimer;

use crate::{
    credentials::{Folder, key, told},
    support::until,
};

#[tokio::test]
async fn a_command_is_run_without_a_shell_in_a_small_environment() {
    let run = async |program: &str, arguments: &[&str]| {
        CommandCredential::new(program, arguments.iter().copied()).fetch().await
    };
    assert_eq!(key(&run("printf", &["%s\n", "$HOME; key"]).await.unwrap()), "key $HOME; key");
    let command = CommandCredential::new("sh", ["-c", "echo ${CARGO_PKG_NAME:-unseen}"]);
    assert_eq!(key(&command.fetch().await.unwrap()), "key unseen");
    let command = command.environment(["PATH", "CARGO_PKG_NAME"]);
    assert_eq!(key(&command.fetch().await.unwrap()), "key agent-http");

    let failing = told(run("sh", &["-c", "echo bad key sk-abcdefghijklmnop >&2; exit 3"]).await);
    assert_eq!(failing, "the credential command sh ended with exit status: 3: bad key sk-[redacted]");
    assert_eq!(told(run("true", &[]).await), "the credential command true printed nothing");
    assert_eq!(told(run("/nonexistent/x", &[]).await), "the credential command /nonexistent/x cannot be run");
    let endless = told(run("yes", &[]).await);
    assert_eq!(endless, "the credential command yes printed more than 65536 bytes");
}

#[tokio::test]
async fn a_command_that_hangs_is_killed() {
    let folder = Folder::new("hang");
    let pid = folder.0.join("pid");
    let timer = PausedTimer::at(0);
    let script = format!("echo $$ > {0}.new; mv {0}.new {0}; exec sleep 1000", pid.display());
    let command = CommandCredential::new("sh", ["-c".to_owned(), script]);
    let source = command.timeout(Duration::from_secs(5), Arc::new(timer.clone())).source();
    let asking = tokio::spawn(async move { source.credential().await });
    until("the command runs", || pid.exists()).await;
    let process = PathBuf::from("/proc").join(std::fs::read_to_string(&pid).unwrap().trim());
    assert!(process.exists());
    timer.advance(Duration::from_secs(5));
    assert_eq!(told(asking.await.unwrap()), "the credential command sh took longer than 5000 ms");
    until("the command is gone", || {
        // A zombie until tokio has reaped it.
        std::fs::read_to_string(process.join("stat")).map_or(true, |stat| stat.contains(") Z"))
    })
    .await;
}
