//! One spelling for every JSON value, so that equal values are equal bytes.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::json::{Fields, JsonError, RawJson};

const MAX_DEPTH: usize = 128;

/// Why a value has no canonical form.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CanonicalError {
    /// Not JSON, or an object with a key twice.
    #[error(transparent)]
    Json(#[from] JsonError),
    /// Nested too deeply.
    #[error("the JSON is nested deeper than {limit} levels; flatten it")]
    TooDeep {
        /// How deep it may be.
        limit: usize,
    },
}

/// Sorts the keys of every object by their code points and drops the white space between tokens.
/// Numbers and strings keep their spelling.
///
/// A tool list built from hash maps would otherwise change its bytes, and so the prompt cache,
/// from one run to the next.
///
/// # Errors
/// [`CanonicalError`] for an object with a key twice, or nesting beyond 128 levels.
///
/// ```
/// let raw = agent_core::RawJson::parse(r#"{"b": [1e0, {"y":1, "x":2}], "a": "\u00e9"}"#)?;
/// let canonical = agent_core::canonical(&raw)?;
/// assert_eq!(canonical.get(), r#"{"a":"\u00e9","b":[1e0,{"x":2,"y":1}]}"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn canonical(raw: &RawJson) -> Result<RawJson, CanonicalError> {
    let mut out = String::with_capacity(raw.get().len());
    let value: &RawValue = raw.read()?;
    write(value, &mut out, 0)?;
    Ok(RawJson::parse(out)?)
}

fn write(raw: &RawValue, out: &mut String, depth: usize) -> Result<(), CanonicalError> {
    if depth > MAX_DEPTH {
        return Err(CanonicalError::TooDeep { limit: MAX_DEPTH });
    }
    match raw.get().as_bytes().first() {
        Some(b'{') => {
            let mut fields = Fields::parse("JSON object", raw)?.into_pairs();
            fields.sort_by(|(a, _), (b, _)| a.cmp(b));
            out.push('{');
            for (i, (name, value)) in fields.into_iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                out.push_str(&quoted(&name)?);
                out.push(':');
                write(value, out, depth + 1)?;
            }
            out.push('}');
        }
        Some(b'[') => {
            let items: Vec<&RawValue> = read(raw)?;
            out.push('[');
            for (i, item) in items.into_iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                write(item, out, depth + 1)?;
            }
            out.push(']');
        }
        _ => out.push_str(raw.get()),
    }
    Ok(())
}

fn quoted(name: &str) -> Result<String, JsonError> {
    serde_json::to_string(name).map_err(|source| JsonError::Syntax { what: "JSON key", source })
}

fn read<'a, T: Deserialize<'a>>(raw: &'a RawValue) -> Result<T, JsonError> {
    serde_json::from_str(raw.get()).map_err(|source| JsonError::Syntax { what: "JSON array", source })
}
