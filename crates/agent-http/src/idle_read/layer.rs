//! The layer of [`IdleRead`].

use std::{fmt, sync::Arc, time::Duration};

use agent_core::Timer;
use tower_layer::Layer;

use super::IdleRead;

/// Gives a response body up when no byte of it arrives for too long.
///
/// Any byte counts as life, those of a server-sent comment too. The whole body may take as long as it
/// likes, and time in which nobody reads is not counted.
#[derive(Clone)]
pub struct IdleReadLayer {
    limit: Duration,
    timer: Arc<dyn Timer>,
}

impl IdleReadLayer {
    /// With this longest silence.
    pub fn new(limit: Duration, timer: Arc<dyn Timer>) -> Self {
        Self { limit, timer }
    }
}

impl<S> Layer<S> for IdleReadLayer {
    type Service = IdleRead<S>;

    fn layer(&self, inner: S) -> IdleRead<S> {
        IdleRead::new(inner, self.limit, self.timer.clone())
    }
}

impl fmt::Debug for IdleReadLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IdleReadLayer").field("limit", &self.limit).finish_non_exhaustive()
    }
}
