//! What keeps a conversation within its window: policies and counters.

use crate::{BoxFuture, ContextView, MessageId, ModelCall, ModelFacts, ProviderError, Usage, ViewEdit};

/// What a context policy decides on.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ContextFacts<'a> {
    /// What the model is shown now.
    pub view: &'a ContextView,
    /// What is known of the model.
    pub model: &'a ModelFacts,
    /// How many tokens the view has, as well as is known.
    pub tokens: u64,
    /// The usage of the last call.
    pub last_usage: Usage,
    /// Whether the provider has said that the prompt does not fit.
    pub overflowed: bool,
}

impl<'a> ContextFacts<'a> {
    /// Facts of a conversation that has not called yet.
    pub fn new(view: &'a ContextView, model: &'a ModelFacts, tokens: u64) -> Self {
        Self { view, model, tokens, last_usage: Usage::ZERO, overflowed: false }
    }
}

/// What a context policy wants.
#[derive(Debug)]
#[non_exhaustive]
pub enum ContextPlan {
    /// Nothing.
    Keep,
    /// These edits, in this order.
    Edits(Vec<ViewEdit>),
    /// A summary of a span by an ordinary model call, with budget, journal and cancel.
    Summarise {
        /// The call that summarises.
        call: Box<ModelCall>,
        /// The first message of the span.
        first: MessageId,
        /// The last message of the span.
        last: MessageId,
    },
}

/// Decides what of the history is shown. Pure: the same facts give the same plan, so that a resumed
/// run shows the same bytes.
///
/// ```
/// use agent_core::{ContextFacts, ContextPlan, ContextPolicy, ViewEdit};
/// /// Hides everything before the newest user message once the prompt has a million tokens.
/// struct Forget;
/// impl ContextPolicy for Forget {
///     fn plan(&self, facts: &ContextFacts<'_>) -> ContextPlan {
///         let ids: Vec<_> = facts.view.messages().map(|m| (m.role(), m.id())).collect();
///         let newest = ids.iter().rposition(|(role, _)| *role == "user");
///         match newest.and_then(|at| Some((ids.first()?, ids.get(at.checked_sub(1)?)?))) {
///             Some((&(_, first), &(_, last))) if facts.tokens > 1_000_000 => {
///                 ContextPlan::Edits(vec![ViewEdit::Hide { first, last }])
///             }
///             _ => ContextPlan::Keep,
///         }
///     }
/// }
/// ```
pub trait ContextPolicy: Send + Sync {
    /// The plan for the next call.
    fn plan(&self, facts: &ContextFacts<'_>) -> ContextPlan;
}

/// Counts tokens: an estimate, a provider's counting endpoint, or a tokenizer.
pub trait TokenCounter: Send + Sync {
    /// How many input tokens a call has. Dropping the future leaves the counter as it was.
    ///
    /// # Errors
    /// [`ProviderError`] where an endpoint fails.
    fn count<'a>(&'a self, call: &'a ModelCall) -> BoxFuture<'a, Result<u64, ProviderError>>;
}
