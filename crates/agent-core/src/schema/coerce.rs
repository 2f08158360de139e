//! The coercions of a model's arguments that are made, and no others.

use serde_json::Value;

use super::{admits, allows, below, check::fits, listed, members, type_of};
use crate::RawJson;

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
/// Where `anyOf` or `oneOf` fits nothing, the first shape that can be reached so is taken. Everything
/// else keeps its bytes; only the white space and the spelling of the names around a changed value
/// do not.
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
    let mended = schema.read().ok().and_then(|schema| mend(&schema, arguments.get(), "", &mut made));
    match mended.and_then(|text| RawJson::parse(text).ok()) {
        Some(mended) => (mended, made),
        None => (arguments.clone(), Vec::new()),
    }
}

/// The new text of a value, where it changes. It goes down with the schema, whose depth serde_json limits.
fn mend(schema: &Value, text: &str, place: &str, made: &mut Vec<Coercion>) -> Option<String> {
    let value: Value = serde_json::from_str(text).ok()?;
    let before = made.len();
    let fits_text = |text: &str| serde_json::from_str(text).is_ok_and(|value| fits(schema, &value));
    let shapes = || listed(schema, "anyOf").iter().chain(listed(schema, "oneOf"));
    if !shapes().any(|shape| fits(shape, &value)) {
        for shape in shapes() {
            if let Some(mended) = mend(shape, text, place, made).filter(|text| fits_text(text)) {
                return Some(mended);
            }
            made.truncate(before);
        }
    }
    let Some((from, to, new)) = converted(schema, &value, text) else {
        return mend_members(schema, text, place, made);
    };
    made.push(Coercion { place: place.to_owned(), from, to });
    let mended = mend_members(schema, &new, place, made).unwrap_or(new);
    if fits_text(&mended) {
        return Some(mended);
    }
    made.truncate(before);
    None
}

/// What the value is, what is wanted, and the value as that, where it isn't and can be read as it.
fn converted(schema: &Value, value: &Value, text: &str) -> Option<(&'static str, &'static str, String)> {
    let (from, types) = (type_of(value), listed(schema, "type"));
    // An integer that is written with a fraction is one for the schema, and none for a program.
    let is_rewrite = from == "integer" && text.contains(['.', 'e', 'E']) && types.iter().all(|one| one != "number");
    if allows(schema, from) && !is_rewrite {
        return None;
    }
    types.iter().find_map(|to| {
        let to = ["integer", "number", "boolean", "object", "array", "string"].into_iter().find(|known| to == known)?;
        let held = value.as_str().map(str::trim);
        let held = held.filter(|held| serde_json::from_str(held).is_ok_and(|held| admits(to, type_of(&held))));
        let new = match (to, value) {
            ("integer", Value::Number(_)) => whole(text)?,
            _ if allows(schema, from) => return None,
            ("integer", _) => whole(held?)?,
            ("string", Value::Number(_) | Value::Bool(_)) => format!("\"{text}\""),
            ("array", _) if held.is_none() && !value.is_null() => format!("[{text}]"),
            _ => held?.to_owned(),
        };
        Some((if from == to { "number" } else { from }, to, new))
    })
}

/// The text of a whole number without a fraction, as far as it is exact.
fn whole(text: &str) -> Option<String> {
    if !text.contains(['.', 'e', 'E']) {
        return Some(text.to_owned());
    }
    let number = text.parse().ok().filter(|n: &f64| n.fract() == 0.0 && n.abs() < 9e15);
    number.map(|number| format!("{number:.0}"))
}

fn mend_members(schema: &Value, text: &str, place: &str, made: &mut Vec<Coercion>) -> Option<String> {
    let (open, all, close) = members(serde_json::from_str(text).ok()?).ok()??;
    let (before, mut out) = (made.len(), Vec::with_capacity(all.len()));
    for (i, (name, raw)) in all.into_iter().enumerate() {
        let place = name.as_ref().map_or_else(|| below(place, i), |name| below(place, name));
        let inner = match &name {
            Some(name) => schema.get("properties").and_then(|all| all.get(&**name)),
            None => schema.get("items"),
        };
        let may_go = |name: &str| !listed(schema, "required").iter().any(|one| one == name);
        if raw.get() == "null"
            && name.as_deref().is_some_and(may_go)
            && inner.is_some_and(|inner| !fits(inner, &Value::Null))
        {
            made.push(Coercion { place, from: "null", to: "absent" });
            continue;
        }
        let new = inner.and_then(|inner| mend(inner, raw.get(), &place, made));
        let text = new.as_deref().unwrap_or(raw.get());
        out.push(match name {
            Some(name) => format!("{}:{text}", RawJson::of(&name).ok()?),
            None => text.to_owned(),
        });
    }
    (made.len() > before).then(|| format!("{open}{}{close}", out.join(",")))
}
