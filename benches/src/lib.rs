//! Shared parts of the benchmarks: the cases, what they may cost, and the counting.

pub mod agent;
pub mod callgrind;
mod cases;
pub mod http;
pub mod judge;
pub mod session;

pub use cases::{CASES, Case, Growth, PerUnit, VersusFloor, case, sse};
