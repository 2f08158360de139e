//! The texts of messages, for whoever looks for one.

use agent_core::{ContentBlock, JournalRecord, Message, RecordBody};

use crate::{EntryId, SessionId};

/// How much is shown before and behind what was looked for, in characters.
const AROUND: usize = 40;

/// An entry whose message has a text in it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hit {
    /// The session.
    pub session: SessionId,
    /// The entry.
    pub entry: EntryId,
    /// The text, with a little of what stands around it.
    pub excerpt: String,
}

/// A text that is looked for.
#[derive(Debug)]
pub(crate) struct Needle {
    folded: String,
}

impl Needle {
    pub(crate) fn new(text: &str) -> Self {
        Self { folded: text.to_lowercase() }
    }

    /// The hit in a record, if there is one.
    pub(crate) fn hit(&self, session: SessionId, entry: EntryId, kind: &str, data: &str) -> Option<Hit> {
        let excerpt = self.find_in(&text_of(kind, data)?)?;
        Some(Hit { session, entry, excerpt })
    }

    /// What stands around the first place in a text.
    pub(crate) fn find_in(&self, text: &str) -> Option<String> {
        let folded = text.to_lowercase();
        let at = folded.find(&self.folded)?;
        // Case changes the length of a few characters, so the place is counted in characters.
        let before = folded.get(..at)?.chars().count();
        let length = self.folded.chars().count();
        let skipped = before.saturating_sub(AROUND);
        Some(text.chars().skip(skipped).take(before - skipped + length + AROUND).collect())
    }
}

/// How a session begins: the first line of an input.
pub(crate) fn title_of(kind: &str, data: &str) -> Option<String> {
    const CHARACTERS: usize = 100;
    if kind != "messageAppended" {
        return None;
    }
    let record: JournalRecord = serde_json::from_str(data).ok()?;
    let RecordBody::MessageAppended(Message::User(message)) = record.body else { return None };
    let lines = message.content.iter().filter_map(ContentBlock::as_text).flat_map(str::lines);
    let line = lines.map(str::trim).find(|line| !line.is_empty())?;
    Some(line.chars().take(CHARACTERS).collect())
}

/// The text that a record's message shows; `None` for records without one.
pub(crate) fn text_of(kind: &str, data: &str) -> Option<String> {
    if !matches!(kind, "messageAppended" | "callSettled" | "toolSettled") {
        return None;
    }
    let record: JournalRecord = serde_json::from_str(data).ok()?;
    let text = match record.body {
        RecordBody::MessageAppended(message) => message.text(),
        RecordBody::CallSettled(end) => end.message.as_ref().map(Message::text)?,
        RecordBody::ToolSettled { output, .. } => {
            let texts: Vec<_> = output.content.iter().filter_map(ContentBlock::as_text).collect();
            texts.join("\n")
        }
        _ => return None,
    };
    (!text.is_empty()).then_some(text)
}
