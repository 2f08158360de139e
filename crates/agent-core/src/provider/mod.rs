//! The seam to a model: prepare a request, look at it, then send it.

mod prepared;
mod tower;

use std::{borrow::Cow, sync::Arc};

pub use self::{
    prepared::{Prepared, SendPrepared},
    tower::{ForeignProvider, ForeignService, ProviderService},
};
use crate::{BoxFuture, ModelCall, error::ProviderError, id::MessageId, message::Origin};

/// A model somewhere.
///
/// `prepare` turns a call into an immutable request without sending anything; the cache guard and
/// the budget look at it; [`Prepared::send`] sends it, as often as it has to be tried.
pub trait Provider: Send + Sync {
    /// Who answers calls of this model: protocol and provider, for logs, errors and the origin of
    /// reasoning.
    fn origin(&self, model: &str) -> Origin;

    /// Makes a request of a call. Nothing is sent; dropping the future leaves nothing behind.
    ///
    /// # Errors
    /// [`ProviderError`] where the wire cannot carry the call.
    fn prepare(&self, call: ModelCall) -> BoxFuture<'_, Result<Prepared, ProviderError>>;
}

impl<P: Provider + ?Sized> Provider for Arc<P> {
    fn origin(&self, model: &str) -> Origin {
        (**self).origin(model)
    }

    fn prepare(&self, call: ModelCall) -> BoxFuture<'_, Result<Prepared, ProviderError>> {
        (**self).prepare(call)
    }
}

/// Something of a call that the vendor cannot carry and that was left out or changed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Loss {
    /// The message that it stood in; `None` for an option.
    pub message: Option<MessageId>,
    /// What was lost, and what was sent instead if anything was.
    pub what: Cow<'static, str>,
}

impl Loss {
    /// An option that was lost.
    pub fn option(what: impl Into<Cow<'static, str>>) -> Self {
        Self { message: None, what: what.into() }
    }

    /// Something of a message that was lost.
    pub fn message(message: MessageId, what: impl Into<Cow<'static, str>>) -> Self {
        Self { message: Some(message), what: what.into() }
    }
}
