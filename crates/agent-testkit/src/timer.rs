//! A timer whose time moves only when the test says so.

use std::{
    collections::BTreeMap,
    fmt,
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
    time::Duration,
};

use agent_core::{BoxFuture, Timer};
use tokio::sync::watch;

/// A [`Timer`] that the test moves; a clone is the same timer. It needs no runtime.
///
/// ```
/// use std::time::Duration;
/// use agent_core::Timer;
/// let timer = agent_testkit::PausedTimer::at(1_000);
/// let sleep = timer.sleep(Duration::from_secs(5));
/// assert_eq!(timer.sleeping(), 1);
/// assert_eq!(timer.advance_to_next(), Some(Duration::from_secs(5)));
/// assert_eq!((timer.now_ms(), timer.sleeping()), (6_000, 0));
/// # drop(sleep);
/// ```
#[derive(Clone)]
pub struct PausedTimer(Arc<Shared>);

struct Shared {
    start_ms: u64,
    auto: bool,
    state: Mutex<State>,
    sleeping: watch::Sender<usize>,
}

/// Sleepers by deadline, then by the order in which they began to sleep.
type Key = (Duration, u64);

#[derive(Default)]
struct State {
    elapsed: Duration,
    begun: u64,
    sleepers: BTreeMap<Key, Option<Waker>>,
}

impl PausedTimer {
    /// A timer that stands at this time, in milliseconds since the Unix epoch.
    pub fn at(now_ms: u64) -> Self {
        Self::with(now_ms, false)
    }

    /// A timer at 0 that moves by itself: a sleep resolves when it is first polled and moves the
    /// time by its duration. For code that waits; a timeout fires at once under it.
    pub fn auto() -> Self {
        Self::with(0, true)
    }

    fn with(start_ms: u64, auto: bool) -> Self {
        let (state, sleeping) = (Mutex::default(), watch::Sender::new(0));
        Self(Arc::new(Shared { start_ms, auto, state, sleeping }))
    }

    /// Moves the time; sleepers whose deadline is reached are woken in the order of their deadlines.
    pub fn advance(&self, by: Duration) {
        let mut woken = Vec::new();
        {
            let mut state = self.0.lock();
            let now = state.elapsed.saturating_add(by);
            state.elapsed = now;
            while let Some(first) = state.sleepers.first_entry() {
                if first.key().0 > now {
                    break;
                }
                woken.extend(first.remove());
            }
            self.0.tell(&state);
        }
        woken.into_iter().for_each(Waker::wake);
    }

    /// Moves the time to the next deadline and says how far that was; `None`, and no move, where
    /// nobody sleeps.
    pub fn advance_to_next(&self) -> Option<Duration> {
        let by = {
            let state = self.0.lock();
            let (deadline, _) = state.sleepers.first_key_value()?.0;
            deadline.saturating_sub(state.elapsed)
        };
        self.advance(by);
        Some(by)
    }

    /// How many sleeps are waiting.
    pub fn sleeping(&self) -> usize {
        self.0.lock().sleepers.len()
    }

    /// Resolves once at least so many sleeps are waiting; dropping the future changes nothing.
    pub async fn wait_for_sleeping(&self, count: usize) {
        // An error means that the timer is gone, which `self` excludes.
        let _ = self.0.sleeping.subscribe().wait_for(|sleeping| *sleeping >= count).await;
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, state: &State) {
        self.sleeping.send_replace(state.sleepers.len());
    }
}

impl Timer for PausedTimer {
    fn now_ms(&self) -> u64 {
        let elapsed = u64::try_from(self.0.lock().elapsed.as_millis()).unwrap_or(u64::MAX);
        self.0.start_ms.saturating_add(elapsed)
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        if self.0.auto {
            let timer = self.clone();
            return Box::pin(async move { timer.advance(duration) });
        }
        let mut state = self.0.lock();
        let key = (state.elapsed.saturating_add(duration), state.begun);
        state.begun += 1;
        if !duration.is_zero() {
            state.sleepers.insert(key, None);
            self.0.tell(&state);
        }
        Box::pin(Sleep { shared: self.0.clone(), key })
    }
}

impl fmt::Debug for PausedTimer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (now_ms, sleeping) = (self.now_ms(), self.sleeping());
        f.debug_struct("PausedTimer").field("now_ms", &now_ms).field("sleeping", &sleeping).finish()
    }
}

struct Sleep {
    shared: Arc<Shared>,
    key: Key,
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        match self.shared.lock().sleepers.get_mut(&self.key) {
            Some(waker) => {
                *waker = Some(cx.waker().clone());
                Poll::Pending
            }
            None => Poll::Ready(()),
        }
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        if state.sleepers.remove(&self.key).is_some() {
            self.shared.tell(&state);
        }
    }
}
