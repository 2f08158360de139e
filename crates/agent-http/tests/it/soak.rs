//! Nothing is left behind: not by cancelled requests, not where descriptors run out.

use std::process::Stdio;

use agent_core::HttpClient;
use tokio::io::AsyncWriteExt;

use crate::support::{Server, client, get, plain, read_head, text, told, until, until_closed};

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count)
}

/// Resident memory in bytes.
fn resident() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    statm.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok()).map_or(0, |pages| pages * 4096)
}

const ALONE: &str = "AGENT_HTTP_TEST_ALONE";

/// Runs itself in a child, where no other test opens or closes files.
#[test]
fn cancelled_requests_leave_nothing() {
    if std::env::var(ALONE).is_err() {
        let mut command = std::process::Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "soak::cancelled_requests_leave_nothing", "--nocapture"]).env(ALONE, "1");
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        return;
    }
    const REQUESTS: usize = 10_000;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let server = Server::new(|mut stream, number| async move {
            if read_head(&mut stream).await.is_some() && number % 2 == 0 {
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n123").await;
            }
            until_closed(&mut stream).await;
        })
        .await;
        // Once before it is counted: what is made once stays.
        let once = Server::answering("HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok").await;
        let (builder, timer) = plain();
        let client = HttpClient::from(builder.build());
        text(client.send(get(once.url("/"))).await.unwrap()).await.unwrap();
        drop(once);
        let alive = || tokio::runtime::Handle::current().metrics().num_alive_tasks();
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        let (before, tasks) = (descriptors(), alive());
        let mut memory = 0;
        for number in 0..REQUESTS {
            if number == REQUESTS / 10 {
                memory = resident();
            }
            let client = client.clone();
            let url = server.url("/");
            let sending = tokio::spawn(async move {
                let mut body = client.send(get(url)).await.unwrap().into_body();
                while body.data().await.is_some() {}
            });
            // At every stage: before the first poll, while connecting, while waiting, in mid-body.
            for _ in 0..number % 23 {
                tokio::task::yield_now().await;
            }
            sending.abort();
        }
        until("all connections are closed", || server.open() == 0).await;
        until("no task is left", || alive() <= tasks).await;
        assert!(server.accepted() > REQUESTS / 4, "{} connections were made", server.accepted());
        assert_eq!((descriptors(), timer.sleeping()), (before, 0));
        // 9,000 requests later: less than half a kilobyte of each could have stayed.
        let grown = resident().saturating_sub(memory);
        assert!(grown < 4 << 20, "the memory grew by {grown} bytes");
    });
}

const CHILD: &str = "AGENT_HTTP_TEST_FEW_FILES";

/// Runs itself in a child that may open few files.
#[cfg(unix)]
#[tokio::test]
async fn too_many_open_files_is_told_and_the_limit_per_host_prevents_it() {
    let Ok(url) = std::env::var(CHILD) else {
        let server = Server::keeping("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n123").await;
        let script = "ulimit -n 60 && exec \"$0\" --exact \
            soak::too_many_open_files_is_told_and_the_limit_per_host_prevents_it --nocapture";
        let mut command = tokio::process::Command::new("sh");
        command.arg("-c").arg(script).arg(std::env::current_exe().unwrap()).stdin(Stdio::null());
        let output = command.env(CHILD, server.url("/")).output().await.unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        return;
    };
    let client = client();
    let mut held = Vec::new();
    let error = loop {
        match client.send(get(&url)).await {
            Ok(response) => held.push(response),
            Err(error) => break error,
        }
        assert!(held.len() < 60, "never an error");
    };
    assert_eq!(told(&error), "connecting: no file descriptor is left for a connection");
    held.clear();

    let bounded = HttpClient::from(plain().0.exchanges_per_host(10).build());
    let many: Vec<_> = (0..100).map(|_| tokio::spawn(bounded.send(get(&url)))).collect();
    for exchange in many {
        drop(exchange.await.unwrap().unwrap());
    }
}
