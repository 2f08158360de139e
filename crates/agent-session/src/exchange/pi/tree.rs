//! The tree of a pi file, walked from its beginning: each branch becomes a valid history.

use std::collections::HashMap;

use agent_core::{
    ContextView, IdSource, JournalRecord, Message, MessageId, NoteMessage, RawJson, RecordBody, ToolResultMessage,
    Transcript, TranscriptError, ViewEdit,
};

use super::{Entry, PiFile, message::Messages, message::note};
use crate::{
    EntryId, Session, SessionError,
    exchange::{ExchangeError, Loss, PAGE, import},
    session::write::Draft,
};

const NO_RESULT: &str = "No result was recorded for this call.";
const NO_BEGINNING: &str = "(The beginning of this conversation is missing.)";

/// Where the walk is on a branch.
#[derive(Clone, Default)]
struct Branch {
    /// The entry of ours that the next one follows.
    at: Option<EntryId>,
    transcript: Transcript,
    view: ContextView,
}

struct Walk<'a> {
    session: &'a Session,
    ids: IdSource,
    messages: Messages,
    /// The places of pi's entries in its file.
    names: HashMap<&'a str, usize>,
    /// For each entry of pi: the entry of ours at which it stands, and its message.
    places: Vec<(Option<EntryId>, Option<MessageId>)>,
    /// Where the waiting drafts go, and they.
    below: Option<EntryId>,
    drafts: Vec<Draft>,
}

pub(super) async fn import<'a>(file: &'a PiFile, session: &'a Session) -> Result<Vec<Loss>, ExchangeError> {
    if !session.is_empty() {
        return Err(SessionError::NotEmpty { id: session.id() }.into());
    }
    let (mut children, mut roots) = (vec![Vec::new(); file.entries.len()], Vec::new());
    for (at, entry) in file.entries.iter().enumerate() {
        match entry.parent.and_then(|parent| children.get_mut(parent)) {
            Some(of_parent) => of_parent.push(at),
            None => roots.push(at),
        }
    }
    let mut walk = Walk {
        session,
        ids: session.new_ids(),
        messages: Messages::default(),
        names: file.entries.iter().enumerate().filter_map(|(at, entry)| Some((entry.id.as_deref()?, at))).collect(),
        places: vec![(None, None); file.entries.len()],
        below: None,
        drafts: Vec::new(),
    };
    let mut begin = Branch::default();
    walk.write(&mut begin, file.created_ms.unwrap_or_default(), import::started())?;
    // Kept in memory is one branch for each fork that is not walked to its end yet.
    let mut waiting: Vec<(usize, Branch)> = roots.into_iter().rev().map(|root| (root, begin.clone())).collect();
    while let Some((at, mut branch)) = waiting.pop() {
        let Some(entry) = file.entries.get(at) else { continue };
        if branch.at != walk.last() || walk.drafts.len() >= PAGE {
            walk.flush(branch.at).await?;
        }
        walk.take(entry, at, &mut branch)?;
        let below = children.get_mut(at).map(std::mem::take).unwrap_or_default();
        match below.as_slice() {
            [] => walk.close(&mut branch, entry)?,
            [only] => waiting.push((*only, branch)),
            several => waiting.extend(several.iter().rev().map(|child| (*child, branch.clone()))),
        }
    }
    walk.flush(None).await?;
    walk.name(file).await?;
    if walk.messages.priced > 0 {
        let what = format!("the prices of {} answers, which are no part of a message here", walk.messages.priced);
        walk.messages.losses.0.push(Loss { place: "the file".to_owned(), what });
    }
    let mut losses = file.losses.clone();
    losses.extend(walk.messages.losses.0);
    Ok(losses)
}

