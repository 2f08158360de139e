//! The tests of agent-core's public API.
#![expect(clippy::disallowed_methods, reason = "fixtures are files")]

mod arguments;
mod assembler;
mod budget;
mod call_slots;
mod classify;
mod classify_fixtures;
mod given;
mod id;
mod load;
mod log;
mod money;
mod partial;
mod sse;
mod sse_cases;
mod sse_fixtures;
mod sse_reference;
mod transcript;
mod usage;
mod view;
