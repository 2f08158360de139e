//! Exchanges that break or stall, at every stage, and what is told of them.

use std::{sync::Arc, time::Duration};

use agent_core::{Billed, Body, HttpError};
use agent_http::{HttpStack, TransportError, TransportErrorKind};
use tokio::{
    io::AsyncWriteExt,
    sync::{Notify, mpsc},
};

use crate::support::{Server, client, get, plain, post, read_head, reset, text, told, until, until_closed};

/// What is told of a server that reads the request, writes these bytes, then closes or resets.
async fn after(bytes: &'static str, with_reset: bool) -> String {
    let gone = Arc::new(Notify::new());
    let read = gone.clone();
    let server = Server::new(move |mut stream, _| {
        let read = read.clone();
        async move {
            read_head(&mut stream).await.unwrap();
            stream.write_all(bytes.as_bytes()).await.unwrap();
            if with_reset {
                if bytes.contains("\r\n\r\n") {
                    // A reset overtakes what was not read yet.
                    read.notified().await;
                }
                reset(stream);
            }
        }
    })
    .await;
    let error = match client().send(get(server.url("/"))).await {
        Err(error) => error,
        Ok(response) => {
            gone.notify_one();
            match text(response).await {
                Err(error) => error,
                Ok(text) => return format!("whole: {text}"),
            }
        }
    };
    assert_eq!(error.billed(), Billed::Unknown);
    told(&error)
}

#[tokio::test]
async fn a_break_is_told_with_its_stage_and_its_cause() {
    let check = async |bytes: &'static str, with_reset: bool, expected: &str| {
        assert_eq!(after(bytes, with_reset).await, expected, "{bytes:?}, reset: {with_reset}");
    };
    let head = "waiting for the response: ";
    let body = "reading the response body: ";
    let (closed, was_reset) = ("the connection was closed before its end", "the connection was reset");
    let nonsense = "what arrived is not the protocol";
    check("", false, &format!("{head}{closed}")).await;
    check("", true, &format!("{head}{was_reset}")).await;
    check("HTTP/1.1 20", false, &format!("{head}{closed}")).await;
    check("HTTP/1.1 20", true, &format!("{head}{was_reset}")).await;
    check("HTTP/1.1 200 OK\r\ncontent-le", false, &format!("{head}{closed}")).await;
    check("SSH-2.0-OpenSSH_9.6\r\n", false, &format!("{head}{nonsense}")).await;
    check("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n12", false, &format!("{body}{closed}")).await;
    check("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n12", true, &format!("{body}{was_reset}")).await;
    check("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n12\r\n", false, &format!("{body}{closed}")).await;
    check("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n12\r\n", true, &format!("{body}{was_reset}"))
        .await;
    check("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nxyz", false, &format!("{body}{nonsense}")).await;
    // Without a length the end of the connection is the end of the body.
    check("HTTP/1.1 200 OK\r\n\r\n12", false, "whole: 12").await;
}

#[tokio::test]
async fn nobody_there_is_told_and_nothing_was_billed() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let error = client().send(get(format!("http://{address}/"))).await.unwrap_err();
    assert_eq!(told(&error), "connecting: the connection was refused");
    assert_eq!(error.billed(), Billed::No);
    let cause = TransportError::find(&error).unwrap();
    assert_eq!((cause.kind(), cause.peer()), (TransportErrorKind::Refused, address.to_string().as_str()));

    // A label of more than 63 characters is refused before anybody is asked.
    let error = client().send(get(format!("http://{}.invalid/", "a".repeat(70)))).await.unwrap_err();
    assert_eq!(told(&error), "connecting: the name could not be looked up");
}

#[tokio::test]
async fn a_head_larger_than_the_limit_is_refused() {
    let server = Server::new(|mut stream, _| async move {
        read_head(&mut stream).await.unwrap();
        let line = format!("x-a: {}\r\n", "a".repeat(1000));
        let _ = stream.write_all(format!("HTTP/1.1 200 OK\r\n{}\r\n", line.repeat(40)).as_bytes()).await;
        until_closed(&mut stream).await;
    })
    .await;
    let error = client().send(get(server.url("/"))).await.unwrap_err();
    assert_eq!(told(&error), "waiting for the response: what arrived is not the protocol");
}

