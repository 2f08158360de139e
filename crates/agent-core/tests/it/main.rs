//! The tests of agent-core's public API.
#![expect(clippy::disallowed_methods, reason = "fixtures are files")]

mod arguments;
mod assembler;
mod budget;
mod call_slots;
mod cancel;
mod canonical;
mod classify;
mod classify_fixtures;
mod given;
mod golden;
mod hostile_json;
mod id;
mod load;
mod log;
mod model;
mod money;
mod partial;
mod redact;
mod retry_after;
mod sse;
mod sse_cases;
mod sse_fixtures;
mod sse_reference;
mod tool_spec;
mod tower;
mod transcript;
mod usage;
mod view;
