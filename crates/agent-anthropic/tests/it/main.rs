//! The tests of agent-anthropic's public API.
#![expect(clippy::disallowed_methods, reason = "fixtures are files")]
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::string_slice,
    clippy::unwrap_used,
    reason = "a test that cannot go on fails, and one that is skipped says so"
)]

mod cache;
mod cases;
mod decode;
mod fixtures;
mod given;
mod http;
mod options;
mod request;
mod schema;
mod vendor_schema;
