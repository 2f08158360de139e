//! The agent loop.
#![doc = include_str!("../README.md")]

mod agent;
mod contain;
mod conversation;
mod hooks;
mod machine;
mod report;
mod run;
mod settings;
mod state;
mod texts;

pub use crate::{
    agent::{Agent, AgentBuilder, Approver},
    conversation::{Busy, Conversation, OpenError, Prompt, QueueFull, ResumeError, RunHandle},
    machine::{
        Begin, CallOutcome, Command, ContextQuestion, Effect, EffectId, HookPoint, Hooked, Input, JudgeCall, Judgement,
        Machine, MachineSetup, Phase, PreparedFacts, RunTool, Step,
    },
    report::{Ending, Limit, RunError, RunReport, StopCause},
    run::{Events, RetrySafeEvents, Run},
    settings::{
        ApprovalMode, CachePolicy, Concurrency, FailedCall, Limits, LoopDetection, QueueMode, RetryPolicy, RunSettings,
        TokenCount,
    },
    state::{Asked, Entered, Queue, Queued, RunProgress, State, StateError},
};
