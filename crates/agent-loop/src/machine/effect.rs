//! What the machine asks for, and what it is told.

use std::sync::Arc;

use agent_core::{
    AgentEvent, ApprovalAnswer, AssistantMessage, CallId, CallIntent, CallOptions, Chain, Coercion, ContextPlan,
    ContextView, Divergence, Effects, JournalError, JournalRecord, Loss, Message, MessageId, ModelCall, Money,
    ProviderError, ProviderErrorKind, RawJson, RunFacts, StopReason, StopVerdict, TokenBound, ToolCall, ToolIntent,
    ToolOutcome, ToolOutput, ToolSet, TurnVerdict, Usage,
};

use crate::{FailedCall, Queue, RunReport};

/// Names an effect of one machine; never used twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EffectId(pub(super) u64);

impl EffectId {
    /// No effect: for inputs that belong to none, commands and the time.
    pub const NONE: Self = Self(0);
}

/// What is to be done next.
#[derive(Debug)]
#[non_exhaustive]
pub enum Step {
    /// Tell the consumer.
    Emit(AgentEvent),
    /// Begin an effect; its end comes back as an [`Input`] with the same id.
    Start(EffectId, Effect),
    /// Ask a tool to end; its end still comes back, or [`Abort`](Self::Abort) follows.
    Cancel(EffectId),
    /// Drop an effect. Nothing comes back, but for [`Effect::Send`], which answers at once with what had arrived.
    Abort(EffectId),
    /// Settle what [`Effect::Reserve`] with this id holds at this cost; `None` is all of it.
    Settle(EffectId, Option<Money>),
    /// Nothing now; call again with [`Input::Time`] at this time, in milliseconds since the Unix epoch, or with another
    /// input before.
    WaitUntil(u64),
    /// Nothing until the next input.
    Idle,
    /// The run is over. Nothing follows.
    Done(Box<RunReport>),
}

/// Something that the machine cannot do itself.
#[derive(Debug)]
#[non_exhaustive]
pub enum Effect {
    /// Write these records, all or none; ends with [`Input::Appended`].
    Append(Arc<Vec<JournalRecord>>),
    /// Ask the hooks at a point; ends with [`Input::Hooked`].
    Hook(Box<RunFacts>, HookPoint),
    /// Count the tokens of a call; ends with [`Input::Counted`].
    Count(Box<ModelCall>),
    /// Ask the context policy; ends with [`Input::Planned`].
    Context(Box<ContextQuestion>),
    /// Prepare a call; ends with [`Input::Prepared`]. What is prepared is kept under the id of the effect until the
    /// next one is prepared.
    Prepare {
        /// Which of the agent's models, from 0.
        model: usize,
        /// The call.
        call: Box<ModelCall>,
    },
    /// Reserve the worst case of a call; ends with [`Input::Reserved`], and is held until [`Step::Settle`].
    Reserve(Money),
    /// Send what was prepared last; ends with [`Input::CallEnded`], after one [`Input::FirstOutput`] where something
    /// came.
    Send {
        /// Which of the agent's models, from 0.
        model: usize,
        /// The reservation, where there is a budget.
        reserved: Option<EffectId>,
        /// The id of the message that is to be made.
        message: MessageId,
        /// Whether the consumer sees the answer; a summary is not shown.
        shown: bool,
    },
    /// Look a tool up, mend and check the arguments, ask its effects and the hooks; ends with [`Input::Judged`].
    Judge(Box<JudgeCall>),
    /// Ask somebody; ends with [`Input::Answered`], or with [`Command::Answer`].
    Approval(Box<CallIntent>),
    /// Run a tool; ends with [`Input::ToolEnded`].
    Tool(Box<RunTool>),
    /// Wait so many milliseconds; ends with [`Input::Slept`].
    Sleep(u64),
}

/// What a context policy is asked.
#[derive(Debug)]
#[non_exhaustive]
pub struct ContextQuestion {
    /// Which of the agent's models, from 0.
    pub model: usize,
    /// What the model is shown now.
    pub view: ContextView,
    /// How many tokens that is, as well as is known.
    pub tokens: u64,
    /// The usage of the last call.
    pub last_usage: Usage,
    /// Whether the vendor has said that it does not fit.
    pub overflowed: bool,
}

/// A call that is to be judged.
#[derive(Debug)]
#[non_exhaustive]
pub struct JudgeCall {
    /// The call.
    pub call: CallId,
    /// What the model asked for.
    pub tool: ToolCall,
    /// The arguments: the model's, or those that somebody agreed to.
    pub arguments: RawJson,
    /// Whether the arguments are mended and the hooks asked; not for what somebody agreed to.
    pub fresh: bool,
    /// What hooks may see.
    pub facts: RunFacts,
}

/// A tool that is to run.
#[derive(Debug)]
#[non_exhaustive]
pub struct RunTool {
    /// The call as it was decided.
    pub intent: ToolIntent,
    /// Whether to find out first whether it took effect before a crash.
    pub verify: bool,
    /// When it has to be over, in milliseconds since the Unix epoch.
    pub deadline_ms: Option<u64>,
}

