//! Answers model calls from memory over HTTP/1.1 on 127.0.0.1 to 127.0.0.16, as cheaply as it can.
//!
//! The path says what is answered: `/s16/<events>/..` a stream of OpenAI chunks and `/a16/<events>/..` one of Anthropic
//! events, both in writes of 16 KiB; `/turn/<calls>/<delay in ms>/..` a tool call until the request holds so many tool
//! results, then a text; `/stats` how many connections there were, its own too, and how many requests of the other
//! kinds. A path with `messages` in it is Anthropic's. The port is the first line that it prints.

mod answers;

use std::{
    io,
    net::Ipv4Addr,
    str,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

use memchr::memmem;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpSocket, TcpStream},
};

static CONNECTIONS: AtomicU64 = AtomicU64::new(0);
static REQUESTS: AtomicU64 = AtomicU64::new(0);

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    // Raises the limit of open files.
    let _meter = peers_meter::Meter::start();
    let first = listen(1, 0)?;
    let port = first.local_addr()?.port();
    let mut tasks = vec![tokio::spawn(accept(first))];
    for host in 2..=16 {
        tasks.push(tokio::spawn(accept(listen(host, port)?)));
    }
    println!("{port}");
    for task in tasks {
        task.await.map_err(io::Error::other)?;
    }
    Ok(())
}

fn listen(host: u8, port: u16) -> io::Result<TcpListener> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    socket.bind((Ipv4Addr::new(127, 0, 0, host), port).into())?;
    socket.listen(4096)
}

async fn accept(listener: TcpListener) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                CONNECTIONS.fetch_add(1, Relaxed);
                tokio::spawn(serve(stream));
            }
            // Out of files: those that end make room.
            Err(_) => tokio::time::sleep(Duration::from_millis(5)).await,
        }
    }
}

/// Answers what comes over one connection until it ends.
async fn serve(mut stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut buffer = Vec::with_capacity(4096);
    while let Some((head, body)) = request(&mut stream, &mut buffer).await? {
        let path = head.split(' ').nth(1).unwrap_or("/");
        let mut parts = path.trim_start_matches('/').split('/');
        let (mode, count) = (parts.next().unwrap_or(""), parts.next().and_then(|part| part.parse().ok()).unwrap_or(0));
        if mode != "stats" {
            REQUESTS.fetch_add(1, Relaxed);
        }
        match mode {
            "s16" | "a16" => {
                let stream_of = if mode == "s16" { answers::openai_stream } else { answers::anthropic_stream };
                stream.write_all(answers::HEAD).await?;
                for piece in answers::cached(mode, count, stream_of).iter() {
                    stream.write_all(piece).await?;
                }
            }
            "turn" => {
                let delay = parts.next().and_then(|part| part.parse().ok()).unwrap_or(0);
                let answer = answers::turn(path.contains("messages"), &body, count);
                drop(body);
                if delay > 0 {
                    tokio::time::sleep(Duration::from_millis(delay)).await;
                }
                stream.write_all(&answer).await?;
            }
            "stats" => {
                let body = format!("{} {}\n", CONNECTIONS.load(Relaxed), REQUESTS.load(Relaxed));
                let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len());
                stream.write_all(format!("{head}{body}").as_bytes()).await?;
            }
            _ => stream.write_all(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n").await?,
        }
    }
    Ok(())
}

/// The next request, head and body; `None` at the end of the connection.
async fn request(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> io::Result<Option<(String, Vec<u8>)>> {
    let mut from = 0;
    let head = loop {
        match memmem::find(&buffer[from..], b"\r\n\r\n") {
            Some(at) => break from + at + 4,
            None => from = buffer.len().saturating_sub(3),
        }
        if stream.read_buf(buffer).await? == 0 {
            return Ok(None);
        }
    };
    let text = str::from_utf8(&buffer[..head]).unwrap_or("").to_owned();
    let lower = text.to_ascii_lowercase();
    let length = lower.split("\r\ncontent-length:").nth(1).and_then(|rest| rest.lines().next());
    let length: Option<usize> = length.and_then(|length| length.trim().parse().ok());
    if let Some(length) = length {
        buffer.reserve((head + length).saturating_sub(buffer.len()));
    }
    let chunked = lower.contains("\r\ntransfer-encoding: chunked");
    let end = loop {
        let whole = match length {
            Some(length) => Some(head + length).filter(|end| buffer.len() >= *end),
            None if chunked => Some(buffer.len()).filter(|_| buffer.ends_with(b"\r\n0\r\n\r\n")),
            None => Some(head),
        };
        if let Some(end) = whole {
            break end;
        }
        if stream.read_buf(buffer).await? == 0 {
            return Ok(None);
        }
    };
    let body = buffer[head..end].to_vec();
    buffer.drain(..end);
    Ok(Some((text, body)))
}
