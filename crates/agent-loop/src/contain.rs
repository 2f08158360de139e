//! Panics of other people's code, where panics unwind.

use std::{
    any::Any,
    future::Future,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use agent_core::{BoxFuture, Journal, JournalError, JournalRecord, Timer};

/// What a panic said.
pub(crate) fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    text.map_or_else(|| "panicked".to_owned(), |text| format!("panicked: {text}"))
}

/// Calls something that may panic. What it was given must not be used again after a panic, or be sound all the same.
pub(crate) fn call<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| message(&*panic))
}

/// A future whose panic is an error. It is built and polled under the net, and not polled again after a panic.
pub(crate) struct Contained<'a, T> {
    make: Option<Box<dyn FnOnce() -> BoxFuture<'a, T> + Send + 'a>>,
    future: Option<BoxFuture<'a, T>>,
}

impl<'a, T> Contained<'a, T> {
    pub(crate) fn new(make: impl FnOnce() -> BoxFuture<'a, T> + Send + 'a) -> Self {
        Self { make: Some(Box::new(make)), future: None }
    }
}

impl<T> Future for Contained<'_, T> {
    type Output = Result<T, String>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let polled = call(|| {
            if let Some(make) = this.make.take() {
                this.future = Some(make());
            }
            this.future.as_mut().map_or(Poll::Pending, |future| future.as_mut().poll(cx))
        });
        match polled {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(value)) => Poll::Ready(Ok(value)),
            Err(text) => {
                // Its destructor may panic as well; then the future is leaked, and nothing else.
                let future = this.future.take();
                let _ = call(move || drop(future));
                Poll::Ready(Err(text))
            }
        }
    }
}

/// Appends to a journal. One that panics has not written, as far as anybody knows; its future is not polled again.
pub(crate) fn append(
    journal: &dyn Journal,
    records: Vec<JournalRecord>,
) -> BoxFuture<'static, Result<(), JournalError>> {
    let failed = |text: String| Err(JournalError::Write { source: text.into() });
    // Called now: what was on its way when a run is dropped is still written.
    match call(|| journal.append(records)) {
        Ok(writing) => Box::pin(async move { Contained::new(move || writing).await.unwrap_or_else(failed) }),
        Err(text) => Box::pin(std::future::ready(failed(text))),
    }
}

/// A future that is contained and bounded in time; 0 is no bound.
pub(crate) async fn bounded<'a, T>(
    timer: &dyn Timer,
    ms: u64,
    make: impl FnOnce() -> BoxFuture<'a, T> + Send + 'a,
) -> Result<T, String> {
    let mut work = Contained::new(make);
    if ms == 0 {
        return work.await;
    }
    let mut sleep = None;
    std::future::poll_fn(|cx| {
        if let Poll::Ready(done) = Pin::new(&mut work).poll(cx) {
            return Poll::Ready(done);
        }
        // The clock is only set for work that really waits.
        let sleep: &mut BoxFuture<'static, ()> = sleep.get_or_insert_with(|| timer.sleep(Duration::from_millis(ms)));
        sleep.as_mut().poll(cx).map(|()| Err(format!("took longer than {ms} ms")))
    })
    .await
}
