//! Tests of the sessions through their public API.

#![expect(clippy::unwrap_used, reason = "tests may fail so")]

mod compaction;
mod given;
mod tree;
