//! The agent loop.
#![doc = include_str!("../README.md")]

mod machine;
mod report;
mod settings;
mod state;
mod texts;

pub use crate::{
    machine::{
        Begin, CallOutcome, Command, ContextQuestion, Effect, EffectId, HookPoint, Hooked, Input, JudgeCall, Judgement,
        Machine, MachineSetup, Phase, PreparedFacts, RunTool, Step,
    },
    report::{Ending, Limit, RunError, RunReport, StopCause},
    settings::{
        ApprovalMode, CachePolicy, Concurrency, FailedCall, Limits, LoopDetection, QueueMode, RetryPolicy, RunSettings,
        TokenCount,
    },
    state::{Asked, Entered, Queue, Queued, RunProgress, State, StateError},
};
