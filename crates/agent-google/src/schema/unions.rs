//! `anyOf`, `oneOf` and `allOf` in the subset of OpenAPI.

use agent_core::ProviderError;
use serde_json::value::RawValue;

use super::{
    Place,
    fields::{Fields, has, join_lists, join_objects, put, take},
    open_api::Walk,
};
use crate::json::{Members, items, object};

impl<'a> Walk<'a> {
    /// Beside `anyOf` nothing may stand: what belongs to all of its members goes into each.
    pub(super) fn alone(&mut self, place: &Place, fields: &mut Fields) -> Result<(), ProviderError> {
        let union = take(fields, "anyOf").unwrap_or_default();
        let shared: Vec<_> =
            ["description", "nullable"].iter().filter_map(|name| Some((*name, take(fields, name)?))).collect();
        fields.retain(|(name, _)| name != "type" && name != "title" && name != "default");
        for (name, _) in std::mem::take(fields) {
            self.loses(place, format_args!("`{name}` beside `anyOf` is left out"));
        }
        let mut all = Vec::new();
        for member in serde_json::from_str::<Vec<&RawValue>>(&union).unwrap_or_default() {
            let members = Members::read(member.get()).unwrap_or_default();
            let mut own: Fields =
                members.0.iter().map(|(name, value)| (name.to_string(), value.get().to_owned())).collect();
            for (name, value) in &shared {
                if !has(&own, name) {
                    put(&mut own, name, value);
                }
            }
            all.push(object(&own)?);
        }
        put(fields, "anyOf", &format!("[{}]", all.join(",")));
        Ok(())
    }

    pub(super) fn union(
        &mut self,
        name: &str,
        raw: &'a RawValue,
        place: &Place,
        fields: &mut Fields,
    ) -> Result<(), ProviderError> {
        let all = items(raw);
        let is_null =
            |raw: &&RawValue| Members::read(raw.get()).and_then(|m| m.text("type")).is_some_and(|t| t == "null");
        if all.iter().any(is_null) {
            put(fields, "nullable", "true");
        }
        let mut members = Vec::new();
        for (i, item) in all.into_iter().enumerate().filter(|(_, item)| !is_null(item)) {
            members.push(self.schema(item, &place.child(name).child(&i.to_string()))?);
        }
        // One that is left is the schema itself.
        if let [one] = members.as_slice() {
            for (name, value) in one {
                put(fields, name, value);
            }
            return Ok(());
        }
        if name == "oneOf" {
            self.loses(place, "`oneOf` became `anyOf`");
        }
        let members = members.iter().map(|member| object(member)).collect::<Result<Vec<_>, _>>()?;
        if !members.is_empty() {
            put(fields, "anyOf", &format!("[{}]", members.join(",")));
        }
        Ok(())
    }

    /// Members of which all hold become one: their properties together, of other keywords the last.
    pub(super) fn all(&mut self, raw: &'a RawValue, place: &Place, fields: &mut Fields) -> Result<(), ProviderError> {
        let all = items(raw);
        if all.len() > 1 {
            self.loses(place, "the members of `allOf` became one");
        }
        for (i, item) in all.into_iter().enumerate() {
            for (name, value) in self.schema(item, &place.child("allOf").child(&i.to_string()))? {
                let before = take(fields, &name);
                let text = match (name.as_str(), before) {
                    ("properties", Some(before)) => join_objects(&before, &value)?,
                    ("required" | "propertyOrdering", Some(before)) => join_lists(&before, &value),
                    _ => value,
                };
                put(fields, &name, &text);
            }
        }
        Ok(())
    }
}
