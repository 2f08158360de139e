//! Tests that see several crates live in `tests/`.