/// A point at which hooks are asked.
#[derive(Debug)]
#[non_exhaustive]
pub enum HookPoint {
    /// Input before it enters the history.
    Input(Arc<Message>),
    /// A turn is about to begin.
    BeforeTurn,
    /// A model call is about to be made.
    BeforeModel(Arc<CallOptions>, ToolSet),
    /// A tool ended.
    AfterTool(CallId, Box<ToolCall>, ToolOutput),
    /// A turn ended.
    AfterTurn(Option<StopReason>, Usage),
    /// A model call failed.
    OnError(ProviderErrorKind, String),
    /// The run would end by itself.
    OnStop,
    /// The run is over.
    Finish,
}

/// What the hooks said, over all of them.
#[derive(Debug)]
#[non_exhaustive]
pub enum Hooked {
    /// Take this input, with these warnings for the model.
    Input(Arc<Message>, Vec<String>),
    /// Do not take it.
    Rejected(String),
    /// Whether the turn begins.
    Turn(TurnVerdict),
    /// Make the call with these notes and options.
    Model(Vec<String>, Option<Arc<CallOptions>>),
    /// End the run before the call.
    ModelStop(String),
    /// What the model is shown of a tool's output.
    Output(ToolOutput),
    /// Whether the run ends; all texts of hooks that send it on.
    Stop(StopVerdict),
    /// A hook that decides failed at the end of the run.
    StopFailed(String),
    /// Nothing to decide.
    Done,
}

/// What the machine is told.
#[derive(Debug)]
#[non_exhaustive]
pub enum Input {
    /// The records are acknowledged, or are not written.
    Appended(Result<(), JournalError>),
    /// The hooks were asked.
    Hooked(Hooked),
    /// The tokens were counted; an error falls back to an estimate.
    Counted(Result<u64, ProviderError>),
    /// The policy was asked; an error in words keeps everything.
    Planned(Result<ContextPlan, String>),
    /// The call is prepared.
    Prepared(Result<Box<PreparedFacts>, Box<FailedCall>>),
    /// The worst case is reserved, or this much is left.
    Reserved(Result<(), Money>),
    /// The first content of an answer arrived.
    FirstOutput,
    /// A call is over.
    CallEnded(Box<CallOutcome>),
    /// A call is judged.
    Judged(Box<Judgement>),
    /// Somebody answered.
    Answered(ApprovalAnswer),
    /// A tool is over.
    ToolEnded(ToolOutcome),
    /// A tool was asked whether it took effect before a crash, and it did not.
    DidNotRun,
    /// The wait is over.
    Slept,
    /// Somebody outside wants something; the id does not count.
    Command(Command),
    /// Time has passed; the id does not count.
    Time,
}

/// What can be known of a prepared call.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PreparedFacts {
    /// The chain, where the provider shows it.
    pub chain: Option<Chain>,
    /// Where it parts from the last call.
    pub divergence: Option<Divergence>,
    /// How many input tokens it can cost at most.
    pub input_bound: TokenBound,
    /// How many tokens can be generated at most.
    pub output_bound: Option<u64>,
    /// What the vendor cannot carry.
    pub losses: Vec<Loss>,
}

impl PreparedFacts {
    /// A request that cannot be looked into, with these bounds.
    pub fn new(input_bound: TokenBound, output_bound: impl Into<Option<u64>>) -> Self {
        let output_bound = output_bound.into();
        Self { chain: None, divergence: None, input_bound, output_bound, losses: Vec::new() }
    }
}

impl Default for PreparedFacts {
    fn default() -> Self {
        Self::new(TokenBound::AtMost(0), None)
    }
}

/// How a model call ended.
#[derive(Debug)]
#[non_exhaustive]
pub struct CallOutcome {
    /// What arrived; `None` where nothing did.
    pub message: Option<AssistantMessage>,
    /// The tokens, as far as they were reported.
    pub usage: Usage,
    /// What went wrong.
    pub error: Option<FailedCall>,
}

impl CallOutcome {
    /// A call that ended well.
    pub fn answered(message: AssistantMessage, usage: Usage) -> Self {
        Self { message: Some(message), usage, error: None }
    }

    /// A call that failed after this had arrived.
    pub fn failed(message: Option<AssistantMessage>, usage: Usage, error: FailedCall) -> Self {
        Self { message, usage, error: Some(error) }
    }
}

/// What was found out about a call.
#[derive(Debug)]
#[non_exhaustive]
pub enum Judgement {
    /// It can run.
    Run {
        /// The arguments that it gets.
        arguments: RawJson,
        /// What was mended in what the model sent.
        coercions: Vec<Coercion>,
        /// What it may do.
        effects: Effects,
        /// The version of the tool.
        version: String,
        /// Whether a hook changed the arguments.
        modified: bool,
        /// Why somebody has to be asked.
        ask: Option<String>,
    },
    /// It cannot; the model is told this.
    Refuse(ToolOutput),
}

/// What somebody outside wants.
#[derive(Debug)]
#[non_exhaustive]
pub enum Command {
    /// Put input into a queue, or change what is there under the same id.
    Put(Queue, Box<Message>),
    /// Take input back that is still in its queue.
    Withdraw(MessageId),
    /// Answer an approval.
    Answer(CallId, ApprovalAnswer),
    /// End the run.
    Cancel,
}
