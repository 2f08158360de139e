//! The subset of OpenAPI that the vendor takes (<https://ai.google.dev/api/caching#Schema>).

use std::borrow::Cow;

use agent_core::{ProviderError, RawJson};
use serde_json::value::RawValue;

use super::{
    Lowered, MAX_DEPTH, Place,
    fields::{Fields, field, has, put, take, value},
    unsupported,
};
use crate::json::{Members, items, object, string, write};

const AS_THEY_ARE: [&str; 13] = [
    "title",
    "default",
    "example",
    "pattern",
    "minItems",
    "maxItems",
    "minLength",
    "maxLength",
    "minProperties",
    "maxProperties",
    "minimum",
    "maximum",
    "nullable",
];
const FORMATS: [&str; 6] = ["date-time", "enum", "float", "double", "int32", "int64"];
/// How large a schema may become when its references are resolved, in bytes.
const MAX_BYTES: usize = 1024 * 1024;

/// Lowers a schema to the subset of OpenAPI.
///
/// References are resolved, where a schema holds itself up to the second time. Types with `null` become `nullable`,
/// other unions `anyOf`. What is not known to the dialect is told to the model in the description instead. All of it
/// is reported. Objects are closed in this dialect, so `additionalProperties: false` is no loss.
///
/// ```
/// use agent_core::RawJson;
/// let text = r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"type":["string","null"]}}}"##;
/// let lowered = agent_google::lower_to_open_api(&RawJson::parse(text)?)?;
/// assert_eq!(lowered.schema.get(), r#"{"type":"object","properties":{"a":{"type":"string","nullable":true}}}"#);
/// assert!(lowered.lost.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`ProviderError`] of kind `Unsupported` for a schema with more than 64 levels, or that grows beyond 1 MiB when its
/// references are resolved.
pub fn lower_to_open_api(schema: &RawJson) -> Result<Lowered, ProviderError> {
    lower(schema, false)
}

/// `ordered` says in which order the properties are to be written, which is else the alphabet's.
pub(super) fn lower(schema: &RawJson, ordered: bool) -> Result<Lowered, ProviderError> {
    let root: &RawValue = schema.read().map_err(|e| unsupported("the schema is no JSON").with_source(e))?;
    let mut walk = Walk { root, ordered, lost: Vec::new(), inside: Vec::new(), bytes: 0 };
    let fields = walk.schema(root, &Place::root())?;
    let schema = RawJson::parse(object(&fields)?);
    let schema = schema.map_err(|e| unsupported("the schema cannot be written").with_source(e))?;
    Ok(Lowered { schema, lost: walk.lost })
}

pub(super) struct Walk<'a> {
    root: &'a RawValue,
    ordered: bool,
    lost: Vec<String>,
    /// The references that are being resolved.
    inside: Vec<String>,
    bytes: usize,
}

impl<'a> Walk<'a> {
    pub(super) fn loses(&mut self, place: &Place, what: impl std::fmt::Display) {
        self.lost.push(place.report(what));
    }

    pub(super) fn schema(&mut self, raw: &'a RawValue, place: &Place) -> Result<Fields, ProviderError> {
        self.bytes = self.bytes.saturating_add(64);
        if place.depth > MAX_DEPTH || self.bytes > MAX_BYTES {
            let text = format!("the schema has more than {MAX_DEPTH} levels or {MAX_BYTES} bytes");
            return Err(unsupported(text));
        }
        let Some(members) = Members::read(raw.get()) else {
            self.loses(place, "a place for any value, which became a text");
            return Ok(vec![field("type", "\"string\"")]);
        };
        if let Some(reference) = members.text("$ref") {
            return self.reference(&reference, &members, place);
        }
        let (mut fields, mut told) = (Fields::new(), Vec::new());
        for (name, value) in &members.0 {
            match &**name {
                "$schema" | "$id" | "$anchor" | "$comment" | "$defs" | "definitions" | "description" => {}
                "propertyOrdering" => put(&mut fields, name, value.get()),
                "additionalProperties" if value.get() == "false" => {}
                "type" => self.types(value, place, &mut fields)?,
                "properties" => self.properties(value, place, &mut fields)?,
                "required" => self.required(value, members.value("properties"), place, &mut fields)?,
                "items" if Members::read(value.get()).is_some() => {
                    let inner = self.schema(value, &place.child("items"))?;
                    put(&mut fields, "items", &object(&inner)?);
                }
                "items" | "prefixItems" => self.tuple(name, value, place, &mut fields)?,
                "enum" => self.values(items(value), place, &mut fields, &mut told)?,
                "const" => self.values(vec![value], place, &mut fields, &mut told)?,
                "anyOf" | "oneOf" if !is_side_condition(&members, value) => {
                    self.union(name, value, place, &mut fields)?;
                }
                "allOf" => self.all(value, place, &mut fields)?,
                "format" if string(value).is_some_and(|format| FORMATS.contains(&&*format)) => {
                    put(&mut fields, name, value.get());
                }
                name if AS_THEY_ARE.contains(&name) => put(&mut fields, name, value.get()),
                name => {
                    self.loses(place, format_args!("`{name}` is told, not enforced"));
                    told.push(format!("{name}: {}", value.get()));
                }
            }
            self.bytes = self.bytes.saturating_add(value.get().len().min(256));
        }
        let described = members.text("description").map(Cow::into_owned);
        let description: Vec<String> = described.into_iter().chain(told).collect();
        if !description.is_empty() {
            put(&mut fields, "description", &write(&description.join("\n"))?);
        }
        self.complete(place, &mut fields)?;
        Ok(fields)
    }

