//! A request that was made and not yet sent.

use std::{fmt, sync::Arc};

use super::Loss;
use crate::{
    BoxFuture, CancelToken, ModelStream,
    error::ProviderError,
    wire::{Chain, Segments, TokenBound},
};

/// What a provider does to send one of its requests.
pub trait SendPrepared: Send + Sync {
    /// Sends the request with these segments; see [`Prepared::send`].
    fn send(
        &self,
        segments: Option<&Segments>,
        cancel: CancelToken,
    ) -> BoxFuture<'static, Result<ModelStream, ProviderError>>;
}

/// An immutable request: what it consists of, what it costs at most, and what was lost on the way.
///
/// A clone is O(1). It can be sent several times: each time is one attempt and may be billed.
#[derive(Clone)]
pub struct Prepared {
    segments: Option<Segments>,
    input_bound: TokenBound,
    max_output: Option<u64>,
    losses: Vec<Loss>,
    sender: Arc<dyn SendPrepared>,
}

impl Prepared {
    /// A request of segments, whose input is bounded by them.
    pub fn new(segments: Segments, sender: Arc<dyn SendPrepared>) -> Self {
        let input_bound = segments.bound();
        Self { segments: Some(segments), input_bound, max_output: None, losses: vec![], sender }
    }

    /// A request that cannot be looked into: no cache guard, and an input bound by somebody's word.
    pub fn unguarded(input_bound: TokenBound, sender: Arc<dyn SendPrepared>) -> Self {
        Self { segments: None, input_bound, max_output: None, losses: Vec::new(), sender }
    }

    /// Adds what the vendor adds to the input, such as a few tokens for each message.
    #[must_use]
    pub fn overhead(mut self, bound: TokenBound) -> Self {
        self.input_bound = self.input_bound.plus(bound);
        self
    }

    /// Says how many tokens the vendor will generate at most; not said where it ignores limits.
    #[must_use]
    pub fn max_output(mut self, tokens: u64) -> Self {
        self.max_output = Some(tokens);
        self
    }

    /// Says what the vendor cannot carry.
    #[must_use]
    pub fn losses(mut self, losses: Vec<Loss>) -> Self {
        self.losses = losses;
        self
    }

    /// The body in pieces; `None` where the provider cannot show it.
    pub fn segments(&self) -> Option<&Segments> {
        self.segments.as_ref()
    }

    /// The hash chain of the body; `None` where the provider cannot show it, and no guard can work.
    pub fn chain(&self) -> Option<&Chain> {
        self.segments.as_ref().map(Segments::chain)
    }

    /// How many input tokens it can cost at most.
    pub fn input_bound(&self) -> TokenBound {
        self.input_bound
    }

    /// How many tokens can be generated at most; `None` where nothing limits them.
    pub fn output_bound(&self) -> Option<u64> {
        self.max_output
    }

    /// What the vendor cannot carry.
    pub fn lost(&self) -> &[Loss] {
        &self.losses
    }

    /// Sends the request once. Resolves when the vendor has accepted it.
    ///
    /// The only resends inside are those of which provably nothing was billed: a connection that was
    /// not made, and one with fresh credentials after a 401. Cancelling, and dropping the future or
    /// the stream, ends the call.
    ///
    /// # Errors
    /// [`ProviderError`], which says whether the call can have been billed.
    pub fn send(&self, cancel: CancelToken) -> BoxFuture<'static, Result<ModelStream, ProviderError>> {
        self.sender.send(self.segments.as_ref(), cancel)
    }
}

impl fmt::Debug for Prepared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prepared")
            .field("chain", &self.chain())
            .field("input_bound", &self.input_bound)
            .field("max_output", &self.max_output)
            .field("losses", &self.losses)
            .finish_non_exhaustive()
    }
}
