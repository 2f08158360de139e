//! Cooperative cancellation; hides tokio-util from the public API.

use std::{future::Future, pin::pin, task::Poll};

/// Tells work to stop soon.
///
/// ```
/// let cancel = agent_core::CancelToken::new();
/// let child = cancel.child();
/// cancel.cancel();
/// assert!(child.is_cancelled());
/// ```
#[derive(Debug, Clone, Default)]
pub struct CancelToken(tokio_util::sync::CancellationToken);

impl CancelToken {
    /// A new token.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks everything that holds the token, or a child of it, to stop.
    pub fn cancel(&self) {
        self.0.cancel();
    }

    /// Whether it was asked to stop.
    pub fn is_cancelled(&self) -> bool {
        self.0.is_cancelled()
    }

    /// Resolves once it was asked to stop; cancel-safe.
    pub fn cancelled(&self) -> impl Future<Output = ()> + Send + '_ {
        self.0.cancelled()
    }

    /// A token that stops with this one, and can stop alone.
    #[must_use]
    pub fn child(&self) -> Self {
        Self(self.0.child_token())
    }

    /// Stops when the guard is dropped.
    #[must_use]
    pub fn drop_guard(self) -> DropGuard {
        DropGuard(self.0.drop_guard())
    }

    /// Runs a future until it is done or this token is cancelled; `None` then. The future is dropped
    /// in either case.
    pub async fn race<F: Future>(&self, future: F) -> Option<F::Output> {
        let (mut cancelled, mut future) = (pin!(self.0.cancelled()), pin!(future));
        std::future::poll_fn(|cx| match cancelled.as_mut().poll(cx) {
            // Cancel first: what was cancelled before it began does not begin.
            Poll::Ready(()) => Poll::Ready(None),
            Poll::Pending => future.as_mut().poll(cx).map(Some),
        })
        .await
    }
}

/// Cancels its token when it is dropped.
#[derive(Debug)]
pub struct DropGuard(#[expect(dead_code, reason = "works by being dropped")] tokio_util::sync::DropGuard);
