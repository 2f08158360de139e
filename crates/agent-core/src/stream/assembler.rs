//! Folds events into a message.

use std::collections::HashSet;

use super::{BlockStart, ModelEvent, PartialArguments};
use crate::{
    error::{ProviderError, ProviderErrorKind},
    id::MessageId,
    json::RawJson,
    message::{
        Arguments, AssistantMessage, ContentBlock, Origin, StopReason, TextBlock, ThinkingBlock, ToolCall, Usage,
    },
};

/// How many blocks a message may have, and how many bytes of text and arguments.
const MAX_BLOCKS: usize = 10_000;
const MAX_BYTES: usize = 256 * 1024 * 1024;

/// What a piece of text is added to.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    Text,
    Thinking,
    Signature,
    Arguments,
}

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

#[derive(Debug)]
struct Partial {
    kind: Kind,
    metadata: Option<RawJson>,
    ended: bool,
}

#[derive(Debug)]
enum Kind {
    Text(String),
    Thinking { text: String, signature: String, encrypted: Option<String>, origin: Origin },
    Call { name: String, vendor_id: Option<String>, arguments: PartialArguments },
    Whole(ContentBlock),
}

impl Assembler {
    /// An assembler for a message with this id.
    pub fn new(id: MessageId) -> Self {
        // What ends without a `Stop` was cut off; whoever cut it says why in `interrupt`.
        let message = AssistantMessage::new(id, Vec::new(), StopReason::Error);
        Self { message, blocks: Vec::new(), bytes: 0, stopped: false }
    }

    /// Says who answers; a model that the vendor names in its answer wins.
    #[must_use]
    pub fn origin(mut self, origin: Origin) -> Self {
        self.message.origin = origin;
        self
    }

    /// Adds an event.
    ///
    /// # Errors
    /// [`AssemblyError`] where it does not fit; what came before stays.
    pub fn push(&mut self, event: &ModelEvent) -> Result<(), AssemblyError> {
        let step = step_name(event);
        if self.stopped && !matches!(event, ModelEvent::Usage(_) | ModelEvent::BlockEnd { .. }) {
            return Err(AssemblyError::AfterStop { step });
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
            ModelEvent::BlockStart { block, start } => self.begin(*block, start)?,
            ModelEvent::TextDelta { block, text } => self.grow(*block, Part::Text, text)?,
            ModelEvent::ThinkingDelta { block, text } => self.grow(*block, Part::Thinking, text)?,
            ModelEvent::SignatureDelta { block, signature } => self.grow(*block, Part::Signature, signature)?,
            ModelEvent::ArgumentsDelta { block, json } => self.grow(*block, Part::Arguments, json)?,
            ModelEvent::Metadata { block, metadata } => {
                let partial = self.partial(*block, step)?;
                if let Kind::Thinking { .. } | Kind::Whole(_) = partial.kind {
                    return Err(AssemblyError::Misplaced { step, block: *block });
                }
                partial.metadata = Some(metadata.clone());
            }
            ModelEvent::BlockEnd { block } => self.partial(*block, step)?.ended = true,
            ModelEvent::Usage(usage) => self.message.usage = *usage,
            ModelEvent::Stop { reason, detail } => {
                self.stopped = true;
                self.message.stop_reason = reason.clone();
                self.message.error = detail.as_ref().map(ToString::to_string);
            }
        }
        Ok(())
    }

    /// Whether the answer has ended.
    pub fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// The tokens reported so far.
    pub fn usage(&self) -> Usage {
        self.message.usage
    }

    /// The arguments of a call while they stream.
    pub fn arguments(&self, block: u32) -> Option<&PartialArguments> {
        match &self.blocks.get(usize::try_from(block).ok()?)?.kind {
            Kind::Call { arguments, .. } => Some(arguments),
            _ => None,
        }
    }

    /// The text of a block so far.
    pub fn text(&self, block: u32) -> Option<&str> {
        match &self.blocks.get(usize::try_from(block).ok()?)?.kind {
            Kind::Text(text) | Kind::Thinking { text, .. } => Some(text),
            _ => None,
        }
    }

    /// The message. Without a [`ModelEvent::Stop`] it ends in [`StopReason::Error`].
    pub fn finish(mut self) -> AssistantMessage {
        let mut seen = HashSet::new();
        self.message.content = self.blocks.into_iter().map(|b| b.into_block(&mut seen)).collect();
        self.message
    }

