//! The coercions of a model's arguments that are made, and no others.

use std::borrow::Cow;

use serde_json::{Value, value::RawValue};

use super::{MAX_DEPTH, allows, below, type_of, types};
use crate::{RawJson, json::Fields};

/// A change that was made to arguments before they were checked.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Coercion {
    /// Where, as a JSON Pointer (RFC 6901).
    pub place: String,
    /// What it was: a JSON Schema type.
    pub from: &'static str,
    /// What it became: a JSON Schema type, or `absent`.
    pub to: &'static str,
}

/// Mends what models often get wrong, where a value does not fit the schema and the mended one does:
///
/// | from | to |
/// |---|---|
/// | a string that holds a number, `true` or `false` | the number, the boolean |
/// | a number like `5.0` where an integer is wanted | `5` |
/// | a number or boolean where a string is wanted | the string |
/// | a string that holds JSON of the array or object that is wanted | the array or object |
/// | a single value where an array is wanted | an array of it |
/// | `null` for a field that may be left out | no field |
///
/// Everything else keeps its bytes.
///
/// ```
/// use agent_core::{RawJson, coerce};
/// let schema = RawJson::parse(r#"{"type":"object","properties":{"n":{"type":"integer"}}}"#)?;
/// let (arguments, made) = coerce(&schema, &RawJson::parse(r#"{"n":"5","x": 1.50}"#)?);
/// assert_eq!(arguments.get(), r#"{"n":5,"x":1.50}"#);
/// assert_eq!((made[0].place.as_str(), made[0].from, made[0].to), ("/n", "string", "integer"));
/// # Ok::<(), agent_core::JsonError>(())
/// ```
pub fn coerce(schema: &RawJson, arguments: &RawJson) -> (RawJson, Vec<Coercion>) {
    let mut made = Vec::new();
    let (Ok(schema), Ok(raw)) = (schema.read::<Value>(), arguments.read::<&RawValue>()) else {
        return (arguments.clone(), made);
    };
    let changed = mend(&schema, raw, "", MAX_DEPTH, &mut made).and_then(|text| RawJson::parse(text).ok());
    (changed.unwrap_or_else(|| arguments.clone()), made)
}

/// The new text of a value, where it changes.
fn mend(schema: &Value, raw: &RawValue, place: &str, depth: usize, made: &mut Vec<Coercion>) -> Option<String> {
    let depth = depth.checked_sub(1)?;
    let value: Value = serde_json::from_str(raw.get()).ok()?;
    let (wanted, from) = (types(schema), type_of(&value));
    let other = match allows(&wanted, from) {
        // An integer that is written with a fraction is one for the schema, and none for a program.
        true if from == "integer" && !wanted.contains(&"number") && raw.get().contains(['.', 'e', 'E']) => {
            wanted.contains(&"integer").then(|| integer(&value)).flatten().map(|text| ("integer", text))
        }
        true => None,
        false => wanted.iter().find_map(|to| converted(to, &value, raw)),
    };
    let mut changed = None;
    if let Some((to, text)) = other {
        made.push(Coercion { place: place.to_owned(), from: if from == to { "number" } else { from }, to });
        changed = Some(text);
    }
    let current = changed.as_deref().unwrap_or(raw.get());
    let inner = match current.trim_start().as_bytes().first()? {
        b'{' => mend_object(schema, current, place, depth, made),
        b'[' => mend_array(schema, current, place, depth, made),
        _ => None,
    };
    inner.or(changed)
}

/// The value as one of another type, where it can be read as one.
fn converted(to: &str, value: &Value, raw: &RawValue) -> Option<(&'static str, String)> {
    let parsed = value.as_str().and_then(|text| serde_json::from_str::<Value>(text.trim()).ok());
    let held = |fits: &dyn Fn(&Value) -> bool| parsed.as_ref().filter(|held| fits(held)).and(value.as_str());
    match to {
        "integer" => parsed.as_ref().and_then(integer).map(|text| ("integer", text)),
        "number" => held(&Value::is_number).map(|text| ("number", text.trim().to_owned())),
        "boolean" => held(&Value::is_boolean).map(|text| ("boolean", text.trim().to_owned())),
        "object" => held(&Value::is_object).map(|text| ("object", text.to_owned())),
        "array" => held(&Value::is_array)
            .map(str::to_owned)
            .or_else(|| (!value.is_null()).then(|| format!("[{}]", raw.get())))
            .map(|text| ("array", text)),
        "string" => (value.is_number() || value.is_boolean()).then(|| ("string", format!("\"{}\"", raw.get()))),
        _ => None,
    }
}

fn integer(value: &Value) -> Option<String> {
    let number = value.as_f64().filter(|n| n.fract() == 0.0 && n.abs() < 9e15)?;
    value.as_i64().map(|n| n.to_string()).or_else(|| Some(format!("{number:.0}")))
}

fn mend_object(schema: &Value, text: &str, place: &str, depth: usize, made: &mut Vec<Coercion>) -> Option<String> {
    let properties = schema.get("properties")?;
    let required: Vec<&str> =
        schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let before = made.len();
    let object: &RawValue = serde_json::from_str(text).ok()?;
    let mut out = Vec::new();
    for (name, raw) in Fields::parse("arguments", object).ok()?.into_pairs() {
        let place = below(place, &name);
        let Some(schema) = properties.get(&*name) else {
            out.push((name, Cow::Borrowed(raw.get())));
            continue;
        };
        if raw.get() == "null" && !required.contains(&&*name) && !allows(&types(schema), "null") {
            made.push(Coercion { place, from: "null", to: "absent" });
            continue;
        }
        let changed = mend(schema, raw, &place, depth, made);
        out.push((name, changed.map_or(Cow::Borrowed(raw.get()), Cow::Owned)));
    }
    let field =
        |(name, text): (Cow<'_, str>, Cow<'_, str>)| Some(format!("{}:{text}", serde_json::to_string(&name).ok()?));
    let fields: Option<Vec<String>> = out.into_iter().map(field).collect();
    (made.len() > before).then_some(format!("{{{}}}", fields?.join(",")))
}

fn mend_array(schema: &Value, text: &str, place: &str, depth: usize, made: &mut Vec<Coercion>) -> Option<String> {
    let schema = schema.get("items")?;
    let before = made.len();
    let items: Vec<&RawValue> = serde_json::from_str(text).ok()?;
    let mut out = Vec::with_capacity(items.len());
    for (i, raw) in items.into_iter().enumerate() {
        out.push(mend(schema, raw, &below(place, i), depth, made).unwrap_or_else(|| raw.get().to_owned()));
    }
    (made.len() > before).then(|| format!("[{}]", out.join(",")))
}
