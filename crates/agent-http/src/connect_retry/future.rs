//! The response of [`ConnectRetry`](super::ConnectRetry).

use std::{
    fmt,
    future::Future,
    pin::Pin,
    task::{Context, Poll, ready},
};

use agent_core::{Body, BoxFuture, HttpError, HttpPhase};
use http::{Request, Response, request::Parts};
use pin_project_lite::pin_project;
use tower_service::Service;

use super::{ConnectRetryLayer, body::Slot};
use crate::TransportError;

pin_project! {
    /// Attempts and the waits between them; dropping it ends both.
    pub struct ConnectRetryFuture<S>
    where
        S: Service<Request<Body>>,
    {
        service: S,
        parts: Parts,
        slot: Slot,
        policy: ConnectRetryLayer,
        tried: u32,
        sleep: Option<BoxFuture<'static, ()>>,
        #[pin]
        calling: Option<S::Future>,
    }
}

impl<S: Service<Request<Body>>> ConnectRetryFuture<S> {
    pub(super) fn new(mut service: S, request: Request<Body>, policy: ConnectRetryLayer) -> Self {
        let (parts, body) = request.into_parts();
        let slot = Slot::new(body);
        let first = slot.body().map(|body| service.call(Request::from_parts(parts.clone(), body)));
        Self { service, parts, slot, policy, tried: 0, sleep: None, calling: first }
    }
}

impl<S> Future for ConnectRetryFuture<S>
where
    S: Service<Request<Body>, Response = Response<Body>, Error = HttpError>,
{
    type Output = Result<Response<Body>, HttpError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        loop {
            if let Some(calling) = this.calling.as_mut().as_pin_mut() {
                let error = match ready!(calling.poll(cx)) {
                    Err(error) if may_pass(&error) && *this.tried < this.policy.times => error,
                    result => return Poll::Ready(result),
                };
                this.calling.set(None);
                // A body that was begun cannot be sent again.
                if this.slot.body().is_none() {
                    return Poll::Ready(Err(error));
                }
                let factor = 1_u32.checked_shl(*this.tried).unwrap_or(u32::MAX);
                tracing::debug!(error = %error, "no connection, trying again");
                *this.sleep = Some(this.policy.timer.sleep(this.policy.first.saturating_mul(factor)));
                *this.tried += 1;
            }
            if let Some(sleep) = this.sleep {
                ready!(sleep.as_mut().poll(cx));
                *this.sleep = None;
            }
            ready!(this.service.poll_ready(cx))?;
            let Some(body) = this.slot.body() else {
                // Polled again after its end.
                return Poll::Pending;
            };
            this.calling.set(Some(this.service.call(Request::from_parts(this.parts.clone(), body))));
        }
    }
}

/// Whether no connection was made, for a reason that may pass.
fn may_pass(error: &HttpError) -> bool {
    match error {
        HttpError::Timeout { phase: HttpPhase::Connect, .. } => true,
        HttpError::Network { phase: HttpPhase::Connect, source } => {
            TransportError::find(&**source).is_none_or(|error| error.kind().is_transient())
        }
        _ => false,
    }
}

impl<S: Service<Request<Body>>> fmt::Debug for ConnectRetryFuture<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConnectRetryFuture").field("tried", &self.tried).finish_non_exhaustive()
    }
}
