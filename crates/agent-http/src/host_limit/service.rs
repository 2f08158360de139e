//! The service that waits for permits.

use std::{
    mem,
    sync::Arc,
    task::{Context, Poll},
};

use agent_core::{Body, HttpError};
use http::{Request, Response};
use tower_service::Service;

use super::{HostLimitFuture, hosts::Hosts};

/// Bounds how many exchanges with one host go on at once; see
/// [`HostLimitLayer`](super::HostLimitLayer).
#[derive(Debug, Clone)]
pub struct HostLimit<S> {
    inner: S,
    hosts: Arc<Hosts>,
}

impl<S> HostLimit<S> {
    pub(super) fn new(inner: S, hosts: Arc<Hosts>) -> Self {
        Self { inner, hosts }
    }
}

impl<S, B> Service<Request<B>> for HostLimit<S>
where
    S: Service<Request<B>, Response = Response<Body>, Error = HttpError> + Clone,
{
    type Response = Response<Body>;
    type Error = HttpError;
    type Future = HostLimitFuture<S, Request<B>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), HttpError>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let permits = self.hosts.of(request.uri());
        match permits.clone().try_acquire_owned() {
            Ok(permit) => HostLimitFuture::calling(self.inner.call(request), permit),
            Err(_) => {
                // The instance that is ready goes with the request (tower-service, "Backpressure").
                let clone = self.inner.clone();
                HostLimitFuture::waiting(mem::replace(&mut self.inner, clone), request, permits)
            }
        }
    }
}
