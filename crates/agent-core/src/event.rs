//! What a run tells its consumer.

use std::sync::Arc;

use crate::{
    CacheBreak, CallId, Coercion, Loss, Message, MessageId, ModelEvent, Money, Origin, ProviderErrorKind, RawJson,
    RunEnding, RunId, StopReason, ToolCall, ToolOutput, Usage,
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
    /// Input was refused by a hook; it is not in the history.
    InputRejected {
        /// Why.
        reason: String,
    },
    /// Input was put into a queue.
    Queued {
        /// `steer` or `followUp`.
        queue: &'static str,
        /// The input.
        message: MessageId,
    },
    /// Input left its queue: it enters the history next, or was taken back.
    Dequeued {
        /// The input.
        message: MessageId,
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
    /// What had begun of a message is void: its call failed and will be tried again.
    MessageDropped {
        /// What there was of it; it is not in the history.
        message: Arc<Message>,
    },
    /// What the model is shown of the history was changed by the context policy.
    ContextEdited {
        /// How many messages were shown before.
        before: usize,
        /// How many are shown now.
        after: usize,
    },
    /// The model makes the same calls over and over.
    LoopDetected {
        /// The tool that is called.
        tool: String,
        /// How often in a row.
        repetitions: u32,
        /// Whether the run ends; else the model is told once.
        stopped: bool,
    },
    /// A hook that only advises failed and was skipped.
    HookFailed {
        /// The point at which it failed.
        point: &'static str,
        /// How.
        error: String,
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
        /// What was mended in what the model sent.
        coercions: Vec<Coercion>,
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
        /// How it ended.
        ending: RunEnding,
        /// What all calls used.
        usage: Usage,
        /// What they cost, where the price is known.
        cost: Option<Money>,
        /// Who answered last.
        origin: Option<Origin>,
    },
}
