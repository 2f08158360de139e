//! The response of [`Gzip`](super::Gzip).

use std::{
    fmt,
    future::Future,
    pin::Pin,
    task::{Context, Poll, ready},
};

use agent_core::{Body, HttpError};
use http::{
    Response,
    header::{CONTENT_ENCODING, CONTENT_LENGTH},
};
use pin_project_lite::pin_project;

use super::body::GzipBody;

pin_project! {
    /// Resolves to the inner response, decoded; dropping it drops the exchange.
    pub struct GzipFuture<F> {
        #[pin]
        inner: F,
        ours: bool,
    }
}

impl<F> GzipFuture<F> {
    pub(super) fn new(inner: F, ours: bool) -> Self {
        Self { inner, ours }
    }
}

impl<F: Future<Output = Result<Response<Body>, HttpError>>> Future for GzipFuture<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let mut response = ready!(this.inner.poll(cx))?;
        let headers = response.headers_mut();
        let is_gzip = headers.get(CONTENT_ENCODING).is_some_and(|encoding| {
            let encoding = encoding.as_bytes().trim_ascii();
            encoding.eq_ignore_ascii_case(b"gzip") || encoding.eq_ignore_ascii_case(b"x-gzip")
        });
        if !*this.ours || !is_gzip {
            return Poll::Ready(Ok(response));
        }
        headers.remove(CONTENT_ENCODING);
        headers.remove(CONTENT_LENGTH);
        Poll::Ready(Ok(response.map(|body| Body::new(GzipBody::new(body)))))
    }
}

impl<F> fmt::Debug for GzipFuture<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GzipFuture").finish_non_exhaustive()
    }
}
