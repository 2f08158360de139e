//! The dialect of `strict` schemas, with a report of what it cannot say
//! (<https://platform.openai.com/docs/guides/structured-outputs#supported-schemas>).

use std::collections::BTreeSet;

use agent_core::{JsonMembers, ProviderError, ProviderErrorKind, RawJson, json_string};
use serde_json::value::RawValue;

use crate::json::write;

/// A schema that the vendor can enforce.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lowered {
    /// The schema, its keys in the order of the original.
    pub schema: RawJson,
    /// What was lost, each with its place as a JSON pointer. Validate against the full schema to keep it.
    pub lost: Vec<String>,
}

const MAX_DEPTH: usize = 64;
const AS_THEY_ARE: [&str; 14] = [
    "type",
    "title",
    "description",
    "enum",
    "const",
    "$ref",
    "pattern",
    "multipleOf",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minItems",
    "maxItems",
];
const FORMATS: [&str; 9] = ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];

/// Lowers a schema to what `strict` allows.
///
/// Objects are closed; fields that may be left out are required and may be null, which the check of arguments takes
/// for leaving them out; `oneOf` becomes `anyOf`; what the dialect does not know is told to the model in the
/// description. All that weakens the schema is reported.
///
/// ```
/// use agent_core::RawJson;
/// let schema = RawJson::parse(r#"{"type":"object","properties":{"n":{"type":"string","maxLength":9}}}"#)?;
/// let lowered = agent_openai::lower_strict_schema(&schema)?;
/// let field = r#"{"type":["string","null"],"description":"maxLength: 9"}"#;
/// let expected = format!(
///     r#"{{"type":"object","properties":{{"n":{field}}},"required":["n"],"additionalProperties":false}}"#
/// );
/// assert_eq!(lowered.schema.get(), expected);
/// assert_eq!(lowered.lost, ["/properties/n: `maxLength` is told, not enforced"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`ProviderError`] of kind `Unsupported` for what cannot be said at all: a top that is no object, objects with names
/// that are not known, `allOf` of more than one schema, a reference to another document, more than 64 levels.
pub fn lower_strict_schema(schema: &RawJson) -> Result<Lowered, ProviderError> {
    let top = JsonMembers::read(schema.get()).ok_or_else(|| unsupported("/", "a schema that is no object"))?;
    if top.text("type").is_none_or(|kind| kind != "object") || top.value("anyOf").is_some() {
        return Err(unsupported("/", "a top that is not one object"));
    }
    let mut walk = Walk { lost: Vec::new() };
    let text = walk.schema(&top, "", 0)?;
    let schema =
        RawJson::parse(text).map_err(|e| unsupported("/", "a schema that cannot be written").with_source(e))?;
    Ok(Lowered { schema, lost: walk.lost })
}

fn unsupported(place: &str, what: &str) -> ProviderError {
    let place = if place.is_empty() { "/" } else { place };
    ProviderError::new(ProviderErrorKind::Unsupported, format!("a strict schema cannot have {what} (at `{place}`)"))
}

struct Walk {
    lost: Vec<String>,
}

type Fields = Vec<(String, String)>;

impl Walk {
    fn loses(&mut self, place: &str, what: impl std::fmt::Display) {
        self.lost.push(format!("{}: {what}", if place.is_empty() { "/" } else { place }));
    }

    fn raw(&mut self, raw: &RawValue, place: &str, depth: usize) -> Result<String, ProviderError> {
        match JsonMembers::read(raw.get()) {
            Some(members) => self.schema(&members, place, depth),
            None => Err(unsupported(place, "a place for any value")),
        }
    }

