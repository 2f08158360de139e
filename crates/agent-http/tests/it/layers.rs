//! The layers: redirects, gzip, connect retry, limit per host, trace.

use std::{
    fmt::Write as _,
    io::Write as _,
    sync::{Arc, Mutex},
    time::Duration,
};

use agent_core::{Billed, HttpClient, HttpError, ProviderError, ProviderErrorKind};
use flate2::{Compression, write::GzEncoder};
use http::HeaderValue;
use tokio::io::AsyncWriteExt;
use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id, Record},
};

use crate::support::{Server, client, get, plain, post, read_head, text, told, until};

/// A server that answers each request by a function of its head.
async fn by_head(answer: impl Fn(&str) -> Vec<u8> + Clone + Send + Sync + 'static) -> Server {
    Server::new(move |mut stream, _| {
        let answer = answer.clone();
        async move {
            while let Some(head) = read_head(&mut stream).await {
                if stream.write_all(&answer(&head)).await.is_err() {
                    break;
                }
            }
        }
    })
    .await
}

fn moved(status: u16, to: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status} Moved\r\nlocation: {to}\r\ncontent-length: 0\r\n\r\n").into_bytes()
}

#[tokio::test]
async fn a_redirect_within_the_origin_is_followed_for_get_alone() {
    let server = by_head(|head| match head.split(' ').nth(1).unwrap() {
        "/a/start" => moved(302, "next?x=1"),
        "/a/next?x=1" => moved(308, "/end"),
        "/end" => format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{head}", head.len()).into_bytes(),
        path => {
            let n: u32 = path.trim_start_matches("/loop/").parse().unwrap();
            if n == 0 {
                b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n".to_vec()
            } else {
                moved(301, &format!("/loop/{}", n - 1))
            }
        }
    })
    .await;
    let client = client();
    let mut request = get(server.url("/a/start"));
    request.headers_mut().insert("authorization", HeaderValue::from_static("Bearer k"));
    let end = text(client.send(request).await.unwrap()).await.unwrap();
    assert!(end.contains("authorization: Bearer k\r\n"), "{end}");

    assert!(client.send(get(server.url("/loop/5"))).await.is_ok());
    let error = client.send(get(server.url("/loop/6"))).await.unwrap_err();
    assert!(matches!(&error, HttpError::Redirect { to, .. } if to == "/loop/0"), "{error:?}");

    let error = client.send(post(server.url("/a/start"), "")).await.unwrap_err();
    assert!(matches!(&error, HttpError::Redirect { to, .. } if to == "/a/next"), "{error:?}");
    let error = ProviderError::from(error);
    assert_eq!((error.kind(), error.billed()), (ProviderErrorKind::InvalidRequest, Billed::No));
}

