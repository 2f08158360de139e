//! A run: the machine with everything that it asks for.

mod driver;
mod effects;
mod model;
mod poll;
mod retry_safe;
mod split;
mod tool;

use std::{
    fmt,
    pin::Pin,
    task::{Context, Poll},
};

use agent_core::{AgentEvent, RunId};
use futures_core::Stream;

pub(crate) use self::driver::Driver;
pub use self::{retry_safe::RetrySafeEvents, split::Events};
use crate::{RunHandle, RunReport};

/// A run, as a stream of what happens in it.
///
/// It does its work while it is polled, and hands each event over directly: it spawns nothing, and a reader that sleeps
/// holds it. A deadline that passes meanwhile is acted on at the next poll. [`split`](Self::split) puts the work on a
/// task. After [`AgentEvent::AgentEnd`] nothing follows.
///
/// Dropping it ends the run where it is. What was on its way to the journal is still written; a call that was sent
/// counts with its reservation; a tool that ran is an intent without a settle. The next run of the conversation settles
/// all that, as after a crash. [`RunHandle::cancel`] ends it properly.
pub struct Run {
    driver: Box<Driver>,
}

impl Run {
    pub(crate) fn new(driver: Driver) -> Self {
        Self { driver: Box::new(driver) }
    }

    /// The way in from elsewhere.
    pub fn handle(&self) -> RunHandle {
        self.driver.handle()
    }

    /// The run; `None` before it was first polled.
    pub fn id(&self) -> Option<RunId> {
        self.driver.id()
    }

    /// The next event; `None` after the last. Cancel-safe: a dropped future loses no event.
    pub async fn next(&mut self) -> Option<AgentEvent> {
        std::future::poll_fn(|cx| self.driver.poll_event(cx)).await
    }

    /// Goes to the end, past the events that are left, and says what it came to.
    pub async fn into_report(mut self) -> RunReport {
        while self.next().await.is_some() {}
        self.driver.take_report()
    }

    /// Goes to the end with all events that are left.
    pub async fn collect(mut self) -> (Vec<AgentEvent>, RunReport) {
        let mut events = Vec::new();
        while let Some(event) = self.next().await {
            events.push(event);
        }
        let report = self.driver.take_report();
        (events, report)
    }

    /// Goes to the end, and returns the text of the last answer.
    ///
    /// # Errors
    /// The report of a run that did not complete.
    pub async fn final_text(self) -> Result<String, Box<RunReport>> {
        let report = self.into_report().await;
        match report.ending {
            crate::Ending::Completed => Ok(report.final_text()),
            _ => Err(Box::new(report)),
        }
    }

    /// Parts the events from the work: the future drives the run, on a task for example, and `room` events wait for
    /// their reader at most.
    ///
    /// A reader that sleeps holds the run once the room is used up, but for a cancel and for deadlines, which are acted
    /// on in time; deltas of the model are left out then. A reader that leaves stops nothing. Dropping the future ends
    /// the run as dropping the run does, and the events end without [`AgentEvent::AgentEnd`].
    pub fn split(self, room: usize) -> (Events, impl Future<Output = RunReport> + Send + 'static) {
        split::split(self, room)
    }
}

impl Stream for Run {
    type Item = AgentEvent;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<AgentEvent>> {
        self.driver.poll_event(cx)
    }
}

impl fmt::Debug for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Run({:?})", self.id())
    }
}
