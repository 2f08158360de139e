//! What can be set about runs: pure data, shared by every conversation of an agent.

mod limits;
mod retry;

pub use self::{
    limits::{Limits, LoopDetection, TokenCount},
    retry::{FailedCall, RetryPolicy},
};
use crate::Telemetry;

/// Which calls of one answer may run at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Concurrency {
    /// As their effects allow: shared calls together, exclusive ones of one key in call order; at most so many at once.
    Effects {
        /// How many at once, at least 1.
        at_most: usize,
    },
    /// One after the other, in call order.
    Sequential,
    /// In groups of so many, in call order; a group begins when the one before has ended. 0 is 1.
    Batched(usize),
}

/// What a call that needs somebody's agreement does to the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum ApprovalMode {
    /// The run ends as a value, [`Ending::Paused`](crate::Ending::Paused), that any process can take up again.
    #[default]
    Pause,
    /// The run waits for [`RunHandle::answer`](crate::RunHandle::answer), as long as the approval is valid.
    Wait,
}

/// What happens before a request is sent that will not find its prefix in the vendor's cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum CachePolicy {
    /// Nothing is said.
    Allow,
    /// An event says so, and the request is sent.
    #[default]
    Warn,
    /// An event says so, and the run ends before anything is sent.
    Refuse,
}

/// How much of a queue is taken at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum QueueMode {
    /// The oldest message.
    #[default]
    One,
    /// Everything.
    All,
}

/// Everything about a run that is not code.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunSettings {
    /// When a run is stopped.
    pub limits: Limits,
    /// When a failed call is tried again.
    pub retry: RetryPolicy,
    /// Which calls run at once.
    pub concurrency: Concurrency,
    /// What an approval does to the run.
    pub approvals: ApprovalMode,
    /// How long an approval is valid, in milliseconds; `None` is for ever.
    pub approval_ms: Option<u64>,
    /// What a cache break does.
    pub cache: CachePolicy,
    /// How many steering messages a turn takes.
    pub steer: QueueMode,
    /// How many follow-ups a turn takes.
    pub follow_up: QueueMode,
    /// How long a tool may run that says nothing else, in milliseconds; 0 is for ever.
    pub tool_ms: u64,
    /// How long a tool may take to end after it was told to, in milliseconds; then it is abandoned.
    pub grace_ms: u64,
    /// How long an asynchronous point of a hook may take, in milliseconds.
    pub hook_ms: u64,
    /// How many bytes of text the model is shown of a tool's output, for tools that say nothing else.
    pub output_cap: u64,
    /// How often in a row an empty answer is asked for again before the run ends.
    pub empty_nudges: u32,
    /// How often hooks may send the model on when it is done.
    pub continues: u32,
    /// What is told to `tracing`.
    pub telemetry: Telemetry,
}

impl Default for RunSettings {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            retry: RetryPolicy::default(),
            concurrency: Concurrency::Effects { at_most: 16 },
            approvals: ApprovalMode::default(),
            approval_ms: None,
            cache: CachePolicy::default(),
            steer: QueueMode::default(),
            follow_up: QueueMode::default(),
            tool_ms: 120_000,
            grace_ms: 2_000,
            hook_ms: 30_000,
            output_cap: 64 * 1024,
            empty_nudges: 1,
            continues: 3,
            telemetry: Telemetry::default(),
        }
    }
}
