//! Doubles and servers for testing agents.
//!
//! Nothing here sleeps, reads a clock or leaves loopback: time is moved by the test, waits end when
//! a [`Gate`] is opened, and what a double says is a script.
//!
//! ```
//! use agent_core::{
//!     Assembler, CallOptions, CancelToken, ContextView, IdSource, Message, ModelCall, Provider,
//!     Transcript, UserMessage,
//! };
//! use agent_testkit::{Reply, ScriptedProvider};
//!
//! # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
//! let provider = ScriptedProvider::new([Reply::text("Hello!").chunks(2)]);
//!
//! let mut ids = IdSource::seeded(1);
//! let mut transcript = Transcript::new();
//! transcript.append(Message::from(UserMessage::text(ids.message(0), "Hi")))?;
//! let call = ModelCall::new(CallOptions::new("toy-1"), ContextView::of(&transcript)?);
//!
//! let mut stream = provider.prepare(call).await?.send(CancelToken::new()).await?;
//! let mut answer = Assembler::new(ids.message(0));
//! while let Some(event) = stream.next().await {
//!     answer.push(&event?)?;
//! }
//! assert_eq!(Message::from(answer.finish()).text(), "Hello!");
//! assert_eq!(provider.sent().len(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # }).map_err(|e| e.to_string())?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![expect(
    clippy::disallowed_methods,
    reason = "the wire server is a native test double: its task ends when the server is dropped"
)]

mod cuts;
mod gate;
mod http;
mod journal;
mod judge;
mod provider;
mod refusal;
mod server;
mod stable;
mod timer;
mod vendor;

pub use crate::{
    cuts::{byte_pieces, every_cut, random_cuts, two_piece_cuts},
    gate::Gate,
    http::{DenySend, HttpReply, RecordedRequest, ScriptedHttp},
    journal::{Crash, MemoryJournal},
    judge::schema_faults,
    provider::{FnProvider, Reply, ScriptedProvider, Sent},
    refusal::{Asked, Refusal, refusal},
    server::{Place, WireReply, WireRequest, WireServer},
    stable::{CacheUnstable, check_cache_stable},
    timer::PausedTimer,
    vendor::{BrokenRule, Vendor, broken_rules},
};

/// The README's example, as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
