//! The dialect of structured outputs and strict tools
//! (<https://docs.claude.com/en/docs/build-with-claude/structured-outputs>).

use std::collections::{BTreeMap, BTreeSet};

use agent_core::{JsonMembers, ProviderError, ProviderErrorKind, RawJson, json_string};
use serde_json::value::RawValue;

use super::Lowered;
use crate::json::write_text;

const MAX_DEPTH: usize = 64;
const AS_THEY_ARE: [&str; 8] = ["type", "title", "enum", "const", "default", "required", "$id", "$schema"];
const NAMED: [&str; 3] = ["properties", "$defs", "definitions"];
const FORMATS: [&str; 9] = ["date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6"];

/// Lowers a schema to what the vendor can enforce.
///
/// Objects are closed (`additionalProperties: false`), `oneOf` becomes `anyOf`, and what is not known to the dialect
/// (bounds of numbers, lengths, most formats and patterns) is told to the model in the description instead. All of it
/// is reported.
///
/// ```
/// use agent_core::RawJson;
/// let schema = RawJson::parse(r#"{"type":"object","properties":{"n":{"type":"integer","minimum":1}}}"#)?;
/// let lowered = agent_anthropic::lower_output_schema(&schema)?;
/// let number = r#"{"type":"integer","description":"minimum: 1"}"#;
/// let expected = format!(r#"{{"type":"object","properties":{{"n":{number}}},"additionalProperties":false}}"#);
/// assert_eq!(lowered.schema.get(), expected);
/// assert_eq!(lowered.lost, ["/properties/n: `minimum` is told, not enforced"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`ProviderError`] of kind `Unsupported` for what cannot be said at all: a schema that holds itself, a reference to
/// another document, more than 64 levels.
pub fn lower_output_schema(schema: &RawJson) -> Result<Lowered, ProviderError> {
    let mut walk = Walk { lost: Vec::new(), edges: BTreeMap::new() };
    let raw: &RawValue = schema.read().map_err(|e| unsupported("the schema is no JSON".to_owned()).with_source(e))?;
    let mut out = String::with_capacity(schema.get().len() + 64);
    walk.schema(raw, &Place { pointer: String::new(), definition: "#".to_owned(), depth: 0 }, &mut out)?;
    if let Some(name) = walk.cycle() {
        return Err(unsupported(format!("the schema `{name}` holds itself, which the vendor cannot enforce")));
    }
    let schema =
        RawJson::parse(out).map_err(|e| unsupported("the schema cannot be written".to_owned()).with_source(e))?;
    Ok(Lowered { schema, lost: walk.lost })
}

pub(super) fn unsupported(text: String) -> ProviderError {
    ProviderError::new(ProviderErrorKind::Unsupported, text)
}

struct Walk {
    lost: Vec<String>,
    /// Which definition refers to which.
    edges: BTreeMap<String, BTreeSet<String>>,
}

struct Place {
    pointer: String,
    /// The definition that the place is in.
    definition: String,
    depth: usize,
}

impl Place {
    fn child(&self, name: &str) -> Self {
        let pointer = format!("{}/{}", self.pointer, name.replace('~', "~0").replace('/', "~1"));
        Self { pointer, definition: self.definition.clone(), depth: self.depth + 1 }
    }
}

impl Walk {
    fn loses(&mut self, place: &Place, what: impl std::fmt::Display) {
        let pointer = if place.pointer.is_empty() { "/" } else { &place.pointer };
        self.lost.push(format!("{pointer}: {what}"));
    }

