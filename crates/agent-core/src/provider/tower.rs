//! Tower both ways: a provider as a service, and a service as a provider.

use std::task::{Context, Poll};
use std::{fmt, future, sync::Arc};

use tower_service::Service;

use super::{Prepared, Provider, SendPrepared, Sending};
use crate::{BoxFuture, CancelToken, ModelCall, ModelStream, Origin, ProviderError, Segments, TokenBound};

/// A provider as a tower service from [`ModelCall`] to [`ModelStream`].
///
/// It prepares and sends at once: what a loop does between the two (cache guard, budget) is up to
/// the layers around it.
#[derive(Clone)]
pub struct ProviderService {
    provider: Arc<dyn Provider>,
    cancel: CancelToken,
}

impl ProviderService {
    /// The service of a provider, whose calls end with `cancel`.
    pub fn new(provider: Arc<dyn Provider>, cancel: CancelToken) -> Self {
        Self { provider, cancel }
    }
}

impl Service<ModelCall> for ProviderService {
    type Response = ModelStream;
    type Error = ProviderError;
    type Future = Sending;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), ProviderError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, call: ModelCall) -> Self::Future {
        let (provider, cancel) = (self.provider.clone(), self.cancel.clone());
        Box::pin(async move { provider.prepare(call).await?.send(cancel).await })
    }
}

impl fmt::Debug for ProviderService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ProviderService")
    }
}

/// What a foreign service has to be: a clone is called for every attempt.
pub trait ForeignService:
    Service<ModelCall, Response = ModelStream, Error = ProviderError, Future: Send> + Clone + Send + Sync + 'static
{
}

impl<S> ForeignService for S where
    S: Service<ModelCall, Response = ModelStream, Error = ProviderError, Future: Send> + Clone + Send + Sync + 'static
{
}

/// A tower service as a provider.
///
/// Its requests cannot be looked into, so the cache guard does not work and [`Prepared::chain`] is
/// `None`. `bound` says what the input of a call costs at most; budgets believe it.
#[derive(Clone)]
pub struct ForeignProvider<S, B> {
    service: S,
    bound: B,
    origin: Origin,
}

impl<S: ForeignService, B: Fn(&ModelCall) -> TokenBound + Send + Sync> ForeignProvider<S, B> {
    /// The provider of a service; `origin` names it, with the model left to the call.
    pub fn new(service: S, origin: Origin, bound: B) -> Self {
        Self { service, bound, origin }
    }
}

impl<S: ForeignService, B: Fn(&ModelCall) -> TokenBound + Send + Sync> Provider for ForeignProvider<S, B> {
    fn origin(&self, model: &str) -> Origin {
        Origin { model: model.to_owned(), ..self.origin.clone() }
    }

    fn prepare(&self, call: ModelCall) -> BoxFuture<'_, Result<Prepared, ProviderError>> {
        let (bound, max_output) = ((self.bound)(&call), call.options.max_output);
        let sender = Arc::new(ForeignCall { service: self.service.clone(), call });
        Box::pin(future::ready(Ok(Prepared { max_output, ..Prepared::unguarded(bound, sender) })))
    }
}

impl<S, B> fmt::Debug for ForeignProvider<S, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ForeignProvider").field("origin", &self.origin).finish_non_exhaustive()
    }
}

struct ForeignCall<S> {
    service: S,
    call: ModelCall,
}

impl<S: ForeignService> SendPrepared for ForeignCall<S> {
    fn send(&self, _: Option<&Segments>, cancel: CancelToken) -> Sending {
        let (mut service, call) = (self.service.clone(), self.call.clone());
        Box::pin(async move {
            let sent = async {
                future::poll_fn(|cx| service.poll_ready(cx)).await?;
                service.call(call).await
            };
            cancel.race(sent).await.unwrap_or_else(|| Err(ProviderError::cancelled()))
        })
    }
}
