//! The agent library for Rust.
#![doc = include_str!("../README.md")]

mod models;

#[doc(inline)]
pub use agent_anthropic as anthropic;
#[doc(inline)]
pub use agent_core as core;
#[doc(inline)]
pub use agent_google as google;
#[doc(inline)]
pub use agent_http as http;
#[doc(inline)]
pub use agent_loop as run;
#[doc(inline)]
pub use agent_models as catalogue;
#[doc(inline)]
pub use agent_openai as openai;
#[cfg(feature = "session")]
#[doc(inline)]
pub use agent_session as session;
#[cfg(feature = "tools")]
#[doc(inline)]
pub use agent_tools as tools;

pub use agent_core::{
    AgentEvent, Budget, CallOptions, Effects, Hook, Message, Money, RawJson, Tool, ToolContext, ToolOutcome, ToolSpec,
};
pub use agent_loop::{
    Agent, AgentBuilder, Conversation, Ending, Limits, Run, RunHandle, RunReport, RunSettings, StopCause,
};

pub use crate::models::{Model, ModelError, Models, agent};