#[tokio::test]
async fn a_redirect_to_another_origin_is_an_error_that_names_it() {
    let other = Server::keeping("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await;
    let to = other.url("/x?key=secret");
    let server = by_head(move |_| moved(307, &to)).await;
    for request in [get(server.url("/")), post(server.url("/"), "body")] {
        let error = client().send(request).await.unwrap_err();
        assert!(matches!(&error, HttpError::Redirect { to, .. } if *to == other.url("")), "{error:?}");
        assert!(!error.to_string().contains("secret"), "{error}");
    }
    assert_eq!(other.accepted(), 0, "nothing was sent there");
}

fn zipped(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

#[tokio::test]
async fn gzip_is_decoded_under_every_cut() {
    let plain_text = b"data: one\n\ndata: two\n\n".repeat(3);
    // Two members, as some servers send them.
    let body = [zipped(&plain_text[..20]), zipped(&plain_text[20..])].concat();
    let length = body.len();
    let server = by_head(move |head| {
        assert!(head.contains("\r\naccept-encoding: gzip\r\n"), "{head}");
        let cut: usize = head.split(['/', ' ']).nth(2).unwrap().parse().unwrap();
        let mut answer =
            b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\nx-request-id: r1\r\ntransfer-encoding: chunked\r\n\r\n"
                .to_vec();
        for part in [&body[..cut], &body[cut..]] {
            answer.extend(format!("{:x}\r\n", part.len()).bytes().chain(part.iter().copied()).chain(*b"\r\n"));
        }
        answer.extend(b"0\r\n\r\n");
        answer
    })
    .await;
    let client = client();
    for cut in 1..length {
        let response = client.send(get(server.url(&format!("/{cut}")))).await.unwrap();
        assert_eq!(response.headers()["x-request-id"], "r1");
        assert!(!response.headers().contains_key("content-encoding"));
        assert_eq!(text(response).await.unwrap().as_bytes(), plain_text, "cut at {cut}");
    }
    assert_eq!(server.accepted(), 1);
}

#[tokio::test]
async fn gzip_that_is_broken_or_huge_is_an_error_and_other_bodies_are_left_alone() {
    let check = async |encoding: &'static str, body: Vec<u8>, expected: &str| {
        let head = format!("HTTP/1.1 200 OK\r\n{encoding}content-length: {}\r\n\r\n", body.len());
        let answer = [head.as_bytes(), body.as_slice()].concat();
        let server = by_head(move |_| answer.clone()).await;
        let found = match text(client().send(get(server.url("/"))).await.unwrap()).await {
            Ok(text) => text,
            Err(error) => told(&error),
        };
        assert_eq!(found, expected);
    };
    let gzip = "content-encoding: gzip\r\n";
    let whole = zipped(b"a text that is long enough");
    let broken = "reading the response body: the content encoding is broken";
    check(gzip, whole.clone(), "a text that is long enough").await;
    check("content-encoding: GZIP\r\n", whole.clone(), "a text that is long enough").await;
    check(gzip, Vec::new(), "").await;
    check(gzip, b"no gzip at all, but text".to_vec(), broken).await;
    for end in [1, 9, 12, whole.len() - 8, whole.len() - 1] {
        check(gzip, whole[..end].to_vec(), broken).await;
    }
    let mut flipped = whole.clone();
    *flipped.last_mut().unwrap() ^= 1;
    check(gzip, flipped, broken).await;
    check(gzip, zipped(&vec![b'a'; 64 << 20]), "the response body is larger than the limit of 1048576 bytes").await;
    check("", b"plain".to_vec(), "plain").await;
}

#[tokio::test]
async fn gzip_is_not_asked_for_events_nor_where_the_caller_asks_for_something() {
    let whole = zipped(b"zipped");
    let server = by_head(move |head| {
        let asked = head.lines().find(|line| line.starts_with("accept-encoding")).unwrap_or("none").to_owned();
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\nx-asked: {asked}\r\ncontent-length: {}\r\n\r\n",
            whole.len()
        );
        [head.as_bytes(), whole.as_slice()].concat()
    })
    .await;
    let check = async |name: &'static str, value: &'static str, asked: &str, decoded: bool| {
        let mut request = get(server.url("/"));
        request.headers_mut().insert(name, HeaderValue::from_static(value));
        let response = client().send(request).await.unwrap();
        assert_eq!(response.headers()["x-asked"], asked, "{name}: {value}");
        assert_eq!(response.headers().contains_key("content-encoding"), !decoded);
        assert_eq!(response.into_body().collect(1000).await.unwrap() == "zipped", decoded);
    };
    check("accept", "application/json", "accept-encoding: gzip", true).await;
    check("accept", "text/event-stream", "none", true).await;
    check("accept-encoding", "gzip, br", "accept-encoding: gzip, br", false).await;
    check("range", "bytes=0-5", "none", false).await;
}

#[tokio::test]
async fn only_a_connection_that_was_not_made_is_tried_again() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let (builder, timer) = plain();
    let client = HttpClient::from(builder.connect_retries(2, Duration::from_millis(200)).build());
    let sending = tokio::spawn(client.send(post(format!("http://{address}/"), "a body")));
    let mut waits = Vec::new();
    while !sending.is_finished() {
        if timer.sleeping() == 1 {
            // The deadline of a connection is longer than the waits between them.
            tokio::task::yield_now().await;
            waits.extend(timer.advance_to_next().filter(|wait| *wait < Duration::from_secs(9)));
        }
        tokio::task::yield_now().await;
    }
    let error = sending.await.unwrap().unwrap_err();
    assert_eq!(told(&error), "connecting: the connection was refused");
    assert_eq!(waits, [200, 400].map(Duration::from_millis));

    let server = Server::answering("").await;
    let error = client.send(get(server.url("/"))).await.unwrap_err();
    assert_eq!(told(&error), "waiting for the response: the connection was closed before its end");
    assert_eq!(server.accepted(), 1);
}

