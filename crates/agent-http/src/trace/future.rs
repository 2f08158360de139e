//! The response of [`Trace`](super::Trace).

use std::{
    fmt,
    future::Future,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Instant,
};

use agent_core::{Body, HttpError};
use http::Response;
use pin_project_lite::pin_project;
use tracing::Span;

use super::body::TracedBody;

pin_project! {
    /// Resolves to the inner response; the span lasts until its body ends or is dropped.
    pub struct TraceFuture<F> {
        #[pin]
        inner: F,
        span: Span,
        start: Option<Instant>,
    }
}

impl<F> TraceFuture<F> {
    pub(super) fn new(inner: F, span: Span) -> Self {
        let start = (!span.is_disabled()).then(Instant::now);
        Self { inner, span, start }
    }
}

impl<F: Future<Output = Result<Response<Body>, HttpError>>> Future for TraceFuture<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let Some(start) = *this.start else { return this.inner.poll(cx) };
        let _entered = this.span.enter();
        Poll::Ready(match ready!(this.inner.poll(cx)) {
            Ok(response) => {
                this.span.record("http.response.status_code", response.status().as_u16());
                tracing::debug!(elapsed_ms = elapsed_ms(start), "response head");
                Ok(response.map(|body| Body::new(TracedBody::new(body, this.span.clone(), start))))
            }
            Err(error) => {
                record(this.span, &error);
                tracing::debug!(elapsed_ms = elapsed_ms(start), "no response");
                Err(error)
            }
        })
    }
}

pub(super) fn elapsed_ms(start: Instant) -> u64 {
    u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// Notes the kind of an error; its text could hold what is not for logs.
pub(super) fn record(span: &Span, error: &HttpError) {
    let kind = match error {
        HttpError::Network { .. } => "network",
        HttpError::Timeout { .. } => "timeout",
        HttpError::BodyTooLarge { .. } => "body_too_large",
        HttpError::Redirect { .. } => "redirect",
        HttpError::InvalidRequest { .. } => "invalid_request",
        _ => "_OTHER",
    };
    span.record("error.type", kind);
}

impl<F> fmt::Debug for TraceFuture<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TraceFuture").field("span", &self.span).finish_non_exhaustive()
    }
}
