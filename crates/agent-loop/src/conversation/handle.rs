//! The way into a conversation from elsewhere.

use std::{fmt, sync::Arc};

use agent_core::{ApprovalAnswer, CallId, Message, MessageId, Timer, UserMessage};

use super::{Prompt, PromptOf, Shared, inbox};
use crate::{Command, Queue};

/// Steers, follows up, answers and cancels, from any thread. It works between runs too: input waits in its queue then.
#[derive(Clone)]
pub struct RunHandle {
    shared: Arc<Shared>,
    timer: Arc<dyn Timer>,
}

/// Too much waits to be looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{} commands wait for the run already; let it go on first", inbox::ROOM)]
#[non_exhaustive]
pub struct QueueFull;

impl RunHandle {
    pub(crate) fn new(shared: Arc<Shared>, timer: Arc<dyn Timer>) -> Self {
        Self { shared, timer }
    }

    /// Input for the next place at which the model can hear it; calls that did not begin are skipped for it. It is in
    /// the journal when [`AgentEvent::Queued`](agent_core::AgentEvent::Queued) comes and the append behind it is
    /// acknowledged. Returns the id by which it can be edited and taken back; of several messages the last one's.
    ///
    /// # Errors
    /// [`QueueFull`].
    pub fn steer(&self, input: impl Into<Prompt>) -> Result<MessageId, QueueFull> {
        self.put(Queue::Steer, input.into())
    }

    /// Input for when the model is done.
    ///
    /// # Errors
    /// [`QueueFull`].
    pub fn follow_up(&self, input: impl Into<Prompt>) -> Result<MessageId, QueueFull> {
        self.put(Queue::FollowUp, input.into())
    }

    fn put(&self, queue: Queue, input: Prompt) -> Result<MessageId, QueueFull> {
        let mut last = self.shared.new_message(&*self.timer);
        let messages = match input.0 {
            PromptOf::Text(text) => vec![Message::from(UserMessage::text(last, text))],
            PromptOf::Messages(messages) => messages,
        };
        for message in messages {
            last = message.id();
            self.send(Command::Put(queue, Box::new(message)))?;
        }
        Ok(last)
    }

    /// Changes input that is still in its queue; it keeps its place. A message with this id is put at the end of the
    /// queue where there is none any more.
    ///
    /// # Errors
    /// [`QueueFull`].
    pub fn edit(&self, queue: Queue, id: MessageId, text: impl Into<String>) -> Result<(), QueueFull> {
        self.send(Command::Put(queue, Box::new(UserMessage::text(id, text).into())))
    }

    /// Takes input back that is still in its queue.
    ///
    /// # Errors
    /// [`QueueFull`].
    pub fn withdraw(&self, id: MessageId) -> Result<(), QueueFull> {
        self.send(Command::Withdraw(id))
    }

    /// Answers an approval that the run waits for. For a run that is paused there is
    /// [`Conversation::answer`](crate::Conversation::answer).
    ///
    /// # Errors
    /// [`QueueFull`].
    pub fn answer(&self, call: CallId, answer: ApprovalAnswer) -> Result<(), QueueFull> {
        self.send(Command::Answer(call, answer))
    }

    /// Ends the run that is on: its partial answer is kept, every call answered, usage counted. What waits in queues
    /// stays there. Without a run nothing happens.
    pub fn cancel(&self) {
        if self.shared.is_running() {
            self.shared.inbox.command(Command::Cancel);
        }
    }

    fn send(&self, command: Command) -> Result<(), QueueFull> {
        if self.shared.inbox.command(command) { Ok(()) } else { Err(QueueFull) }
    }
}

impl fmt::Debug for RunHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RunHandle")
    }
}