    fn schema(&mut self, raw: &RawValue, place: &Place, out: &mut String) -> Result<(), ProviderError> {
        if place.depth > MAX_DEPTH {
            return Err(unsupported(format!("the schema has more than {MAX_DEPTH} levels")));
        }
        let Some(members) = JsonMembers::read(raw.get()) else {
            self.loses(place, "a place for any value, which the vendor may refuse");
            out.push_str("{}");
            return Ok(());
        };
        let mut fields: Vec<(String, String)> = Vec::new();
        let mut told = Vec::new();
        for (name, value) in members.pairs() {
            let mut text = String::new();
            match &**name {
                name if AS_THEY_ARE.contains(&name) => text.push_str(value.get()),
                "$ref" => {
                    self.reference(value, place)?;
                    text.push_str(value.get());
                }
                name if NAMED.contains(&name) => self.named(name, value, place, &mut text)?,
                "items" => self.schema(value, &place.child("items"), &mut text)?,
                "anyOf" | "allOf" | "oneOf" => {
                    self.list(name, value, place, &mut text)?;
                    if name == "oneOf" {
                        self.loses(place, "`oneOf` became `anyOf`");
                        fields.push(("anyOf".to_owned(), text));
                        continue;
                    }
                }
                "format" if json_string(value).is_some_and(|f| f == "uuid" || FORMATS.contains(&&*f)) => {
                    text.push_str(value.get());
                }
                "minItems" if matches!(value.get(), "0" | "1") => text.push_str(value.get()),
                "pattern" if json_string(value).is_some_and(|pattern| simple(&pattern)) => text.push_str(value.get()),
                "description" | "$comment" => continue,
                "additionalProperties" => {
                    if value.get() != "false" {
                        self.loses(place, "`additionalProperties` became `false`");
                    }
                    continue;
                }
                name => {
                    self.loses(place, format_args!("`{name}` is told, not enforced"));
                    told.push(format!("{name}: {}", value.get()));
                    continue;
                }
            }
            fields.push((name.to_string(), text));
        }
        let described = members.text("description").map(|text| text.into_owned());
        let description: Vec<String> = described.into_iter().chain(told).collect();
        if !description.is_empty() {
            fields.push(("description".to_owned(), write_text(&description.join("\n"))?));
        }
        let object = members.text("type").is_some_and(|kind| kind == "object") || members.value("properties").is_some();
        if object {
            fields.push(("additionalProperties".to_owned(), "false".to_owned()));
        }
        write_object(&fields, out)
    }

    fn named(&mut self, name: &str, value: &RawValue, place: &Place, out: &mut String) -> Result<(), ProviderError> {
        let mut fields = Vec::new();
        for (key, schema) in JsonMembers::read(value.get()).map(|members| members.into_pairs()).unwrap_or_default() {
            let mut at = place.child(name).child(&key);
            if name != "properties" {
                at.definition = format!("#/{name}/{key}");
            }
            let mut text = String::new();
            self.schema(schema, &at, &mut text)?;
            fields.push((key.into_owned(), text));
        }
        write_object(&fields, out)
    }

    fn list(&mut self, name: &str, value: &RawValue, place: &Place, out: &mut String) -> Result<(), ProviderError> {
        let items: Vec<&RawValue> = serde_json::from_str(value.get()).unwrap_or_default();
        out.push('[');
        for (i, item) in items.into_iter().enumerate() {
            out.push_str(if i > 0 { "," } else { "" });
            self.schema(item, &place.child(name).child(&i.to_string()), out)?;
        }
        out.push(']');
        Ok(())
    }

    fn reference(&mut self, value: &RawValue, place: &Place) -> Result<(), ProviderError> {
        let target = json_string(value).unwrap_or_default();
        if !target.starts_with('#') {
            return Err(unsupported(format!("the schema refers to another document, `{target}`; put it in place")));
        }
        self.edges.entry(place.definition.clone()).or_default().insert(target.into_owned());
        Ok(())
    }

    /// A definition that can be reached from itself.
    fn cycle(&self) -> Option<&str> {
        self.edges.keys().map(String::as_str).find(|start| {
            let mut seen = BTreeSet::new();
            let mut open: Vec<&str> = vec![start];
            while let Some(at) = open.pop() {
                for next in self.edges.get(at).into_iter().flatten() {
                    if next == start {
                        return true;
                    }
                    if seen.insert(next.as_str()) {
                        open.push(next);
                    }
                }
            }
            false
        })
    }
}

/// Whether a pattern keeps to what the vendor compiles: no look-around, no back-reference, no word boundary.
fn simple(pattern: &str) -> bool {
    let escapes = pattern.as_bytes().windows(2).filter(|pair| pair.first() == Some(&b'\\'));
    let mut refused = escapes.filter_map(|pair| pair.last()).filter(|c| matches!(c, b'b' | b'B' | b'1'..=b'9'));
    !pattern.contains("(?") && refused.next().is_none()
}

pub(super) fn write_object(fields: &[(String, String)], out: &mut String) -> Result<(), ProviderError> {
    out.push('{');
    for (i, (name, value)) in fields.iter().enumerate() {
        out.push_str(if i > 0 { "," } else { "" });
        out.push_str(&write_text(name)?);
        out.push(':');
        out.push_str(value);
    }
    out.push('}');
    Ok(())
}
