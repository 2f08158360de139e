//! The service that wraps response bodies.

use std::{
    fmt,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use agent_core::{Body, HttpError, Timer};
use http::{Request, Response};
use tower_service::Service;

use super::IdleReadFuture;

/// Gives a response body up when no byte of it arrives for too long; see
/// [`IdleReadLayer`](super::IdleReadLayer).
#[derive(Clone)]
pub struct IdleRead<S> {
    inner: S,
    limit: Duration,
    timer: Arc<dyn Timer>,
}

impl<S> IdleRead<S> {
    pub(super) fn new(inner: S, limit: Duration, timer: Arc<dyn Timer>) -> Self {
        Self { inner, limit, timer }
    }
}

impl<S, B> Service<Request<B>> for IdleRead<S>
where
    S: Service<Request<B>, Response = Response<Body>, Error = HttpError>,
{
    type Response = Response<Body>;
    type Error = HttpError;
    type Future = IdleReadFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), HttpError>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        IdleReadFuture::new(self.inner.call(request), self.limit, self.timer.clone())
    }
}

impl<S: fmt::Debug> fmt::Debug for IdleRead<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IdleRead").field("inner", &self.inner).field("limit", &self.limit).finish_non_exhaustive()
    }
}
