//! JSON kept byte for byte, and the field reader of the persistence format.

mod fields;
mod members;
mod raw;

pub(crate) use fields::{Fields, is_default, persisted, standalone, tagged};
pub use members::{JsonMembers, json_lenient, json_literal, json_string};
pub use raw::{Extra, JsonError, RawJson};
