//! JSON Schemas in the vendor's dialect, with a report of what the dialect cannot say.

mod output;
mod tool;

use agent_core::RawJson;

pub use self::{output::lower_output_schema, tool::lower_tool_schema};

/// A schema that the vendor takes.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lowered {
    /// The schema, its keys in the order of the original.
    pub schema: RawJson,
    /// What was lost, each with its place as a JSON pointer. Validate against the full schema to keep it.
    pub lost: Vec<String>,
}
