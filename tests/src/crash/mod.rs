//! Processes that are killed: a conversation over a session file, with tools that leave traces outside.
//!
//! [`child`] is the process, [`Trial`] starts it, kills it and takes it up again, [`Look`] reads what a dead process
//! left, and [`Judge`] counts what must not be.
#![expect(
    missing_docs,
    clippy::print_stdout,
    clippy::exhaustive_structs,
    clippy::exhaustive_enums,
    clippy::disallowed_methods,
    reason = "a tool: processes, files, clocks, a thread; nobody depends on it"
)]

pub mod child;
mod journal;
mod judge;
mod look;
mod plan;
mod server;
mod tools;
mod trial;

pub use self::{
    journal::{Broken, When},
    judge::{Judge, Said, Verdict},
    look::{Acknowledged, Effects, Look},
    plan::{Campaign, Random},
    server::Counter,
    trial::{Die, Trial, Went},
};

/// What goes wrong on the way: with the file system, a process, or arguments.
pub type Error = Box<dyn std::error::Error + Send + Sync>;
