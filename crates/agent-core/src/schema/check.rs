//! The structural check of arguments: enough to catch what models get wrong, without a dependency.

use serde_json::Value;

use super::{MAX_DEPTH, allows, below, type_of, types};
use crate::{RawJson, Validator, Violation};

/// Checks types, `required`, `enum`, `const`, bounds, `items`, `properties`, `additionalProperties`,
/// `anyOf` and `oneOf` (at least one has to fit). Other keywords, `$ref` among them, are not looked at:
/// `agent-jsonschema` has the full validator.
///
/// ```
/// use agent_core::{RawJson, StructuralValidator, Validator};
/// let schema = RawJson::parse(r#"{"type":"object","required":["n"],"properties":{"n":{"type":"integer"}}}"#)?;
/// let found = StructuralValidator.validate(&schema, &RawJson::parse(r#"{"n":"x"}"#)?).unwrap_err();
/// assert_eq!(found[0].to_string(), "/n: is a string, and has to be integer");
/// # Ok::<(), agent_core::JsonError>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::exhaustive_structs, reason = "it has no settings")]
pub struct StructuralValidator;

impl Validator for StructuralValidator {
    fn validate(&self, schema: &RawJson, arguments: &RawJson) -> Result<(), Vec<Violation>> {
        let unreadable = |what: &str| vec![Violation::new("/", format!("the {what} cannot be read as JSON"))];
        let schema: Value = schema.read().map_err(|_| unreadable("schema"))?;
        let value: Value = arguments.read().map_err(|_| unreadable("arguments"))?;
        let mut found = Vec::new();
        check(&schema, &value, "", MAX_DEPTH, &mut found);
        if found.is_empty() { Ok(()) } else { Err(found) }
    }
}

fn check(schema: &Value, value: &Value, place: &str, depth: usize, found: &mut Vec<Violation>) {
    let Some(depth) = depth.checked_sub(1) else { return };
    let shown = if place.is_empty() { "/" } else { place };
    let mut report = |problem: String| found.push(Violation::new(shown, problem));
    if *schema == Value::Bool(false) {
        return report("is not allowed here".to_owned());
    }
    let (wanted, got) = (types(schema), type_of(value));
    if !allows(&wanted, got) {
        return report(format!("is a {got}, and has to be {}", wanted.join(" or ")));
    }
    if let Some(all) = schema.get("enum").and_then(Value::as_array)
        && !all.iter().any(|one| same(one, value))
    {
        report(format!("has to be one of {}", Value::from(all.clone())));
    }
    if let Some(one) = schema.get("const").filter(|one| !same(one, value)) {
        report(format!("has to be {one}"));
    }
    let size = match value {
        Value::String(text) => Some((text.chars().count(), "minLength", "maxLength", "characters")),
        Value::Array(items) => Some((items.len(), "minItems", "maxItems", "items")),
        _ => None,
    };
    let limit = |name: &str| schema.get(name).and_then(Value::as_f64);
    if let Some((size, least, most, unit)) = size {
        let size = u32::try_from(size).map_or(f64::INFINITY, f64::from);
        limit(least).filter(|n| size < *n).into_iter().for_each(|n| report(format!("has to have at least {n} {unit}")));
        limit(most).filter(|n| size > *n).into_iter().for_each(|n| report(format!("may have at most {n} {unit}")));
    }
    if let Some(n) = value.as_f64() {
        let bounds = [
            ("minimum", "at least", f64::ge as fn(&f64, &f64) -> bool),
            ("maximum", "at most", f64::le),
            ("exclusiveMinimum", "more than", f64::gt),
            ("exclusiveMaximum", "less than", f64::lt),
        ];
        for (name, words, fits) in bounds {
            limit(name)
                .filter(|bound| !fits(&n, bound))
                .into_iter()
                .for_each(|b| report(format!("has to be {words} {b}")));
        }
    }
    for all in ["anyOf", "oneOf"].iter().filter_map(|name| schema.get(name)?.as_array()) {
        let fits = |one: &Value| {
            let mut inner = Vec::new();
            check(one, value, place, depth, &mut inner);
            inner.is_empty()
        };
        if !all.iter().any(fits) {
            report(format!("fits none of the {} shapes that are allowed here", all.len()));
        }
    }
    // What is wrong with this value is said before what is wrong below it.
    let children: Vec<(&Value, String, &Value)> = match value {
        Value::Object(fields) => {
            let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
            for name in required.filter_map(Value::as_str).filter(|name| !fields.contains_key(*name)) {
                report(format!("has no field `{name}`, which is required"));
            }
            let of = |name: &String| schema.get("properties")?.get(name);
            let of = |name: &String| of(name).or_else(|| schema.get("additionalProperties"));
            let unknown = fields.keys().filter(|name| of(name) == Some(&Value::Bool(false)));
            unknown.for_each(|name| report(format!("has a field `{name}`, which does not exist")));
            let known = fields.iter().filter_map(|(name, field)| Some((of(name)?, below(place, name), field)));
            known.filter(|(schema, ..)| !schema.is_boolean()).collect()
        }
        Value::Array(items) => {
            let schema = schema.get("items").into_iter();
            schema.flat_map(|s| items.iter().enumerate().map(move |(i, item)| (s, below(place, i), item))).collect()
        }
        _ => Vec::new(),
    };
    children.into_iter().for_each(|(schema, place, child)| check(schema, child, &place, depth, found));
}

/// Equal as JSON Schema has it: 1 and 1.0 are the same number.
fn same(a: &Value, b: &Value) -> bool {
    a == b || a.as_f64().is_some_and(|n| b.as_f64() == Some(n))
}
