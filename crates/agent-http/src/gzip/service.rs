//! The service that asks.

use std::task::{Context, Poll};

use agent_core::{Body, HttpError};
use http::{
    HeaderValue, Request, Response,
    header::{ACCEPT, ACCEPT_ENCODING, RANGE},
};
use tower_service::Service;

use super::GzipFuture;

/// Asks for gzip and decodes it while it arrives; see [`GzipLayer`](super::GzipLayer).
#[derive(Debug, Clone)]
pub struct Gzip<S>(S);

impl<S> Gzip<S> {
    pub(super) fn new(inner: S) -> Self {
        Self(inner)
    }
}

impl<S, B> Service<Request<B>> for Gzip<S>
where
    S: Service<Request<B>, Response = Response<Body>, Error = HttpError>,
{
    type Response = Response<Body>;
    type Error = HttpError;
    type Future = GzipFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), HttpError>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, mut request: Request<B>) -> Self::Future {
        let headers = request.headers_mut();
        let ours = !headers.contains_key(ACCEPT_ENCODING) && !headers.contains_key(RANGE);
        let events = headers.get(ACCEPT).is_some_and(|accept| {
            accept.as_bytes().windows(17).any(|part| part.eq_ignore_ascii_case(b"text/event-stream"))
        });
        if ours && !events {
            headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
        }
        GzipFuture::new(self.0.call(request), ours)
    }
}
