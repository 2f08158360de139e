//! The response of [`HostLimit`](super::HostLimit).

use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use agent_core::{Body, BoxFuture, HttpError};
use http::Response;
use pin_project_lite::pin_project;
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};
use tower_service::Service;

use super::body::HeldBody;

pin_project! {
    /// Waits for a permit, then for the response. Dropping it gives the place or the permit back.
    pub struct HostLimitFuture<S, R>
    where
        S: Service<R>,
    {
        waiting: Option<Waiting<S, R>>,
        #[pin]
        calling: Option<S::Future>,
        permit: Option<OwnedSemaphorePermit>,
    }
}

struct Waiting<S, R> {
    service: S,
    request: R,
    acquire: BoxFuture<'static, Result<OwnedSemaphorePermit, AcquireError>>,
}

impl<S: Service<R>, R> HostLimitFuture<S, R> {
    pub(super) fn calling(future: S::Future, permit: OwnedSemaphorePermit) -> Self {
        Self { waiting: None, calling: Some(future), permit: Some(permit) }
    }

    pub(super) fn waiting(service: S, request: R, permits: Arc<Semaphore>) -> Self {
        let waiting = Waiting { service, request, acquire: Box::pin(permits.acquire_owned()) };
        Self { waiting: Some(waiting), calling: None, permit: None }
    }
}

impl<S, R> Future for HostLimitFuture<S, R>
where
    S: Service<R, Response = Response<Body>, Error = HttpError>,
{
    type Output = Result<Response<Body>, HttpError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        if let Some(waiting) = this.waiting.as_mut() {
            // The semaphore is never closed; if it were, it would bound nothing.
            *this.permit = ready!(waiting.acquire.as_mut().poll(cx)).ok();
            if let Some(Waiting { mut service, request, .. }) = this.waiting.take() {
                this.calling.set(Some(service.call(request)));
            }
        }
        let Some(calling) = this.calling.as_mut().as_pin_mut() else {
            // Polled again after its end.
            return Poll::Pending;
        };
        let result = ready!(calling.poll(cx));
        this.calling.set(None);
        let permit = this.permit.take();
        Poll::Ready(result.map(|response| response.map(|body| Body::new(HeldBody::new(body, permit)))))
    }
}

impl<S: Service<R>, R> fmt::Debug for HostLimitFuture<S, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostLimitFuture").field("waiting", &self.waiting.is_some()).finish_non_exhaustive()
    }
}
