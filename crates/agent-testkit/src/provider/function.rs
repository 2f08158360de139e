//! A provider made of a function.

use std::sync::Arc;

use agent_core::{BoxFuture, ModelCall, Origin, Prepared, Provider, ProviderError};

use super::{Double, Reply, Sent};

/// A [`Provider`] whose answer is a function of the call; a clone is the same provider.
///
/// The function returns a [`Reply`] or what converts into one: events, a list of `Result`s, an
/// error, a text. It is called at each send and never for what a real API would refuse.
///
/// ```
/// use agent_core::{Provider, ProviderError, ProviderErrorKind};
/// use agent_testkit::{FnProvider, Reply};
/// let provider = FnProvider::new(|call| match call.view.len() {
///     1 => Ok(Reply::text("first")),
///     _ => Err(ProviderError::new(ProviderErrorKind::Overloaded, "later")),
/// });
/// assert_eq!(provider.origin("m").provider, "toy");
/// ```
#[derive(Debug, Clone)]
pub struct FnProvider(Arc<Double>);

impl FnProvider {
    /// A provider of a function.
    pub fn new<R: Into<Reply>>(answer: impl Fn(&ModelCall) -> R + Send + Sync + 'static) -> Self {
        Self(Arc::new(Double::new(move |call| Ok(answer(call).into()))))
    }

    /// The requests that were sent, oldest first.
    pub fn sent(&self) -> Vec<Sent> {
        self.0.seen().sent.clone()
    }
}

impl Provider for FnProvider {
    fn origin(&self, model: &str) -> Origin {
        self.0.origin(model)
    }

    fn prepare(&self, call: ModelCall) -> BoxFuture<'_, Result<Prepared, ProviderError>> {
        Box::pin(std::future::ready(self.0.prepare(call)))
    }
}
