//! A crowd of runs takes no more connections than there are runs.

use std::sync::Arc;

use agent_core::{Body, HttpClient, HttpError};
use bytes::Bytes;
use futures_util::stream;
use http_body::Frame;
use http_body_util::StreamBody;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    sync::Barrier,
};

use crate::support::{Server, get, plain, post, read_head, text, until};

const RUNS: usize = 200;
const TURNS: usize = 3;

/// Answers in pieces: the end of a body comes behind its last data.
async fn serve(mut stream: TcpStream, _: usize) {
    while read_head(&mut stream).await.is_some() {
        let mut body = [0; 5];
        stream.read_exact(&mut body).await.unwrap();
        for piece in ["HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", "3\r\nabc\r\n", "0\r\n\r\n"] {
            if stream.write_all(piece.as_bytes()).await.is_err() {
                return;
            }
            tokio::task::yield_now().await;
        }
    }
}

/// Runs a crowd and says how many connections it took. Where they step together, all of them hold a
/// response at once and give their connections back at once.
async fn crowd(together: bool) -> usize {
    let server = Server::new(serve).await;
    let client = HttpClient::from(plain().0.exchanges_per_host(RUNS).build());
    let barrier = Arc::new(Barrier::new(RUNS));
    let runs: Vec<_> = (0..RUNS)
        .map(|_| {
            let (client, url, barrier) = (client.clone(), server.url("/v1/run"), barrier.clone());
            tokio::spawn(async move {
                for _ in 0..TURNS {
                    let response = client.send(post(&url, "hello")).await.unwrap();
                    if together {
                        barrier.wait().await;
                    }
                    assert_eq!(text(response).await.unwrap(), "abc");
                    if together {
                        barrier.wait().await;
                    }
                }
            })
        })
        .collect();
    for run in runs {
        run.await.unwrap();
    }
    server.accepted()
}

#[test]
fn a_run_keeps_to_one_connection() {
    let mut current = tokio::runtime::Builder::new_current_thread();
    let mut multi = tokio::runtime::Builder::new_multi_thread();
    for (name, runtime) in [("one thread", &mut current), ("two threads", multi.worker_threads(2))] {
        let runtime = runtime.enable_all().build().unwrap();
        for together in [false, true] {
            let accepted = runtime.block_on(crowd(together));
            assert!(accepted * 100 <= RUNS * 105, "{name}: {accepted} connections for {RUNS} runs");
            assert!(!together || accepted >= RUNS, "{name}: the runs were not all under way at once: {accepted}");
        }
    }
}

#[tokio::test]
async fn a_body_that_is_dropped_behind_its_last_byte_gives_its_connection_back() {
    // The length tells the end; the end came with the data; there is no body at all.
    let answers = [
        "HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nabc",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
        "HTTP/1.1 204 No Content\r\n\r\n",
    ];
    for answer in answers {
        let server = Server::keeping(answer).await;
        let client = HttpClient::from(plain().0.build());
        for _ in 0..10 {
            let mut body = client.send(get(server.url("/"))).await.unwrap().into_body();
            drop(body.data().await);
            // The connection's task sees the end in the same go as the data, or in its next one.
            for _ in 0..10 {
                tokio::task::yield_now().await;
            }
            drop(body);
        }
        assert_eq!(server.accepted(), 1, "{answer}");
    }
}

#[tokio::test]
async fn a_connection_that_does_not_come_back_holds_nobody_up() {
    // The answer is whole, but the request is not: its connection is not free.
    let server = Server::new(|mut stream, _| async move {
        if read_head(&mut stream).await.is_some() {
            stream.write_all(b"HTTP/1.1 413 Content Too Large\r\ncontent-length: 2\r\n\r\nno").await.unwrap();
            std::future::pending::<()>().await;
        }
    })
    .await;
    let client = HttpClient::from(plain().0.build());
    for number in 1..=3 {
        let endless = StreamBody::new(stream::pending::<Result<Frame<Bytes>, HttpError>>());
        let request = http::Request::post(server.url("/")).body(Body::new(endless)).unwrap();
        let response = client.send(request).await.unwrap();
        assert_eq!((response.status().as_u16(), text(response).await.unwrap()), (413, "no".to_owned()));
        assert_eq!(server.accepted(), number);
    }
}

#[tokio::test(start_paused = true)]
async fn an_unused_connection_is_closed_after_a_minute() {
    let server = Server::keeping("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").await;
    let client = HttpClient::from(plain().0.build());
    for _ in 0..2 {
        text(client.send(get(server.url("/"))).await.unwrap()).await.unwrap();
    }
    assert_eq!((server.accepted(), server.open()), (1, 1));
    tokio::time::advance(std::time::Duration::from_secs(60)).await;
    until("it is closed", || server.open() == 0).await;
    text(client.send(get(server.url("/"))).await.unwrap()).await.unwrap();
    assert_eq!(server.accepted(), 2);
}
