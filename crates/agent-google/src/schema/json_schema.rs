//! The part of JSON Schema that the vendor takes (<https://ai.google.dev/gemini-api/docs/structured-output#json-schema>).

use agent_core::{ProviderError, RawJson};
use serde_json::value::RawValue;

use super::{Lowered, MAX_DEPTH, Place, fields::Fields, unsupported};
use crate::json::{Members, items, object, string, write};

const AS_THEY_ARE: [&str; 15] = [
    "$id",
    "$anchor",
    "$ref",
    "type",
    "format",
    "title",
    "enum",
    "required",
    "minItems",
    "maxItems",
    "minimum",
    "maximum",
    "propertyOrdering",
    "default",
    "nullable",
];
const NAMED: [&str; 2] = ["properties", "$defs"];

/// Lowers a schema to the keywords that the vendor takes.
///
/// `const` becomes an `enum` of one, `oneOf` becomes `anyOf`, and what is not known is told to the model in the
/// description. Beside a `$ref` nothing else may stand. All of it is reported.
///
/// ```
/// use agent_core::RawJson;
/// let schema = RawJson::parse(r#"{"type":"object","properties":{"n":{"type":"integer","multipleOf":2}}}"#)?;
/// let lowered = agent_google::lower_to_json_schema(&schema)?;
/// let number = r#"{"type":"integer","description":"multipleOf: 2"}"#;
/// assert_eq!(lowered.schema.get(), format!(r#"{{"type":"object","properties":{{"n":{number}}}}}"#));
/// assert_eq!(lowered.lost, ["/properties/n: `multipleOf` is told, not enforced"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`ProviderError`] of kind `Unsupported` for a schema with more than 64 levels.
pub fn lower_to_json_schema(schema: &RawJson) -> Result<Lowered, ProviderError> {
    let raw: &RawValue = schema.read().map_err(|e| unsupported("the schema is no JSON").with_source(e))?;
    let mut lost = Vec::new();
    let text = lower(raw, &Place::root(), &mut lost)?;
    let schema = RawJson::parse(text).map_err(|e| unsupported("the schema cannot be written").with_source(e))?;
    Ok(Lowered { schema, lost })
}

fn lower(raw: &RawValue, place: &Place, lost: &mut Vec<String>) -> Result<String, ProviderError> {
    if place.depth > MAX_DEPTH {
        return Err(unsupported(format!("the schema has more than {MAX_DEPTH} levels")));
    }
    // `true` and `false` stay: `additionalProperties` has them.
    let Some(members) = Members::read(raw.get()) else { return Ok(raw.get().to_owned()) };
    let (mut fields, mut told) = (Fields::new(), Vec::new());
    let is_reference = members.value("$ref").is_some();
    for (name, value) in &members.0 {
        if is_reference && !name.starts_with('$') && name != "definitions" {
            if !matches!(&**name, "description" | "title") {
                lost.push(place.report(format_args!("`{name}` beside a reference is left out")));
            }
            continue;
        }
        let text = match &**name {
            "$schema" | "$comment" | "description" => continue,
            name if AS_THEY_ARE.contains(&name) => value.get().to_owned(),
            name if NAMED.contains(&name) => named(value, &place.child(name), lost)?,
            "definitions" => {
                fields.push(("$defs".to_owned(), named(value, &place.child(name), lost)?));
                continue;
            }
            "items" | "additionalProperties" => lower(value, &place.child(name), lost)?,
            "anyOf" | "prefixItems" => list(value, &place.child(name), lost)?,
            "oneOf" => {
                lost.push(place.report("`oneOf` became `anyOf`"));
                fields.push(("anyOf".to_owned(), list(value, &place.child(name), lost)?));
                continue;
            }
            "const" => {
                fields.push(("enum".to_owned(), format!("[{}]", value.get())));
                continue;
            }
            name => {
                lost.push(place.report(format_args!("`{name}` is told, not enforced")));
                told.push(format!("{name}: {}", value.get()));
                continue;
            }
        };
        let text = if &**name == "$ref" { text.replace("#/definitions/", "#/$defs/") } else { text };
        fields.push((name.to_string(), text));
    }
    let described = members.value("description").filter(|_| !is_reference).and_then(string);
    let description: Vec<String> = described.map(|text| text.into_owned()).into_iter().chain(told).collect();
    if !description.is_empty() {
        fields.push(("description".to_owned(), write(&description.join("\n"))?));
    }
    object(&fields)
}

fn named(value: &RawValue, place: &Place, lost: &mut Vec<String>) -> Result<String, ProviderError> {
    let mut fields = Fields::new();
    for (name, schema) in Members::read(value.get()).unwrap_or_default().0 {
        let text = lower(schema, &place.child(&name), lost)?;
        fields.push((name.into_owned(), text));
    }
    object(&fields)
}

fn list(value: &RawValue, place: &Place, lost: &mut Vec<String>) -> Result<String, ProviderError> {
    let all = items(value).into_iter().enumerate();
    let all = all.map(|(i, item)| lower(item, &place.child(&i.to_string()), lost));
    Ok(format!("[{}]", all.collect::<Result<Vec<_>, _>>()?.join(",")))
}
