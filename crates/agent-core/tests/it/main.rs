//! The tests of agent-core's public API.
#![expect(clippy::disallowed_methods, reason = "fixtures are files")]

mod budget;
mod given;
mod id;
mod load;
mod log;
mod money;
mod sse;
mod sse_cases;
mod sse_fixtures;
mod sse_reference;
mod transcript;
mod usage;
mod view;
