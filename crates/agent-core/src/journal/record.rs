//! The records that the loop writes and reads.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use serde_json::value::RawValue;

use crate::{
    AttemptId, Billed, CallId, Chain, ChainHash, Effects, Message, MessageId, Money, RawJson, RunId, ToolOutput, Usage,
    ViewEdit, json::Fields, macros::setters,
};

/// One record, with the run that wrote it.
///
/// In files `{"run": …, "parent": …, "body": {"<kind>": …}}`, without what is `None`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct JournalRecord {
    /// The run; `None` for what belongs to the conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    /// The call of the parent run that this run answers; `None` at the root.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<CallId>,
    /// What happened.
    pub body: RecordBody,
}

impl JournalRecord {
    /// A record of a run at the root.
    pub fn new(run: RunId, body: RecordBody) -> Self {
        Self { run: Some(run), parent: None, body }
    }

    /// A record of the conversation.
    pub fn conversation(body: RecordBody) -> Self {
        Self { run: None, parent: None, body }
    }
}

setters!(JournalRecord {
    /// Says which call of the parent run this run answers.
    parent(call: CallId) => parent = Some(call);
});

/// What happened. Every decision that has to survive is a field of a record.
// The derived functions handle the kinds of this version; the impls below add the opaque ones.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "camelCase")]
#[non_exhaustive]
pub enum RecordBody {
    /// A conversation began.
    ConversationStarted {
        /// The version of the format: 0 until sessions exist.
        version: u32,
    },
    /// A run began.
    RunStarted,
    /// Input or a note entered the history.
    MessageAppended(Message),
    /// A model call is about to be sent.
    CallStarted(CallStart),
    /// A model call ended.
    CallSettled(CallEnd),
    /// Tools of one wave are about to run.
    ToolIntents(Vec<ToolIntent>),
    /// A tool ended; the output is what the model is shown.
    ToolSettled {
        /// The call.
        call: CallId,
        /// The id of the result message.
        message: MessageId,
        /// What it said.
        output: ToolOutput,
    },
    /// Somebody was asked whether a tool may run.
    ApprovalAsked(CallIntent),
    /// Somebody answered.
    ApprovalGiven {
        /// The call.
        call: CallId,
        /// The answer.
        answer: ApprovalAnswer,
    },
    /// Nobody answered in time.
    ApprovalExpired {
        /// The call.
        call: CallId,
    },
    /// Input waits in a queue.
    QueuePut {
        /// The queue: `steer` or `followUp`.
        queue: String,
        /// The input.
        message: Message,
    },
    /// Input left its queue: it entered the history, or was taken back.
    QueueTaken {
        /// The input.
        message: MessageId,
    },
    /// What the model is shown changed.
    ViewEdited(ViewEdit),
    /// A run ended.
    RunEnded(RunEnding),
    /// A kind that core does not know: a store's own, or a newer version's.
    #[serde(skip)]
    Opaque {
        /// The kind.
        kind: String,
        /// Its JSON.
        data: RawJson,
    },
}

/// The kinds that this version knows, by their names in files.
macro_rules! kinds {
    ($($kind:ident = $name:literal),*) => {
        const KINDS: &[&str] = &[$($name),*];

        impl RecordBody {
            /// The kind as files name it.
            pub fn kind(&self) -> &str {
                match self {
                    $( Self::$kind { .. } => $name, )*
                    Self::Opaque { kind, .. } => kind,
                }
            }
        }
    };
}
kinds! {
    ConversationStarted = "conversationStarted", RunStarted = "runStarted", MessageAppended = "messageAppended",
    CallStarted = "callStarted", CallSettled = "callSettled", ToolIntents = "toolIntents", ToolSettled = "toolSettled",
    ApprovalAsked = "approvalAsked", ApprovalGiven = "approvalGiven", ApprovalExpired = "approvalExpired",
    QueuePut = "queuePut", QueueTaken = "queueTaken", ViewEdited = "viewEdited", RunEnded = "runEnded"
}

impl Serialize for RecordBody {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::RunStarted => serializer.collect_map([(self.kind(), ())]),
            Self::Opaque { kind, data } => serializer.collect_map([(kind, data)]),
            known => Self::serialize(known, serializer),
        }
    }
}

