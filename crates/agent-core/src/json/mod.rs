//! JSON kept byte for byte, and the field reader of the persistence format.

mod fields;
mod raw;

pub(crate) use fields::{Fields, is_default, persisted, standalone, tagged};
pub use raw::{Extra, JsonError, RawJson};
