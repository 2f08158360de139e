//! Sessions: a tree of records in an append-only log, which survives a crash at any byte.
#![doc = include_str!("../README.md")]
#![expect(clippy::disallowed_methods, reason = "native stores: files, the clock for ids, a thread for each open file")]

mod blob;
pub mod conformance;
mod error;
mod exchange;
mod id;
mod index;
mod line;
mod log;
mod page;
mod record;
mod search;
mod session;
mod settings;
mod store;

#[cfg(feature = "sqlite")]
pub use crate::log::sqlite::SqliteSessions;
pub use crate::{
    blob::{Blob, BlobId, BlobIdError, BlobRef},
    error::{Fault, SessionError},
    exchange::{
        ExchangeError, ExportFormat, Exported, Foreign, Loss, PiFile, UnknownFormat, anthropic_messages, markdown,
        openai_messages, read_anthropic_messages, read_openai_messages,
    },
    id::{EntryId, SessionId},
    index::{Entry, Index},
    log::jsonl::{JsonlFile, JsonlFolder, Medium, Salvaged, SyncPolicy},
    log::{Acknowledged, Batch, Opened, Recovered, SessionLog, Swept, Torn},
    record::{FORMAT_VERSION, Header, Place, Record, RecordHead, Stored},
    search::Hit,
    session::{Compaction, Rewound, Session, SessionJournal},
    settings::Settings,
    store::{MemorySessions, SessionStore, Summary},
};
