//! The tests of agent-models' public API.
#![expect(clippy::disallowed_methods, reason = "the table of cases is a file")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod bundled;
mod cases;
mod given;
mod layers;
mod lookup;
mod models_dev;
mod prices;
mod properties;
mod providers;
