//! The innermost service: one exchange over a pooled connection.

mod classify;
mod connection;
mod pool;
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

use agent_core::{Body, BoxFuture, HttpError, HttpPhase};
use http::{Method, Request, Response, Uri, Version, header::PROXY_AUTHORIZATION, uri::Scheme};
use hyper::body::Incoming;
use tower_service::Service;

use self::{
    connection::{Connection, Unanswered},
    pool::{Host, Pool},
    received::{Lease, Received},
    upload::{Progress, Upload},
};
use crate::{connect::Connector, timer::millis};

/// The most that is read from an HTTP/1 connection at once, and the largest head, in bytes.
const READ_BUFFER: usize = 16 * 1024;
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
    connector: Connector,
    pool: Arc<Pool>,
    head: Duration,
}

impl Transport {
    /// With this limit on the time to a head, and this many unused connections to one host.
    pub(crate) fn new(connector: Connector, head: Duration, idle_per_host: usize) -> Self {
        Self(Arc::new(Inner { connector, pool: Pool::new(idle_per_host), head }))
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
        let host = check(&request)?;
        let (parts, body) = request.into_parts();
        let uri = parts.uri.clone();
        let (body, progress) = Upload::new(body);
        let mut request = Request::from_parts(parts, body);
        if uri.scheme() == Some(&Scheme::HTTP)
            && let Some(authorization) = self.connector.0.proxies.for_uri(&uri).and_then(|proxy| proxy.authorization)
        {
            request.headers_mut().insert(PROXY_AUTHORIZATION, authorization);
        }
        loop {
            let kept = self.pool.take(&host);
            let is_kept = kept.is_some();
            let mut connection = match kept {
                Some(connection) => connection,
                None => self.connect(&uri, &host).await?,
            };
            connection.prepare(&mut request, &uri);
            match self.send(&mut connection, request, &progress).await? {
                Ok(response) => return Ok(self.received(response, connection, host, progress)),
                // A kept connection may be closed at any time, and nothing was written.
                Err(Unanswered { request: Some(unsent), .. }) if is_kept => {
                    if matches!(connection, Connection::Http2(_)) {
                        self.pool.unshare(&host);
                    }
                    request = *unsent;
                }
                Err(Unanswered { error, .. }) => return Err(classify::failed(error, &host.authority)),
            }
        }
    }

    async fn connect(&self, uri: &Uri, host: &Host) -> Result<Connection, HttpError> {
        let stream = self.connector.connect(uri.clone()).await?;
        match Connection::open(stream, &host.authority).await? {
            Connection::Http2(sender) => Ok(self.pool.share(host.clone(), sender)),
            http1 @ Connection::Http1(_) => Ok(http1),
        }
    }

    /// Sends a request over a connection. The time to the head counts from here, and anew from each
    /// piece of the request that went out: a request that is still being sent is alive.
    async fn send(
        &self,
        connection: &mut Connection,
        request: Request<Upload>,
        progress: &Progress,
    ) -> Result<Result<Response<Incoming>, Unanswered>, HttpError> {
        let mut response = pin!(connection.send(request));
        let mut deadline: Option<BoxFuture<'static, ()>> = None;
        let mut sent = 0;
        poll_fn(|cx| {
            if let Poll::Ready(result) = response.as_mut().poll(cx) {
                return Poll::Ready(Ok(result));
            }
            loop {
                let wait = deadline.get_or_insert_with(|| self.connector.0.timer.sleep(self.head));
                if wait.as_mut().poll(cx).is_pending() {
                    return Poll::Pending;
                }
                let now_sent = progress.sent();
                if now_sent == sent {
                    let after_ms = millis(self.head);
                    return Poll::Ready(Err(HttpError::Timeout { phase: HttpPhase::Head, after_ms }));
                }
                (sent, deadline) = (now_sent, None);
            }
        })
        .await
    }

    fn received(
        &self,
        response: Response<Incoming>,
        connection: Connection,
        host: Host,
        progress: Progress,
    ) -> Response<Body> {
        let lease = match connection {
            Connection::Http1(http1) => Some(Lease { http1, pool: self.pool.clone(), progress }),
            Connection::Http2(_) => None,
        };
        response.map(|body| Body::new(Received::new(body, host, lease)))
    }
}

/// Where a request goes. What could not be sent is refused, with words on what to change.
fn check(request: &Request<Body>) -> Result<Host, HttpError> {
    let uri = request.uri();
    let reason = if uri.host().is_none_or(str::is_empty) {
        "its address has no host: give the whole address, `https://host/path`"
    } else if !matches!(uri.scheme_str(), Some("http" | "https")) {
        "the scheme of its address is neither http nor https"
    } else if *request.method() == Method::CONNECT {
        "CONNECT is not a request; tunnels are made by proxy settings"
    } else if request.version() != Version::HTTP_11 {
        "its version is not HTTP/1.1, the default; HTTP/2 is chosen with the server"
    } else if let Some(host) = Host::of(uri) {
        return Ok(host);
    } else {
        "its address has no authority"
    };
    Err(HttpError::InvalidRequest { reason: reason.to_owned() })
}

impl fmt::Debug for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transport").field("head", &self.0.head).finish_non_exhaustive()
    }
}
