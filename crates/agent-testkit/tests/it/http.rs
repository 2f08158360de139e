//! The clients in process.

use agent_core::{Billed, Body, HttpError, HttpPhase, ProviderError, ProviderErrorKind};
use agent_testkit::{DenySend, Gate, HttpReply, ScriptedHttp};
use bytes::Bytes;
use futures_util::FutureExt;
use http::{Method, Request, StatusCode};

use crate::support::Tested;

fn request(body: &'static str) -> Result<Request<Body>, http::Error> {
    Request::post("https://x.example/v1/a?key=secret").header("b", "1").body(Body::full(body))
}

fn broken() -> HttpError {
    HttpError::Network { phase: HttpPhase::Body, source: "cut".into() }
}

#[tokio::test]
async fn deny_names_and_counts() -> Tested {
    let deny = DenySend::new();
    for count in 1..=2 {
        let error = deny.client().send(request("")?).await.err().ok_or("sent")?;
        let expected = "the request cannot be sent: \
                        POST x.example/v1/a was denied; this test must not send";
        assert_eq!((error.to_string().as_str(), deny.count()), (expected, count));
        assert_eq!(error.billed(), Billed::No);
        assert!(!ProviderError::from(error).is_retryable());
    }
    Ok(())
}

#[tokio::test]
async fn a_reply_comes_in_its_pieces() -> Tested {
    let reply = HttpReply::new(StatusCode::TOO_MANY_REQUESTS).header("a", "1").header("a", "2").body(["da", "", "ta"]);
    let http = ScriptedHttp::new([reply]);
    let mut response = http.client().send(request("question")?).await?;
    assert_eq!(response.status(), StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(response.headers().get_all("a").iter().collect::<Vec<_>>(), ["1", "2"]);
    let mut pieces = Vec::new();
    while let Some(piece) = response.body_mut().data().await {
        pieces.push(piece?);
    }
    assert_eq!(pieces, ["da", "", "ta"].map(Bytes::from));

    let seen = http.requests();
    let seen = seen.first().ok_or("no request")?;
    assert_eq!((&seen.method, seen.uri.query()), (&Method::POST, Some("key=secret")));
    assert_eq!((&seen.body[..], seen.headers["b"].as_bytes()), (&b"question"[..], &b"1"[..]));

    let over = http.client().send(request("")?).await.err().ok_or("sent")?;
    let expected = "the request cannot be sent: \
                    the script has no reply for POST x.example/v1/a; push another";
    assert_eq!(over.to_string(), expected);
    assert!(!ProviderError::from(over).is_retryable());
    http.push(HttpReply::new(StatusCode::OK).header("no header", "1"));
    let bad = http.client().send(request("")?).await.err().ok_or("sent")?;
    assert!(matches!(bad, HttpError::InvalidRequest { .. }));
    Ok(())
}

#[tokio::test]
async fn bodies_break_and_wait_where_they_are_told_to() -> Tested {
    for (after, expected) in [(0, 0), (1, 1), (2, 2), (9, 2)] {
        let reply = HttpReply::new(StatusCode::OK).body(["a", "b"]).error_after(after, broken());
        let mut body = ScriptedHttp::new([reply]).client().send(request("")?).await?.into_body();
        let mut pieces = 0;
        let error = loop {
            match body.data().await.ok_or("no error")? {
                Ok(_) => pieces += 1,
                Err(error) => break error,
            }
        };
        assert!(matches!(error, HttpError::Network { phase: HttpPhase::Body, .. }));
        assert_eq!(pieces, expected);
        assert!(body.data().await.is_none());
    }

    let (head, middle) = (Gate::new(), Gate::new());
    let reply = HttpReply::new(StatusCode::OK).body(["a", "b"]);
    let http = ScriptedHttp::new([reply.wait(&head).wait_after(1, &middle)]);
    let mut sent = http.client().send(request("")?);
    assert!(sent.as_mut().now_or_never().is_none());
    assert_eq!(http.requests().len(), 1);
    head.open();
    let mut body = sent.await?.into_body();
    assert_eq!(body.data().await.ok_or("ended")??, "a");
    assert!(body.data().now_or_never().is_none());
    middle.open();
    assert_eq!(body.collect(10).await?, "b");

    let failing = ScriptedHttp::new([HttpReply::error(broken())]);
    let failed = failing.client().send(request("")?).await.err();
    let kind = failed.map(|e| ProviderError::from(e).kind());
    assert_eq!(kind, Some(ProviderErrorKind::Network));
    Ok(())
}
