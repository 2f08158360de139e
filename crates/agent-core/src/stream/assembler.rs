//! Folds events into a message.

use std::collections::HashSet;

use crate::macros::{getters, setters};
use crate::{
    Arguments, AssistantMessage, BlockStart, ContentBlock, MessageId, ModelEvent, Origin, PartialArguments,
    ProviderError, ProviderErrorKind, StopReason, TextBlock, ThinkingBlock, ToolCall, Usage,
};

/// How many blocks a message may have, and how many bytes of text and arguments.
const MAX_BLOCKS: usize = 10_000;
const MAX_BYTES: usize = 256 * 1024 * 1024;

/// Events that do not make a message: a fault of the wire, or a hostile server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AssemblyError {
    /// A block begins out of order.
    #[error("block {got} begins where block {expected} was to begin")]
    OutOfOrder {
        /// The block that began.
        got: u32,
        /// The block that was to begin.
        expected: usize,
    },
    /// A step of a block that has not begun, is whole, or is of another kind.
    #[error("{step} for block {block}, which cannot take it")]
    Misplaced {
        /// The step.
        step: &'static str,
        /// The block.
        block: u32,
    },
    /// An event after the end.
    #[error("{step} after the answer had ended")]
    AfterStop {
        /// The step.
        step: &'static str,
    },
    /// The answer is too large.
    #[error("the answer has more than {limit} {unit}")]
    TooLarge {
        /// How much it may have.
        limit: usize,
        /// Of what.
        unit: &'static str,
    },
}

impl From<AssemblyError> for ProviderError {
    fn from(error: AssemblyError) -> Self {
        Self::new(ProviderErrorKind::Protocol, error.to_string()).with_source(error)
    }
}

/// Makes an assistant message of events; the one place that does, for streams and for whole
/// responses. All work together is linear in what arrives.
///
/// ```
/// use agent_core::{Assembler, BlockStart, IdSource, ModelEvent, StopReason};
/// let mut assembler = Assembler::new(IdSource::seeded(1).message(0));
/// assembler.push(&ModelEvent::BlockStart { block: 0, start: BlockStart::Text })?;
/// assembler.push(&ModelEvent::TextDelta { block: 0, text: "Hel".into() })?;
/// assembler.push(&ModelEvent::TextDelta { block: 0, text: "lo".into() })?;
/// assembler.push(&ModelEvent::Stop { reason: StopReason::EndTurn, detail: None })?;
/// assert_eq!(assembler.finish().content[0].as_text(), Some("Hello"));
/// # Ok::<(), agent_core::AssemblyError>(())
/// ```
#[derive(Debug)]
pub struct Assembler {
    message: AssistantMessage,
    blocks: Vec<Partial>,
    bytes: usize,
    stopped: bool,
}

/// A block that is not whole.
#[derive(Debug)]
struct Partial {
    block: ContentBlock,
    /// Of a call, until they are whole.
    arguments: Option<PartialArguments>,
    /// It came whole, and takes nothing.
    whole: bool,
    ended: bool,
}

setters!(Assembler {
    /// Says who answers; a model that the vendor names in its answer wins.
    origin(origin: Origin) => message.origin = origin;
});

getters!(Assembler {
    /// Whether the answer has ended.
    is_stopped -> bool = |this| this.stopped;
    /// The tokens reported so far.
    usage -> Usage = |this| this.message.usage;
});

impl Assembler {
    /// An assembler for a message with this id.
    pub fn new(id: MessageId) -> Self {
        // What ends without a `Stop` was cut off; whoever cut it says why in `interrupt`.
        let message = AssistantMessage::new(id, Vec::new(), StopReason::Error);
        Self { message, blocks: Vec::new(), bytes: 0, stopped: false }
    }