impl<'de> Deserialize<'de> for RecordBody {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        let fields = Fields::parse("journal record", &raw).map_err(D::Error::custom)?;
        match fields.into_pairs().as_slice() {
            [(kind, data)] if !KINDS.contains(&kind.as_ref()) => {
                Ok(Self::Opaque { kind: kind.to_string(), data: RawJson::from_ref(data) })
            }
            _ => Self::deserialize(&mut serde_json::Deserializer::from_str(raw.get())).map_err(D::Error::custom),
        }
    }
}

/// What is known before a model call is sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CallStart {
    /// The attempt.
    pub attempt: AttemptId,
    /// Which attempt at the same request this is, from 1.
    pub number: u32,
    /// The id that the answer will have.
    pub message: MessageId,
    /// A hash of the request, where it can be looked into.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hash: Option<ChainHash>,
    /// Its chain, for the cache guard after a restart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chain: Option<Chain>,
    /// When it has to be over, in milliseconds since the Unix epoch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline_ms: Option<u64>,
    /// What was reserved for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reserved: Option<Money>,
}

impl CallStart {
    /// The first attempt at a request.
    pub fn new(attempt: AttemptId, message: MessageId) -> Self {
        Self { attempt, number: 1, message, hash: None, chain: None, deadline_ms: None, reserved: None }
    }
}

/// How a model call ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CallEnd {
    /// The attempt.
    pub attempt: AttemptId,
    /// The message that enters the history; `None` for an attempt whose text is not kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<Message>,
    /// What it used.
    pub usage: Usage,
    /// What it counts for in the budget.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<Money>,
    /// What went wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Whether a failed attempt can have been billed.
    #[serde(with = "BilledWord")]
    pub billed: Billed,
}

impl CallEnd {
    /// An attempt that has nothing to show yet.
    pub fn new(attempt: AttemptId) -> Self {
        Self { attempt, message: None, usage: Usage::ZERO, cost: None, error: None, billed: Billed::Unknown }
    }
}

/// How [`Billed`] is written. A word of a newer version leaves it open, as [`Billed::Unknown`] does.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Billed", rename_all = "camelCase")]
enum BilledWord {
    No,
    #[serde(other)]
    Unknown,
}

/// A tool call with everything that was decided about it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CallIntent {
    /// The call.
    pub call: CallId,
    /// The tool.
    pub tool: String,
    /// The arguments that it gets.
    pub arguments: RawJson,
    /// What it may do.
    pub effects: Effects,
    /// Why somebody is asked, or a hook's word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl CallIntent {
    /// A call as decided.
    pub fn new(call: CallId, tool: impl Into<String>, arguments: RawJson, effects: Effects) -> Self {
        Self { call, tool: tool.into(), arguments, effects, reason: None }
    }
}

/// What a tool is about to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolIntent {
    /// The call, as decided.
    pub intent: CallIntent,
    /// Who decided what.
    pub verdict: Verdict,
    /// The key by which the tool recognises a repeated call.
    pub idempotency_key: String,
    /// The version of the tool.
    pub tool_version: String,
    /// The run that the tool is, where it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub child: Option<RunId>,
}

impl ToolIntent {
    /// An intent that nobody had to agree to.
    pub fn new(intent: CallIntent, tool_version: impl Into<String>) -> Self {
        let idempotency_key = intent.call.to_string();
        let tool_version = tool_version.into();
        Self { intent, verdict: Verdict::Allowed, idempotency_key, tool_version, child: None }
    }
}

/// What was decided about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Verdict {
    /// It runs.
    Allowed,
    /// It runs with other arguments than the model gave.
    Modified,
    /// It runs because somebody agreed.
    Approved,
}

/// What somebody said who was asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum ApprovalAnswer {
    /// Run it.
    Allow,
    /// Run it with these arguments.
    AllowWith(RawJson),
    /// Do not run it.
    Deny(String),
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum RunEnding {
    /// The model was done.
    Completed,
    /// The model refused.
    Refused,
    /// The answer was cut at its limit.
    Truncated,
    /// Something stopped it, by this name: a limit, the budget, a hook.
    Stopped(String),
    /// It waits for answers.
    Paused,
    /// It was cancelled.
    Cancelled,
    /// It failed.
    Failed(String),
}
