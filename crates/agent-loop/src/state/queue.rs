//! Input that waits: two queues with ids.

use agent_core::{Message, MessageId};

/// Where input waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Queue {
    /// For the next place at which the model can hear it; calls that did not begin yet are skipped for it.
    Steer,
    /// For when the model is done.
    FollowUp,
}

impl Queue {
    /// The name in files and events.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Steer => "steer",
            Self::FollowUp => "followUp",
        }
    }

    /// A queue of a newer version waits until the model is done.
    pub(crate) fn of(name: &str) -> Self {
        if name == "steer" { Self::Steer } else { Self::FollowUp }
    }
}

/// Input in a queue.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Queued {
    /// The queue.
    pub queue: Queue,
    /// The input; its id is the id by which it can be edited and taken back.
    pub message: Message,
}

impl Queued {
    pub(crate) fn id(&self) -> MessageId {
        self.message.id()
    }
}

/// The kinds of notes that the loop writes into a history.
pub(crate) mod kind {
    /// A hook's warning about input.
    pub(crate) const WARNING: &str = "warning";
    /// The run was stopped by a limit.
    pub(crate) const LIMIT: &str = "limit";
    /// The run was cancelled while tools ran.
    pub(crate) const CANCELLED: &str = "cancelled";
    /// The model was told that it goes round in circles.
    pub(crate) const LOOP: &str = "loop";
    /// The model was asked again after an empty answer.
    pub(crate) const EMPTY: &str = "empty";
    /// A hook sent the model on.
    pub(crate) const CONTINUE: &str = "continue";
    /// A summary in place of a span.
    pub(crate) const SUMMARY: &str = "summary";
}