#[tokio::test]
async fn a_body_survives_the_retry_of_its_connection() {
    let reserved = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = reserved.local_addr().unwrap();
    drop(reserved);
    let (builder, timer) = plain();
    let client = HttpClient::from(builder.connect_retries(1, Duration::from_millis(200)).build());
    let sending = tokio::spawn(client.send(post(format!("http://{address}/"), "a body")));
    timer.wait_for_sleeping(1).await;
    // Refused on loopback at once: what sleeps afterwards is the wait for the next attempt.
    for _ in 0..1_000 {
        tokio::task::yield_now().await;
    }
    let listener = tokio::net::TcpListener::bind(address).await.unwrap();
    timer.advance(Duration::from_millis(200));
    let (mut stream, _) = listener.accept().await.unwrap();
    read_head(&mut stream).await.unwrap();
    let mut body = [0; 6];
    tokio::io::AsyncReadExt::read_exact(&mut stream, &mut body).await.unwrap();
    assert_eq!(&body, b"a body");
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").await.unwrap();
    assert_eq!(text(sending.await.unwrap().unwrap()).await.unwrap(), "ok");
}

#[tokio::test]
async fn exchanges_with_one_host_are_bounded_until_their_bodies_end() {
    let server = by_head(|_| b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n12345".to_vec()).await;
    let other = Server::keeping("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").await;
    let client = HttpClient::from(plain().0.exchanges_per_host(2).build());
    let first = client.send(get(server.url("/"))).await.unwrap();
    let second = client.send(get(server.url("/"))).await.unwrap();
    let third = tokio::spawn(client.send(get(server.url("/"))));
    let given_up = tokio::spawn(client.send(get(server.url("/"))));
    assert_eq!(text(client.send(get(other.url("/"))).await.unwrap()).await.unwrap(), "ok", "another host is free");
    assert!(!third.is_finished());
    given_up.abort();
    drop(first);
    let third = third.await.unwrap().unwrap();
    drop((second, third));
    until("all connections are closed", || server.open() == 0).await;
    assert_eq!(server.accepted(), 3);
}

/// Writes down every span and event.
#[derive(Clone, Default)]
struct Written(Arc<Mutex<String>>);

impl Visit for Written {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        write!(self.0.lock().unwrap(), " {field}={value:?}").unwrap();
    }
}

impl Subscriber for Written {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("agent_http")
    }

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        self.0.lock().unwrap().push_str(attributes.metadata().name());
        attributes.record(&mut self.clone());
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, values: &Record<'_>) {
        values.record(&mut self.clone());
    }

    fn event(&self, event: &Event<'_>) {
        event.record(&mut self.clone());
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

#[tokio::test]
async fn a_trace_tells_the_exchange_and_no_secret() {
    let written = Written::default();
    let _guard = tracing::subscriber::set_default(written.clone());
    let server = by_head(|_| b"HTTP/1.1 201 Created\r\ncontent-length: 6\r\n\r\nsecret".to_vec()).await;
    let client = client();
    let mut request = post(server.url("/secret-path?key=secret"), "secret");
    request.headers_mut().insert("authorization", HeaderValue::from_static("Bearer secret"));
    text(client.send(request).await.unwrap()).await.unwrap();
    let port = server.address.port();
    let log = written.0.lock().unwrap().clone();
    assert!(
        log.starts_with("http_request otel.kind=\"client\" http.request.method=\"POST\" server.address=\"127.0.0.1\""),
        "{log}"
    );
    for part in [&format!("server.port={port}"), "http.response.status_code=201", "elapsed_ms=", "end=\"whole\""] {
        assert!(log.contains(part), "{part}: {log}");
    }
    assert!(!log.contains("secret"), "{log}");

    let error = client.send(get("http://127.0.0.1:1/")).await.unwrap_err();
    assert_eq!(told(&error), "connecting: the connection was refused");
    assert!(written.0.lock().unwrap().contains("error.type=\"network\""));
}
