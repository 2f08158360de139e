//! One connection that speaks HTTP: how it begins, and how a request goes over it.

use agent_core::{HttpError, HttpPhase};
use http::{
    HeaderValue, Request, Response, Uri,
    header::HOST,
    uri::{Authority, PathAndQuery, Scheme},
};
use hyper::{
    body::Incoming,
    client::conn::{TrySendError, http1, http2},
};
use hyper_util::rt::{TokioExecutor, TokioTimer};

use super::{PING, PONG, READ_BUFFER, classify, upload::Upload};
use crate::connect::Stream;

/// The way to a connection, whose task ends with it.
pub(super) enum Connection {
    /// For one exchange at a time.
    Http1(Http1),
    /// For many; a clone goes to the same connection.
    Http2(http2::SendRequest<Upload>),
}

/// The way to an HTTP/1 connection. Dropping it closes the connection.
pub(super) struct Http1 {
    pub(super) sender: http1::SendRequest<Upload>,
    /// Whether a proxy reads the requests, which wants to see whole addresses.
    proxied: bool,
}

/// A request without a response.
pub(super) struct Unanswered {
    /// The request, where nothing of it was written.
    pub(super) request: Option<Box<Request<Upload>>>,
    pub(super) error: hyper::Error,
}

impl Connection {
    /// Begins to speak HTTP, in a task that lives as long as the connection.
    pub(super) async fn open(stream: Stream, peer: &Authority) -> Result<Self, HttpError> {
        let failed = |error| classify::typed(HttpPhase::Connect, error, peer);
        let proxied = stream.is_proxied();
        if stream.is_http2() {
            let mut builder = http2::Builder::new(TokioExecutor::new());
            builder.timer(TokioTimer::new()).keep_alive_interval(PING).keep_alive_timeout(PONG);
            let (sender, connection) = builder.handshake(stream).await.map_err(failed)?;
            tokio::spawn(async move { ended(connection.await) });
            return Ok(Self::Http2(sender));
        }
        let mut builder = http1::Builder::new();
        let (sender, connection) = builder.max_buf_size(READ_BUFFER).handshake(stream).await.map_err(failed)?;
        tokio::spawn(async move { ended(connection.await) });
        Ok(Self::Http1(Http1 { sender, proxied }))
    }

    /// Gives a request to this whole address the form that the connection wants.
    pub(super) fn prepare(&self, request: &mut Request<Upload>, uri: &Uri) {
        *request.uri_mut() = uri.clone();
        let Self::Http1(Http1 { proxied, .. }) = self else { return };
        if !request.headers().contains_key(HOST)
            && let Some(host) = host(uri)
        {
            request.headers_mut().insert(HOST, host);
        }
        if !proxied {
            let target = uri.path_and_query().cloned().unwrap_or_else(|| PathAndQuery::from_static("/"));
            *request.uri_mut() = Uri::from(target);
        }
    }

    /// Sends a request as soon as the connection is free; resolves to the head of the response.
    pub(super) async fn send(&mut self, request: Request<Upload>) -> Result<Response<Incoming>, Unanswered> {
        let ready = match self {
            Self::Http1(http1) => http1.sender.ready().await,
            Self::Http2(sender) => sender.ready().await,
        };
        if let Err(error) = ready {
            return Err(Unanswered { request: Some(Box::new(request)), error });
        }
        let result = match self {
            Self::Http1(http1) => http1.sender.try_send_request(request).await,
            Self::Http2(sender) => sender.try_send_request(request).await,
        };
        result.map_err(|mut error: TrySendError<_>| Unanswered {
            request: error.take_message().map(Box::new),
            error: error.into_error(),
        })
    }
}

/// Where a connection fails, its exchange says so, too.
fn ended(result: hyper::Result<()>) {
    if let Err(error) = result {
        tracing::debug!(error = %error, "a connection ended");
    }
}

/// The value of `Host`: without the user, and without the port that goes without saying.
fn host(uri: &Uri) -> Option<HeaderValue> {
    let host = uri.host()?;
    let usual = if uri.scheme() == Some(&Scheme::HTTPS) { 443 } else { 80 };
    match uri.port_u16().filter(|port| *port != usual) {
        Some(port) => HeaderValue::try_from(format!("{host}:{port}")).ok(),
        None => HeaderValue::from_str(host).ok(),
    }
}
