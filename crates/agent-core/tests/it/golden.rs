//! The persistence format, version 0: golden lines are read, written, and compared by bytes.
#![expect(clippy::panic, reason = "what fails here fails the test")]

use std::collections::BTreeSet;

use agent_core::{
    ApprovalAnswer, Billed, ContentBlock, JournalRecord, MediaSource, Message, ModelFacts, RecordBody, RunEnding,
    ViewEdit,
};
use serde::{Serialize, de::DeserializeOwned};

const KEPT: &str = include_str!("../golden/kept.jsonl");
const MESSAGES: &str = include_str!("../golden/messages.jsonl");
const RECORDS: &str = include_str!("../golden/records.jsonl");
const MODEL_FACTS: &str = include_str!("../golden/model_facts.json");

fn read<T: DeserializeOwned + Serialize + PartialEq + std::fmt::Debug>(lines: &str) -> Vec<T> {
    let round_trip = |line: &str| {
        let value: T = serde_json::from_str(line).unwrap_or_else(|e| panic!("{line}: {e}"));
        let written = serde_json::to_string(&value).unwrap_or_else(|e| panic!("{line}: {e}"));
        assert_eq!(written, line);
        value
    };
    lines.lines().map(round_trip).collect()
}

#[test]
fn unknown_parts_are_kept_byte_for_byte() {
    assert_eq!(read::<Message>(KEPT).len(), 4);
}

#[test]
fn messages() {
    let messages: Vec<Message> = read(MESSAGES);
    // Enums that may grow have no exhaustive match outside of their crate, so an unknown variant
    // ends the test, and every known one needs its line.
    let kind = |message: &Message| match message {
        Message::User(_) => "user",
        Message::Assistant(_) => "assistant",
        Message::ToolResult(_) => "toolResult",
        Message::Note(_) => "note",
        other => panic!("no golden line for {other:?}"),
    };
    assert_eq!(messages.iter().map(kind).collect::<BTreeSet<_>>().len(), 4);
    let block = |block: &ContentBlock| match block {
        ContentBlock::Text(_) => "text",
        ContentBlock::Image(i) if matches!(i.source, MediaSource::Base64(_)) => "base64",
        ContentBlock::Image(i) if matches!(i.source, MediaSource::Url(_)) => "url",
        ContentBlock::Image(_) => "image",
        ContentBlock::Document(_) => "document",
        ContentBlock::Thinking(_) => "thinking",
        ContentBlock::ToolCall(c) if c.arguments.fault().is_some() => "invalid",
        ContentBlock::ToolCall(_) => "toolCall",
        ContentBlock::Opaque(o) if o.origin().is_some() => "opaque",
        ContentBlock::Opaque(_) => "newer",
        other => panic!("no golden line for {other:?}"),
    };
    let blocks: BTreeSet<&str> = messages.iter().flat_map(|m| m.content()).map(block).collect();
    let all = ["base64", "document", "invalid", "newer", "opaque", "text", "thinking", "toolCall", "url"];
    assert_eq!(blocks, all.into_iter().collect());
}

#[test]
fn records() {
    let records: Vec<JournalRecord> = read(RECORDS);
    let kind = |record: &JournalRecord| match &record.body {
        RecordBody::ConversationStarted { .. } => "conversationStarted",
        RecordBody::RunStarted => "runStarted",
        RecordBody::MessageAppended(_) => "messageAppended",
        RecordBody::CallStarted(_) => "callStarted",
        RecordBody::CallSettled(end) if end.billed == Billed::No => "callSettled, not billed",
        RecordBody::CallSettled(_) => "callSettled",
        RecordBody::ToolIntents(_) => "toolIntents",
        RecordBody::ToolSettled { .. } => "toolSettled",
        RecordBody::ApprovalAsked(_) => "approvalAsked",
        RecordBody::ApprovalGiven { answer: ApprovalAnswer::Allow, .. } => "allow",
        RecordBody::ApprovalGiven { answer: ApprovalAnswer::AllowWith(_), .. } => "allowWith",
        RecordBody::ApprovalGiven { answer: ApprovalAnswer::Deny(_), .. } => "deny",
        RecordBody::ApprovalExpired { .. } => "approvalExpired",
        RecordBody::QueuePut { .. } => "queuePut",
        RecordBody::QueueTaken { .. } => "queueTaken",
        RecordBody::ViewEdited(ViewEdit::Hide { .. }) => "hide",
        RecordBody::ViewEdited(ViewEdit::Summarise { .. }) => "summarise",
        RecordBody::ViewEdited(ViewEdit::CutOutput { .. }) => "cutOutput",
        RecordBody::RunEnded(RunEnding::Completed) => "completed",
        RecordBody::RunEnded(RunEnding::Refused) => "refused",
        RecordBody::RunEnded(RunEnding::Truncated) => "truncated",
        RecordBody::RunEnded(RunEnding::Stopped(_)) => "stopped",
        RecordBody::RunEnded(RunEnding::Paused) => "paused",
        RecordBody::RunEnded(RunEnding::Cancelled) => "cancelled",
        RecordBody::RunEnded(RunEnding::Failed(_)) => "failed",
        RecordBody::Opaque { .. } => "opaque",
        other => panic!("no golden line for {other:?}"),
    };
    // One line for each arm above: a kind whose line is gone fails here.
    assert_eq!(records.iter().map(kind).collect::<BTreeSet<_>>().len(), 26);
    let opaque = records.iter().filter(|r| matches!(r.body, RecordBody::Opaque { .. })).count();
    assert_eq!(opaque, 1, "a known kind was not recognised");
}

#[test]
fn model_facts() {
    assert_eq!(read::<ModelFacts>(MODEL_FACTS).len(), 1);
}
