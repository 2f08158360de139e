//! What a model is shown of a transcript: a fold of edits, valid by the same rules.

use std::{mem, sync::Arc};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::{ContentBlock, Log, Message, MessageId, NoteMessage, Transcript, macros::getters, message::is_call};

/// A change of what the model is shown; the transcript keeps everything.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum ViewEdit {
    /// Hides a span of whole turns.
    Hide {
        /// The first message of the span.
        first: MessageId,
        /// The last message of the span.
        last: MessageId,
    },
    /// Hides a span of whole turns and shows a note in its place.
    Summarise {
        /// The first message of the span.
        first: MessageId,
        /// The last message of the span.
        last: MessageId,
        /// What is shown instead; it needs content.
        #[serde(with = "note")]
        summary: NoteMessage,
    },
    /// Shows other content for a tool result, usually less.
    CutOutput {
        /// The tool result.
        result: MessageId,
        /// What is shown of it.
        content: Vec<ContentBlock>,
    },
}

/// A summary inside an edit is written like any message.
mod note {
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

    use crate::message::{Message, NoteMessage};

    pub(super) fn serialize<S: Serializer>(note: &NoteMessage, s: S) -> Result<S::Ok, S::Error> {
        Message::Note(note.clone()).serialize(s)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<NoteMessage, D::Error> {
        match Message::deserialize(d)? {
            Message::Note(note) => Ok(note),
            other => Err(D::Error::custom(format!("a summary is a note, not a {}", other.role()))),
        }
    }
}

/// Why an edit cannot be made; the view is unchanged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ViewError {
    /// The view does not show this message.
    #[error("the view shows no message {id}")]
    NotShown {
        /// The message.
        id: MessageId,
    },
    /// The span ends before it begins.
    #[error("the span ends at {last}, which stands before its first message {first}")]
    Reversed {
        /// The first message of the span.
        first: MessageId,
        /// The last message of the span.
        last: MessageId,
    },
    /// The edit would part a call from its result.
    #[error("the span would part the tool result {id} from its call; take whole turns")]
    SplitsTurn {
        /// The result.
        id: MessageId,
    },
    /// The model would be shown an assistant message first.
    #[error("the view would begin with the assistant message {id}; keep the message before it")]
    StartsWithAssistant {
        /// The message.
        id: MessageId,
    },
    /// Only tool results can be cut.
    #[error("the message {id} is no tool result, so its output cannot be cut")]
    NoOutput {
        /// The message.
        id: MessageId,
    },
    /// A message with the id of another one, or a tool call in a place where none may stand.
    #[error("the edit puts in a message that cannot stand there: {reason}")]
    BadReplacement {
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A turn of the transcript waits for results.
    #[error("a turn waits for tool results; a model can be shown whole turns only")]
    OpenTurn,
    /// The view was made of another transcript.
    #[error("the view was not made of this transcript")]
    OtherTranscript,
}

/// One message as the model is shown it.
#[derive(Debug, Clone)]
pub struct ViewEntry {
    message: Arc<Message>,
    version: u64,
    mark: u128,
}

getters! { ViewEntry {
    /// The message, with the content that is shown.
    message -> &Arc<Message> = |this| &this.message;
    /// 0 for the message as the transcript has it, else a hash of what is shown instead.
    version -> u64 = |this| this.version;
    /// A rolling hash over ids and versions up to here: two views with the same mark at the same
    /// place show the same messages up to it.
    mark -> u128 = |this| this.mark;
} }

/// What a model is shown of a transcript; a clone is O(1).
///
/// It is a function of the transcript and the edits in their order, valid by the transcript's
/// rules, and never shows an open turn. Notes without content are left out.
///
/// ```
/// use agent_core::{ContextView, IdSource, Message, Transcript, UserMessage, ViewEdit};
/// let mut ids = IdSource::seeded(1);
/// let mut transcript = Transcript::new();
/// let (first, second) = (ids.message(0), ids.message(0));
/// transcript.append(Message::from(UserMessage::text(first, "Forget this.")))?;
/// transcript.append(Message::from(UserMessage::text(second, "Hello")))?;
/// let mut view = ContextView::of(&transcript)?;
/// view.apply(&ViewEdit::Hide { first, last: first })?;
/// assert_eq!((view.len(), transcript.messages().len()), (1, 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct ContextView {
    entries: Log<ViewEntry>,
    seen: usize,
    last_seen: Option<MessageId>,
}

impl ContextView {
    /// A view of everything.
    ///
    /// # Errors
    /// [`ViewError::OpenTurn`] while calls wait for results.
    pub fn of(transcript: &Transcript) -> Result<Self, ViewError> {
        let mut view = Self::default();
        view.catch_up(transcript)?;
        Ok(view)
    }

