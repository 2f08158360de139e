//! The run of an agent: a deterministic machine over a write-ahead journal, and the stream that drives it.
#![doc = include_str!("../README.md")]
//!
//! # Where to look
//!
//! An [`Agent`] is a setting; a [`Conversation`] lasts; a [`Run`] is what a prompt sets off in it, and ends as a
//! [`RunReport`]. Under it a [`Machine`] decides: [`Machine::handle`] tells it what happened, [`Machine::next`] says
//! what is to be done, as [`Step`]s and [`Effect`]s. Its [`State`] is the fold of the journal's records.

mod agent;
mod contain;
mod conversation;
mod hooks;
mod machine;
mod report;
mod run;
mod settings;
mod state;
pub mod telemetry;
mod texts;

pub use crate::{
    agent::{Agent, AgentBuilder, Approver},
    conversation::{
        Busy, Conversation, Interrupted, LostCall, OpenError, Prompt, QueueFull, Recourse, Recovery, ResumeError,
        RunHandle,
    },
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
    telemetry::{MetricSink, Telemetry},
};
