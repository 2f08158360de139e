//! The layer of [`ConnectRetry`].

use std::{fmt, sync::Arc, time::Duration};

use agent_core::Timer;
use tower_layer::Layer;

use super::ConnectRetry;

/// Sends a request again where its connection could not be made, so that provably nothing was sent.
///
/// Only failures that may pass are tried again: not a certificate, not a proxy's refusal, not an error
/// of the request. Statuses and broken exchanges are the loop's business.
#[derive(Clone)]
pub struct ConnectRetryLayer {
    pub(super) times: u32,
    pub(super) first: Duration,
    pub(super) timer: Arc<dyn Timer>,
}

impl ConnectRetryLayer {
    /// With this many further attempts; the first after this delay, each next after twice as long.
    pub fn new(times: u32, first: Duration, timer: Arc<dyn Timer>) -> Self {
        Self { times, first, timer }
    }
}

impl<S> Layer<S> for ConnectRetryLayer {
    type Service = ConnectRetry<S>;

    fn layer(&self, inner: S) -> ConnectRetry<S> {
        ConnectRetry::new(inner, self.clone())
    }
}

impl fmt::Debug for ConnectRetryLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { times, first, .. } = self;
        f.debug_struct("ConnectRetryLayer").field("times", times).field("first", first).finish_non_exhaustive()
    }
}
