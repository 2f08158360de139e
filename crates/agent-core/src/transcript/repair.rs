//! Makes a valid transcript of any list of messages, and says what it changed.

use std::{
    collections::{HashMap, HashSet, hash_map::Entry},
    sync::Arc,
};

use super::Transcript;
use crate::{
    id::{CallId, IdSource, MessageId},
    message::{
        AssistantMessage, ContentBlock, Message, NoteMessage, ToolResultMessage, UserMessage,
    },
};

const NO_RESULT: &str =
    "No result was recorded for this call. It may have run: check before you call again.";
const NO_BEGINNING: &str = "(The beginning of this conversation is missing.)";

/// Something that [`Transcript::load`] changed.
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

pub(super) fn load(
    messages: Vec<Message>,
    ids: &mut IdSource,
    now_ms: u64,
) -> (Transcript, Vec<Repair>) {
    let taken = messages.iter().map(Message::id).collect();
    let (repairs, transcript) = (Vec::new(), Transcript::new());
    let mut loader = Loader { ids, now_ms, taken, repairs, transcript };
    let messages = loader.unique(messages);
    let messages = messages.into_iter().map(|m| loader.without_misplaced_calls(m)).collect();
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
            match seen.entry(id) {
                Entry::Vacant(slot) => {
                    slot.insert(unique.len());
                }
                Entry::Occupied(slot) => {
                    if unique.get(*slot.get()) == Some(&message) {
                        self.repairs.push(Repair::DroppedDuplicate { id });
                        continue;
                    }
                    let to = self.new_id();
                    set_id(&mut message, to);
                    self.repairs.push(Repair::RenamedMessage { from: id, to });
                }
            }
            unique.push(message);
        }
        unique
    }

    fn without_misplaced_calls(&mut self, mut message: Message) -> Message {
        let id = message.id();
        let content = match &mut message {
            Message::Assistant(_) => return message,
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
        message
    }

    /// Puts every result right behind its call.
    fn pair(&mut self, messages: Vec<Message>) {
        let calls: HashSet<CallId> = messages.iter().flat_map(calls_of).collect();
        let mut results: HashMap<CallId, ToolResultMessage> = HashMap::new();
        // Where each result stands among the others says whether it has to move.
        let mut order: Vec<Place> = Vec::with_capacity(messages.len());
        let mut rest = Vec::with_capacity(messages.len());
        for message in messages {
            let Message::ToolResult(result) = message else {
                order.push(Place::Other(message.id()));
                rest.push(message);
                continue;
            };
            let (id, call) = (result.id, result.call);
            match results.entry(call) {
                Entry::Vacant(slot) if calls.contains(&call) => {
                    order.push(Place::Result(call));
                    slot.insert(result);
                }
                _ => self.repairs.push(Repair::DroppedResult { id, call }),
            }
        }
        let mut order = order.into_iter().peekable();
        for message in rest {
            // Results that stand before their turn are passed over here: they moved.
            while order.next_if(|place| matches!(place, Place::Result(_))).is_some() {}
            order.next();
            let calls: Vec<_> = calls_of(&message).collect();
            let names = match &message {
                Message::Assistant(answer) => names_of(answer),
                _ => HashMap::new(),
            };
            self.open_if_needed(&message);
            self.push(message);
            for call in calls {
                let result = match results.remove(&call) {
                    Some(result) => {
                        let in_place = order.next_if_eq(&Place::Result(call)).is_some();
                        if !in_place {
                            self.repairs.push(Repair::MovedResult { id: result.id, call });
                        }
                        result
                    }
                    None => {
                        self.repairs.push(Repair::AnsweredCall { call });
                        let name = names.get(&call).cloned().unwrap_or_default();
                        let id = self.new_id();
                        ToolResultMessage::error(id, call, name, NO_RESULT)
                    }
                };
                self.push(result.into());
            }
        }
    }

    fn open_if_needed(&mut self, message: &Message) {
        if !self.transcript.shown && matches!(message, Message::Assistant(_)) {
            let id = self.new_id();
            let note = NoteMessage::new(id, "repair").content(vec![NO_BEGINNING.into()]);
            self.repairs.push(Repair::InsertedOpening { id });
            self.push(note.into());
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
        let appended = self.transcript.append(Arc::new(message));
        debug_assert!(appended.is_ok(), "repair left a fault: {appended:?}");
    }
}

#[derive(PartialEq)]
enum Place {
    Result(CallId),
    Other(MessageId),
}

fn calls_of(message: &Message) -> impl Iterator<Item = CallId> {
    let answer = match message {
        Message::Assistant(answer) => Some(answer),
        _ => None,
    };
    answer.into_iter().flat_map(|answer| answer.tool_calls().map(|(id, _)| id))
}

fn names_of(answer: &AssistantMessage) -> HashMap<CallId, String> {
    answer.tool_calls().map(|(id, call)| (id, call.name.clone())).collect()
}

fn set_id(message: &mut Message, id: MessageId) {
    match message {
        Message::User(m) => m.id = id,
        Message::Assistant(m) => m.id = id,
        Message::ToolResult(m) => m.id = id,
        Message::Note(m) => m.id = id,
    }
}
