//! A JSON value as the text it arrived in.
//!
//! Numbers such as `1e0` and the order of keys are part of what a provider signed or what a newer
//! version wrote, so nothing here goes through `serde_json::Value`.

use std::{error::Error, fmt, sync::Arc};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::value::RawValue;

/// A JSON value kept as its exact text; cheap to clone.
///
/// ```
/// use agent_core::RawJson;
/// let raw = RawJson::parse(r#"{"b":1e0,"a":[1.50]}"#)?;
/// assert_eq!(serde_json::to_string(&raw)?, r#"{"b":1e0,"a":[1.50]}"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct RawJson(Arc<RawValue>);

impl RawJson {
    /// Keeps `text`, after checking that it is one whole JSON value.
    ///
    /// # Errors
    /// [`JsonError`] with the place where the text stops being JSON.
    pub fn parse(text: impl Into<String>) -> Result<Self, JsonError> {
        RawValue::from_string(text.into())
            .map(|raw| Self(raw.into()))
            .map_err(|source| JsonError::Syntax { what: "JSON value", source })
    }

    /// The JSON text of anything serialisable.
    ///
    /// # Errors
    /// [`JsonError`] where the value has no JSON form (a map with keys that are not strings).
    pub fn of<T: Serialize + ?Sized>(value: &T) -> Result<Self, JsonError> {
        serde_json::value::to_raw_value(value)
            .map(|raw| Self(raw.into()))
            .map_err(|source| JsonError::Syntax { what: "value to write as JSON", source })
    }

    /// The exact text.
    pub fn get(&self) -> &str {
        self.0.get()
    }

    /// Reads the value as a Rust type.
    ///
    /// # Errors
    /// [`JsonError`] where the value has another shape.
    pub fn read<'a, T: Deserialize<'a>>(&'a self) -> Result<T, JsonError> {
        serde_json::from_str(self.get()).map_err(|source| JsonError::Syntax { what: "JSON value", source })
    }

    pub(crate) fn from_ref(raw: &RawValue) -> Self {
        Self(raw.to_owned().into())
    }
}

impl PartialEq for RawJson {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl Eq for RawJson {}

impl fmt::Debug for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.get())
    }
}

impl fmt::Display for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.get())
    }
}

impl Serialize for RawJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (*self.0).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for RawJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::<RawValue>::deserialize(deserializer).map(|raw| Self(raw.into()))
    }
}

/// Fields that this version does not know, kept byte for byte and written back after the known
/// ones in the order they were read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Extra(pub(crate) Vec<(String, RawJson)>);

impl Extra {
    /// The fields in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &RawJson)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// The value of a field.
    pub fn get(&self, name: &str) -> Option<&RawJson> {
        self.iter().find_map(|(n, value)| (n == name).then_some(value))
    }

    /// Whether there are none, as there should be in files of this version.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Text that is not the JSON that was expected.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JsonError {
    /// Not JSON, or JSON of another type.
    #[error("{what}: cannot be read")]
    Syntax {
        /// What was being read.
        what: &'static str,
        /// The parser's error, with line and column.
        source: serde_json::Error,
    },
    /// A field has another type.
    #[error("{what}: the field `{field}` cannot be read")]
    Field {
        /// What was being read.
        what: &'static str,
        /// The field.
        field: &'static str,
        /// The parser's error.
        source: serde_json::Error,
    },
    /// A required field is not there.
    #[error("{what}: the field `{field}` is missing")]
    Missing {
        /// What was being read.
        what: &'static str,
        /// The field.
        field: &'static str,
    },
    /// A field stands there twice, and the two may differ.
    #[error("{what}: the field `{field}` stands there twice")]
    Duplicate {
        /// What was being read.
        what: &'static str,
        /// The field.
        field: String,
    },
    /// A message of a role that this version does not know.
    #[error("a message has the unknown role `{role}`; a newer version may have written it")]
    UnknownRole {
        /// The role as read.
        role: String,
    },
}

impl JsonError {
    /// The same as an error of serde's, with the cause in its text.
    pub(crate) fn into_serde<E: de::Error>(self) -> E {
        match self.source() {
            Some(cause) => E::custom(format_args!("{self}: {cause}")),
            None => E::custom(self),
        }
    }
}