    fn schema(&mut self, members: &JsonMembers<'_>, place: &str, depth: usize) -> Result<String, ProviderError> {
        if depth > MAX_DEPTH {
            return Err(unsupported(place, "so many levels"));
        }
        let is_object = members.value("properties").is_some() || members.text("type").is_some_and(|t| t == "object");
        let names = ["type", "$ref", "anyOf", "oneOf", "allOf", "enum", "const"];
        if !is_object && !names.iter().any(|name| members.value(name).is_some()) {
            return Err(unsupported(place, "a place for any value"));
        }
        let (mut fields, mut told): (Fields, Vec<String>) = (Vec::new(), Vec::new());
        for (name, value) in members.pairs() {
            let at = format!("{place}/{name}");
            let text = match &**name {
                "description" | "required" | "$schema" | "$id" | "$comment" => continue,
                "$ref" if !json_string(value).is_some_and(|target| target.starts_with('#')) => {
                    return Err(unsupported(place, "a reference to another document"));
                }
                name if AS_THEY_ARE.contains(&name) => value.get().to_owned(),
                "properties" => self.properties(members, value, place, depth)?,
                "$defs" | "definitions" => self.named(value, &at, depth)?,
                "items" => self.raw(value, &at, depth + 1)?,
                "anyOf" | "oneOf" => {
                    let list = self.list(value, &at, depth)?;
                    if name == "oneOf" {
                        self.loses(place, "`oneOf` became `anyOf`");
                    }
                    fields.push(("anyOf".to_owned(), list));
                    continue;
                }
                "allOf" => {
                    // One schema is what generators wrap a reference in.
                    let all: Vec<&RawValue> = serde_json::from_str(value.get()).unwrap_or_default();
                    let [only] = all.as_slice() else { return Err(unsupported(place, "`allOf`")) };
                    fields.push(("anyOf".to_owned(), format!("[{}]", self.raw(only, &at, depth + 1)?)));
                    continue;
                }
                "format" if json_string(value).is_some_and(|format| FORMATS.contains(&&*format)) => {
                    value.get().to_owned()
                }
                "additionalProperties" | "patternProperties" | "unevaluatedProperties"
                    if !matches!(value.get(), "false" | "true" | "{}") =>
                {
                    return Err(unsupported(place, "fields of any name"));
                }
                "additionalProperties" | "unevaluatedProperties" => continue,
                name => {
                    if name != "default" && name != "examples" {
                        self.loses(place, format_args!("`{name}` is told, not enforced"));
                    }
                    told.push(format!("{name}: {}", value.get()));
                    continue;
                }
            };
            fields.push((name.to_string(), text));
        }
        let described = members.text("description").map(|text| text.into_owned());
        let description: Vec<String> = described.into_iter().chain(told).collect();
        if !description.is_empty() {
            fields.push(("description".to_owned(), write(&description.join("\n"))?));
        }
        if is_object {
            let Some(properties) = members.value("properties").and_then(|raw| JsonMembers::read(raw.get())) else {
                return Err(unsupported(place, "an object without named fields"));
            };
            let names: Vec<&str> = properties.pairs().iter().map(|(name, _)| &**name).collect();
            fields.push(("required".to_owned(), write(&names)?));
            fields.push(("additionalProperties".to_owned(), "false".to_owned()));
        }
        object(&fields)
    }

    /// The fields of an object, those that may be left out with null among their values.
    fn properties(
        &mut self,
        object_of: &JsonMembers<'_>,
        value: &RawValue,
        place: &str,
        depth: usize,
    ) -> Result<String, ProviderError> {
        let required: BTreeSet<String> =
            object_of.value("required").and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default();
        let mut fields = Vec::new();
        for (name, raw) in JsonMembers::read(value.get()).map(|all| all.into_pairs()).unwrap_or_default() {
            let lowered = self.raw(raw, &below(&format!("{place}/properties"), &name), depth + 1)?;
            let lowered = if required.contains(&*name) { lowered } else { or_null(&lowered)? };
            fields.push((name.into_owned(), lowered));
        }
        object(&fields)
    }

    fn named(&mut self, value: &RawValue, place: &str, depth: usize) -> Result<String, ProviderError> {
        let mut fields = Vec::new();
        for (name, raw) in JsonMembers::read(value.get()).map(|all| all.into_pairs()).unwrap_or_default() {
            let lowered = self.raw(raw, &below(place, &name), depth + 1)?;
            fields.push((name.into_owned(), lowered));
        }
        object(&fields)
    }

    fn list(&mut self, value: &RawValue, place: &str, depth: usize) -> Result<String, ProviderError> {
        let mut items = Vec::new();
        for (i, raw) in serde_json::from_str::<Vec<&RawValue>>(value.get()).unwrap_or_default().into_iter().enumerate()
        {
            items.push(self.raw(raw, &below(place, &i.to_string()), depth + 1)?);
        }
        Ok(format!("[{}]", items.join(",")))
    }
}

fn below(place: &str, name: &str) -> String {
    format!("{place}/{}", name.replace('~', "~0").replace('/', "~1"))
}

fn object(fields: &[(String, String)]) -> Result<String, ProviderError> {
    let fields = fields.iter().map(|(name, value)| Ok(format!("{}:{value}", write(name)?)));
    Ok(format!("{{{}}}", fields.collect::<Result<Vec<_>, ProviderError>>()?.join(",")))
}

/// A schema that takes null too.
fn or_null(schema: &str) -> Result<String, ProviderError> {
    let Some(members) = JsonMembers::read(schema) else { return Ok(schema.to_owned()) };
    let plain = ["$ref", "anyOf", "const"].iter().all(|name| members.value(name).is_none());
    let mut kinds: Vec<String> = match members.value("type") {
        Some(raw) => match json_string(raw) {
            Some(kind) => vec![kind.into_owned()],
            None => serde_json::from_str(raw.get()).unwrap_or_default(),
        },
        None => Vec::new(),
    };
    if !plain || kinds.is_empty() {
        return Ok(format!("{{\"anyOf\":[{schema},{{\"type\":\"null\"}}]}}"));
    }
    if kinds.iter().any(|kind| kind == "null") {
        return Ok(schema.to_owned());
    }
    kinds.push("null".to_owned());
    let mut fields = Vec::new();
    for (name, raw) in members.pairs() {
        let value = match &**name {
            "type" => write(&kinds)?,
            "enum" => {
                let mut values: Vec<&str> = Vec::new();
                let all: Vec<&RawValue> = serde_json::from_str(raw.get()).unwrap_or_default();
                values.extend(all.iter().map(|raw| raw.get()));
                values.push("null");
                format!("[{}]", values.join(","))
            }
            _ => raw.get().to_owned(),
        };
        fields.push((name.to_string(), value));
    }
    object(&fields)
}
