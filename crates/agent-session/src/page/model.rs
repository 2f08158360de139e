//! What a page shows: the entries of a session in segments between forks, and the figures of its calls.

use std::collections::HashMap;

use agent_core::{CallId, JournalRecord, Message, Money, RecordBody, ToolOutput, Usage};

use crate::{Entry, EntryId, Session, SessionError};

/// A session, read.
pub(super) struct Model {
    pub(super) entries: Vec<Entry>,
    pub(super) records: Vec<Option<JournalRecord>>,
    pub(super) segments: Vec<Segment>,
    /// Names by entries.
    pub(super) labels: HashMap<EntryId, Vec<String>>,
    pub(super) head: Option<EntryId>,
    /// The tools by their calls.
    pub(super) tools: HashMap<CallId, String>,
}

/// Entries that follow one another without a fork.
#[derive(Debug, Default)]
pub(super) struct Segment {
    pub(super) parent: Option<usize>,
    pub(super) children: Vec<usize>,
    /// Which entries of the model.
    pub(super) entries: Vec<usize>,
    pub(super) depth: usize,
    /// Whether it is on the way to the head.
    pub(super) current: bool,
}

/// The figures of a model call.
#[derive(Debug, Clone, Copy)]
pub(super) struct Figures {
    /// Its place among the entries.
    pub(super) at: usize,
    pub(super) usage: Usage,
    pub(super) cost: Option<Money>,
}

impl Model {
    pub(super) async fn read(session: &Session) -> Result<Self, SessionError> {
        let entries = session.entries();
        let records = session.records(&entries).await?;
        let mut labels: HashMap<EntryId, Vec<String>> = HashMap::new();
        for (name, entry) in session.labels() {
            labels.entry(entry).or_default().push(name);
        }
        let (segments, head) = (segments(&entries, session.head()), session.head());
        let calls = records.iter().flatten().filter_map(answer).filter_map(|message| match message {
            Message::Assistant(answer) => Some(answer),
            _ => None,
        });
        let tools = calls.flat_map(|answer| answer.tool_calls()).map(|(id, call)| (id, call.name.clone())).collect();
        Ok(Self { segments, labels, head, tools, entries, records })
    }

    pub(super) fn record(&self, at: usize) -> Option<&JournalRecord> {
        self.records.get(at)?.as_ref()
    }

    /// The calls on the way to the head, oldest first.
    pub(super) fn figures(&self) -> Vec<Figures> {
        let current = self.segments.iter().filter(|segment| segment.current).flat_map(|segment| &segment.entries);
        current.filter_map(|at| self.figures_at(*at)).collect()
    }

    pub(super) fn figures_at(&self, at: usize) -> Option<Figures> {
        let (usage, cost) = match &self.record(at)?.body {
            RecordBody::CallSettled(end) => (end.usage, end.cost),
            RecordBody::MessageAppended(Message::Assistant(answer)) => (answer.usage, None),
            _ => return None,
        };
        (usage != Usage::ZERO || cost.is_some()).then_some(Figures { at, usage, cost })
    }

    /// What the model was told, where the entry begins a turn.
    pub(super) fn input(&self, at: usize) -> Option<&Message> {
        match &self.record(at)?.body {
            RecordBody::MessageAppended(message @ Message::User(_)) => Some(message),
            _ => None,
        }
    }
}

/// The message of an answer.
pub(super) fn answer(record: &JournalRecord) -> Option<&Message> {
    match &record.body {
        RecordBody::CallSettled(end) => end.message.as_ref(),
        RecordBody::MessageAppended(message) => Some(message),
        _ => None,
    }
}

/// What a tool said, and to which call.
pub(super) fn output(record: &JournalRecord) -> Option<(CallId, ToolOutput)> {
    match &record.body {
        RecordBody::ToolSettled { call, output, .. } => Some((*call, output.clone())),
        RecordBody::MessageAppended(Message::ToolResult(result)) => {
            let mut output = ToolOutput::default();
            (output.content, output.details) = (result.content.clone(), result.details.clone());
            output.is_error = result.is_error;
            Some((result.call, output))
        }
        _ => None,
    }
}

fn segments(entries: &[Entry], head: Option<EntryId>) -> Vec<Segment> {
    let places: HashMap<EntryId, usize> = entries.iter().enumerate().map(|(at, entry)| (entry.id, at)).collect();
    let parent_of = |entry: &Entry| entry.parent.and_then(|parent| places.get(&parent)).copied();
    let mut followers = vec![0usize; entries.len()];
    for parent in entries.iter().filter_map(parent_of) {
        if let Some(count) = followers.get_mut(parent) {
            *count += 1;
        }
    }
    let (mut segments, mut of) = (Vec::<Segment>::new(), Vec::with_capacity(entries.len()));
    for (at, entry) in entries.iter().enumerate() {
        let parent = parent_of(entry);
        let above = parent.and_then(|parent| of.get(parent)).copied();
        let goes_on = parent.is_some_and(|parent| followers.get(parent) == Some(&1));
        let own = match above.filter(|_| goes_on) {
            Some(segment) => segment,
            None => {
                let own = segments.len();
                let depth = above.and_then(|above| segments.get(above)).map_or(0, |above: &Segment| above.depth + 1);
                segments.push(Segment { parent: above, depth, ..Segment::default() });
                if let Some(above) = above.and_then(|above| segments.get_mut(above)) {
                    above.children.push(own);
                }
                own
            }
        };
        of.push(own);
        if let Some(segment) = segments.get_mut(own) {
            segment.entries.push(at);
        }
    }
    let mut current = head.and_then(|head| places.get(&head)).and_then(|at| of.get(*at)).copied();
    while let Some(segment) = current.and_then(|at| segments.get_mut(at)) {
        segment.current = true;
        current = segment.parent;
    }
    segments
}
