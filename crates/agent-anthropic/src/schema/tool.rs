//! The dialect of tools: JSON Schema 2020-12, but for the top, which may not be a choice of schemas, and for the names
//! of arguments (<https://docs.claude.com/en/docs/agents-and-tools/tool-use/implement-tool-use>).

use std::collections::BTreeSet;

use agent_core::{JsonMembers, ProviderError, RawJson};
use serde_json::value::RawValue;

use super::{
    Lowered,
    output::{unsupported, write_object},
};
use crate::json::write_text;

const COMBINERS: [&str; 3] = ["allOf", "anyOf", "oneOf"];

/// Lowers the schema of a tool's arguments: choices at its top are merged into one object, and arguments whose names
/// the vendor refuses are left out. A schema without either stays as it is.
///
/// ```
/// use agent_core::RawJson;
/// let schema = RawJson::parse(r#"{"type":"object","anyOf":[{"properties":{"a":{}}},{"properties":{"b":{}}}]}"#)?;
/// let lowered = agent_anthropic::lower_tool_schema(&schema)?;
/// assert_eq!(lowered.schema.get(), r#"{"type":"object","properties":{"a":{},"b":{}}}"#);
/// assert_eq!(lowered.lost, ["/: `anyOf` was merged into one object"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`ProviderError`] of kind `Unsupported` where the schema is no object.
pub fn lower_tool_schema(schema: &RawJson) -> Result<Lowered, ProviderError> {
    let top =
        JsonMembers::read(schema.get()).ok_or_else(|| unsupported("the schema of a tool is no object".to_owned()))?;
    let mut lost = Vec::new();
    let mut properties: Vec<(String, String)> = Vec::new();
    let mut required: BTreeSet<String> = names(&top);
    add_properties(&top, &mut properties);
    for combiner in COMBINERS {
        let Some(branches) = top.value(combiner) else { continue };
        let branches: Vec<&RawValue> = serde_json::from_str(branches.get()).unwrap_or_default();
        let branches: Vec<JsonMembers<'_>> = branches.iter().filter_map(|raw| resolve(&top, raw)).collect();
        branches.iter().for_each(|branch| add_properties(branch, &mut properties));
        let sets = branches.iter().map(names);
        // Of a choice only what every branch requires is required.
        let more = match combiner {
            "allOf" => sets.reduce(|a, b| &a | &b),
            _ => sets.reduce(|a, b| &a & &b),
        };
        required.extend(more.into_iter().flatten());
        lost.push(format!("/: `{combiner}` was merged into one object"));
    }
    let refused = |name: &str| {
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
        !(1..=64).contains(&name.len()) || !name.chars().all(fits)
    };
    for (name, _) in properties.iter().filter(|(name, _)| refused(name)) {
        lost.push(format!("/properties: the argument `{name}` has a name that the vendor refuses; it is left out"));
        required.remove(name);
    }
    if lost.is_empty() {
        return Ok(Lowered { schema: schema.clone(), lost });
    }
    properties.retain(|(name, _)| !refused(name));
    let mut merged = String::new();
    write_object(&properties, &mut merged)?;
    let required: Vec<&String> = required.iter().collect();
    let changed = [("properties", merged), ("required", write_text(&required)?)];
    let mut fields = Vec::new();
    for (name, value) in top.pairs() {
        if !COMBINERS.contains(&&**name) && changed.iter().all(|(other, _)| other != name) {
            fields.push((name.to_string(), value.get().to_owned()));
        }
    }
    let changed = changed.into_iter().filter(|(name, _)| *name != "required" || !required.is_empty());
    fields.extend(changed.map(|(name, value)| (name.to_owned(), value)));
    if top.value("type").is_none() {
        fields.push(("type".to_owned(), "\"object\"".to_owned()));
    }
    let mut out = String::new();
    write_object(&fields, &mut out)?;
    let schema =
        RawJson::parse(out).map_err(|e| unsupported("the schema cannot be written".to_owned()).with_source(e))?;
    Ok(Lowered { schema, lost })
}

/// A branch, or what it refers to among the definitions.
fn resolve<'a>(top: &JsonMembers<'a>, raw: &&'a RawValue) -> Option<JsonMembers<'a>> {
    let branch = JsonMembers::read(raw.get())?;
    let Some(target) = branch.text("$ref") else { return Some(branch) };
    let mut path = target.strip_prefix("#/")?.split('/');
    let definitions = JsonMembers::read(top.value(path.next()?)?.get())?;
    JsonMembers::read(definitions.value(path.next()?)?.get())
}

fn names(members: &JsonMembers<'_>) -> BTreeSet<String> {
    members.value("required").and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default()
}

fn add_properties(members: &JsonMembers<'_>, properties: &mut Vec<(String, String)>) {
    let more = members.value("properties").and_then(|raw| JsonMembers::read(raw.get()));
    for (name, value) in more.map(|members| members.into_pairs()).unwrap_or_default() {
        if properties.iter().all(|(known, _)| *known != name) {
            properties.push((name.into_owned(), value.get().to_owned()));
        }
    }
}
