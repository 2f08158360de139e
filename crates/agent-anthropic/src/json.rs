//! JSON read one level at a time, with the order of its keys and the text of its values kept.

use std::{borrow::Cow, fmt};

use agent_core::{ProviderError, ProviderErrorKind};
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{MapAccess, Visitor},
};
use serde_json::value::RawValue;

/// The members of an object in their order.
pub(crate) struct Members<'a>(pub(crate) Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> Members<'a> {
    /// The members of a JSON object; `None` where the text is something else.
    pub(crate) fn read(text: &'a str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// The value of a member; of two with one name the last counts, as in most readers.
    pub(crate) fn value(&self, name: &str) -> Option<&'a RawValue> {
        self.0.iter().rev().find(|(key, _)| key == name).map(|(_, value)| *value)
    }

    /// The text of a member that is a string.
    pub(crate) fn text(&self, name: &str) -> Option<Cow<'a, str>> {
        string(self.value(name)?)
    }
}

/// The text of a JSON string; `None` where the value is something else.
pub(crate) fn string(raw: &RawValue) -> Option<Cow<'_, str>> {
    serde_json::from_str(raw.get()).ok().map(|text: String| Cow::Owned(text))
}

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Vec<(Cow<'de, str>, &'de RawValue)>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(key) = map.next_key::<Key<'de>>()? {
                    members.push((key.0, map.next_value()?));
                }
                Ok(members)
            }
        }
        deserializer.deserialize_map(InOrder).map(Self)
    }
}

/// A key, borrowed where it has no escapes.
#[derive(Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

/// The JSON text of a value of ours, whose writing can only fail by a fault of ours.
pub(crate) fn write<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, ProviderError> {
    serde_json::to_vec(value).map_err(|source| {
        ProviderError::new(ProviderErrorKind::InvalidRequest, "the request cannot be written as JSON")
            .with_source(source)
    })
}

/// The same as text.
pub(crate) fn write_text<T: Serialize + ?Sized>(value: &T) -> Result<String, ProviderError> {
    serde_json::to_string(value).map_err(|source| {
        ProviderError::new(ProviderErrorKind::InvalidRequest, "the request cannot be written as JSON")
            .with_source(source)
    })
}
