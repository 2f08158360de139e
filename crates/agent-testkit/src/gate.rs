//! A gate that a test opens: the way to wait without a clock.

use agent_core::CancelToken;

/// Holds a double until the test opens it, and tells the test that the double has arrived.
///
/// A clone is the same gate. An open gate stays open.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let gate = agent_testkit::Gate::new();
/// let double = async { gate.pass().await };
/// let test = async {
///     gate.reached().await;
///     gate.open();
/// };
/// tokio::join!(double, test);
/// # });
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Gate {
    opened: CancelToken,
    reached: CancelToken,
}

impl Gate {
    /// A closed gate.
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets everything pass that waits, or comes later.
    pub fn open(&self) {
        self.opened.cancel();
    }

    /// Whether it was opened.
    pub fn is_open(&self) -> bool {
        self.opened.is_cancelled()
    }

    /// Resolves once somebody has come to the gate; dropping the future changes nothing.
    pub async fn reached(&self) {
        self.reached.cancelled().await;
    }

    /// Comes to the gate and resolves when it is open; dropping the future leaves the gate as it is.
    pub async fn pass(&self) {
        self.reached.cancel();
        self.opened.cancelled().await;
    }
}
