//! For consumers that show only what stays: the text of an attempt that fails is never shown.

use std::{
    collections::VecDeque,
    pin::Pin,
    task::{Context, Poll},
};

use agent_core::AgentEvent;
use futures_core::Stream;

/// Withholds what an answer says until it is known that it stays.
///
/// Between the start and the end of an assistant's message nothing comes through. At its end everything does, in order;
/// where the attempt is void ([`AgentEvent::MessageDropped`]), neither its start nor its text nor the drop comes, and
/// the [`AgentEvent::Retry`] behind it does. What is left when the events end is let through. It holds one answer at
/// most.
///
/// ```
/// # use agent_core::CallOptions;
/// # use agent_loop::{Agent, Conversation, RetrySafeEvents};
/// # use agent_testkit::{PausedTimer, Reply, ScriptedProvider};
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// # let model = ScriptedProvider::new([Reply::text("Hello!")]);
/// # let agent = Agent::builder(model, CallOptions::new("toy-1"), PausedTimer::at(0)).build()?;
/// # let conversation = Conversation::new(&agent);
/// let mut events = RetrySafeEvents::new(conversation.run("Hi")?);
/// while let Some(event) = events.next().await {
///     println!("{event:?}");
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).map_err(|e| e.to_string())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct RetrySafeEvents<S> {
    events: S,
    /// What an answer has said so far, while it is on.
    held: Option<Vec<AgentEvent>>,
    ready: VecDeque<AgentEvent>,
}

impl<S: Stream<Item = AgentEvent> + Unpin> RetrySafeEvents<S> {
    /// Wraps a [`Run`](crate::Run), or its [`Events`](crate::Events).
    pub fn new(events: S) -> Self {
        Self { events, held: None, ready: VecDeque::new() }
    }

    /// The next event; cancel-safe: a dropped future loses no event.
    pub async fn next(&mut self) -> Option<AgentEvent> {
        std::future::poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }

    /// What was wrapped; what was held is let go.
    pub fn into_inner(self) -> S {
        self.events
    }

    fn take(&mut self, event: AgentEvent) {
        match (&event, &mut self.held) {
            (AgentEvent::MessageStart { role: "assistant" }, None) => self.held = Some(vec![event]),
            (AgentEvent::MessageDropped { .. }, held @ Some(_)) => {
                let of_answer =
                    |event: &AgentEvent| matches!(event, AgentEvent::MessageStart { .. } | AgentEvent::Model(_));
                let others = held.take().into_iter().flatten().filter(|event| !of_answer(event));
                self.ready.extend(others);
            }
            (AgentEvent::MessageEnd { .. } | AgentEvent::AgentEnd { .. }, held @ Some(_)) => {
                self.ready.extend(held.take().into_iter().flatten());
                self.ready.push_back(event);
            }
            // What tools and queues say meanwhile keeps its place.
            (_, Some(held)) => held.push(event),
            (_, None) => self.ready.push_back(event),
        }
    }
}

impl<S: Stream<Item = AgentEvent> + Unpin> Stream for RetrySafeEvents<S> {
    type Item = AgentEvent;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<AgentEvent>> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Poll::Ready(Some(event));
            }
            match Pin::new(&mut self.events).poll_next(cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Some(event)) => self.take(event),
                Poll::Ready(None) => match self.held.take() {
                    Some(held) => self.ready.extend(held),
                    None => return Poll::Ready(None),
                },
            }
        }
    }
}
