//! Where policy plugs in: one trait, every point.

use std::sync::Arc;

use crate::{
    AgentEvent, BoxError, BoxFuture, CallId, CallOptions, ContextView, Message, ProviderErrorKind, RawJson, RunId,
    StopReason, ToolCall, ToolOutput, ToolSet, Usage,
};

/// What a hook may see of a run.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RunFacts {
    /// The run.
    pub run: RunId,
    /// The call of the parent run that this run answers.
    pub parent: Option<CallId>,
    /// The turn, from 0.
    pub turn: u64,
    /// What the model is shown of the history.
    pub view: ContextView,
    /// What was used so far.
    pub usage: Usage,
}

impl RunFacts {
    /// Facts of a run that has not done anything yet.
    pub fn new(run: RunId, view: ContextView) -> Self {
        Self { run, parent: None, turn: 0, view, usage: Usage::ZERO }
    }
}

/// What to do with input of a user.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum InputVerdict {
    /// Take it.
    Pass,
    /// Take it, and show the model a note behind it that no later hook judges.
    Warn(String),
    /// Take this instead; earlier hooks judge it again.
    Rewrite(Arc<Message>),
    /// Do not take it.
    Reject(String),
}

/// What to do with a turn that is about to begin.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TurnVerdict {
    /// Begin it.
    Go,
    /// End the run.
    Stop(String),
}

/// What to do with a model call that is about to be made. History is never changed here.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ModelVerdict {
    /// Make it.
    Go,
    /// Make it with a note behind the last message that only this call shows.
    Note(String),
    /// Make it with other options.
    Options(Arc<CallOptions>),
    /// End the run.
    Stop(String),
}

/// What to do with a tool call. Over all hooks, deny wins over ask, and ask over allow.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ToolVerdict {
    /// Run it.
    Allow,
    /// Run it with these arguments; earlier hooks judge them again.
    Modify(RawJson),
    /// Do not run it; the model is told why.
    Deny(String),
    /// Ask somebody first.
    Ask(String),
}

/// What to do when a run would end.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum StopVerdict {
    /// Let it end.
    Accept,
    /// Go on, with this text for the model; the loop caps how often.
    Continue(String),
}

/// What a hook that fails means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum OnFailure {
    /// It denies: for policy.
    #[default]
    Deny,
    /// It is skipped, with a report: for advice.
    Skip,
}

/// What an asynchronous point of a [`Hook`] returns.
pub type HookFuture<'a, T> = BoxFuture<'a, Result<T, BoxError>>;

/// Watches and steers a run.
///
/// Hooks run in the order of their installation; every point has a default that does nothing, so
/// that a new point breaks nobody. Asynchronous points are bounded in time by the loop, and a hook
/// that fails or takes too long denies or is skipped as [`OnFailure`] says at its installation.
/// Dropping a future of a hook must leave it usable.
///
/// ```
/// use agent_core::{CallId, Hook, HookFuture, RawJson, RunFacts, ToolCall, ToolVerdict};
/// struct NoShell;
/// impl Hook for NoShell {
///     fn before_tool<'a>(
///         &'a self, _: &'a RunFacts, _: CallId, call: &'a ToolCall, _: &'a RawJson,
///     ) -> HookFuture<'a, ToolVerdict> {
///         let verdict = match call.name.as_str() {
///             "bash" => ToolVerdict::Deny("no shell here".into()),
///             _ => ToolVerdict::Allow,
///         };
///         Box::pin(std::future::ready(Ok(verdict)))
///     }
/// }
/// ```
#[expect(unused_variables, reason = "the defaults do nothing, and parameters are named for readers")]
pub trait Hook: Send + Sync {
    /// Input of a user, before it enters the history; also what was queued during the run.
    fn on_input<'a>(&'a self, run: &'a RunFacts, input: &'a Message) -> HookFuture<'a, InputVerdict> {
        ready(InputVerdict::Pass)
    }

    /// A turn is about to begin.
    fn before_turn<'a>(&'a self, run: &'a RunFacts) -> HookFuture<'a, TurnVerdict> {
        ready(TurnVerdict::Go)
    }

    /// A model call is about to be made.
    fn before_model<'a>(
        &'a self,
        run: &'a RunFacts,
        options: &'a CallOptions,
        tools: &'a ToolSet,
    ) -> HookFuture<'a, ModelVerdict> {
        ready(ModelVerdict::Go)
    }

    /// A tool is about to run, with the arguments as validated.
    fn before_tool<'a>(
        &'a self,
        run: &'a RunFacts,
        id: CallId,
        call: &'a ToolCall,
        arguments: &'a RawJson,
    ) -> HookFuture<'a, ToolVerdict> {
        ready(ToolVerdict::Allow)
    }

    /// A tool ended; its output can be replaced before anybody sees it.
    fn after_tool<'a>(
        &'a self,
        run: &'a RunFacts,
        id: CallId,
        call: &'a ToolCall,
        output: ToolOutput,
    ) -> HookFuture<'a, ToolOutput> {
        ready(output)
    }

    /// Whether [`after_tool`](Self::after_tool) may take something out of an output: what a tool shows on its way,
    /// progress and partial output, is withheld from the consumer then.
    fn filters_output(&self) -> bool {
        false
    }

    /// A turn ended, also by an error or a cancel.
    fn after_turn<'a>(
        &'a self,
        run: &'a RunFacts,
        stop_reason: Option<&'a StopReason>,
        usage: Usage,
    ) -> HookFuture<'a, ()> {
        ready(())
    }

    /// A model call failed; not called for a cancel.
    fn on_error<'a>(&'a self, run: &'a RunFacts, kind: ProviderErrorKind, error: &'a str) -> HookFuture<'a, ()> {
        ready(())
    }

    /// The run would end by itself.
    fn on_stop<'a>(&'a self, run: &'a RunFacts) -> HookFuture<'a, StopVerdict> {
        ready(StopVerdict::Accept)
    }

    /// Something happened; called before the consumer sees it, and must not block.
    fn on_event(&self, event: &AgentEvent) {}

    /// The run is over, however it ended.
    fn finish<'a>(&'a self, run: &'a RunFacts) -> HookFuture<'a, ()> {
        ready(())
    }
}

fn ready<'a, T: Send + 'a>(value: T) -> HookFuture<'a, T> {
    Box::pin(std::future::ready(Ok(value)))
}
