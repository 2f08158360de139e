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

mod http_provider;
mod segments;
mod sse;
mod sse_cases;
mod sse_fixtures;
mod sse_reference;
mod toy;
mod toy_loop;
