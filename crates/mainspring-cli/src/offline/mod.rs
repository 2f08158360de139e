//! `demo/offline`: a model without a model, for machines without a key and without a local server.
//!
//! It reads a request by rules ([`ask`]), makes real tool calls ([`plan`], [`work`]), and answers from what the tools
//! said ([`results`]) and nothing else. It keeps no state: each call works from the conversation that it is shown.

mod answer;
mod ask;
mod files;
mod find;
mod outline;
mod plan;
mod results;
mod stream;
mod work;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use agent_core::{
    Billed, BoxFuture, CancelToken, Loss, Losses, Message, ModelCall, ModelFacts, ModelStream, Money, Origin, Prepared,
    Price, Provider, ProviderError, Rates, Segments, SendPrepared, TokenBound, ToolChoice,
};

/// The name of the provider.
pub(crate) const PROVIDER: &str = "demo";
/// The name of its only model.
pub(crate) const MODEL: &str = "offline";

/// The provider `demo` with its model `offline`: rules in the place of a language model. It is free, sends nothing
/// anywhere, and works with the tools `list`, `search` and `read`.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Offline;

impl Offline {
    /// The provider.
    pub(crate) fn new() -> Self {
        Self
    }

    /// What there is to know about the model: it is free and has no window that could be full.
    pub(crate) fn facts() -> ModelFacts {
        let mut facts = ModelFacts::new(PROVIDER, MODEL);
        facts.price = Some(Price::new(Rates::new(Money::ZERO, Money::ZERO)));
        facts.abilities.temperature = false;
        facts.abilities.honours_max_output = false;
        facts
    }
}

impl Provider for Offline {
    fn origin(&self, model: &str) -> Origin {
        Origin::new("offline", PROVIDER, model)
    }

    fn prepare(&self, call: ModelCall) -> BoxFuture<'_, Result<Prepared, ProviderError>> {
        let losses = losses(&call);
        // Nothing is sent: no bytes whose cache could break, and no tokens.
        let prepared = Prepared::unguarded(TokenBound::ZERO, Arc::new(ToAnswer(call))).losses(losses);
        Box::pin(std::future::ready(Ok(prepared)))
    }
}

/// What of a call has no meaning here.
fn losses(call: &ModelCall) -> Losses {
    let mut losses = Losses::default();
    if call.options.output_schema.is_some() {
        losses.options.push(Loss::option("the output schema: this model answers in plain words"));
    }
    if matches!(call.options.tool_choice, ToolChoice::Required | ToolChoice::Tool(_)) {
        losses.options.push(Loss::option("the choice of a tool: this model calls what the request needs"));
    }
    losses
}

struct ToAnswer(ModelCall);

impl SendPrepared for ToAnswer {
    fn send(
        &self,
        _: Option<&Segments>,
        cancel: CancelToken,
    ) -> BoxFuture<'static, Result<ModelStream, ProviderError>> {
        let call = self.0.clone();
        Box::pin(async move {
            if cancel.is_cancelled() {
                return Err(ProviderError::cancelled().with_billed(Billed::No));
            }
            // Calls need ids that are unique in the conversation: the last message's is.
            let stamp = call.view.messages().next_back().map_or(0, |message: &Arc<Message>| message.id().bits());
            Ok(stream::of(plan::next(&call), &call.options.model, stamp, cancel))
        })
    }
}
