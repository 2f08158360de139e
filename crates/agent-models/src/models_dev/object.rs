//! Objects whose fields are looked at one by one, so that a field of an unexpected shape costs that field only.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{ModelsDev, Skipped};

/// At most so much that was skipped is listed.
const LISTED: usize = 1_000;

/// A JSON object whose fields have not been looked at.
pub(super) struct Object<'a>(BTreeMap<String, &'a RawValue>);

/// Something that has a name in the report.
pub(super) struct Place<'a> {
    pub(super) of: &'a str,
    pub(super) document: &'a mut ModelsDev,
}

impl<'a> Object<'a> {
    pub(super) fn parse(text: &'a RawValue) -> Option<Self> {
        serde_json::from_str(text.get()).ok().map(Self)
    }

    pub(super) fn document(text: &'a [u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(text).map(Self)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &'a RawValue)> {
        self.0.iter().map(|(name, value)| (name.as_str(), *value))
    }

    pub(super) fn has(&self, field: &str) -> bool {
        self.0.get(field).is_some_and(|value| value.get() != "null")
    }

    /// A field; one of another type is reported and left out.
    pub(super) fn field<T: Deserialize<'a>>(&self, field: &str, place: &mut Place<'_>) -> Option<T> {
        let value = self.0.get(field).filter(|value| value.get() != "null")?;
        let read = serde_json::from_str(value.get()).ok();
        if read.is_none() {
            place.skip(field, "a field of an unexpected type");
        }
        read
    }

    /// An object in a field; anything else is reported and left out.
    pub(super) fn object(&self, field: &str, place: &mut Place<'_>) -> Option<Self> {
        self.field(field, place).map(Self)
    }

    /// A number of tokens. Zero says that nobody knows.
    pub(super) fn tokens(&self, field: &str, place: &mut Place<'_>) -> Option<u64> {
        self.field::<u64>(field, place).filter(|tokens| *tokens > 0)
    }
}

impl Place<'_> {
    pub(super) fn skip(&mut self, field: &str, reason: &'static str) {
        if self.document.skipped.len() < LISTED {
            self.document.skipped.push(Skipped { of: self.of.to_owned(), field: field.to_owned(), reason });
        } else {
            self.document.more_skipped += 1;
        }
    }
}