#[tokio::test]
async fn a_head_may_come_byte_by_byte() {
    let server = Server::new(|mut stream, _| async move {
        read_head(&mut stream).await.unwrap();
        stream.set_nodelay(true).unwrap();
        for byte in b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok" {
            stream.write_all(&[*byte]).await.unwrap();
            tokio::task::yield_now().await;
        }
    })
    .await;
    assert_eq!(text(client().send(get(server.url("/"))).await.unwrap()).await.unwrap(), "ok");
}

#[tokio::test]
async fn a_server_that_stops_reading_still_answers() {
    // It answers after the head of the request and closes only its writing half.
    let server = Server::new(|mut stream, _| async move {
        read_head(&mut stream).await.unwrap();
        stream.write_all(b"HTTP/1.1 401 Unauthorized\r\ncontent-length: 2\r\n\r\nno").await.unwrap();
        stream.shutdown().await.unwrap();
        until_closed(&mut stream).await;
    })
    .await;
    let response = client().send(post(server.url("/"), "a body")).await.unwrap();
    assert_eq!((response.status().as_u16(), text(response).await.unwrap().as_str()), (401, "no"));
    until("the connection is closed", || server.open() == 0).await;
}

#[tokio::test]
async fn a_stalled_handshake_ends_at_the_connect_deadline() {
    let server = Server::new(|mut stream, _| async move { until_closed(&mut stream).await }).await;
    let (builder, timer) = plain();
    let client = agent_core::HttpClient::from(builder.build());
    let sending = tokio::spawn(client.send(get(format!("https://{}/", server.address))));
    until("the server has a connection", || server.open() == 1).await;
    assert_eq!(timer.sleeping(), 1);
    timer.advance(Duration::from_millis(9_999));
    tokio::task::yield_now().await;
    assert!(!sending.is_finished());
    timer.advance(Duration::from_millis(1));
    let error = sending.await.unwrap().unwrap_err();
    assert_eq!(error.to_string(), "nothing happened for 10000 ms while connecting");
    assert_eq!(error.billed(), Billed::No);
    until("the connection is closed", || server.open() == 0).await;
}

#[tokio::test]
async fn a_stalled_response_ends_at_the_head_deadline() {
    let (asked, mut is_asked) = mpsc::channel(1);
    let server = Server::new(move |mut stream, _| {
        let asked = asked.clone();
        async move {
            read_head(&mut stream).await.unwrap();
            asked.send(()).await.unwrap();
            until_closed(&mut stream).await;
        }
    })
    .await;
    let (builder, timer) = plain();
    let client = agent_core::HttpClient::from(builder.head_timeout(Duration::from_secs(7)).build());
    let sending = tokio::spawn(client.send(get(server.url("/"))));
    is_asked.recv().await.unwrap();
    timer.wait_for_sleeping(1).await;
    timer.advance(Duration::from_millis(6_999));
    tokio::task::yield_now().await;
    assert!(!sending.is_finished());
    timer.advance(Duration::from_millis(1));
    let error = sending.await.unwrap().unwrap_err();
    assert_eq!(error.to_string(), "nothing happened for 7000 ms while waiting for the response");
    assert_eq!(error.billed(), Billed::Unknown);
    until("the connection is closed", || server.open() == 0).await;
    assert_eq!(timer.sleeping(), 0);
}

