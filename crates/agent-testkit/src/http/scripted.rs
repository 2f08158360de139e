//! A client that plays a script.

use std::{
    collections::VecDeque,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
};

use agent_core::{Body, BoxFuture, HttpClient, HttpError};
use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response, Uri};
use tower_service::Service;

use super::HttpReply;

/// How large a request body may be.
const MAX_BODY: usize = 256 * 1024 * 1024;

/// A request as it was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordedRequest {
    /// The method.
    pub method: Method,
    /// The address.
    pub uri: Uri,
    /// The headers.
    pub headers: HeaderMap,
    /// The whole body.
    pub body: Bytes,
}

/// A tower service that plays one [`HttpReply`] after the other, one for each request, and records
/// the requests. A clone is the same service.
///
/// A request takes its reply when its body is whole. When the script is over, requests fail with an
/// error that is not worth a retry.
#[derive(Clone, Default)]
pub struct ScriptedHttp(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    replies: VecDeque<HttpReply>,
    requests: Vec<RecordedRequest>,
}

impl ScriptedHttp {
    /// A service with this script.
    pub fn new(replies: impl IntoIterator<Item = HttpReply>) -> Self {
        let replies = replies.into_iter().collect();
        Self(Arc::new(Mutex::new(State { replies, requests: Vec::new() })))
    }

    /// It as the client that providers take.
    pub fn client(&self) -> HttpClient {
        HttpClient::new(self.clone())
    }

    /// Adds a reply to the end of the script.
    pub fn push(&self, reply: HttpReply) {
        self.lock().replies.push_back(reply);
    }

    /// The requests, oldest first.
    pub fn requests(&self) -> Vec<RecordedRequest> {
        self.lock().requests.clone()
    }

    /// How many replies were not played yet.
    pub fn remaining(&self) -> usize {
        self.lock().replies.len()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Service<Request<Body>> for ScriptedHttp {
    type Response = Response<Body>;
    type Error = HttpError;
    type Future = BoxFuture<'static, Result<Response<Body>, HttpError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), HttpError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let this = self.clone();
        Box::pin(async move {
            let name = super::name(&request);
            let (parts, body) = request.into_parts();
            let body = body.collect(MAX_BODY).await?;
            let (method, uri, headers) = (parts.method, parts.uri, parts.headers);
            let reply = {
                let mut state = this.lock();
                state.requests.push(RecordedRequest { method, uri, headers, body });
                state.replies.pop_front()
            };
            let reply = reply.ok_or_else(|| HttpError::InvalidRequest {
                reason: format!("the script has no reply for {name}; push another"),
            })?;
            if let Some(gate) = &reply.gate {
                gate.pass().await;
            }
            reply.head.and_then(super::reply::Head::response)
        })
    }
}

impl fmt::Debug for ScriptedHttp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (sent, remaining) = (self.requests().len(), self.remaining());
        f.debug_struct("ScriptedHttp").field("sent", &sent).field("remaining", &remaining).finish()
    }
}
