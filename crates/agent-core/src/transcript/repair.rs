//! Makes a valid transcript of any list of messages, and says what it changed.

use std::collections::{HashMap, HashSet, hash_map::Entry};

use super::Transcript;
use crate::{CallId, ContentBlock, IdSource, Message, MessageId, NoteMessage, ToolResultMessage, UserMessage};

const NO_RESULT: &str = "No result was recorded for this call. It may have run: check before you call again.";
const NO_BEGINNING: &str = "(The beginning of this conversation is missing.)";

/// Something that [`Transcript::load`] changed.
///
/// ```
/// use agent_core::{AssistantMessage, IdSource, Message, Repair, StopReason, Transcript};
/// let mut ids = IdSource::seeded(1);
/// let answer = AssistantMessage::new(ids.message(0), vec!["Hi".into()], StopReason::EndTurn);
/// let (transcript, repairs) = Transcript::load([Message::from(answer)], &mut ids, 0);
/// assert!(matches!(repairs[..], [Repair::InsertedOpening { .. }]));
/// assert_eq!(transcript.messages().len(), 2);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Repair {
    /// A call had no result: an error result was added.
    AnsweredCall {
        /// The call.
        call: CallId,
    },
    /// A result stood apart from its call or out of call order: it was moved.
    MovedResult {
        /// The result.
        id: MessageId,
        /// Its call.
        call: CallId,
    },
    /// A result had no call, or its call had one already: it was dropped.
    DroppedResult {
        /// The result.
        id: MessageId,
        /// The call that it named.
        call: CallId,
    },
    /// The same message stood there twice: one was dropped.
    DroppedDuplicate {
        /// The message.
        id: MessageId,
    },
    /// Two different messages had one id: the later one got a new id.
    RenamedMessage {
        /// The id that both had.
        from: MessageId,
        /// The new id of the later one.
        to: MessageId,
    },
    /// A tool call outside an assistant message: it was turned into text.
    MisplacedCall {
        /// The message.
        id: MessageId,
        /// The block, from 0.
        block: usize,
    },
    /// The history began with an assistant message: a note was put before it.
    InsertedOpening {
        /// The note.
        id: MessageId,
    },
}

pub(super) fn load(messages: Vec<Message>, ids: &mut IdSource, now_ms: u64) -> (Transcript, Vec<Repair>) {
    let taken = messages.iter().map(Message::id).collect();
    let mut loader = Loader { ids, now_ms, taken, repairs: Vec::new(), transcript: Transcript::new() };
    let mut messages = loader.unique(messages);
    messages.iter_mut().for_each(|message| loader.replace_misplaced_calls(message));
    loader.pair(messages);
    (loader.transcript, loader.repairs)
}

struct Loader<'a> {
    ids: &'a mut IdSource,
    now_ms: u64,
    taken: HashSet<MessageId>,
    repairs: Vec<Repair>,
    transcript: Transcript,
}

impl Loader<'_> {
    /// Drops repeated messages and renames different ones that share an id.
    fn unique(&mut self, messages: Vec<Message>) -> Vec<Message> {
        let mut seen: HashMap<MessageId, usize> = HashMap::new();
        let mut unique: Vec<Message> = Vec::with_capacity(messages.len());
        for mut message in messages {
            let id = message.id();
            if let Some(first) = seen.get(&id).and_then(|at| unique.get(*at)) {
                if *first == message {
                    self.repairs.push(Repair::DroppedDuplicate { id });
                    continue;
                }
                let to = self.new_id();
                message.set_id(to);
                self.repairs.push(Repair::RenamedMessage { from: id, to });
            }
            seen.entry(message.id()).or_insert(unique.len());
            unique.push(message);
        }
        unique
    }

    fn replace_misplaced_calls(&mut self, message: &mut Message) {
        let id = message.id();
        let content = match message {
            Message::Assistant(_) => return,
            Message::User(UserMessage { content, .. })
            | Message::ToolResult(ToolResultMessage { content, .. })
            | Message::Note(NoteMessage { content, .. }) => content,
        };
        for (block, slot) in content.iter_mut().enumerate() {
            if let ContentBlock::ToolCall(call) = slot {
                *slot = ContentBlock::text(format!("{} {}", call.name, call.arguments.text()));
                self.repairs.push(Repair::MisplacedCall { id, block });
            }
        }
    }

    /// Puts every result right behind its call, and one behind every call.
    fn pair(&mut self, messages: Vec<Message>) {
        let calls: HashSet<CallId> = messages.iter().flat_map(calls_of).map(|(id, _)| id).collect();
        let mut results: HashMap<CallId, (usize, ToolResultMessage)> = HashMap::new();
        let mut rest = Vec::with_capacity(messages.len());
        // Places among what is kept: a result moved where something else stood between it and its call.
        for message in messages {
            let place = rest.len() + results.len();
            match message {
                Message::ToolResult(result) => match results.entry(result.call) {
                    Entry::Vacant(slot) if calls.contains(&result.call) => drop(slot.insert((place, result))),
                    _ => self.repairs.push(Repair::DroppedResult { id: result.id, call: result.call }),
                },
                message => rest.push((place, message)),
            }
        }
        let mut gone = HashSet::new();
        for (place, message) in rest {
            let calls: Vec<(CallId, String)> = calls_of(&message).collect();
            if matches!(message, Message::Assistant(_)) && !self.transcript.is_shown() {
                let id = self.new_id();
                self.repairs.push(Repair::InsertedOpening { id });
                self.push(NoteMessage::new(id, "repair").content(vec![NO_BEGINNING.into()]).into());
            }
            self.push(message);
            for (call, tool) in calls {
                let result = match results.remove(&call) {
                    Some((found, result)) => {
                        if found < place || !(place + 1..found).all(|between| gone.contains(&between)) {
                            self.repairs.push(Repair::MovedResult { id: result.id, call });
                        }
                        gone.insert(found);
                        result
                    }
                    None => {
                        self.repairs.push(Repair::AnsweredCall { call });
                        ToolResultMessage::error(self.new_id(), call, tool, NO_RESULT)
                    }
                };
                self.push(result.into());
            }
        }
    }

    /// An id that no message has, though the history may be made of the ids of the same seed.
    fn new_id(&mut self) -> MessageId {
        loop {
            let id = self.ids.message(self.now_ms);
            if self.taken.insert(id) {
                return id;
            }
        }
    }

    fn push(&mut self, message: Message) {
        // Every rule of `append` was established above; a message that still broke one would be
        // left out, and the property tests compare what went in with what came out.
        let appended = self.transcript.append(message);
        debug_assert!(appended.is_ok(), "repair left a fault: {appended:?}");
    }
}

fn calls_of(message: &Message) -> impl Iterator<Item = (CallId, String)> {
    let answer = if let Message::Assistant(answer) = message { Some(answer) } else { None };
    answer.into_iter().flat_map(|answer| answer.tool_calls().map(|(id, call)| (id, call.name.clone())))
}
