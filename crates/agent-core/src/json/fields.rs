//! Reads a JSON object field by field over raw values.
//!
//! serde's internally tagged enums and `flatten` buffer their input and lose its bytes; this reader
//! keeps every field that nobody asked for as it stood.

use std::{borrow::Cow, collections::HashSet, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::value::RawValue;

use super::{Extra, JsonError, RawJson};

/// The fields of one object that have not been taken yet.
pub(crate) struct Fields<'a> {
    what: &'static str,
    fields: Vec<(Cow<'a, str>, &'a RawValue)>,
}

impl<'a> Fields<'a> {
    pub(crate) fn parse(what: &'static str, raw: &'a RawValue) -> Result<Self, JsonError> {
        let Object(fields) =
            serde_json::from_str(raw.get()).map_err(|source| JsonError::Syntax { what, source })?;
        let mut seen = HashSet::with_capacity(fields.len());
        for (name, _) in &fields {
            if !seen.insert(name) {
                return Err(JsonError::Duplicate { what, field: name.clone().into_owned() });
            }
        }
        Ok(Self { what, fields })
    }

    /// Says more exactly what is being read, for the errors that follow.
    pub(crate) fn named(mut self, what: &'static str) -> Self {
        self.what = what;
        self
    }

    /// Takes a field that has to be there.
    pub(crate) fn required<T: Deserialize<'a>>(
        &mut self,
        field: &'static str,
    ) -> Result<T, JsonError> {
        let what = self.what;
        self.take(field)?.ok_or(JsonError::Missing { what, field })
    }

    /// Takes a field that is left out when it has its default value.
    pub(crate) fn optional<T: Deserialize<'a> + Default>(
        &mut self,
        field: &'static str,
    ) -> Result<T, JsonError> {
        Ok(self.take(field)?.unwrap_or_default())
    }

    fn take<T: Deserialize<'a>>(&mut self, field: &'static str) -> Result<Option<T>, JsonError> {
        let Some(at) = self.fields.iter().position(|(name, _)| name == field) else {
            return Ok(None);
        };
        let (_, raw) = self.fields.remove(at);
        serde_json::from_str(raw.get()).map(Some).map_err(|source| JsonError::Field {
            what: self.what,
            field,
            source,
        })
    }

    pub(crate) fn into_pairs(self) -> Vec<(Cow<'a, str>, &'a RawValue)> {
        self.fields
    }

    /// Everything that was not taken.
    pub(crate) fn rest(self) -> Extra {
        let mut extra = Extra::default();
        for (name, raw) in self.fields {
            extra.push(name.into_owned(), RawJson::from_ref(raw));
        }
        extra
    }
}

struct Object<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de> Deserialize<'de> for Object<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;
        impl<'de> Visitor<'de> for Read {
            type Value = Object<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object<'de>, A::Error> {
                let mut fields = Vec::with_capacity(8);
                while let Some((Name(name), value)) = map.next_entry()? {
                    fields.push((name, value));
                }
                Ok(Object(fields))
            }
        }
        deserializer.deserialize_map(Read)
    }
}

pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Declares a struct of the persistence format: its fields with their JSON names, `required` or
/// `optional` (left out when it has its default value), and the unknown rest in `extra`.
macro_rules! persisted {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident as $what:literal {
            $( $(#[$field_meta:meta])* $kind:ident $field:ident: $type:ty = $key:literal, )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        $vis struct $name {
            $( $(#[$field_meta])* pub $field: $type, )*
            /// Fields that this version does not know, kept byte for byte.
            pub extra: $crate::json::Extra,
        }

        impl $name {
            pub(crate) fn read(
                fields: $crate::json::Fields<'_>,
            ) -> Result<Self, $crate::json::JsonError> {
                let mut fields = fields.named($what);
                Ok(Self { $( $field: fields.$kind($key)?, )* extra: fields.rest() })
            }

            pub(crate) fn write<M: serde::ser::SerializeMap>(
                &self,
                map: &mut M,
            ) -> Result<(), M::Error> {
                $( $crate::json::persisted!(@write $kind map, $key, self.$field); )*
                self.extra.write(map)
            }
        }
    };
    (@write required $map:ident, $key:literal, $self:ident.$field:ident) => {
        $map.serialize_entry($key, &$self.$field)?;
    };
    (@write optional $map:ident, $key:literal, $self:ident.$field:ident) => {
        if !$crate::json::is_default(&$self.$field) {
            $map.serialize_entry($key, &$self.$field)?;
        }
    };
}
pub(crate) use persisted;