impl Walk<'_> {
    /// The entry behind which a draft would be written now.
    fn last(&self) -> Option<EntryId> {
        self.drafts.last().map_or(self.below, Draft::id)
    }

    /// Writes what waits, and goes on behind an entry.
    async fn flush(&mut self, below: Option<EntryId>) -> Result<(), SessionError> {
        let drafts = std::mem::take(&mut self.drafts);
        self.session.append_below(self.below, drafts).await?;
        self.below = below;
        Ok(())
    }

    fn take(&mut self, entry: &Entry, at: usize, branch: &mut Branch) -> Result<(), SessionError> {
        let id = self.ids.message(entry.ms);
        let fields = &entry.fields;
        let message = match (fields.kind.as_str(), &fields.message) {
            ("message", Some(raw)) => self.messages.read(entry.line, id, entry.ms, raw),
            ("custom_message", _) => {
                let kind = format!("pi.{}", fields.custom_type.as_deref().unwrap_or("custom"));
                let content = self.messages.content(entry.line, fields.content.as_deref());
                Some(note(id, entry.ms, &kind, content, None))
            }
            ("branch_summary", _) => {
                Some(note(id, entry.ms, "summary", vec![fields.summary.clone().unwrap_or_default().into()], None))
            }
            ("compaction", _) => {
                self.compact(entry, id, branch)?;
                None
            }
            // Names are said when all entries are there.
            ("label", _) => None,
            (kind, _) => {
                let data = RawJson::parse(entry.raw.clone()).map_err(|e| SessionError::Encode { source: e.into() })?;
                self.draft(branch, entry.ms, &format!("pi.{kind}"), data);
                None
            }
        };
        if let Some(message) = message {
            self.add(entry, branch, message)?;
        }
        if let Some(place) = self.places.get_mut(at) {
            *place = (branch.at, Some(id));
        }
        Ok(())
    }

    /// Appends a message, and before it what has to be there.
    fn add(&mut self, entry: &Entry, branch: &mut Branch, message: Message) -> Result<(), SessionError> {
        let is_result = matches!(message, Message::ToolResult(_));
        if !is_result {
            self.close(branch, entry)?;
        }
        match branch.transcript.append(message.clone()) {
            Ok(_) => {}
            Err(TranscriptError::AssistantFirst) => {
                let note = NoteMessage::new(self.ids.message(entry.ms), "opening").content(vec![NO_BEGINNING.into()]);
                self.messages.losses.line(entry.line, "a note was put before the first answer");
                self.put(entry, branch, note.into())?;
                return self.put(entry, branch, message);
            }
            Err(error) => {
                self.messages.losses.line(entry.line, format!("a message that does not follow: {error}"));
                return Ok(());
            }
        }
        self.wrote(entry, branch, message)
    }

    fn put(&mut self, entry: &Entry, branch: &mut Branch, message: Message) -> Result<(), SessionError> {
        let appended = branch.transcript.append(message.clone());
        appended.map_err(|source| SessionError::Transcript { id: EntryId::from_bits(0), source })?;
        self.wrote(entry, branch, message)
    }

    fn wrote(&mut self, entry: &Entry, branch: &mut Branch, message: Message) -> Result<(), SessionError> {
        if branch.transcript.open_turn().is_none() {
            let caught_up = branch.view.catch_up(&branch.transcript);
            caught_up.map_err(|source| SessionError::View { id: EntryId::from_bits(0), source })?;
        }
        self.write(branch, entry.ms, JournalRecord::conversation(RecordBody::MessageAppended(message)))
    }

    /// Answers the calls of a turn that has no answers.
    fn close(&mut self, branch: &mut Branch, entry: &Entry) -> Result<(), SessionError> {
        let open: Vec<_> = branch.transcript.open_turn().into_iter().flat_map(|turn| turn.unanswered()).collect();
        for call in open {
            let assistant = branch.transcript.open_turn().and_then(|turn| turn.call(call));
            let tool = assistant.map(|call| call.name.clone()).unwrap_or_default();
            let result = ToolResultMessage::error(self.ids.message(entry.ms), call, tool, NO_RESULT);
            self.messages.losses.line(entry.line, format!("the call {call} had no result: one was added"));
            self.put(entry, branch, result.into())?;
        }
        Ok(())
    }

    fn compact(&mut self, entry: &Entry, id: MessageId, branch: &mut Branch) -> Result<(), SessionError> {
        self.close(branch, entry)?;
        let kept = entry.fields.first_kept_entry_id.as_deref();
        let shown: Vec<MessageId> = branch.view.messages().map(|message| message.id()).collect();
        let end = match kept {
            Some(kept) => {
                let kept = self.message_of(kept);
                shown.iter().position(|message| Some(*message) == kept)
            }
            None => Some(shown.len()),
        };
        let span = end.and_then(|end| shown.get(..end)).filter(|span| !span.is_empty());
        let edit = span.and_then(|span| Some((*span.first()?, *span.last()?))).map(|(first, last)| {
            let summary = vec![entry.fields.summary.clone().unwrap_or_default().into()];
            let mut summary = NoteMessage::new(id, "summary").content(summary);
            summary.timestamp_ms = entry.ms;
            ViewEdit::Summarise { first, last, summary }
        });
        match edit {
            Some(edit) if branch.view.apply(&edit).is_ok() => {
                self.write(branch, entry.ms, JournalRecord::conversation(RecordBody::ViewEdited(edit)))
            }
            _ => {
                self.messages.losses.line(entry.line, "a compaction whose span is not whole turns of what was shown");
                Ok(())
            }
        }
    }

    fn message_of(&self, pi: &str) -> Option<MessageId> {
        self.names.get(pi).and_then(|at| self.places.get(*at)).and_then(|(_, message)| *message)
    }

    fn write(&mut self, branch: &mut Branch, ms: u64, record: JournalRecord) -> Result<(), SessionError> {
        let data = RawJson::of(&record).map_err(|source| SessionError::Encode { source: source.into() })?;
        self.draft(branch, ms, record.body.kind(), data);
        Ok(())
    }

    fn draft(&mut self, branch: &mut Branch, ms: u64, kind: &str, data: RawJson) {
        let id = EntryId::new(&mut self.ids, ms);
        self.drafts.push(Draft::entry(kind, data).named(id));
        branch.at = Some(id);
    }

    /// The labels and the head.
    async fn name(&mut self, file: &PiFile) -> Result<(), SessionError> {
        for entry in file.entries.iter().filter(|entry| entry.fields.kind == "label") {
            let target = entry.fields.target_id.as_deref().and_then(|target| self.names.get(target));
            let target = target.and_then(|at| self.places.get(*at)).and_then(|(entry, _)| *entry);
            match (target, &entry.fields.label) {
                (Some(target), Some(label)) => self.session.label(label, target).await?,
                (Some(target), None) => {
                    for (name, _) in self.session.labels().into_iter().filter(|(_, at)| *at == target) {
                        self.session.unlabel(&name).await?;
                    }
                }
                (None, _) => self.messages.losses.line(entry.line, "a label of nothing"),
            }
        }
        // In pi's files the last entry is where the session is.
        if let Some((Some(head), _)) = self.places.last() {
            self.session.seek(*head).await?;
        }
        Ok(())
    }
}
