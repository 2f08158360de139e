//! The innermost service: one exchange over a pooled connection.

mod classify;
mod received;
mod upload;

use std::{
    fmt,
    future::{Future, poll_fn},
    pin::pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use agent_core::{Body, BoxFuture, HttpError, HttpPhase, Timer};
use http::{Method, Request, Response, Version, header::PROXY_AUTHORIZATION, uri::Scheme};
use hyper_util::{
    client::legacy::{Client, connect::capture_connection},
    rt::{TokioExecutor, TokioTimer as PoolTimer},
};
use tower_service::Service;

use self::{received::Received, upload::Upload};
use crate::{Proxies, connect::Connector, timer::millis};

/// The most that is read from an HTTP/1 connection at once, and the largest head, in bytes.
const READ_BUFFER: usize = 16 * 1024;
/// How many unused connections to one host are kept.
const IDLE_PER_HOST: usize = 32;
/// How long an unused connection is kept: less than the servers' usual limits.
const IDLE: Duration = Duration::from_secs(55);
/// An HTTP/2 connection in use that is silent for this long is pinged.
const PING: Duration = Duration::from_secs(30);
/// The answer to a ping must come within this time.
const PONG: Duration = Duration::from_secs(20);

/// Sends requests over pooled connections; a clone shares the pool.
///
/// It bounds the time to connect and the time from the end of the request to the head of the
/// response. Dropping its future, or the response body, closes the connection (or its HTTP/2 stream).
#[derive(Clone)]
pub(crate) struct Transport(Arc<Inner>);

struct Inner {
    client: Client<Connector, Upload>,
    proxies: Proxies,
    timer: Arc<dyn Timer>,
    head: Duration,
}

impl Transport {
    pub(crate) fn new(connector: Connector, head: Duration) -> Self {
        let (proxies, timer) = (connector.0.proxies.clone(), connector.0.timer.clone());
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(PoolTimer::new())
            .timer(PoolTimer::new())
            .pool_idle_timeout(IDLE)
            .pool_max_idle_per_host(IDLE_PER_HOST)
            .http1_max_buf_size(READ_BUFFER)
            .http2_keep_alive_interval(PING)
            .http2_keep_alive_timeout(PONG)
            .build(connector);
        Self(Arc::new(Inner { client, proxies, timer, head }))
    }
}

impl Service<Request<Body>> for Transport {
    type Response = Response<Body>;
    type Error = HttpError;
    type Future = BoxFuture<'static, Result<Response<Body>, HttpError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), HttpError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let inner = self.0.clone();
        Box::pin(async move { inner.exchange(request).await })
    }
}

impl Inner {
    async fn exchange(&self, request: Request<Body>) -> Result<Response<Body>, HttpError> {
        check(&request)?;
        let peer = request.uri().authority().cloned();
        let (parts, body) = request.into_parts();
        let (body, progress) = Upload::new(body);
        let mut request = Request::from_parts(parts, body);
        if request.uri().scheme() == Some(&Scheme::HTTP)
            && let Some(authorization) = self.proxies.for_uri(request.uri()).and_then(|proxy| proxy.authorization)
        {
            request.headers_mut().insert(PROXY_AUTHORIZATION, authorization);
        }

        let mut connection = capture_connection(&mut request);
        let mut response = pin!(self.client.request(request));
        let mut connected = pin!(connection.wait_for_connection_metadata());
        let mut is_connected = false;
        let mut deadline: Option<BoxFuture<'static, ()>> = None;
        let mut sent = 0;
        let response = poll_fn(|cx| {
            if let Poll::Ready(result) = response.as_mut().poll(cx) {
                let failed = |e| classify::failed(e, peer.as_ref());
                return Poll::Ready(result.map_err(failed));
            }
            // The time to the head counts from the connection; the connector bounds what is before.
            is_connected = is_connected || connected.as_mut().poll(cx).is_ready();
            if !is_connected {
                return Poll::Pending;
            }
            loop {
                let wait = deadline.get_or_insert_with(|| self.timer.sleep(self.head));
                if wait.as_mut().poll(cx).is_pending() {
                    return Poll::Pending;
                }
                // A request that is still being sent is alive.
                let now_sent = progress.sent();
                if now_sent == sent {
                    let after_ms = millis(self.head);
                    return Poll::Ready(Err(HttpError::Timeout { phase: HttpPhase::Head, after_ms }));
                }
                (sent, deadline) = (now_sent, None);
            }
        })
        .await?;
        Ok(response.map(|body| Body::new(Received::new(body, peer))))
    }
}

/// Refuses what could not be sent, with words on what to change.
fn check(request: &Request<Body>) -> Result<(), HttpError> {
    let uri = request.uri();
    let reason = if uri.host().is_none_or(str::is_empty) {
        "its address has no host: give the whole address, `https://host/path`"
    } else if !matches!(uri.scheme_str(), Some("http" | "https")) {
        "the scheme of its address is neither http nor https"
    } else if *request.method() == Method::CONNECT {
        "CONNECT is not a request; tunnels are made by proxy settings"
    } else if request.version() != Version::HTTP_11 {
        "its version is not HTTP/1.1, the default; HTTP/2 is chosen with the server"
    } else {
        return Ok(());
    };
    Err(HttpError::InvalidRequest { reason: reason.to_owned() })
}

impl fmt::Debug for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transport").field("head", &self.0.head).finish_non_exhaustive()
    }
}