    /// Shows what was appended to the transcript since; O(new messages).
    ///
    /// # Errors
    /// [`ViewError::OpenTurn`] while calls wait for results, [`ViewError::OtherTranscript`] where
    /// the view was made of another one, [`ViewError::StartsWithAssistant`] where everything before
    /// an answer is hidden. Nothing is changed then.
    pub fn catch_up(&mut self, transcript: &Transcript) -> Result<(), ViewError> {
        if transcript.open_turn().is_some() {
            return Err(ViewError::OpenTurn);
        }
        let messages = transcript.messages();
        let last_seen = self.seen.checked_sub(1).and_then(|at| messages.get(at)).map(|m| m.id());
        if self.seen > messages.len() || last_seen != self.last_seen {
            return Err(ViewError::OtherTranscript);
        }
        let mut new = messages.iter_from(self.seen).filter(|m| m.is_shown()).peekable();
        if let (true, Some(Message::Assistant(m))) = (self.is_empty(), new.peek().map(|m| &***m)) {
            return Err(ViewError::StartsWithAssistant { id: m.id });
        }
        new.for_each(|message| push(&mut self.entries, message.clone(), 0));
        self.seen = messages.len();
        self.last_seen = messages.last().map(|m| m.id());
        Ok(())
    }

    /// Makes an edit; O(messages shown).
    ///
    /// # Errors
    /// [`ViewError`] where what is shown would become invalid; nothing is changed then.
    pub fn apply(&mut self, edit: &ViewEdit) -> Result<(), ViewError> {
        // The messages of the span from `from` to `to` give way to one other, or to none.
        let (from, to, instead, version) = match edit {
            ViewEdit::Hide { first, last } => {
                let (from, to) = self.span(*first, *last)?;
                if let (0, Some(Message::Assistant(m))) = (from, self.message_at(to + 1)) {
                    return Err(ViewError::StartsWithAssistant { id: m.id });
                }
                (from, to, None, 0)
            }
            ViewEdit::Summarise { first, last, summary } => {
                let (from, to) = self.span(*first, *last)?;
                self.check_summary(summary)?;
                (from, to, Some(Message::Note(summary.clone())), version_of(&summary.content))
            }
            ViewEdit::CutOutput { result: id, content } => {
                let at = self.position(*id)?;
                let Some(Message::ToolResult(result)) = self.message_at(at) else {
                    return Err(ViewError::NoOutput { id: *id });
                };
                if content.iter().any(is_call) {
                    return Err(ViewError::BadReplacement { reason: "an output holds a tool call" });
                }
                let mut cut = result.clone();
                cut.content.clone_from(content);
                (at, at, Some(Message::ToolResult(cut)), version_of(content))
            }
        };
        let old = mem::take(&mut self.entries);
        old.iter().take(from).for_each(|entry| push(&mut self.entries, entry.message.clone(), entry.version));
        instead.into_iter().for_each(|message| push(&mut self.entries, Arc::new(message), version));
        old.iter_from(to + 1).for_each(|entry| push(&mut self.entries, entry.message.clone(), entry.version));
        Ok(())
    }

    /// The messages as they are shown, oldest first.
    pub fn messages(&self) -> impl DoubleEndedIterator<Item = &Arc<Message>> + Clone {
        self.entries.iter().map(ViewEntry::message)
    }

    /// The entries, oldest first.
    pub fn entries(&self) -> &Log<ViewEntry> {
        &self.entries
    }

    /// How many messages are shown.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether nothing is shown.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn position(&self, id: MessageId) -> Result<usize, ViewError> {
        // From the newest: edits of the loop mostly concern recent messages.
        let back = self.messages().rev().position(|m| m.id() == id).ok_or(ViewError::NotShown { id })?;
        Ok(self.len().saturating_sub(back + 1))
    }

    fn message_at(&self, at: usize) -> Option<&Message> {
        self.entries.get(at).map(|entry| &*entry.message)
    }

    /// The places of a span that parts no call from its results.
    fn span(&self, first: MessageId, last: MessageId) -> Result<(usize, usize), ViewError> {
        let (from, to) = (self.position(first)?, self.position(last)?);
        if from > to {
            return Err(ViewError::Reversed { first, last });
        }
        for edge in [from, to + 1] {
            if let Some(Message::ToolResult(result)) = self.message_at(edge) {
                return Err(ViewError::SplitsTurn { id: result.id });
            }
        }
        Ok((from, to))
    }

    fn check_summary(&self, summary: &NoteMessage) -> Result<(), ViewError> {
        let bad = |reason| Err(ViewError::BadReplacement { reason });
        match summary {
            note if note.content.is_empty() => bad("a summary needs content"),
            note if note.content.iter().any(is_call) => bad("a summary holds a tool call"),
            note if self.position(note.id).is_ok() => bad("a summary has the id of a message that is shown"),
            _ => Ok(()),
        }
    }
}

/// Two views are equal when they show the same messages.
impl PartialEq for ContextView {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.messages().eq(other.messages())
    }
}

/// Zero stands for the original, so a hash that happens to be zero is moved aside.
fn version_of(content: &[ContentBlock]) -> u64 {
    serde_json::to_vec(content).map_or(1, |bytes| xxh3_64(&bytes).max(1))
}

fn push(entries: &mut Log<ViewEntry>, message: Arc<Message>, version: u64) {
    let mut hash = Xxh3::new();
    hash.update(&entries.last().map_or(0, ViewEntry::mark).to_le_bytes());
    hash.update(&message.id().bits().to_le_bytes());
    hash.update(&version.to_le_bytes());
    entries.push(ViewEntry { message, version, mark: hash.digest128() });
}
