//! JSON as models are shown it and send it: canonical key order, the coercions of arguments that are
//! made, and the structural check behind them.

mod canonical;
mod check;
mod coerce;

use serde_json::Value;

pub use self::{
    canonical::{CanonicalError, canonical},
    check::StructuralValidator,
    coerce::{Coercion, coerce},
};

/// How deep arguments may be nested; below that nothing is checked or changed.
const MAX_DEPTH: usize = 64;

/// The JSON Schema type of a value; a number without a fraction is an integer.
fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(n) if n.is_i64() || n.is_u64() || n.as_f64().is_some_and(|n| n.fract() == 0.0) => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// The types that a schema allows; none where it does not say.
fn types(schema: &Value) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::Array(all)) => all.iter().filter_map(Value::as_str).collect(),
        one => one.and_then(Value::as_str).into_iter().collect(),
    }
}

fn allows(types: &[&str], found: &str) -> bool {
    types.is_empty() || types.contains(&found) || (found == "integer" && types.contains(&"number"))
}

/// The place of a child, as a JSON Pointer (RFC 6901).
fn below(place: &str, child: impl std::fmt::Display) -> String {
    format!("{place}/{}", child.to_string().replace('~', "~0").replace('/', "~1"))
}
