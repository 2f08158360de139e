//! The tests of agent-core's public API.
#![expect(clippy::disallowed_methods, reason = "fixtures are files")]
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::unwrap_used,
    reason = "a test that cannot go on fails"
)]

mod arguments;
mod assembler;
mod blocks;
mod budget;
mod call_slots;
mod cancel;
mod canonical;
mod cases;
mod classify;
mod classify_fixtures;
mod given;
mod golden;
mod hostile_json;
mod http_provider;
mod id;
mod load;
mod log;
mod model;
mod money;
mod partial;
mod records;
mod redact;
mod retry_after;
mod schema;
mod segments;
mod sse;
mod sse_cases;
mod sse_fixtures;
mod sse_reference;
mod tool_spec;
mod tower;
mod toy;
mod toy_loop;
mod transcript;
mod usage;
mod view;
