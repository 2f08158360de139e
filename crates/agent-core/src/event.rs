//! What a run tells its consumer.

use std::sync::Arc;

use crate::{
    CacheBreak, CallId, Loss, Message, ModelEvent, Money, Origin, ProviderErrorKind, RawJson, RunId, StopReason,
    ToolCall, ToolOutput, Usage,
};

/// An event with where it belongs.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Envelope {
    /// The run.
    pub run: RunId,
    /// The call of the parent run that this run answers; `None` at the root.
    pub parent: Option<CallId>,
    /// The place of the event in its run, from 0, without gaps.
    pub seq: u64,
    /// The event.
    pub event: AgentEvent,
}

impl Envelope {
    /// An event of a run.
    pub fn new(run: RunId, parent: impl Into<Option<CallId>>, seq: u64, event: AgentEvent) -> Self {
        Self { run, parent: parent.into(), seq, event }
    }
}

/// Something that happened in a run.
///
/// Every start has one end; events of messages come in the order of the history. Messages are
/// shared, not copied.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum AgentEvent {
    /// The run began: once, first.
    AgentStart,
    /// A turn began: what one answer of the model and its tools make up.
    TurnStart {
        /// From 0.
        turn: u64,
    },
    /// A message begins that has no id yet or will stream.
    MessageStart {
        /// The role as in files.
        role: &'static str,
    },
    /// A step of the answer.
    Model(ModelEvent),
    /// A message entered the history.
    MessageEnd {
        /// The message.
        message: Arc<Message>,
    },
    /// A call will not find what the last one left in the vendor's prompt cache; it was not sent
    /// yet.
    CacheBreak(CacheBreak),
    /// The vendor cannot carry something of a call.
    Lost {
        /// What.
        losses: Vec<Loss>,
    },
    /// A call failed and will be tried again.
    Retry {
        /// The attempt that failed, from 1.
        attempt: u32,
        /// How it failed.
        kind: ProviderErrorKind,
        /// The error in words.
        error: String,
        /// How long the wait is, in milliseconds.
        delay_ms: u64,
    },
    /// A tool begins, with the arguments that it really gets.
    ToolStart {
        /// The call.
        call: CallId,
        /// The tool.
        name: String,
        /// The arguments.
        arguments: RawJson,
    },
    /// A tool tells the user how far it is.
    ToolProgress {
        /// The call.
        call: CallId,
        /// The text.
        text: String,
    },
    /// A tool shows what there is of its output.
    ToolPartial {
        /// The call.
        call: CallId,
        /// The output so far.
        output: ToolOutput,
    },
    /// A tool ended.
    ToolEnd {
        /// The call.
        call: CallId,
        /// What it said.
        output: ToolOutput,
    },
    /// Somebody has to agree before a tool runs.
    ApprovalAsked {
        /// The call.
        call: CallId,
        /// What the model asked for.
        tool: ToolCall,
        /// Why it is asked.
        reason: String,
    },
    /// Something of a run below this one.
    Child(Box<Envelope>),
    /// A turn ended.
    TurnEnd {
        /// From 0.
        turn: u64,
        /// Why the model stopped; `None` where it was not asked.
        stop_reason: Option<StopReason>,
        /// What the turn used.
        usage: Usage,
    },
    /// The run ended: once, last.
    AgentEnd {
        /// What all calls used.
        usage: Usage,
        /// What they cost, where the price is known.
        cost: Option<Money>,
        /// Who answered last.
        origin: Option<Origin>,
    },
}
