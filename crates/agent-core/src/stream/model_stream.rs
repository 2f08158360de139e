//! A stream of model events.

use std::{
    fmt,
    pin::Pin,
    task::{Context, Poll},
};

use futures_core::Stream;

use super::ModelEvent;
use crate::error::ProviderError;

/// A model's answer as it arrives.
///
/// It ends after [`ModelEvent::Stop`] and what follows it, or with one error; a stream that ends
/// before `Stop` without an error does not occur. Dropping it ends the call.
pub struct ModelStream(Pin<Box<dyn Stream<Item = Result<ModelEvent, ProviderError>> + Send>>);

impl ModelStream {
    /// Wraps a stream.
    pub fn new(stream: impl Stream<Item = Result<ModelEvent, ProviderError>> + Send + 'static) -> Self {
        Self(Box::pin(stream))
    }

    /// The next event; cancel-safe: a dropped future loses no event.
    pub async fn next(&mut self) -> Option<Result<ModelEvent, ProviderError>> {
        std::future::poll_fn(|cx| self.0.as_mut().poll_next(cx)).await
    }
}

impl Stream for ModelStream {
    type Item = Result<ModelEvent, ProviderError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.as_mut().poll_next(cx)
    }
}

impl fmt::Debug for ModelStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ModelStream")
    }
}
