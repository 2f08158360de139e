//! Blocks that core has no name for, collected until they are whole and kept as the vendor made them.

use std::collections::BTreeMap;

use agent_core::{JsonMembers, RawJson, json_string};
use serde_json::value::RawValue;

/// How many bytes such a block may have in all.
pub(super) const MAX_OPAQUE: usize = 64 * 1024 * 1024;

/// A block that is not whole: its start, and what was added to its fields.
pub(super) struct Opaque {
    start: String,
    /// Text for the string fields of these names.
    texts: BTreeMap<String, String>,
    /// The JSON text of the input of a server tool's call.
    input: String,
    /// Items for the list fields of these names.
    lists: BTreeMap<String, Vec<String>>,
    bytes: usize,
}

impl Opaque {
    pub(super) fn new(start: &RawValue) -> Self {
        let start = start.get().to_owned();
        let bytes = start.len();
        Self { start, texts: BTreeMap::new(), input: String::new(), lists: BTreeMap::new(), bytes }
    }

    /// Adds what a delta brings: `partial_json` to the input, `citation` to the citations, and every other text to
    /// the field of the same name, which is how the vendor names them. `None` where the block grows too large.
    pub(super) fn add(&mut self, delta: &str) -> Option<()> {
        self.bytes = self.bytes.checked_add(delta.len()).filter(|bytes| *bytes <= MAX_OPAQUE)?;
        let members = JsonMembers::read(delta).map(|members| members.into_pairs()).unwrap_or_default();
        for (name, value) in members {
            match (&*name, json_string(value)) {
                ("type", _) => {}
                ("partial_json", Some(more)) => self.input.push_str(&more),
                ("citation", _) => self.lists.entry("citations".to_owned()).or_default().push(value.get().to_owned()),
                (name, Some(more)) => self.texts.entry(name.to_owned()).or_default().push_str(&more),
                _ => {}
            }
        }
        Some(())
    }

    /// The block as one JSON object, byte for byte where nothing was added.
    pub(super) fn finish(self) -> Option<RawJson> {
        let untouched = self.texts.is_empty() && self.lists.is_empty() && self.input.trim().is_empty();
        if untouched {
            return RawJson::parse(self.start).ok();
        }
        let mut out = Vec::new();
        let members = JsonMembers::read(&self.start)?;
        for (name, value) in members.pairs() {
            let added = self.value(name, Some(value));
            out.push((name.to_string(), added.unwrap_or_else(|| value.get().to_owned())));
        }
        let names = self.texts.keys().chain(self.lists.keys());
        let input = "input".to_owned();
        for name in names.chain([&input]).filter(|name| members.value(name).is_none()) {
            out.extend(self.value(name, None).map(|value| (name.clone(), value)));
        }
        let mut text = String::from("{");
        for (i, (name, value)) in out.iter().enumerate() {
            text.push_str(if i > 0 { "," } else { "" });
            text.push_str(&serde_json::to_string(name).ok()?);
            text.push(':');
            text.push_str(value);
        }
        text.push('}');
        // An input that was cut off is no JSON: then the block stays as it began.
        RawJson::parse(text).or_else(|_| RawJson::parse(self.start.clone())).ok()
    }

    /// What became of a field, if anything was added to it.
    fn value(&self, name: &str, start: Option<&RawValue>) -> Option<String> {
        if name == "input" && !self.input.trim().is_empty() {
            return Some(self.input.clone());
        }
        if let Some(more) = self.texts.get(name) {
            let before = start.and_then(json_string).unwrap_or_default();
            return serde_json::to_string(&format!("{before}{more}")).ok();
        }
        let items = self.lists.get(name)?;
        let before = start.and_then(|raw| serde_json::from_str::<Vec<&RawValue>>(raw.get()).ok()).unwrap_or_default();
        let all: Vec<&str> = before.iter().map(|raw| raw.get()).chain(items.iter().map(String::as_str)).collect();
        Some(format!("[{}]", all.join(",")))
    }
}
