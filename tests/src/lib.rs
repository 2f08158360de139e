//! Tests that see several crates, in `tests/`; here is what they share with tools.

#[cfg(unix)]
pub mod crash;
