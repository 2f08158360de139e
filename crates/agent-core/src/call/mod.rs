//! What is asked of a model.

mod options;
mod tool_spec;

use std::sync::Arc;

pub use self::{
    options::{CacheLifetime, CallOptions, Effort, OutputSchema, Reasoning, ToolChoice},
    tool_spec::{ToolSet, ToolSpec, ToolSpecError},
};
use crate::{Chain, ContextView, PieceCache, macros::setters};

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
        let (tools, cache) = (ToolSet::default(), PieceCache::new());
        Self { options: options.into(), view, tools, note: None, cache, previous: None }
    }
}

setters!(ModelCall {
    /// Sets the tools on offer.
    tools(tools: ToolSet) => tools = tools;
    /// Sets text that only this call shows.
    note(note: impl Into<Arc<str>>) => note = Some(note.into());
    /// Continues from the blocks of earlier calls.
    cache(cache: PieceCache) => cache = cache;
    /// Names the last call that was sent.
    previous(previous: Chain) => previous = Some(previous);
});
