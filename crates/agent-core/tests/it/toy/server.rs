//! A server in this process that answers by what it is asked, and notes what it was asked.

use std::{
    convert::Infallible,
    future::{Ready, ready},
    sync::{Arc, Mutex},
    task::{Context, Poll},
};

use agent_core::{Body, HttpClient};
use bytes::Bytes;
use futures_util::{FutureExt, stream};
use http::{Request, Response};
use http_body_util::StreamBody;
use serde_json::Value;
use tower_service::Service;

/// A request as the server saw it.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) headers: http::HeaderMap,
    pub(crate) body: Bytes,
}

impl Seen {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&self.body)))
    }
}

type Answer = dyn Fn(&Seen) -> (u16, Vec<Bytes>) + Send + Sync;

/// The server; a clone is the same server.
#[derive(Clone)]
pub(crate) struct Server {
    answer: Arc<Answer>,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Server {
    /// A server that answers with a status and a body in these pieces.
    pub(crate) fn new(answer: impl Fn(&Seen) -> (u16, Vec<Bytes>) + Send + Sync + 'static) -> Self {
        Self { answer: Arc::new(answer), seen: Arc::default() }
    }

    /// A model that calls `add` twice and `write` once, then says what came of it.
    pub(crate) fn with_tools() -> Self {
        Self::new(|seen| {
            let results = String::from_utf8_lossy(&seen.body).matches("\"result\":").count();
            let lines: &[&str] = match results {
                0 => &[
                    r#"{"text":"Let me "}"#,
                    r#"{"text":"see."}"#,
                    r#"{"call":"add","id":"v1"}"#,
                    r#"{"arguments":"{\"a\":1,"}"#,
                    r#"{"arguments":"\"b\":2}"}"#,
                    r#"{"call":"add","id":"v2"}"#,
                    r#"{"arguments":"{\"a\":3,\"b\":4}"}"#,
                    r#"{"usage":[100,20,0]}"#,
                    r#"{"stop":"toolUse"}"#,
                ],
                2 => &[
                    r#"{"call":"write","id":"v3"}"#,
                    r#"{"arguments":"{\"text\":\"3 and 7\"}"}"#,
                    r#"{"usage":[20,10,120]}"#,
                    r#"{"stop":"toolUse"}"#,
                ],
                _ => &[r#"{"text":"3 and 7."}"#, r#"{"usage":[10,5,150]}"#, r#"{"stop":"endTurn"}"#],
            };
            (200, lines.iter().map(|line| Bytes::from(format!("data: {line}\n\n"))).collect())
        })
    }

    /// A client that reaches this server and nothing else.
    pub(crate) fn client(&self) -> HttpClient {
        HttpClient::new(self.clone())
    }

    /// The requests so far.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }
}

impl Service<Request<Body>> for Server {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Ready<Result<Response<Body>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let (parts, body) = request.into_parts();
        let body = body.collect(1 << 30).now_or_never().unwrap().unwrap();
        let seen = Seen { headers: parts.headers, body };
        let (status, pieces) = (self.answer)(&seen);
        self.seen.lock().unwrap().push(seen);
        let frames = pieces.into_iter().map(|piece| Ok::<_, Infallible>(http_body::Frame::data(piece)));
        let body = Body::new(StreamBody::new(stream::iter(frames)));
        ready(Ok(Response::builder().status(status).header("request-id", "toy-1").body(body).unwrap()))
    }
}
