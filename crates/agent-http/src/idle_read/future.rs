//! The response of [`IdleRead`](super::IdleRead).

use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use agent_core::{Body, HttpError, Timer};
use http::Response;
use pin_project_lite::pin_project;

use super::body::IdleBody;

pin_project! {
    /// Resolves to the inner response with a watched body; dropping it drops the exchange.
    pub struct IdleReadFuture<F> {
        #[pin]
        inner: F,
        limit: Duration,
        timer: Arc<dyn Timer>,
    }
}

impl<F> IdleReadFuture<F> {
    pub(super) fn new(inner: F, limit: Duration, timer: Arc<dyn Timer>) -> Self {
        Self { inner, limit, timer }
    }
}

impl<F: Future<Output = Result<Response<Body>, HttpError>>> Future for IdleReadFuture<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let response = ready!(this.inner.poll(cx))?;
        Poll::Ready(Ok(response.map(|body| Body::new(IdleBody::new(body, *this.limit, this.timer.clone())))))
    }
}

impl<F> fmt::Debug for IdleReadFuture<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IdleReadFuture").field("limit", &self.limit).finish_non_exhaustive()
    }
}
