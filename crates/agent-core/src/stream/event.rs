//! One step of an answer, and the stream of them.

use std::task::{Context, Poll};
use std::{fmt, pin::Pin};

use bytestring::ByteString;
use futures_core::Stream;

use crate::{ContentBlock, Origin, ProviderError, RawJson, StopReason, Usage};

/// One step of a model's answer, streamed or not.
///
/// Blocks are numbered from 0 in the order in which they begin, without gaps; their steps may
/// interleave. The number of a block is its place in the finished message. Text is a slice of what
/// arrived wherever the wire could leave it where it was.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ModelEvent {
    /// The vendor began to answer. A second one begins the message anew.
    Start {
        /// The vendor's id of the response.
        response_id: Option<ByteString>,
        /// The model that answers, as the vendor spells it.
        model: Option<ByteString>,
    },
    /// A block begins.
    BlockStart {
        /// The block.
        block: u32,
        /// What kind of block.
        start: BlockStart,
    },
    /// More text.
    TextDelta {
        /// The block.
        block: u32,
        /// The text.
        text: ByteString,
    },
    /// More readable reasoning.
    ThinkingDelta {
        /// The block.
        block: u32,
        /// The text.
        text: ByteString,
    },
    /// More of the signature over a thinking block.
    SignatureDelta {
        /// The block.
        block: u32,
        /// The text.
        signature: ByteString,
    },
    /// More of the JSON text of a call's arguments.
    ArgumentsDelta {
        /// The block.
        block: u32,
        /// The text.
        json: ByteString,
    },
    /// What the provider attached to a text or a tool call and wants back. Thinking has its signature,
    /// and a whole block brings what belongs to it.
    Metadata {
        /// The block.
        block: u32,
        /// The JSON.
        metadata: RawJson,
    },
    /// A block is whole.
    BlockEnd {
        /// The block.
        block: u32,
    },
    /// The tokens of the call so far; each report replaces the one before.
    Usage(Usage),
    /// The answer is whole. Usage may still follow.
    Stop {
        /// Why it ended.
        reason: StopReason,
        /// The vendor's explanation, for example of a refusal.
        detail: Option<ByteString>,
    },
}

/// What kind of block begins.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum BlockStart {
    /// Text.
    Text,
    /// Reasoning.
    Thinking {
        /// Who makes it.
        origin: Origin,
        /// What only the provider can read, where it comes at once.
        encrypted: Option<ByteString>,
    },
    /// A tool call.
    ToolCall {
        /// The tool.
        name: ByteString,
        /// The vendor's id of the call.
        vendor_id: Option<ByteString>,
    },
    /// A block that arrives whole: an image, a document, an opaque block.
    Whole(ContentBlock),
}

/// A model's answer as it arrives.
///
/// It ends after [`ModelEvent::Stop`] and what follows it, or with one error; a stream that ends
/// before `Stop` without an error does not occur. Dropping it ends the call.
pub struct ModelStream(Pin<Box<dyn Stream<Item = Result<ModelEvent, ProviderError>> + Send>>);

impl ModelStream {
    /// Wraps a stream.
    pub fn new(stream: impl Stream<Item = Result<ModelEvent, ProviderError>> + Send + 'static) -> Self {
        Self(Box::pin(stream))
    }

    /// The next event; cancel-safe: a dropped future loses no event.
    pub async fn next(&mut self) -> Option<Result<ModelEvent, ProviderError>> {
        std::future::poll_fn(|cx| self.0.as_mut().poll_next(cx)).await
    }
}

impl Stream for ModelStream {
    type Item = Result<ModelEvent, ProviderError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.as_mut().poll_next(cx)
    }
}

impl fmt::Debug for ModelStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ModelStream")
    }
}
