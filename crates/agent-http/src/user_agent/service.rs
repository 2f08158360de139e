//! The service that adds the header.

use std::task::{Context, Poll};

use http::{HeaderValue, Request, header::USER_AGENT};
use tower_service::Service;

/// Adds a `user-agent` header to requests that have none.
#[derive(Debug, Clone)]
pub struct UserAgent<S> {
    inner: S,
    value: HeaderValue,
}

impl<S> UserAgent<S> {
    pub(super) fn new(inner: S, value: HeaderValue) -> Self {
        Self { inner, value }
    }
}

impl<S: Service<Request<B>>, B> Service<Request<B>> for UserAgent<S> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, mut request: Request<B>) -> S::Future {
        request.headers_mut().entry(USER_AGENT).or_insert_with(|| self.value.clone());
        self.inner.call(request)
    }
}
