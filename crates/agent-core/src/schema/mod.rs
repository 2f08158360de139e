//! JSON as models are shown it and send it: canonical key order, the coercions of arguments that are
//! made, and the structural check behind them.

mod canonical;
mod check;
mod coerce;

use std::borrow::Cow;

pub use canonical::{CanonicalError, canonical};
pub use check::{ReadSchema, StructuralValidator};
pub use coerce::{Coercion, coerce};
use serde_json::{Value, value::RawValue};

use crate::{JsonError, json::Fields};

/// The JSON Schema type of a value; a number without a fraction is an integer.
fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(n) if n.as_f64().is_some_and(|n| n.fract() == 0.0) => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// What a keyword lists; a single value is a list too.
fn listed<'a>(schema: &'a Value, keyword: &str) -> &'a [Value] {
    match schema.get(keyword) {
        Some(Value::Array(all)) => all,
        one => one.map_or(&[], std::slice::from_ref),
    }
}

/// Whether a schema allows a type, which it does if it names none.
fn allows(schema: &Value, found: &str) -> bool {
    let types = listed(schema, "type");
    types.is_empty() || types.iter().filter_map(Value::as_str).any(|one| admits(one, found))
}

fn admits(wanted: &str, found: &str) -> bool {
    wanted == found || (wanted == "number" && found == "integer")
}

/// The place of a child, as a JSON Pointer (RFC 6901).
fn below(place: &str, child: impl std::fmt::Display) -> String {
    format!("{place}/{}", child.to_string().replace('~', "~0").replace('/', "~1"))
}

type Members<'a> = Vec<(Option<Cow<'a, str>>, &'a RawValue)>;

/// What an object or array consists of between its brackets; `None` for other values.
fn members(raw: &RawValue) -> Result<Option<(char, Members<'_>, char)>, JsonError> {
    Ok(match raw.get().as_bytes().first() {
        Some(b'{') => {
            let fields = Fields::parse("JSON object", raw)?.into_pairs();
            Some(('{', fields.into_iter().map(|(name, value)| (Some(name), value)).collect(), '}'))
        }
        Some(b'[') => {
            let items: Result<Vec<&RawValue>, _> = serde_json::from_str(raw.get());
            let items = items.map_err(|source| JsonError::Syntax { what: "JSON array", source })?;
            Some(('[', items.into_iter().map(|item| (None, item)).collect(), ']'))
        }
        _ => None,
    })
}
