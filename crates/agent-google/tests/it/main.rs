//! The Gemini wire, by bytes.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    reason = "tests may fail so, and say what they skip"
)]
#![expect(clippy::disallowed_methods, reason = "fixtures are read from disk")]

mod auth;
mod cases;
mod decode;
mod errors;
mod fixtures;
mod given;
mod handoff;
mod replay;
mod request;
mod schema;
mod sending;
mod vendor_schema;
