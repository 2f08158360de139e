//! Exchanges that go well: what is sent, what comes back, how many connections it takes.

use std::sync::{Arc, Mutex};

use agent_core::{Billed, HttpError};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::support::{Server, client, get, plain, post, read_head, text};

const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\nx-request-id: r1\r\nretry-after: 3\r\n\r\nok";

#[tokio::test]
async fn the_request_says_who_sends_and_the_response_keeps_its_headers() {
    let heads = Arc::new(Mutex::new(Vec::new()));
    let seen = heads.clone();
    let server = Server::new(move |mut stream, _| {
        let seen = seen.clone();
        async move {
            let head = read_head(&mut stream).await.unwrap();
            let mut body = [0; 5];
            stream.read_exact(&mut body).await.unwrap();
            seen.lock().unwrap().push((head, body));
            stream.write_all(OK.as_bytes()).await.unwrap();
        }
    })
    .await;
    let response = client().send(post(server.url("/v1/x?q=1"), "hello")).await.unwrap();
    assert_eq!(response.headers()["x-request-id"], "r1");
    assert_eq!(response.headers()["retry-after"], "3");
    assert_eq!(text(response).await.unwrap(), "ok");
    let (head, body) = heads.lock().unwrap().pop().unwrap();
    assert_eq!(&body, b"hello");
    let version = env!("CARGO_PKG_VERSION");
    let expected = format!(
        "POST /v1/x?q=1 HTTP/1.1\r\nuser-agent: mainspring/{version}\r\naccept-encoding: gzip\r\nhost: {}\r\n\
         content-length: 5\r\n\r\n",
        server.address
    );
    assert_eq!(head, expected);
}

#[tokio::test]
async fn an_error_status_is_a_response() {
    let server = Server::answering("HTTP/1.1 429 Too Many Requests\r\ncontent-length: 4\r\n\r\nslow").await;
    let response = client().send(get(server.url("/"))).await.unwrap();
    assert_eq!((response.status().as_u16(), text(response).await.unwrap()), (429, "slow".to_owned()));
}

#[tokio::test]
async fn a_thousand_requests_take_one_connection() {
    let server = Server::keeping(OK).await;
    let client = client();
    for _ in 0..1_000 {
        assert_eq!(text(client.send(get(server.url("/"))).await.unwrap()).await.unwrap(), "ok");
    }
    assert_eq!(server.accepted(), 1);
}

#[tokio::test]
async fn a_body_over_the_limit_is_not_kept() {
    let server = Server::answering("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n123456789").await;
    let body = client().send(get(server.url("/"))).await.unwrap().into_body();
    let error = body.collect(8).await.unwrap_err();
    assert!(matches!(error, HttpError::BodyTooLarge { limit: 8 }), "{error:?}");
}

#[tokio::test]
async fn a_connection_that_the_server_closed_while_idle_fails_no_request() {
    for round in 0..50 {
        let (closed, mut is_closed) = tokio::sync::mpsc::channel(1);
        let server = Server::new(move |mut stream, number| {
            let closed = closed.clone();
            async move {
                while read_head(&mut stream).await.is_some() {
                    stream.write_all(OK.as_bytes()).await.unwrap();
                    if number == 0 {
                        drop(stream);
                        closed.send(()).await.unwrap();
                        return;
                    }
                }
            }
        })
        .await;
        let client = client();
        assert_eq!(text(client.send(get(server.url("/"))).await.unwrap()).await.unwrap(), "ok");
        is_closed.recv().await.unwrap();
        let again = client.send(post(server.url("/"), "body")).await;
        let again = again.unwrap_or_else(|e| panic!("round {round}: {e:?}"));
        assert_eq!(text(again).await.unwrap(), "ok");
        assert_eq!(server.accepted(), 2);
    }
}

#[tokio::test]
async fn what_cannot_be_sent_is_refused_with_words() {
    let check = async |url: &str, word: &str| {
        let error = client().send(get(url)).await.unwrap_err();
        assert!(matches!(&error, HttpError::InvalidRequest { reason } if reason.contains(word)), "{url}: {error:?}");
        assert_eq!(error.billed(), Billed::No);
    };
    check("/v1/x", "no host").await;
    check("ftp://127.0.0.1/x", "scheme").await;
}

#[tokio::test]
async fn clones_and_the_shared_stack_are_one_pool() {
    let server = Server::keeping(OK).await;
    let stack = plain().0.build();
    let (a, b) = (agent_core::HttpClient::from(stack.clone()), agent_core::HttpClient::from(stack));
    text(a.send(get(server.url("/"))).await.unwrap()).await.unwrap();
    text(b.send(get(server.url("/"))).await.unwrap()).await.unwrap();
    assert_eq!(server.accepted(), 1);
}
