//! The vocabulary and the seams of Mainspring.
#![doc = include_str!("../README.md")]
//!
//! # The way of a prompt
//!
//! A [`Transcript`] is shown to a model as a [`ContextView`], in a [`ModelCall`]. A [`Provider`] prepares it: a
//! [`Wire`] encodes it into [`Segments`], whose [`Chain`] a cache guard compares with the last one's, and whose bound
//! a [`Budget`] reserves. What is about to happen goes to the [`Journal`]; then [`Prepared::send`] sends. A
//! [`Decoder`] turns bytes into [`ModelEvent`]s, an [`Assembler`] makes a message of them, and the journal has it
//! before anybody acts on it. [`Tool`]s run as their [`Effects`] allow, and their results close the turn.

mod auth;
mod blob;
mod budget;
mod call;
mod cancel;
mod context;
mod error;
mod event;
mod hook;
mod http;
mod id;
mod journal;
mod json;
mod macros;
mod message;
mod model;
mod provider;
mod schema;
mod sse;
mod stream;
mod time;
mod tool;
mod transcript;
mod wire;

use std::{future::Future, pin::Pin};

pub use bytestring::ByteString;

pub use crate::{
    auth::{Credential, CredentialSource},
    blob::{BlobError, BlobPart, BlobStore},
    budget::{
        Budget, BudgetExceeded, Money, MoneyError, Price, PriceBand, Rates, Reservation, Settlement, WorstCaseError,
    },
    call::{
        CacheLifetime, CallOptions, Effort, ModelCall, OutputSchema, Reasoning, ToolChoice, ToolSet, ToolSpec,
        ToolSpecError,
    },
    cancel::{CancelToken, DropGuard},
    context::{ContextFacts, ContextPlan, ContextPolicy, TokenCounter},
    error::{Billed, BoxError, ErrorDetail, ProviderError, ProviderErrorKind, ToolError, classify, is_overflow_text},
    event::{AgentEvent, Envelope},
    hook::{Hook, HookFuture, InputVerdict, ModelVerdict, OnFailure, RunFacts, StopVerdict, ToolVerdict, TurnVerdict},
    http::{Body, HttpClient, HttpError, HttpPhase, RetryAfter, Secret, redact},
    id::{AttemptId, CallId, IdError, IdSource, MessageId, RunId},
    journal::{
        ApprovalAnswer, Branch, CallEnd, CallIntent, CallStart, Journal, JournalError, JournalRecord, RecordBody,
        RunEnding, ToolIntent, Verdict,
    },
    json::{Extra, JsonError, JsonMembers, RawJson, json_lenient, json_literal, json_string},
    message::{
        ArgumentFault, Arguments, AssistantMessage, ContentBlock, DocumentBlock, ImageBlock, MediaSource, Message,
        NoteMessage, OpaqueBlock, Origin, StopReason, TextBlock, ThinkingBlock, ToolCall, ToolResultMessage, Usage,
        UserMessage,
    },
    model::{Abilities, ModelFacts},
    provider::{ForeignProvider, ForeignService, Loss, Losses, Prepared, Provider, ProviderService, SendPrepared},
    schema::{CanonicalError, Coercion, ReadSchema, StructuralValidator, canonical, coerce},
    sse::{SseDecoder, SseError, SseEvent, UnterminatedEvent},
    stream::{
        Assembler, AssemblyError, BlockStart, CallSlots, ModelEvent, ModelStream, PartialArguments, PartialField,
    },
    time::Timer,
    tool::{
        Access, Approval, Effects, Replay, Suspended, Tool, ToolContext, ToolEvents, ToolOutcome, ToolOutput,
        ToolSource, Validator, Violation,
    },
    transcript::{ContextView, Log, OpenTurn, Repair, Transcript, TranscriptError, ViewEdit, ViewEntry, ViewError},
    wire::{
        AnswerReader, Block, CacheBreak, CacheBreakCause, CacheOrder, Chain, ChainHash, Decoder, Divergence, Encoded,
        Events, Frames, HttpProvider, MarkerSlot, MessagePieces, MessageWalk, Piece, PieceCache, Section, Segments,
        SegmentsBuilder, TokenBound, Wire,
    },
};

/// A boxed future that can be sent between threads: what the object-safe seams return.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
