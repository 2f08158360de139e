//! The tools on real files and processes.

#![cfg(unix)]
#![expect(clippy::disallowed_methods, reason = "real files and processes, tasks that run at once")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]
#![expect(clippy::print_stdout, reason = "what this system lacks is said")]

mod background;
mod bash;
mod cases;
mod cwd;
mod edit;
mod escapes;
mod folder;
mod list;
mod output;
mod paths;
mod policy;
mod read;
mod sandbox;
mod search;
mod shell;
mod tools;
mod walk;
mod write;
