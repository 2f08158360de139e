//! What a tool may use while it runs.

use std::{fmt, sync::Arc};

use crate::{AgentEvent, Budget, CallId, CancelToken, Hook, Journal, RunId, ToolOutput};

/// What a tool may use while it runs. Made without a loop too, for a tool's own tests.
///
/// ```
/// use agent_core::{CallId, IdSource, ToolContext};
/// let mut ids = IdSource::seeded(1);
/// let context = ToolContext::new(ids.run(0), CallId::new(ids.message(0), 0));
/// assert!(!context.cancel.is_cancelled());
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct ToolContext {
    /// The run that calls.
    pub run: RunId,
    /// The call; also the key by which a tool recognises a repeated call.
    pub call: CallId,
    /// Says when to stop.
    pub cancel: CancelToken,
    /// When the call times out, in milliseconds since the Unix epoch.
    pub deadline_ms: Option<u64>,
    /// What the call may spend.
    pub budget: Option<Budget>,
    /// Where events of the call go.
    pub events: ToolEvents,
    /// The journal of the conversation, for a tool that is a run itself.
    pub journal: Option<Arc<dyn Journal>>,
    /// The hooks that reach every run below this one.
    pub tree_hooks: Arc<[Arc<dyn Hook>]>,
    /// How many runs stand above this one.
    pub depth: u32,
}

impl ToolContext {
    /// A context that limits nothing and reports to nobody.
    pub fn new(run: RunId, call: CallId) -> Self {
        let (cancel, events, tree_hooks) = (CancelToken::new(), ToolEvents::none(), Arc::new([]));
        Self { run, call, cancel, deadline_ms: None, budget: None, events, journal: None, tree_hooks, depth: 0 }
    }

    /// The same for every attempt at this call: an idempotency key for services that take one.
    pub fn idempotency_key(&self) -> String {
        self.call.to_string()
    }

    /// Tells the user how far the call is.
    pub fn progress(&self, text: impl Into<String>) {
        self.events.emit(AgentEvent::ToolProgress { call: self.call, text: text.into() });
    }

    /// Shows what there is of the output so far.
    pub fn partial(&self, output: ToolOutput) {
        self.events.emit(AgentEvent::ToolPartial { call: self.call, output });
    }
}

impl fmt::Debug for ToolContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (run, call, depth) = (self.run, self.call, self.depth);
        write!(f, "ToolContext({run}, {call}, depth {depth})")
    }
}

/// Where a tool's events go. Never blocks; under load events may be left out.
#[derive(Clone)]
pub struct ToolEvents(Option<Arc<dyn Fn(AgentEvent) + Send + Sync>>);

impl ToolEvents {
    /// Nowhere.
    pub fn none() -> Self {
        Self(None)
    }

    /// To a function, which must not block.
    pub fn new(sink: impl Fn(AgentEvent) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(sink)))
    }

    /// Sends an event.
    pub fn emit(&self, event: AgentEvent) {
        if let Some(sink) = &self.0 {
            sink(event);
        }
    }
}

impl fmt::Debug for ToolEvents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ToolEvents")
    }
}