    /// What had arrived of an answer that was stopped: by us, or by an error.
    ///
    /// Text and readable thinking stay. Unfinished thinking loses its signature, which covers only
    /// the whole. A call that had not ended stays as a call whose arguments were cut off.
    pub fn interrupt(mut self, reason: StopReason, error: Option<String>) -> AssistantMessage {
        if !self.stopped {
            self.message.stop_reason = reason;
            self.message.error = error;
            for block in self.blocks.iter_mut().filter(|block| !block.ended) {
                match &mut block.kind {
                    Kind::Thinking { signature, .. } => signature.clear(),
                    // Nothing would mean no arguments, and the call could run.
                    Kind::Call { arguments, .. } if arguments.json().trim().is_empty() => arguments.push("{"),
                    _ => {}
                }
            }
        }
        self.finish()
    }

    fn begin(&mut self, block: u32, start: &BlockStart) -> Result<(), AssemblyError> {
        let expected = self.blocks.len();
        if usize::try_from(block) != Ok(expected) {
            return Err(AssemblyError::OutOfOrder { got: block, expected });
        }
        if expected >= MAX_BLOCKS {
            return Err(AssemblyError::TooLarge { limit: MAX_BLOCKS, unit: "blocks" });
        }
        let kind = match start {
            BlockStart::Text => Kind::Text(String::new()),
            BlockStart::Thinking { origin, encrypted } => Kind::Thinking {
                text: String::new(),
                signature: String::new(),
                encrypted: encrypted.as_ref().map(ToString::to_string),
                origin: origin.clone(),
            },
            BlockStart::ToolCall { name, vendor_id } => Kind::Call {
                name: name.to_string(),
                vendor_id: vendor_id.as_ref().map(ToString::to_string),
                arguments: PartialArguments::new(),
            },
            BlockStart::Whole(block) => Kind::Whole(block.clone()),
        };
        self.blocks.push(Partial { kind, metadata: None, ended: false });
        Ok(())
    }

    /// Adds text to the part of a block that this step is for.
    fn grow(&mut self, block: u32, part: Part, more: &str) -> Result<(), AssemblyError> {
        let step = match part {
            Part::Text => "text",
            Part::Thinking => "thinking",
            Part::Signature => "a signature",
            Part::Arguments => "arguments",
        };
        self.bytes = self.bytes.saturating_add(more.len());
        if self.bytes > MAX_BYTES {
            return Err(AssemblyError::TooLarge { limit: MAX_BYTES, unit: "bytes" });
        }
        let partial = self.partial(block, step)?;
        match &mut partial.kind {
            _ if partial.ended => return Err(AssemblyError::Misplaced { step, block }),
            Kind::Text(text) if part == Part::Text => text.push_str(more),
            Kind::Thinking { text, .. } if part == Part::Thinking => text.push_str(more),
            Kind::Thinking { signature, .. } if part == Part::Signature => signature.push_str(more),
            Kind::Call { arguments, .. } if part == Part::Arguments => arguments.push(more),
            _ => return Err(AssemblyError::Misplaced { step, block }),
        }
        Ok(())
    }

    fn partial(&mut self, block: u32, step: &'static str) -> Result<&mut Partial, AssemblyError> {
        let at = usize::try_from(block).ok();
        let found = at.and_then(|at| self.blocks.get_mut(at));
        found.ok_or(AssemblyError::Misplaced { step, block })
    }
}

impl Partial {
    /// `seen` holds the vendor ids before this block: a vendor that gives one twice would make the
    /// history unusable, so a repeated one is dropped and the wire makes one from the call id.
    fn into_block(self, seen: &mut HashSet<String>) -> ContentBlock {
        match self.kind {
            Kind::Text(text) => {
                let mut block = TextBlock::new(text);
                block.metadata = self.metadata;
                ContentBlock::Text(block)
            }
            Kind::Thinking { text, signature, encrypted, origin } => {
                let mut block = ThinkingBlock::new(text).origin(origin);
                block.signature = (!signature.is_empty()).then_some(signature);
                block.encrypted = encrypted;
                ContentBlock::Thinking(block)
            }
            Kind::Call { name, vendor_id, arguments } => {
                let mut call = ToolCall::new(name, Arguments::from_text(arguments.into_text()));
                call.vendor_id = vendor_id.filter(|id| !id.is_empty() && seen.insert(id.clone()));
                call.metadata = self.metadata;
                ContentBlock::ToolCall(call)
            }
            Kind::Whole(block) => block,
        }
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
