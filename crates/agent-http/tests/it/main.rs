//! The transport against servers on this machine.

#![expect(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests with servers on tasks, files and child processes"
)]

mod breaks;
#[cfg(all(unix, feature = "command"))]
mod command;
mod credentials;
mod crowd;
mod layers;
mod plain;
mod proxies;
mod soak;
mod support;
mod tls;
mod unauthorized;
