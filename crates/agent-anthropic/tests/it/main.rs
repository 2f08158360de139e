//! The tests of agent-anthropic's public API.
#![expect(clippy::disallowed_methods, reason = "fixtures are files")]
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot go on fails"
)]

mod decode;
mod fixtures;
mod given;
