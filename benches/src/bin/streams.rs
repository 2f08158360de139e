//! What an idle stream keeps: 1,000 open event streams over plain HTTP/1.1, and the growth of the
//! resident memory by them. At most 24 KB each.
#![expect(clippy::print_stdout, clippy::disallowed_methods, reason = "a command line tool")]

use std::{io, process::ExitCode};

use agent_core::{Body, HttpClient};
use agent_http::{HttpStack, Proxies};
use mainspring_benches::http::{Server, serve};

const STREAMS: u64 = 1_000;
const MOST: u64 = 24 * 1024;

fn main() -> io::Result<ExitCode> {
    if std::env::args().nth(1).as_deref() == Some("serve") {
        serve()?;
        return Ok(ExitCode::SUCCESS);
    }
    let server = Server::start()?;
    let url = format!("http://{}/stream", server.address);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let each = runtime.block_on(async {
        let stack = HttpStack::builder().proxies(Proxies::none()).exchanges_per_host(2_000).build();
        let client = HttpClient::from(stack);
        let mut streams = vec![open(&client, &url).await?];
        let before = resident()?;
        for _ in 0..STREAMS {
            streams.push(open(&client, &url).await?);
        }
        // Everyone waits, as a reader of events does.
        for stream in &mut streams {
            let waits = std::future::poll_fn(|cx| std::task::Poll::Ready(stream.poll_data(cx).is_pending()));
            if !waits.await {
                return Err(io::Error::other("a stream has ended"));
            }
        }
        Ok::<_, io::Error>(resident()?.saturating_sub(before) / STREAMS)
    })?;
    println!("{each} bytes per idle stream, at most {MOST}");
    Ok(if each > MOST { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

async fn open(client: &HttpClient, url: &str) -> io::Result<Body> {
    let request = http::Request::get(url).body(Body::empty()).map_err(io::Error::other)?;
    let mut body = client.send(request).await.map_err(io::Error::other)?.into_body();
    match body.data().await {
        Some(Ok(_)) => Ok(body),
        _ => Err(io::Error::other("no first event")),
    }
}

fn resident() -> io::Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kib.map(|kib| kib * 1024).ok_or_else(|| io::Error::other("no VmRSS"))
}
