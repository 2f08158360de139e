//! The service that keeps a request until it is on its way.

use std::{
    mem,
    task::{Context, Poll},
};

use agent_core::{Body, HttpError};
use http::{Request, Response};
use tower_service::Service;

use super::{ConnectRetryFuture, ConnectRetryLayer};

/// Sends a request again where its connection could not be made; see [`ConnectRetryLayer`].
#[derive(Debug, Clone)]
pub struct ConnectRetry<S> {
    inner: S,
    policy: ConnectRetryLayer,
}

impl<S> ConnectRetry<S> {
    pub(super) fn new(inner: S, policy: ConnectRetryLayer) -> Self {
        Self { inner, policy }
    }
}

impl<S> Service<Request<Body>> for ConnectRetry<S>
where
    S: Service<Request<Body>, Response = Response<Body>, Error = HttpError> + Clone,
{
    type Response = Response<Body>;
    type Error = HttpError;
    type Future = ConnectRetryFuture<S>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), HttpError>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let clone = self.inner.clone();
        ConnectRetryFuture::new(mem::replace(&mut self.inner, clone), request, self.policy.clone())
    }
}
