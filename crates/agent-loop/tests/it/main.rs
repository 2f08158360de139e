//! The behaviour of `agent-loop`, through its public API.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests may fail so")]
#![expect(clippy::indexing_slicing, reason = "a test that is wrong fails")]
#![expect(clippy::disallowed_methods, reason = "golden files are read from disk")]

mod approvals;
mod budget;
mod case_approvals;
mod case_arguments;
mod case_cancel;
mod case_hooks;
mod case_transcript;
mod case_usage;
mod cases;
mod cases_limits;
mod cases_turns;
mod contained;
mod crash;
mod diagram;
mod dropped;
mod faults;
mod given;
mod hook_order;
mod laws;
mod machine;
mod property;
mod scheduling;
mod spending;
mod structured;
mod telemetry;
mod traces;
mod turn_order;
