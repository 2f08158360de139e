//! What a scripted model answers.

use agent_core::{ContentBlock, ModelEvent, ProviderError, StopReason, Usage};

use crate::Gate;

/// One answer of a scripted model, or one failure.
///
/// Blocks come in the order of the builder's calls. Unless told otherwise an answer ends in
/// [`StopReason::ToolUse`] where it calls a tool and in [`StopReason::EndTurn`] where it does not,
/// reports a usage of 10 input and 5 output tokens, and streams each block in one delta.
///
/// ```
/// use agent_core::Usage;
/// use agent_testkit::Reply;
/// let reply = Reply::thinking("They want a sum.")
///     .then_text("Let me add.")
///     .then_call("add", r#"{"a":1,"b":2}"#)
///     .usage(Usage::new(100, 20))
///     .chunks(4);
/// # drop(reply);
/// ```
#[derive(Debug)]
pub struct Reply {
    pub(super) opening: Opening,
    pub(super) content: Content,
    pub(super) usage: Option<Usage>,
    pub(super) stop: Option<StopReason>,
    pub(super) detail: Option<String>,
    pub(super) chunk: Option<usize>,
    pub(super) breaks: Vec<(usize, Break)>,
}

/// What happens before the first event.
#[derive(Debug)]
pub(super) enum Opening {
    Accept,
    Fail(ProviderError),
    Hang,
    Wait(Gate),
}

#[derive(Debug)]
pub(super) enum Content {
    Blocks(Vec<Block>),
    Raw(Vec<Result<ModelEvent, ProviderError>>),
}

#[derive(Debug)]
pub(super) enum Block {
    Text(String),
    Thinking { text: String, signature: Option<String> },
    Call { name: String, arguments: String },
    Whole(ContentBlock),
}

#[derive(Debug)]
pub(super) enum Break {
    Fail(ProviderError),
    Hang,
    Wait(Gate),
}

impl Reply {
    fn with(opening: Opening, content: Content) -> Self {
        Self {
            opening,
            content,
            usage: Some(Usage::new(10, 5)),
            stop: None,
            detail: None,
            chunk: None,
            breaks: Vec::new(),
        }
    }

    /// An answer without a block; add some.
    pub fn empty() -> Self {
        Self::with(Opening::Accept, Content::Blocks(Vec::new()))
    }

    /// An answer that begins with text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::empty().then_text(text)
    }

    /// An answer that begins with unsigned reasoning.
    pub fn thinking(text: impl Into<String>) -> Self {
        Self::empty().then_thinking(text)
    }

    /// An answer that begins with a tool call; `arguments` is the JSON text, valid or not.
    pub fn call(name: impl Into<String>, arguments: impl Into<String>) -> Self {
        Self::empty().then_call(name, arguments)
    }

    /// An answer of these events as they are, without start, usage and stop of our own. Settings
    /// of blocks, chunks, usage and stop belong to the other constructors.
    pub fn events(events: impl IntoIterator<Item = ModelEvent>) -> Self {
        Self::with(Opening::Accept, Content::Raw(events.into_iter().map(Ok).collect()))
    }

    /// A failure before any event.
    pub fn error(error: ProviderError) -> Self {
        Self::with(Opening::Fail(error), Content::Raw(Vec::new()))
    }

    /// No answer at all: the send hangs until it is cancelled or dropped.
    pub fn hang() -> Self {
        Self::with(Opening::Hang, Content::Raw(Vec::new()))
    }

    fn then(mut self, block: Block) -> Self {
        let blocks = match &mut self.content {
            Content::Blocks(blocks) => blocks,
            // Behind raw events block numbers are the caller's business: the content begins anew.
            raw @ Content::Raw(_) => {
                *raw = Content::Blocks(Vec::new());
                return self.then(block);
            }
        };
        blocks.push(block);
        self
    }

    /// Adds text.
    #[must_use]
    pub fn then_text(self, text: impl Into<String>) -> Self {
        self.then(Block::Text(text.into()))
    }

    /// Adds unsigned reasoning.
    #[must_use]
    pub fn then_thinking(self, text: impl Into<String>) -> Self {
        self.then(Block::Thinking { text: text.into(), signature: None })
    }

    /// Adds reasoning with a signature, which only this model takes back.
    #[must_use]
    pub fn then_signed_thinking(self, text: impl Into<String>, signature: impl Into<String>) -> Self {
        self.then(Block::Thinking { text: text.into(), signature: Some(signature.into()) })
    }

    /// Adds a tool call; `arguments` is the JSON text, valid or not.
    #[must_use]
    pub fn then_call(self, name: impl Into<String>, arguments: impl Into<String>) -> Self {
        self.then(Block::Call { name: name.into(), arguments: arguments.into() })
    }

    /// Adds a block that arrives whole: an image, a document, an opaque block.
    #[must_use]
    pub fn then_block(self, block: ContentBlock) -> Self {
        self.then(Block::Whole(block))
    }

    /// Sets the usage that is reported.
    #[must_use]
    pub fn usage(mut self, usage: Usage) -> Self {
        self.usage = Some(usage);
        self
    }

    /// Reports no usage.
    #[must_use]
    pub fn without_usage(mut self) -> Self {
        self.usage = None;
        self
    }

    /// Sets why the answer ends.
    #[must_use]
    pub fn stop(mut self, reason: StopReason) -> Self {
        self.stop = Some(reason);
        self
    }

    /// Sets the vendor's explanation of the end, for example of a refusal.
    #[must_use]
    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    /// Streams text, reasoning and arguments in deltas of `size` characters; 0 counts as 1.
    #[must_use]
    pub fn chunks(mut self, size: usize) -> Self {
        self.chunk = Some(size.max(1));
        self
    }

    /// Holds the send until the gate opens.
    #[must_use]
    pub fn wait(mut self, gate: &Gate) -> Self {
        self.opening = Opening::Wait(gate.clone());
        self
    }

    /// Holds the stream after `events` events until the gate opens.
    #[must_use]
    pub fn wait_after(self, events: usize, gate: &Gate) -> Self {
        self.break_at(events, Break::Wait(gate.clone()))
    }

    /// Breaks the stream with an error after `events` events, or behind the last one.
    #[must_use]
    pub fn error_after(self, events: usize, error: ProviderError) -> Self {
        self.break_at(events, Break::Fail(error))
    }

    /// Hangs after `events` events, or behind the last one, until cancelled or dropped.
    #[must_use]
    pub fn hang_after(self, events: usize) -> Self {
        self.break_at(events, Break::Hang)
    }

    fn break_at(mut self, events: usize, what: Break) -> Self {
        self.breaks.push((events, what));
        self
    }
}

impl From<&str> for Reply {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<ProviderError> for Reply {
    fn from(error: ProviderError) -> Self {
        Self::error(error)
    }
}

impl From<Vec<ModelEvent>> for Reply {
    fn from(events: Vec<ModelEvent>) -> Self {
        Self::events(events)
    }
}

/// Events until one is an error, with which the stream ends.
impl From<Vec<Result<ModelEvent, ProviderError>>> for Reply {
    fn from(events: Vec<Result<ModelEvent, ProviderError>>) -> Self {
        Self::with(Opening::Accept, Content::Raw(events))
    }
}

/// An error is a failure before any event.
impl<R: Into<Reply>> From<Result<R, ProviderError>> for Reply {
    fn from(answer: Result<R, ProviderError>) -> Self {
        answer.map_or_else(Self::error, Into::into)
    }
}
