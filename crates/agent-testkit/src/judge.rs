//! A judge of request bodies: the part of JSON Schema that vendors' own types use.

use serde_json::Value;

/// What is wrong with a JSON value by a schema document, each fault with its place.
///
/// It knows the small part of JSON Schema that documents made from vendors' types use: `$ref`, `anyOf`, `oneOf`,
/// `allOf`, `const`, `enum`, `type`, `items`, `required`, `properties`. Unlike the standard's, a property that an object
/// does not list is a fault.
pub fn schema_faults(document: &Value, value: &Value) -> Vec<String> {
    faults(document, value, document, "")
}

fn faults(schema: &Value, value: &Value, root: &Value, at: &str) -> Vec<String> {
    if schema["$ref"].is_string() {
        return faults(resolve(schema, root), value, root, at);
    }
    if let Some(all) = schema["allOf"].as_array() {
        return all.iter().flat_map(|part| faults(part, value, root, at)).collect();
    }
    if let Some(choices) = schema["anyOf"].as_array().or(schema["oneOf"].as_array()) {
        let sent = |choice: &&Value| !is_of_answers(resolve(choice, root));
        let all: Vec<_> = choices.iter().filter(sent).map(|choice| faults(choice, value, root, at)).collect();
        return match all.iter().any(Vec::is_empty) {
            true => Vec::new(),
            false => all.into_iter().min_by_key(Vec::len).unwrap_or_default(),
        };
    }
    let mut found = Vec::new();
    if schema.get("const").is_some_and(|expected| expected != value) {
        found.push(format!("{at}: {value} is not {}", schema["const"]));
    }
    if schema["enum"].as_array().is_some_and(|all| !all.contains(value)) {
        found.push(format!("{at}: {value} is none of {}", schema["enum"]));
    }
    let fits = |kind: &Value| match kind.as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("boolean") => value.is_boolean(),
        Some("integer") => value.is_u64(),
        Some("number") => value.is_number(),
        Some("null") => value.is_null(),
        _ => true,
    };
    let kinds = schema["type"].as_array().map_or(std::slice::from_ref(&schema["type"]), Vec::as_slice);
    if !kinds.iter().any(fits) {
        found.push(format!("{at}: {value} is no {}", schema["type"]));
    }
    for item in value.as_array().into_iter().flatten().filter(|_| schema.get("items").is_some()) {
        found.extend(faults(&schema["items"], item, root, &format!("{at}/-")));
    }
    for name in schema["required"].as_array().into_iter().flatten() {
        if value.is_object() && value.get(name.as_str().unwrap_or_default()).is_none() {
            found.push(format!("{at}: {name} is missing"));
        }
    }
    for (name, inner) in value.as_object().into_iter().flatten().filter(|_| schema["additionalProperties"] != true) {
        match schema["properties"].get(name) {
            Some(schema) => found.extend(faults(schema, inner, root, &format!("{at}/{name}"))),
            None if schema["properties"].is_object() => found.push(format!("{at}: {name} is not known")),
            None => {}
        }
    }
    found
}

fn resolve<'a>(schema: &'a Value, root: &'a Value) -> &'a Value {
    let target = schema["$ref"].as_str().and_then(|name| name.strip_prefix('#'));
    target.and_then(|pointer| root.pointer(pointer)).unwrap_or(schema)
}

/// The types of a request also take the blocks of answers, which allow any property.
fn is_of_answers(schema: &Value) -> bool {
    let tag = schema.pointer("/properties/type/const").and_then(Value::as_str);
    schema.get("additionalProperties") == Some(&Value::Bool(true)) && tag.is_some_and(|tag| tag != "object")
}
