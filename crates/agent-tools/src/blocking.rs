//! File work on tokio's blocking threads, which is told when nobody waits for it any more.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use agent_core::{CancelToken, ToolError};

/// Says to work on another thread that it should end.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stop {
    asked: Arc<AtomicBool>,
    deadline: Option<Instant>,
}

impl Stop {
    /// Stops by itself after a time, too.
    pub(crate) fn after(limit: Duration) -> Self {
        Self { asked: Arc::default(), deadline: Instant::now().checked_add(limit) }
    }

    /// Whether nobody waits any more.
    pub(crate) fn is_asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }

    /// Whether the time is over.
    pub(crate) fn is_late(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Ends work that nobody waits for.
    pub(crate) fn check(&self) -> Result<(), ToolError> {
        if self.is_asked() { Err(ToolError::Cancelled) } else { Ok(()) }
    }
}

struct StopOnDrop(Stop);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.asked.store(true, Ordering::Relaxed);
    }
}

/// How a cancelled call ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnCancel {
    /// At once: what the thread still does changes nothing.
    Leave,
    /// When the thread has stopped, so that the answer says what became of the change.
    Wait,
}

/// Does work on a blocking thread. Dropping the future asks the work to stop.
pub(crate) async fn run<T: Send + 'static>(
    cancel: &CancelToken,
    stop: Stop,
    on_cancel: OnCancel,
    work: impl FnOnce(&Stop) -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    if cancel.is_cancelled() {
        return Err(ToolError::Cancelled);
    }
    let guard = StopOnDrop(stop.clone());
    let mut task = tokio::task::spawn_blocking(move || work(&stop));
    let joined = match cancel.race(&mut task).await {
        Some(joined) => joined,
        None if on_cancel == OnCancel::Leave => return Err(ToolError::Cancelled),
        None => {
            drop(guard);
            task.await
        }
    };
    joined.unwrap_or_else(|e| {
        Err(ToolError::Failed { message: "the tool broke off".to_owned(), source: Some(Box::new(e)) })
    })
}
