//! Tests of the sessions through their public API.

#![expect(clippy::unwrap_used, clippy::panic, reason = "tests may fail so")]
#![expect(clippy::indexing_slicing, reason = "a test that is wrong fails")]
#![expect(clippy::print_stdout, reason = "a test that cannot run says so")]
#![expect(clippy::disallowed_methods, reason = "real files, and threads that fight for them")]

mod cases;
mod compaction;
mod conformance;
mod exchange;
mod format;
mod given;
mod jsonl;
mod list;
mod page;
mod pi;
mod property;
mod story;
mod tree;
