//! The clock and the sleeps of tokio.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use agent_core::{BoxFuture, Timer};

/// A [`Timer`] of the system's clock and tokio's timer; it sleeps only within a tokio runtime.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct TokioTimer;

impl TokioTimer {
    /// The timer.
    pub fn new() -> Self {
        Self
    }
}

impl Timer for TokioTimer {
    fn now_ms(&self) -> u64 {
        // A clock before 1970 is taken for 1970.
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(duration))
    }
}

/// A duration as it stands in an error.
pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
