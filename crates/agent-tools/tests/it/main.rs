//! The tools on real files and processes.

#![cfg(unix)]
#![expect(clippy::disallowed_methods, reason = "real files and processes, tasks that run at once")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod bash;
mod cases;
mod edit;
mod folder;
mod list;
mod paths;
mod policy;
mod read;
mod search;
mod tools;
mod write;