#[tokio::test]
async fn a_stalled_body_ends_at_the_idle_deadline_and_a_comment_is_life() {
    let (say, said) = mpsc::channel::<&'static str>(1);
    let said = Arc::new(tokio::sync::Mutex::new(said));
    let server = Server::new(move |mut stream, _| {
        let said = said.clone();
        async move {
            read_head(&mut stream).await.unwrap();
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n").await.unwrap();
            while let Some(text) = said.lock().await.recv().await {
                stream.write_all(text.as_bytes()).await.unwrap();
                if text == "data: 2\n\n" {
                    break;
                }
            }
            until_closed(&mut stream).await;
        }
    })
    .await;
    let (builder, timer) = plain();
    let client = agent_core::HttpClient::from(builder.build());
    let mut body = client.send(get(server.url("/"))).await.unwrap().into_body();
    for text in ["data: 1\n\n", ": ping\n\n", ": ping\n\n", "data: 2\n\n"] {
        let reading = tokio::spawn(async move {
            let data = body.data().await;
            (body, data)
        });
        timer.wait_for_sleeping(1).await;
        timer.advance(Duration::from_millis(119_999));
        tokio::task::yield_now().await;
        assert!(!reading.is_finished());
        say.send(text).await.unwrap();
        let data;
        (body, data) = reading.await.unwrap();
        assert_eq!(data.unwrap().unwrap(), text);
        assert_eq!(timer.sleeping(), 0, "time in which nobody reads is not counted");
        timer.advance(Duration::from_secs(1_000));
    }
    let reading = tokio::spawn(async move {
        let (first, then) = (body.data().await, body.data().await);
        (first, then.is_none())
    });
    timer.wait_for_sleeping(1).await;
    timer.advance(Duration::from_secs(120));
    let (first, ended) = reading.await.unwrap();
    let error = first.unwrap().unwrap_err();
    assert_eq!(error.to_string(), "nothing happened for 120000 ms while reading the response body");
    assert!(ended);
    until("the connection is closed", || server.open() == 0).await;
}

#[tokio::test]
async fn dropping_an_exchange_closes_its_connection_at_once() {
    let server = Server::new(|mut stream, _| async move {
        let head = read_head(&mut stream).await.unwrap();
        if head.starts_with("GET /body") {
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n123").await.unwrap();
        }
        until_closed(&mut stream).await;
    })
    .await;
    let client = client();
    let mut body = client.send(get(server.url("/body"))).await.unwrap().into_body();
    assert_eq!(body.data().await.unwrap().unwrap(), "123");
    assert_eq!(server.open(), 1);
    drop(body);
    until("the connection of the body is closed", || server.open() == 0).await;

    let sending = tokio::spawn(client.send(get(server.url("/head"))));
    until("the server has a connection", || server.open() == 1).await;
    sending.abort();
    until("the connection of the request is closed", || server.open() == 0).await;
    assert_eq!(server.accepted(), 2);
}

#[tokio::test]
async fn an_upload_that_goes_on_is_alive() {
    let (go, gone) = mpsc::channel::<Result<http_body::Frame<bytes::Bytes>, HttpError>>(1);
    let server = Server::answering("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").await;
    let frames = futures_util::stream::unfold(gone, |mut gone| async { Some((gone.recv().await?, gone)) });
    let body = Body::new(http_body_util::StreamBody::new(Box::pin(frames)));
    let (builder, timer) = plain();
    let stack: HttpStack = builder.head_timeout(Duration::from_secs(5)).build();
    // The server answers only when it is asked to: not before the upload has ended.
    let slow = Server::new(move |mut stream, _| async move {
        read_head(&mut stream).await.unwrap();
        let mut all = Vec::new();
        while !all.ends_with(b"0\r\n\r\n") {
            all.push(tokio::io::AsyncReadExt::read_u8(&mut stream).await.unwrap());
        }
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").await.unwrap();
    })
    .await;
    drop(server);
    let request = http::Request::post(slow.url("/")).body(body).unwrap();
    let sending = tokio::spawn(agent_core::HttpClient::from(stack).send(request));
    timer.wait_for_sleeping(1).await;
    until("the server has a connection", || slow.open() == 1).await;
    for _ in 0..5 {
        timer.wait_for_sleeping(1).await;
        go.send(Ok(http_body::Frame::data("part".into()))).await.unwrap();
        until("the part is taken", || go.capacity() == 1).await;
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
        timer.advance(Duration::from_secs(5));
    }
    drop(go);
    assert_eq!(text(sending.await.unwrap().unwrap()).await.unwrap(), "ok");
}
