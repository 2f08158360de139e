//! The structural check of arguments: enough to catch what models get wrong, without a dependency.

use serde_json::Value;

use super::{allows, below, listed, type_of};
use crate::{RawJson, Validator, Violation};

type Holds = fn(&f64, &f64) -> bool;

/// The bounds: of what (characters, items, or a number itself), keyword, when it holds, and in words.
const BOUNDS: [(&str, &str, Holds, &str); 8] = [
    (" characters", "minLength", f64::ge, "has to have at least"),
    (" characters", "maxLength", f64::le, "may have at most"),
    (" items", "minItems", f64::ge, "has to have at least"),
    (" items", "maxItems", f64::le, "may have at most"),
    ("", "minimum", f64::ge, "has to be at least"),
    ("", "maximum", f64::le, "has to be at most"),
    ("", "exclusiveMinimum", f64::gt, "has to be more than"),
    ("", "exclusiveMaximum", f64::lt, "has to be less than"),
];

/// Checks types, `required`, `enum`, `const`, bounds, `items`, `properties`, `additionalProperties`,
/// `anyOf` and `oneOf` (at least one has to fit).
///
/// Other keywords, `$ref` among them, are not looked at: `agent-jsonschema` has the full validator.
/// `items` beside `prefixItems` and `additionalProperties` beside `patternProperties`, which depend
/// on them, are not looked at either.
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
        ReadSchema::of(schema).check(arguments)
    }
}

/// A schema that is read once and checks many values, as [`StructuralValidator`] does.
#[derive(Debug, Clone)]
pub struct ReadSchema(Option<Value>);

impl ReadSchema {
    /// Reads a schema. Of one that is no JSON, every check says so.
    pub fn of(schema: &RawJson) -> Self {
        Self(schema.read().ok())
    }

    /// Checks arguments.
    ///
    /// # Errors
    /// Everything that is wrong, with its place.
    pub fn check(&self, arguments: &RawJson) -> Result<(), Vec<Violation>> {
        let unreadable = |what| vec![Violation::new("/", format!("the {what} cannot be read as JSON"))];
        let schema = self.0.as_ref().ok_or_else(|| unreadable("schema"))?;
        let value: Value = arguments.read().map_err(|_| unreadable("arguments"))?;
        let mut found = Vec::new();
        check(schema, &value, &Place::Top, &mut found);
        if found.is_empty() { Ok(()) } else { Err(found) }
    }
}

/// Where a value is, written only where something is wrong with it.
enum Place<'a> {
    Top,
    Field(&'a Place<'a>, &'a str),
    Item(&'a Place<'a>, usize),
}

impl Place<'_> {
    fn pointer(&self) -> String {
        match self {
            Self::Top => String::new(),
            Self::Field(above, name) => below(&above.pointer(), name),
            Self::Item(above, at) => below(&above.pointer(), at),
        }
    }
}

/// Whether a value fits a schema.
pub(super) fn fits(schema: &Value, value: &Value) -> bool {
    let mut found = Vec::new();
    check(schema, value, &Place::Top, &mut found);
    found.is_empty()
}

/// Goes down with the schema, whose depth serde_json limits.
fn check(schema: &Value, value: &Value, place: &Place<'_>, found: &mut Vec<Violation>) {
    let wrong = |problem: String| match place {
        Place::Top => Violation::new("/", problem),
        place => Violation::new(place.pointer(), problem),
    };
    if *schema == Value::Bool(false) {
        return found.push(wrong("is not allowed here".to_owned()));
    }
    let got = type_of(value);
    if !allows(schema, got) {
        let wanted: Vec<&str> = listed(schema, "type").iter().filter_map(Value::as_str).collect();
        return found.push(wrong(format!("is a {got}, and has to be {}", wanted.join(" or "))));
    }
    if let Some(all) = schema.get("enum").filter(|_| !listed(schema, "enum").iter().any(|one| same(one, value))) {
        found.push(wrong(format!("has to be one of {all}")));
    }
    if let Some(one) = schema.get("const").filter(|one| !same(one, value)) {
        found.push(wrong(format!("has to be {one}")));
    }
    let (unit, size) = match value {
        Value::String(text) => (" characters", Some(text.chars().count() as f64)),
        Value::Array(items) => (" items", Some(items.len() as f64)),
        other => ("", other.as_f64()),
    };
    for (_, keyword, holds, words) in BOUNDS.iter().filter(|(of, ..)| *of == unit) {
        if let (Some(bound), Some(size)) = (schema.get(keyword).and_then(Value::as_f64), size)
            && !holds(&size, &bound)
        {
            found.push(wrong(format!("{words} {bound}{unit}")));
        }
    }
    for shapes in ["anyOf", "oneOf"].map(|keyword| listed(schema, keyword)).iter().filter(|all| !all.is_empty()) {
        if !shapes.iter().any(|shape| fits(shape, value)) {
            found.push(wrong(format!("fits none of the {} shapes that are allowed here", shapes.len())));
        }
    }
    if let (Value::Array(items), Some(schema), None) = (value, schema.get("items"), schema.get("prefixItems")) {
        items.iter().enumerate().for_each(|(i, item)| check(schema, item, &Place::Item(place, i), found));
    }
    let Value::Object(fields) = value else { return };
    for name in listed(schema, "required").iter().filter_map(Value::as_str).filter(|name| !fields.contains_key(*name)) {
        found.push(wrong(format!("has no field `{name}`, which is required")));
    }
    let others = schema.get("additionalProperties").filter(|_| schema.get("patternProperties").is_none());
    for (name, field) in fields {
        match schema.get("properties").and_then(|all| all.get(name)).or(others) {
            Some(Value::Bool(false)) => found.push(wrong(format!("has a field `{name}`, which does not exist"))),
            Some(schema) => check(schema, field, &Place::Field(place, name), found),
            None => {}
        }
    }
}

/// Equal as JSON Schema has it: 1 and 1.0 are the same number.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| same(a, b)))
        }
        _ => a == b || ((a.is_f64() || b.is_f64()) && a.as_f64() == b.as_f64()),
    }
}
