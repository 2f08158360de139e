//! The tests of agent-core's public API.

mod sse;
mod sse_cases;
mod sse_fixtures;
mod sse_reference;
