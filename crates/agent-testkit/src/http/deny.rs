//! A client that must not be used.

use std::{
    future::{Ready, ready},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
};

use agent_core::{Body, HttpClient, HttpError};
use http::{Request, Response};
use tower_service::Service;

/// A tower service that denies every request, with an error that names it and is not worth a retry,
/// and counts them. A clone counts into the same number.
///
/// ```
/// let deny = agent_testkit::DenySend::new();
/// let client = deny.client();
/// // ... whatever must not send ...
/// # drop(client);
/// assert_eq!(deny.count(), 0);
/// ```
#[derive(Debug, Clone, Default)]
pub struct DenySend(Arc<AtomicUsize>);

impl DenySend {
    /// A client that has denied nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// It as the client that providers take.
    pub fn client(&self) -> HttpClient {
        HttpClient::new(self.clone())
    }

    /// How many requests were denied.
    pub fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

impl Service<Request<Body>> for DenySend {
    type Response = Response<Body>;
    type Error = HttpError;
    type Future = Ready<Result<Response<Body>, HttpError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), HttpError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        self.0.fetch_add(1, Ordering::SeqCst);
        let reason = format!("{} was denied; this test must not send", super::name(&request));
        ready(Err(HttpError::InvalidRequest { reason }))
    }
}
