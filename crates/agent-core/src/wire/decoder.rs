//! Reads a reply, fed bytes cut anywhere.

use std::collections::VecDeque;

use bytes::Bytes;

use crate::{error::ProviderError, stream::ModelEvent};

/// Reads one reply.
///
/// The same events come out however the bytes are cut.
pub trait Decoder: Send + 'static {
    /// Reads more of the body.
    ///
    /// # Errors
    /// [`ProviderError`] where the body is not understood, or carries an error of the vendor. Events
    /// that were put out before it count.
    fn feed(&mut self, bytes: Bytes, events: &mut Events) -> Result<(), ProviderError>;

    /// Reads the end of the body.
    ///
    /// # Errors
    /// [`ProviderError`] where the body ended before the answer did: of kind `Network`, since the
    /// connection broke without saying so.
    fn finish(&mut self, events: &mut Events) -> Result<(), ProviderError>;
}

/// The events that a decoder puts out.
#[derive(Debug, Default)]
pub struct Events(VecDeque<ModelEvent>);

impl Events {
    /// No events.
    pub fn new() -> Self {
        Self::default()
    }

    /// Puts an event out.
    pub fn push(&mut self, event: ModelEvent) {
        self.0.push_back(event);
    }

    /// Puts events out.
    pub fn extend(&mut self, events: impl IntoIterator<Item = ModelEvent>) {
        self.0.extend(events);
    }

    /// Takes the oldest event.
    pub fn pop(&mut self) -> Option<ModelEvent> {
        self.0.pop_front()
    }
}
