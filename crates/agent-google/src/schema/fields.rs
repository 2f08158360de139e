//! The fields of a schema that is being written: JSON by name, in order.

use agent_core::ProviderError;
use serde_json::value::RawValue;

use crate::json::{Members, object};

pub(super) type Fields = Vec<(String, String)>;

pub(super) fn has(fields: &Fields, name: &str) -> bool {
    fields.iter().any(|(known, _)| known == name)
}

pub(super) fn field(name: &str, value: &str) -> (String, String) {
    (name.to_owned(), value.to_owned())
}

/// Sets a field that is not there yet.
pub(super) fn put(fields: &mut Fields, name: &str, value: &str) {
    if !has(fields, name) {
        fields.push(field(name, value));
    }
}

pub(super) fn take(fields: &mut Fields, name: &str) -> Option<String> {
    let at = fields.iter().position(|(known, _)| known == name)?;
    Some(fields.remove(at).1)
}

pub(super) fn value<'f>(fields: &'f Fields, name: &str) -> Option<&'f str> {
    fields.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}

/// Two objects as one; of two members with one name the later counts.
pub(super) fn join_objects(a: &str, b: &str) -> Result<String, ProviderError> {
    let (a, b) = (Members::read(a).unwrap_or_default(), Members::read(b).unwrap_or_default());
    let kept = a.0.iter().filter(|(name, _)| b.value(name).is_none());
    let fields: Fields = kept.chain(&b.0).map(|(name, value)| field(name, value.get())).collect();
    object(&fields)
}

/// Two lists as one, each value once.
pub(super) fn join_lists(a: &str, b: &str) -> String {
    let read = |text| serde_json::from_str::<Vec<&RawValue>>(text).unwrap_or_default();
    let mut all: Vec<&str> = Vec::new();
    for value in read(a).into_iter().chain(read(b)).map(RawValue::get) {
        if !all.contains(&value) {
            all.push(value);
        }
    }
    format!("[{}]", all.join(","))
}
