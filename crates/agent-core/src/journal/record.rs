//! The records that the loop writes and reads.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser::SerializeMap};
use serde_json::value::RawValue;

use crate::{
    AttemptId, CallId, Effects, Message, MessageId, Money, RunId, ToolOutput, Usage, ViewEdit,
    error::Billed,
    json::{Fields, JsonError, RawJson},
    wire::{Chain, ChainHash},
};

/// One record, with the run that wrote it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct JournalRecord {
    /// The run; `None` for what belongs to the conversation.
    pub run: Option<RunId>,
    /// The call of the parent run that this run answers; `None` at the root.
    pub parent: Option<CallId>,
    /// What happened.
    pub body: RecordBody,
}

/// What happened. Every decision that has to survive is a field of a record.
#[derive(Debug, Clone, PartialEq)]
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
    Opaque {
        /// The kind.
        kind: String,
        /// Its JSON.
        data: RawJson,
    },
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<ChainHash>,
    /// Its chain, for the cache guard after a restart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chain: Option<Chain>,
    /// When it has to be over, in milliseconds since the Unix epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline_ms: Option<u64>,
    /// What was reserved for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<Message>,
    /// What it used.
    #[serde(default)]
    pub usage: Usage,
    /// What it counts for in the budget.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Money>,
    /// What went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Whether a failed attempt can have been billed.
    #[serde(default = "billed_unknown", with = "billed")]
    pub billed: Billed,
}

impl CallEnd {
    /// An attempt that has nothing to show yet.
    pub fn new(attempt: AttemptId) -> Self {
        Self { attempt, message: None, usage: Usage::ZERO, cost: None, error: None, billed: Billed::Unknown }
    }
}

fn billed_unknown() -> Billed {
    Billed::Unknown
}

mod billed {
    use serde::{Deserialize, Deserializer, Serializer};

    use crate::error::Billed;

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
    pub(super) fn serialize<S: Serializer>(billed: &Billed, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(if *billed == Billed::No { "no" } else { "unknown" })
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Billed, D::Error> {
        let word = String::deserialize(d)?;
        Ok(if word == "no" { Billed::No } else { Billed::Unknown })
    }
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
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

impl JournalRecord {
    /// A record of a run at the root.
    pub fn new(run: RunId, body: RecordBody) -> Self {
        Self { run: Some(run), parent: None, body }
    }

    /// A record of the conversation.
    pub fn conversation(body: RecordBody) -> Self {
        Self { run: None, parent: None, body }
    }

    /// Says which call of the parent run this run answers.
    #[must_use]
    pub fn parent(mut self, call: CallId) -> Self {
        self.parent = Some(call);
        self
    }

    fn from_raw(raw: &RawValue) -> Result<Self, JsonError> {
        let mut fields = Fields::parse("journal record", raw)?;
        let (run, parent) = (fields.optional("run")?, fields.optional("parent")?);
        let kind: String = fields.required("kind")?;
        let data: RawJson = fields.required("data")?;
        let body = RecordBody::read(kind, data)?;
        Ok(Self { run, parent, body })
    }
}

/// Kinds whose data is one value of a type: variant, name.
macro_rules! kinds {
    ($($variant:ident = $name:literal),* $(,)?) => {
        impl RecordBody {
            fn read(kind: String, data: RawJson) -> Result<Self, JsonError> {
                match kind.as_str() {
                    $( $name => Ok(Self::$variant(data.read()?)), )*
                    "conversationStarted" => Ok(Self::ConversationStarted { version: data.read()? }),
                    "runStarted" => Ok(Self::RunStarted),
                    "toolSettled" => {
                        let (call, message, output) = data.read()?;
                        Ok(Self::ToolSettled { call, message, output })
                    }
                    "approvalGiven" => {
                        let (call, answer) = data.read()?;
                        Ok(Self::ApprovalGiven { call, answer })
                    }
                    "approvalExpired" => Ok(Self::ApprovalExpired { call: data.read()? }),
                    "queuePut" => {
                        let (queue, message) = data.read()?;
                        Ok(Self::QueuePut { queue, message })
                    }
                    "queueTaken" => Ok(Self::QueueTaken { message: data.read()? }),
                    _ => Ok(Self::Opaque { kind, data }),
                }
            }

            fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
                map.serialize_entry("kind", self.kind())?;
                match self {
                    $( Self::$variant(data) => map.serialize_entry("data", data), )*
                    Self::ConversationStarted { version } => map.serialize_entry("data", version),
                    Self::RunStarted => map.serialize_entry("data", &()),
                    Self::ToolSettled { call, message, output } => {
                        map.serialize_entry("data", &(call, message, output))
                    }
                    Self::ApprovalGiven { call, answer } => {
                        map.serialize_entry("data", &(call, answer))
                    }
                    Self::ApprovalExpired { call } => map.serialize_entry("data", call),
                    Self::QueuePut { queue, message } => {
                        map.serialize_entry("data", &(queue, message))
                    }
                    Self::QueueTaken { message } => map.serialize_entry("data", message),
                    Self::Opaque { data, .. } => map.serialize_entry("data", data),
                }
            }

            /// The kind as files name it.
            pub fn kind(&self) -> &str {
                match self {
                    $( Self::$variant(_) => $name, )*
                    Self::ConversationStarted { .. } => "conversationStarted",
                    Self::RunStarted => "runStarted",
                    Self::ToolSettled { .. } => "toolSettled",
                    Self::ApprovalGiven { .. } => "approvalGiven",
                    Self::ApprovalExpired { .. } => "approvalExpired",
                    Self::QueuePut { .. } => "queuePut",
                    Self::QueueTaken { .. } => "queueTaken",
                    Self::Opaque { kind, .. } => kind,
                }
            }
        }
    };
}

kinds! {
    MessageAppended = "messageAppended",
    CallStarted = "callStarted",
    CallSettled = "callSettled",
    ToolIntents = "toolIntents",
    ApprovalAsked = "approvalAsked",
    ViewEdited = "viewEdited",
    RunEnded = "runEnded",
}

impl Serialize for JournalRecord {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if let Some(run) = &self.run {
            map.serialize_entry("run", run)?;
        }
        if let Some(parent) = &self.parent {
            map.serialize_entry("parent", parent)?;
        }
        self.body.write(&mut map)?;
        map.end()
    }
}

impl<'de> Deserialize<'de> for JournalRecord {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Self::from_raw(&raw).map_err(de::Error::custom)
    }
}
