//! A run in two halves: the work, for a task, and its events, for a reader.

use std::{
    collections::VecDeque,
    pin::{Pin, pin},
    task::{Context, Poll},
};

use agent_core::AgentEvent;
use futures_core::Stream;
use tokio::sync::mpsc;

use super::Run;
use crate::RunReport;

/// The events of a run whose work is done elsewhere.
#[derive(Debug)]
pub struct Events(mpsc::Receiver<AgentEvent>);

impl Events {
    /// The next event; `None` after the last. Cancel-safe: a dropped future loses no event.
    pub async fn next(&mut self) -> Option<AgentEvent> {
        self.0.recv().await
    }
}

impl Stream for Events {
    type Item = AgentEvent;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<AgentEvent>> {
        self.0.poll_recv(cx)
    }
}

/// What became of the wait for room.
enum Room {
    There,
    ReaderLeft,
    /// The run cannot wait for its reader.
    Urgent,
}

pub(super) fn split(mut run: Run, room: usize) -> (Events, impl Future<Output = RunReport> + Send + 'static) {
    let (sender, receiver) = mpsc::channel(room.max(1));
    let work = async move {
        // Events that had to be kept, because the run could not wait.
        let mut kept = VecDeque::new();
        let mut reader = Some(sender);
        while let Some(event) = run.next().await {
            let Some(sender) = &reader else { continue };
            if !kept.is_empty() {
                // What ends a run is a few events; deltas could be any number.
                if !matches!(event, AgentEvent::Model(_)) {
                    kept.push_back(event);
                }
                continue;
            }
            match wait_for_room(&mut run, sender).await {
                Room::There => drop(sender.try_send(event)),
                Room::ReaderLeft => reader = None,
                Room::Urgent => kept.push_back(event),
            }
        }
        let report = run.driver.take_report();
        // The run has given its conversation back; now there is time.
        drop(run);
        if let Some(sender) = reader {
            for event in kept {
                if sender.send(event).await.is_err() {
                    break;
                }
            }
        }
        report
    };
    (Events(receiver), work)
}

async fn wait_for_room(run: &mut Run, sender: &mpsc::Sender<AgentEvent>) -> Room {
    let mut reserve = pin!(sender.reserve());
    std::future::poll_fn(|cx| match reserve.as_mut().poll(cx) {
        // The permit goes back, and only this task sends.
        Poll::Ready(Ok(_)) => Poll::Ready(Room::There),
        Poll::Ready(Err(_)) => Poll::Ready(Room::ReaderLeft),
        Poll::Pending if run.driver.is_urgent(cx) => Poll::Ready(Room::Urgent),
        Poll::Pending => Poll::Pending,
    })
    .await
}