    /// Adds an event.
    ///
    /// # Errors
    /// [`AssemblyError`] where it does not fit; what came before stays.
    pub fn push(&mut self, event: &ModelEvent) -> Result<(), AssemblyError> {
        if self.stopped && !matches!(event, ModelEvent::Usage(_) | ModelEvent::BlockEnd { .. }) {
            return Err(AssemblyError::AfterStop { step: step_name(event) });
        }
        match event {
            ModelEvent::Start { response_id, model } => {
                // An upstream that retried splices a new message into the stream: it begins anew.
                self.blocks.clear();
                self.bytes = 0;
                self.message.response_id = response_id.as_ref().map(ToString::to_string);
                if let Some(model) = model {
                    self.message.origin.model = model.to_string();
                }
            }
            ModelEvent::BlockStart { block, start } => return self.begin(*block, start),
            ModelEvent::TextDelta { block, text: more }
            | ModelEvent::ThinkingDelta { block, text: more }
            | ModelEvent::SignatureDelta { block, signature: more }
            | ModelEvent::ArgumentsDelta { block, json: more } => return self.step(*block, event, more),
            ModelEvent::Metadata { block, .. } | ModelEvent::BlockEnd { block } => return self.step(*block, event, ""),
            ModelEvent::Usage(usage) => self.message.usage = *usage,
            ModelEvent::Stop { reason, detail } => {
                self.stopped = true;
                self.message.stop_reason = reason.clone();
                self.message.error = detail.as_ref().map(ToString::to_string);
            }
        }
        Ok(())
    }

    fn begin(&mut self, block: u32, start: &BlockStart) -> Result<(), AssemblyError> {
        let expected = self.blocks.len();
        if usize::try_from(block) != Ok(expected) {
            return Err(AssemblyError::OutOfOrder { got: block, expected });
        }
        if expected >= MAX_BLOCKS {
            return Err(AssemblyError::TooLarge { limit: MAX_BLOCKS, unit: "blocks" });
        }
        let block = match start {
            BlockStart::Text => ContentBlock::text(""),
            BlockStart::Thinking { origin, encrypted } => {
                let mut block = ThinkingBlock::new("").origin(origin.clone());
                block.encrypted = encrypted.as_ref().map(ToString::to_string);
                block.into()
            }
            BlockStart::ToolCall { name, vendor_id } => {
                let mut call = ToolCall::new(&**name, Arguments::empty());
                call.vendor_id = vendor_id.as_ref().map(ToString::to_string);
                call.into()
            }
            BlockStart::Whole(block) => block.clone(),
        };
        let arguments = matches!(start, BlockStart::ToolCall { .. }).then(PartialArguments::new);
        let whole = matches!(start, BlockStart::Whole(_));
        self.blocks.push(Partial { block, arguments, whole, ended: whole });
        Ok(())
    }

    /// Changes a block that has begun; `more` is the text that the event brings.
    fn step(&mut self, block: u32, event: &ModelEvent, more: &str) -> Result<(), AssemblyError> {
        self.bytes = self.bytes.saturating_add(more.len());
        if self.bytes > MAX_BYTES {
            return Err(AssemblyError::TooLarge { limit: MAX_BYTES, unit: "bytes" });
        }
        let misplaced = || AssemblyError::Misplaced { step: step_name(event), block };
        let at = usize::try_from(block).ok();
        let partial = at.and_then(|at| self.blocks.get_mut(at)).ok_or_else(misplaced)?;
        match (event, &mut partial.block, &mut partial.arguments) {
            (ModelEvent::BlockEnd { .. }, ..) => partial.ended = true,
            (ModelEvent::Metadata { metadata, .. }, ContentBlock::Text(text), _) if !partial.whole => {
                text.metadata = Some(metadata.clone());
            }
            (ModelEvent::Metadata { metadata, .. }, ContentBlock::ToolCall(call), Some(_)) => {
                call.metadata = Some(metadata.clone())
            }
            _ if partial.ended => return Err(misplaced()),
            (ModelEvent::TextDelta { .. }, ContentBlock::Text(block), _) => block.text.push_str(more),
            (ModelEvent::ThinkingDelta { .. }, ContentBlock::Thinking(block), _) => block.text.push_str(more),
            (ModelEvent::SignatureDelta { .. }, ContentBlock::Thinking(block), _) => {
                block.signature.get_or_insert_default().push_str(more);
            }
            (ModelEvent::ArgumentsDelta { .. }, _, Some(arguments)) => arguments.push(more),
            _ => return Err(misplaced()),
        }
        Ok(())
    }

