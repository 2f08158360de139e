//! JSON Schemas in the vendor's dialects, with a report of what a dialect cannot say.

mod fields;
mod json_schema;
mod open_api;
mod unions;

use agent_core::{ProviderError, ProviderErrorKind, RawJson};

pub use self::{json_schema::lower_to_json_schema, open_api::lower_to_open_api};

const MAX_DEPTH: usize = 64;

/// The dialect in which schemas are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum SchemaDialect {
    /// The subset of OpenAPI that every version and every server takes (`parameters`, `responseSchema`). References
    /// are resolved, and what holds itself is cut.
    #[default]
    OpenApi,
    /// The part of JSON Schema that models of Gemini 2.5 and later take (`parametersJsonSchema`,
    /// `responseJsonSchema`).
    JsonSchema,
}

/// A schema that the vendor takes.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lowered {
    /// The schema, its keys in the order of the original.
    pub schema: RawJson,
    /// What was lost, each with its place as a JSON pointer. Validate against the full schema to keep it.
    pub lost: Vec<String>,
}

pub(crate) fn lower_tool(dialect: SchemaDialect, schema: &RawJson) -> Result<Lowered, ProviderError> {
    match dialect {
        SchemaDialect::OpenApi => lower_to_open_api(schema),
        SchemaDialect::JsonSchema => lower_to_json_schema(schema),
    }
}

/// The same of the shape of an answer, whose fields are to be written in the order of the schema.
pub(crate) fn lower_output(dialect: SchemaDialect, schema: &RawJson) -> Result<Lowered, ProviderError> {
    match dialect {
        SchemaDialect::OpenApi => open_api::lower(schema, true),
        SchemaDialect::JsonSchema => lower_to_json_schema(schema),
    }
}

fn unsupported(text: impl AsRef<str>) -> ProviderError {
    ProviderError::new(ProviderErrorKind::Unsupported, text)
}

/// A place in a schema, as a JSON pointer.
#[derive(Clone)]
struct Place {
    pointer: String,
    depth: usize,
}

impl Place {
    fn root() -> Self {
        Self { pointer: String::new(), depth: 0 }
    }

    fn child(&self, name: &str) -> Self {
        let pointer = format!("{}/{}", self.pointer, name.replace('~', "~0").replace('/', "~1"));
        Self { pointer, depth: self.depth + 1 }
    }

    /// The place and what was lost there.
    fn report(&self, what: impl std::fmt::Display) -> String {
        let pointer = if self.pointer.is_empty() { "/" } else { &self.pointer };
        format!("{pointer}: {what}")
    }
}
