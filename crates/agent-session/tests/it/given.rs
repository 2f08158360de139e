//! What tests begin with.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
};

use agent_core::{
    Arguments, AssistantMessage, AttemptId, CallEnd, CallId, CallStart, IdSource, Journal, JournalRecord, Message,
    MessageId, RecordBody, RunEnding, StopReason, ToolCall, ToolOutput, UserMessage,
};
use agent_session::{MemorySessions, Session, SessionStore};

/// A folder of one test, which stays for whoever looks into a failure.
pub(crate) fn folder(name: &str) -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let name = format!("session-{name}-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).unwrap();
    folder
}

pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

pub(crate) async fn in_memory() -> Session {
    MemorySessions::new().create().await.unwrap()
}

/// Ids that are the same in every run.
pub(crate) fn ids() -> IdSource {
    IdSource::seeded(7)
}

pub(crate) fn user(id: MessageId, text: &str) -> JournalRecord {
    JournalRecord::conversation(RecordBody::MessageAppended(UserMessage::text(id, text).into()))
}

pub(crate) fn note(number: u64) -> JournalRecord {
    let id = MessageId::from_bits(u128::from(number) + 1);
    user(id, &format!("number {number}"))
}

/// The records of a run in which the model answers a prompt.
pub(crate) fn run(ids: &mut IdSource, prompt: &str, answer: &str) -> (MessageId, MessageId, Vec<JournalRecord>) {
    let (run, asked, answered, attempt) = (ids.run(0), ids.message(0), ids.message(0), ids.attempt(0));
    let answer = AssistantMessage::new(answered, vec![answer.into()], StopReason::EndTurn);
    let bodies = [
        RecordBody::RunStarted,
        RecordBody::MessageAppended(UserMessage::text(asked, prompt).into()),
        RecordBody::CallStarted(CallStart::new(attempt, answered)),
        RecordBody::CallSettled(settled(attempt, answer.into())),
        RecordBody::RunEnded(RunEnding::Completed),
    ];
    (asked, answered, bodies.into_iter().map(|body| JournalRecord::new(run, body)).collect())
}

/// A run in which the model calls a tool, which answers.
pub(crate) fn run_with_tool(ids: &mut IdSource, prompt: &str) -> Vec<JournalRecord> {
    let (run, answered, attempt) = (ids.run(0), ids.message(0), ids.attempt(0));
    let call = ToolCall::new("look", Arguments::from_text("{}"));
    let answer = AssistantMessage::new(answered, vec![call.into()], StopReason::ToolUse);
    let bodies = [
        RecordBody::RunStarted,
        RecordBody::MessageAppended(UserMessage::text(ids.message(0), prompt).into()),
        RecordBody::CallStarted(CallStart::new(attempt, answered)),
        RecordBody::CallSettled(settled(attempt, answer.into())),
        RecordBody::ToolSettled {
            call: CallId::new(answered, 0),
            message: ids.message(0),
            output: ToolOutput::from("seen"),
        },
    ];
    bodies.into_iter().map(|body| JournalRecord::new(run, body)).collect()
}

fn settled(attempt: AttemptId, message: Message) -> CallEnd {
    let mut end = CallEnd::new(attempt);
    end.message = Some(message);
    end
}

/// The texts of the messages that a conversation would be made of.
pub(crate) async fn texts(session: &Session) -> Vec<String> {
    let branch = session.journal().load().await.unwrap();
    let text = |record: &JournalRecord| match &record.body {
        RecordBody::MessageAppended(message) => Some(message.text()),
        RecordBody::CallSettled(end) => end.message.as_ref().map(Message::text),
        _ => None,
    };
    branch.records().iter().filter_map(text).collect()
}
