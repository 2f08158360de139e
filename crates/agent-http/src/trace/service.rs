//! The service that opens the span.

use std::task::{Context, Poll};

use agent_core::{Body, HttpError};
use http::{Request, Response};
use tower_service::Service;
use tracing::field::Empty;

use super::TraceFuture;

/// Opens a span for each exchange; see [`TraceLayer`](super::TraceLayer).
#[derive(Debug, Clone)]
pub struct Trace<S>(S);

impl<S> Trace<S> {
    pub(super) fn new(inner: S) -> Self {
        Self(inner)
    }
}

impl<S, B> Service<Request<B>> for Trace<S>
where
    S: Service<Request<B>, Response = Response<Body>, Error = HttpError>,
{
    type Response = Response<Body>;
    type Error = HttpError;
    type Future = TraceFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), HttpError>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let uri = request.uri();
        let span = tracing::debug_span!(
            "http_request",
            otel.kind = "client",
            http.request.method = request.method().as_str(),
            server.address = uri.host().unwrap_or_default(),
            server.port = uri.port_u16(),
            http.response.status_code = Empty,
            error.type = Empty,
        );
        let inner = span.in_scope(|| self.0.call(request));
        TraceFuture::new(inner, span)
    }
}
