//! JSON as it stands in the bytes, with the order of its keys and the text of its values kept.

use std::{borrow::Cow, fmt};

use agent_core::{ProviderError, ProviderErrorKind};
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{MapAccess, Visitor},
};
use serde_json::value::RawValue;

/// The members of an object in their order.
#[derive(Default)]
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

/// The items of a list; none where the value is something else.
pub(crate) fn items(raw: &RawValue) -> Vec<&RawValue> {
    serde_json::from_str(raw.get()).unwrap_or_default()
}

/// The text of a JSON string, borrowed where it has no escapes; `None` where the value is something else.
pub(crate) fn string(raw: &RawValue) -> Option<Cow<'_, str>> {
    let inner = raw.get().strip_prefix('"')?.strip_suffix('"')?;
    if inner.contains('\\') {
        return serde_json::from_str::<String>(raw.get()).ok().map(Cow::Owned);
    }
    Some(Cow::Borrowed(inner))
}

/// A field of any type, read as the type that is expected where it is that, and as nothing where it is not: what a
/// server leaves out, sets to null or gets wrong must not cost an answer.
pub(crate) fn lenient<'de: 'a, 'a, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'a>,
{
    let raw = <&RawValue>::deserialize(deserializer)?;
    Ok(serde_json::from_str(raw.get()).ok())
}

/// The JSON text of a value of ours, whose writing can only fail by a fault of ours.
pub(crate) fn write<T: Serialize + ?Sized>(value: &T) -> Result<String, ProviderError> {
    serde_json::to_string(value).map_err(|source| {
        ProviderError::new(ProviderErrorKind::InvalidRequest, "the request cannot be written as JSON")
            .with_source(source)
    })
}

/// A JSON object of fields that are JSON already.
pub(crate) fn object(fields: &[(String, String)]) -> Result<String, ProviderError> {
    let mut out = String::from("{");
    for (i, (name, value)) in fields.iter().enumerate() {
        out.push_str(if i > 0 { "," } else { "" });
        out.push_str(&write(name)?);
        out.push(':');
        out.push_str(value);
    }
    out.push('}');
    Ok(out)
}
