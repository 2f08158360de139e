//! What is asked of a model.

mod options;
mod tool_spec;

use std::sync::Arc;

pub use self::{
    options::{CacheLifetime, CallOptions, Effort, OutputSchema, Reasoning, ToolChoice},
    tool_spec::{ToolSet, ToolSpec, ToolSpecError},
};
use crate::{
    transcript::ContextView,
    wire::{Chain, PieceCache},
};

/// One model call: everything that a provider needs to make a request. Owned and cheap to clone.
///
/// ```
/// use agent_core::{CallOptions, ContextView, ModelCall};
/// let call = ModelCall::new(CallOptions::new("toy-1").max_output(1_000), ContextView::default());
/// assert_eq!(call.options.max_output, Some(1_000));
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ModelCall {
    /// Model, system prompt, limits and the like.
    pub options: Arc<CallOptions>,
    /// The messages to show.
    pub view: ContextView,
    /// The tools on offer.
    pub tools: ToolSet,
    /// Text that only this call shows, behind the last message and outside the prompt cache.
    pub note: Option<Arc<str>>,
    /// The encoded blocks of the conversation.
    pub cache: PieceCache,
    /// The chain of the last call that was sent, by which a wire places its cache markers.
    pub previous: Option<Chain>,
}

impl ModelCall {
    /// A call without tools, for a conversation that has not called before.
    pub fn new(options: impl Into<Arc<CallOptions>>, view: ContextView) -> Self {
        Self {
            options: options.into(),
            view,
            tools: ToolSet::default(),
            note: None,
            cache: PieceCache::new(),
            previous: None,
        }
    }

    /// Sets the tools on offer.
    #[must_use]
    pub fn tools(mut self, tools: ToolSet) -> Self {
        self.tools = tools;
        self
    }

    /// Sets text that only this call shows.
    #[must_use]
    pub fn note(mut self, note: impl Into<Arc<str>>) -> Self {
        self.note = Some(note.into());
        self
    }

    /// Continues from the blocks of earlier calls.
    #[must_use]
    pub fn cache(mut self, cache: PieceCache) -> Self {
        self.cache = cache;
        self
    }

    /// Names the last call that was sent.
    #[must_use]
    pub fn previous(mut self, previous: Chain) -> Self {
        self.previous = Some(previous);
        self
    }
}
