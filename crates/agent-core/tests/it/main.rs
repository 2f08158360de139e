//! The tests of agent-core's public API.
#![expect(clippy::disallowed_methods, reason = "fixtures are files")]

mod records;
mod sse;
mod sse_cases;
mod sse_fixtures;
mod sse_reference;
