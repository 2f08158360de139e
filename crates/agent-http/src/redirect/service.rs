//! The service that follows.

use std::task::{Context, Poll};

use agent_core::{Body, HttpError};
use http::{Request, Response};
use tower_service::Service;

use super::RedirectFuture;

/// Follows harmless redirects; see [`RedirectLayer`](super::RedirectLayer).
#[derive(Debug, Clone)]
pub struct Redirect<S>(S);

impl<S> Redirect<S> {
    pub(super) fn new(inner: S) -> Self {
        Self(inner)
    }
}

impl<S> Service<Request<Body>> for Redirect<S>
where
    S: Service<Request<Body>, Response = Response<Body>, Error = HttpError> + Clone,
{
    type Response = Response<Body>;
    type Error = HttpError;
    type Future = RedirectFuture<S>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), HttpError>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        RedirectFuture::new(&mut self.0, request)
    }
}
