//! JSON as it stands in the bytes.

use std::borrow::Cow;

use agent_core::{ProviderError, ProviderErrorKind};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

/// The JSON text of a value of ours, whose writing can only fail by a fault of ours.
pub(crate) fn write<T: Serialize + ?Sized>(value: &T) -> Result<String, ProviderError> {
    serde_json::to_string(value).map_err(|source| {
        ProviderError::new(ProviderErrorKind::InvalidRequest, "the request cannot be written as JSON")
            .with_source(source)
    })
}

/// The text of a JSON string, borrowed where it has no escapes; `None` where the value is something else.
pub(crate) fn string(raw: &RawValue) -> Option<Cow<'_, str>> {
    let inner = raw.get().strip_prefix('"')?.strip_suffix('"')?;
    if inner.contains('\\') {
        return serde_json::from_str::<String>(raw.get()).ok().map(Cow::Owned);
    }
    Some(Cow::Borrowed(inner))
}

/// A field of any type, read as the type that is expected where it is that, and as nothing where it is not: what
/// servers leave out, set to null or get wrong must not cost an answer.
pub(crate) fn lenient<'de: 'a, 'a, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'a>,
{
    let raw = <&RawValue>::deserialize(deserializer)?;
    Ok(serde_json::from_str(raw.get()).ok())
}