    fn partial(&self, block: u32) -> Option<&Partial> {
        self.blocks.get(usize::try_from(block).ok()?)
    }

    /// The arguments of a call while they stream.
    pub fn arguments(&self, block: u32) -> Option<&PartialArguments> {
        self.partial(block)?.arguments.as_ref()
    }

    /// The text of a block so far.
    pub fn text(&self, block: u32) -> Option<&str> {
        match &self.partial(block)?.block {
            ContentBlock::Text(TextBlock { text, .. }) | ContentBlock::Thinking(ThinkingBlock { text, .. }) => {
                Some(text)
            }
            _ => None,
        }
    }

    /// The message. Without a [`ModelEvent::Stop`] it ends in [`StopReason::Error`].
    pub fn finish(mut self) -> AssistantMessage {
        let mut seen = HashSet::new();
        self.message.content.reserve_exact(self.blocks.len());
        let cut = matches!(self.message.stop_reason, StopReason::MaxTokens | StopReason::ContextWindow);
        for Partial { mut block, arguments, ended, .. } in self.blocks {
            match (&mut block, arguments) {
                (ContentBlock::ToolCall(call), Some(mut arguments)) => {
                    // Cut before the first byte: nothing would mean no arguments, and the call could run.
                    if cut && !ended && arguments.json().trim().is_empty() {
                        arguments.push("{");
                    }
                    call.arguments = Arguments::from_text(arguments.into_text());
                    // One that comes twice would make the history unusable; a wire makes one of our id.
                    call.vendor_id.take_if(|id| id.is_empty() || !seen.insert(id.clone()));
                }
                (ContentBlock::Thinking(thinking), _) => _ = thinking.signature.take_if(|text| text.is_empty()),
                _ => {}
            }
            self.message.content.push(block);
        }
        self.message
    }

    /// What had arrived of an answer that was stopped: by us, or by an error.
    ///
    /// Text and readable thinking stay. Unfinished thinking loses its signature, which covers only
    /// the whole. A call that had not ended stays as a call whose arguments were cut off.
    pub fn interrupt(mut self, reason: StopReason, error: Option<String>) -> AssistantMessage {
        if self.stopped {
            return self.finish();
        }
        (self.message.stop_reason, self.message.error) = (reason, error);
        for partial in self.blocks.iter_mut().filter(|partial| !partial.ended) {
            match (&mut partial.block, &mut partial.arguments) {
                (ContentBlock::Thinking(thinking), _) => thinking.signature = None,
                // Nothing would mean no arguments, and the call could run.
                (_, Some(arguments)) if arguments.json().trim().is_empty() => arguments.push("{"),
                _ => {}
            }
        }
        self.finish()
    }
}

fn step_name(event: &ModelEvent) -> &'static str {
    match event {
        ModelEvent::Start { .. } => "a start",
        ModelEvent::BlockStart { .. } => "the start of a block",
        ModelEvent::TextDelta { .. } => "text",
        ModelEvent::ThinkingDelta { .. } => "thinking",
        ModelEvent::SignatureDelta { .. } => "a signature",
        ModelEvent::ArgumentsDelta { .. } => "arguments",
        ModelEvent::Metadata { .. } => "metadata",
        ModelEvent::BlockEnd { .. } => "the end of a block",
        ModelEvent::Usage(_) => "usage",
        ModelEvent::Stop { .. } => "a stop",
    }
}