    /// What the dialect asks for and JSON Schema does not.
    fn complete(&mut self, place: &Place, fields: &mut Fields) -> Result<(), ProviderError> {
        if has(fields, "anyOf") {
            return self.alone(place, fields);
        }
        if !has(fields, "type") {
            let kind = match () {
                () if has(fields, "properties") => "\"object\"",
                () if has(fields, "items") => "\"array\"",
                () if has(fields, "enum") || has(fields, "pattern") || has(fields, "format") => "\"string\"",
                () => {
                    self.loses(place, "a place for any value, which became a text");
                    "\"string\""
                }
            };
            fields.insert(0, field("type", kind));
        }
        if value(fields, "type") == Some("\"array\"") && !has(fields, "items") {
            self.loses(place, "items of any type, which became texts");
            put(fields, "items", "{\"type\":\"string\"}");
        }
        Ok(())
    }

    fn types(&mut self, raw: &'a RawValue, place: &Place, fields: &mut Fields) -> Result<(), ProviderError> {
        if string(raw).is_some() {
            put(fields, "type", raw.get());
            return Ok(());
        }
        let all = items(raw);
        let is_null = |kind: &&&RawValue| kind.get() == "\"null\"";
        if all.iter().any(|kind| is_null(&kind)) {
            put(fields, "nullable", "true");
        }
        let others: Vec<_> = all.iter().filter(|kind| !is_null(kind)).collect();
        match others.as_slice() {
            [] => put(fields, "type", "\"null\""),
            [one] => fields.insert(0, field("type", one.get())),
            several => {
                self.loses(place, "a choice of types became `anyOf`");
                let mut members = Vec::new();
                for kind in several {
                    let mut own = vec![field("type", kind.get())];
                    self.complete(place, &mut own)?;
                    members.push(object(&own)?);
                }
                put(fields, "anyOf", &format!("[{}]", members.join(",")));
            }
        }
        Ok(())
    }

    fn properties(&mut self, raw: &'a RawValue, place: &Place, fields: &mut Fields) -> Result<(), ProviderError> {
        let at = place.child("properties");
        let (mut own, mut names) = (Fields::new(), Vec::new());
        for (name, schema) in Members::read(raw.get()).unwrap_or_default().0 {
            let inner = self.schema(schema, &at.child(&name))?;
            own.push((name.to_string(), object(&inner)?));
            names.push(write(&*name)?);
        }
        if !own.is_empty() {
            put(fields, "properties", &object(&own)?);
            if self.ordered {
                put(fields, "propertyOrdering", &format!("[{}]", names.join(",")));
            }
        }
        Ok(())
    }

    /// The vendor refuses a name that is no property.
    fn required(
        &mut self,
        raw: &'a RawValue,
        properties: Option<&'a RawValue>,
        place: &Place,
        fields: &mut Fields,
    ) -> Result<(), ProviderError> {
        let known = properties.and_then(|raw| Members::read(raw.get())).unwrap_or_default();
        let mut names = Vec::new();
        for name in items(raw).into_iter().filter_map(string) {
            if known.value(&name).is_some() {
                names.push(write(&*name)?);
            } else {
                self.loses(place, format_args!("`{name}` is required and no property; it is left out"));
            }
        }
        if !names.is_empty() {
            put(fields, "required", &format!("[{}]", names.join(",")));
        }
        Ok(())
    }

