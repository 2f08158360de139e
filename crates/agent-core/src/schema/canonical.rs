//! One spelling for every JSON value, so that equal values are equal bytes.

use serde_json::value::RawValue;

use super::members;
use crate::{JsonError, RawJson};

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
    write(raw.read()?, &mut out, 0)?;
    Ok(RawJson::parse(out)?)
}

fn write(raw: &RawValue, out: &mut String, depth: usize) -> Result<(), CanonicalError> {
    if depth > MAX_DEPTH {
        return Err(CanonicalError::TooDeep { limit: MAX_DEPTH });
    }
    let Some((open, mut members, close)) = members(raw)? else {
        out.push_str(raw.get());
        return Ok(());
    };
    // The items of an array have no names, and stay in their order.
    members.sort_by(|(a, _), (b, _)| a.cmp(b));
    out.push(open);
    for (i, (name, value)) in members.into_iter().enumerate() {
        out.push_str(if i > 0 { "," } else { "" });
        if let Some(name) = name {
            out.push_str(RawJson::of(&name)?.get());
            out.push(':');
        }
        write(value, out, depth + 1)?;
    }
    out.push(close);
    Ok(())
}
