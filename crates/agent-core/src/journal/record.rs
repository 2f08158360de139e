//! The records that the loop writes and reads.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error, ser::SerializeMap};
use serde_json::value::RawValue;

use crate::{
    AttemptId, Billed, CallId, Chain, ChainHash, Effects, Extra, JsonError, Message, MessageId, Money, RawJson, RunId,
    ToolOutput, Usage, ViewEdit,
    json::{Fields, persisted, standalone},
    macros::setters,
};

persisted! {
    /// One record, with the run that wrote it: `{"run": …, "parent": …, "body": {"<kind>": …}}` in files.
    ///
    /// ```
    /// use agent_core::{IdSource, JournalRecord, RecordBody, RunEnding};
    /// let run = IdSource::seeded(1).run(0);
    /// let record = JournalRecord::new(run, RecordBody::RunEnded(RunEnding::Completed));
    /// let line = serde_json::to_string(&record)?;
    /// assert_eq!(line, format!(r#"{{"run":"{run}","body":{{"runEnded":"completed"}}}}"#));
    /// assert_eq!(serde_json::from_str::<JournalRecord>(&line)?, record);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub struct JournalRecord as "journal record" {
        /// A record of a run at the root.
        new(run: RunId, body: RecordBody);
        /// The run; `None` for what belongs to the conversation.
        optional run: Option<RunId> = "run" or Some(run),
        /// The call of the parent run that this run answers; `None` at the root.
        optional parent: Option<CallId> = "parent",
        /// What happened.
        required body: RecordBody = "body",
    }

    /// What is known before a model call is sent.
    #[derive(Eq)]
    pub struct CallStart as "start of a call" {
        /// The first attempt at a request.
        new(attempt: AttemptId, message: MessageId);
        /// The attempt.
        required attempt: AttemptId = "attempt",
        /// Which attempt at the same request this is, from 1.
        required number: u32 = "number" or 1,
        /// The id that the answer will have.
        required message: MessageId = "message",
        /// A hash of the request, where it can be looked into.
        optional hash: Option<ChainHash> = "hash",
        /// Its chain, for the cache guard after a restart.
        optional chain: Option<Chain> = "chain",
        /// When it has to be over, in milliseconds since the Unix epoch.
        optional deadline_ms: Option<u64> = "deadlineMs",
        /// What was reserved for it.
        optional reserved: Option<Money> = "reserved",
    }

    /// How a model call ended.
    pub struct CallEnd as "end of a call" {
        /// An attempt that has nothing to show yet.
        new(attempt: AttemptId);
        /// The attempt.
        required attempt: AttemptId = "attempt",
        /// The message that enters the history; `None` for an attempt whose text is not kept.
        optional message: Option<Message> = "message",
        /// What it used.
        optional usage: Usage = "usage",
        /// What it counts for in the budget.
        optional cost: Option<Money> = "cost",
        /// What went wrong.
        optional error: Option<String> = "error",
        /// Whether a failed attempt can have been billed.
        required billed: Billed = "billed" or Billed::Unknown,
    }

    /// A tool call with everything that was decided about it.
    pub struct CallIntent as "call intent" {
        /// A call as decided.
        new(call: CallId, tool: impl Into<String>, arguments: RawJson, effects: Effects);
        /// The call.
        required call: CallId = "call",
        /// The tool.
        required tool: String = "tool",
        /// The arguments that it gets.
        required arguments: RawJson = "arguments",
        /// What it may do.
        required effects: Effects = "effects",
        /// Why somebody is asked, or a hook's word.
        optional reason: Option<String> = "reason",
        /// Until when somebody can agree, in milliseconds since the Unix epoch.
        optional expires_ms: Option<u64> = "expiresMs",
    }

    /// What a tool is about to do.
    pub struct ToolIntent as "tool intent" {
        /// An intent that nobody had to agree to.
        new(intent: CallIntent, tool_version: impl Into<String>);
        /// The key by which the tool recognises a repeated call.
        required idempotency_key: String = "idempotencyKey" or intent.call.to_string(),
        /// The call, as decided.
        required intent: CallIntent = "intent",
        /// Who decided what.
        required verdict: Verdict = "verdict" or Verdict::Allowed,
        /// The version of the tool.
        required tool_version: String = "toolVersion",
        /// The run that the tool is, where it is one.
        optional child: Option<RunId> = "child",
    }
}
standalone!(JournalRecord, CallStart, CallEnd, CallIntent, ToolIntent);

impl JournalRecord {
    /// A record of the conversation.
    pub fn conversation(body: RecordBody) -> Self {
        Self { run: None, parent: None, body, extra: Extra::default() }
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