    fn tuple(
        &mut self,
        name: &str,
        raw: &'a RawValue,
        place: &Place,
        fields: &mut Fields,
    ) -> Result<(), ProviderError> {
        let all = items(raw);
        if all.is_empty() || has(fields, "items") {
            return Ok(());
        }
        self.loses(place, format_args!("`{name}`: the order of the items is not enforced"));
        let mut members: Vec<String> = Vec::new();
        for (i, item) in all.into_iter().enumerate() {
            let member = object(&self.schema(item, &place.child(name).child(&i.to_string()))?)?;
            if !members.contains(&member) {
                members.push(member);
            }
        }
        let text = match members.as_slice() {
            [one] => one.clone(),
            several => format!("{{\"anyOf\":[{}]}}", several.join(",")),
        };
        put(fields, "items", &text);
        Ok(())
    }

    /// Only texts can be enumerated, and none that is empty.
    fn values(
        &mut self,
        all: Vec<&'a RawValue>,
        place: &Place,
        fields: &mut Fields,
        told: &mut Vec<String>,
    ) -> Result<(), ProviderError> {
        if all.iter().any(|value| value.get() == "null") {
            put(fields, "nullable", "true");
        }
        let all: Vec<_> = all.into_iter().filter(|value| value.get() != "null").collect();
        let texts: Vec<&str> = all.iter().filter(|value| string(value).is_some()).map(|value| value.get()).collect();
        let filled: Vec<&str> = texts.iter().copied().filter(|text| *text != "\"\"").collect();
        if filled.len() < texts.len() {
            self.loses(place, "the empty text among the values is left out");
        }
        if texts.len() == all.len() && !filled.is_empty() {
            put(fields, "enum", &format!("[{}]", filled.join(",")));
            return Ok(());
        }
        let listed: Vec<&str> = all.iter().map(|value| value.get()).collect();
        if !listed.is_empty() {
            self.loses(place, "values that are no texts are told, not enforced");
            told.push(format!("one of: {}", listed.join(", ")));
        }
        Ok(())
    }

    fn reference(&mut self, reference: &str, beside: &Members<'a>, place: &Place) -> Result<Fields, ProviderError> {
        let times = self.inside.iter().filter(|known| *known == reference).count();
        let target = resolve(self.root, reference);
        let mut fields = match target {
            None => {
                self.loses(
                    place,
                    format_args!("the reference `{reference}` leads nowhere; any object may stand there"),
                );
                vec![field("type", "\"object\"")]
            }
            Some(_) if times > 0 => {
                self.loses(place, format_args!("`{reference}` holds itself; any object may stand there"));
                vec![field("type", "\"object\"")]
            }
            Some(target) => {
                self.inside.push(reference.to_owned());
                let fields = self.schema(target, place)?;
                self.inside.pop();
                fields
            }
        };
        let kept =
            |name: &str| name.starts_with('$') || matches!(name, "description" | "default" | "title" | "definitions");
        for (name, _) in beside.0.iter().filter(|(name, _)| !kept(name)) {
            self.loses(place, format_args!("`{name}` beside a reference is left out"));
        }
        for (name, value) in beside.0.iter().filter(|(name, _)| matches!(&**name, "description" | "default" | "title"))
        {
            if !has(&fields, "anyOf") {
                take(&mut fields, name);
                put(&mut fields, name, value.get());
            }
        }
        Ok(fields)
    }
}

/// Whether the members of a union only narrow what stands beside it, for example which properties are required: the
/// dialect has unions of whole schemas alone.
fn is_side_condition(beside: &Members<'_>, union: &RawValue) -> bool {
    const SHAPES: [&str; 9] = ["type", "$ref", "enum", "const", "properties", "items", "anyOf", "oneOf", "allOf"];
    let shapes = |raw: &RawValue| match Members::read(raw.get()) {
        Some(members) => SHAPES.iter().any(|name| members.value(name).is_some()),
        None => false,
    };
    let has = |name| beside.value(name).is_some();
    has("properties") || has("items") || has("type") && !items(union).into_iter().any(shapes)
}

/// Finds a local reference such as `#/$defs/A`.
fn resolve<'a>(root: &'a RawValue, reference: &str) -> Option<&'a RawValue> {
    let pointer = reference.strip_prefix('#')?;
    pointer.split('/').skip(1).try_fold(root, |raw, step| {
        let step = step.replace("~1", "/").replace("~0", "~");
        match Members::read(raw.get()) {
            Some(members) => members.value(&step),
            None => items(raw).get(step.parse::<usize>().ok()?).copied(),
        }
    })
}
