//! The binary, run as a process: real arguments, files, servers and signals.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests may fail so")]
#![expect(clippy::disallowed_methods, reason = "real processes and files")]

mod chat;
mod commands;
mod given;
mod json;
mod once;
mod saved;
