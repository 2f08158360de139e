//! The ConverseStream wire, by bytes.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "tests may fail so, and say what they skip"
)]
#![expect(clippy::disallowed_methods, reason = "fixtures are read from disk")]

mod event_stream;
mod frames;
mod payload;
mod vectors;
