//! The Chat Completions wire, by bytes.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "tests may fail so, and say what they skip"
)]
#![expect(clippy::disallowed_methods, reason = "fixtures are read from disk")]

mod cases;
mod decode;
mod fixtures;
mod given;
mod repeat;
mod replay;
mod request;
mod responses;
mod schema;
mod spoken;
