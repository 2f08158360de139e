//! Tests of the sessions through their public API.

#![expect(clippy::unwrap_used, clippy::panic, reason = "tests may fail so")]
#![expect(clippy::indexing_slicing, reason = "a test that is wrong fails")]
#![expect(clippy::disallowed_methods, reason = "real files, and threads that fight for them")]

mod cases;
mod compaction;
mod conformance;
mod format;
mod given;
mod jsonl;
mod property;
mod tree;
