//! Time, given from outside.

use std::time::Duration;

use crate::BoxFuture;

/// A clock and a way to wait; the host's, or a test's.
pub trait Timer: Send + Sync {
    /// Milliseconds since the Unix epoch.
    fn now_ms(&self) -> u64;

    /// Resolves after `duration`; dropping the future ends the wait.
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()>;
}
