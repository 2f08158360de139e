//! Reads a JSON object field by field over raw values, and declares what is persisted that way.
//!
//! serde's internally tagged enums and `flatten` buffer their input and lose its bytes; this reader
//! keeps every field that nobody asked for as it stood.

use std::{borrow::Cow, collections::BTreeSet};

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{Extra, JsonError, JsonMembers, RawJson};

/// The fields of one object that have not been taken yet.
pub(crate) struct Fields<'a> {
    /// What is being read, for errors.
    pub(crate) what: &'static str,
    fields: Vec<(Cow<'a, str>, &'a RawValue)>,
}

impl<'a> Fields<'a> {
    pub(crate) fn parse(what: &'static str, raw: &'a RawValue) -> Result<Self, JsonError> {
        let members: JsonMembers<'_> =
            serde_json::from_str(raw.get()).map_err(|source| JsonError::Syntax { what, source })?;
        let object = Self { what, fields: members.into_pairs() };
        let mut seen = BTreeSet::new();
        match object.fields.iter().find(|(name, _)| !seen.insert(name)) {
            Some((name, _)) => Err(JsonError::Duplicate { what, field: name.to_string() }),
            None => Ok(object),
        }
    }

    /// Takes a field that has to be there.
    pub(crate) fn required<T: Deserialize<'a>>(&mut self, field: &'static str) -> Result<T, JsonError> {
        self.take(field)?.ok_or(JsonError::Missing { what: self.what, field })
    }

    /// Takes a field that is left out when it has its default value.
    pub(crate) fn optional<T: Deserialize<'a> + Default>(&mut self, field: &'static str) -> Result<T, JsonError> {
        Ok(self.take(field)?.unwrap_or_default())
    }

    fn take<T: Deserialize<'a>>(&mut self, field: &'static str) -> Result<Option<T>, JsonError> {
        let Some(at) = self.fields.iter().position(|(name, _)| name == field) else { return Ok(None) };
        let (_, raw) = self.fields.remove(at);
        serde_json::from_str(raw.get()).map(Some).map_err(|source| JsonError::Field { what: self.what, field, source })
    }

    pub(crate) fn into_pairs(self) -> Vec<(Cow<'a, str>, &'a RawValue)> {
        self.fields
    }

    /// Everything that was not taken.
    pub(crate) fn rest(self) -> Extra {
        let pairs = self.fields.into_iter();
        Extra(pairs.map(|(name, raw)| (name.into_owned(), RawJson::from_ref(raw))).collect())
    }
}

/// Whether a field that is optional is left out.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Declares a struct of the persistence format: its constructor, and its fields with their JSON names.
///
/// A `required` field is always there; an `optional` one is left out when it has its default value;
/// the unknown rest is in `extra`. `new` takes the `required` ones that have no `or` value, and what
/// else it names; an `initial` field is an optional one that it names.
macro_rules! persisted {
    ($(
        $(#[$meta:meta])*
        pub struct $name:ident as $what:literal {
            $(#[$new_meta:meta])*
            new($($arg:ident: $param:ty),*);
            $( $(#[$field_meta:meta])* $kind:ident $field:ident: $type:ty = $key:literal $(or $value:expr)?, )*
        }
    )*) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        pub struct $name {
            $( $(#[$field_meta])* pub $field: $type, )*
            /// Fields that this version does not know, kept byte for byte.
            pub extra: $crate::Extra,
        }

        impl $name {
            $(#[$new_meta])*
            pub fn new($($arg: $param),*) -> Self {
                Self {
                    $( $field: $crate::json::persisted!(@new $kind $field $($value)?), )*
                    extra: $crate::Extra::default(),
                }
            }

            fn read(mut fields: $crate::json::Fields<'_>) -> Result<Self, $crate::JsonError> {
                fields.what = $what;
                Ok(Self { $( $field: $crate::json::persisted!(@read $kind fields, $key), )* extra: fields.rest() })
            }

            fn write<M: serde::ser::SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
                $( $crate::json::persisted!(@write $kind map, $key, self.$field); )*
                self.extra.iter().try_for_each(|(name, value)| map.serialize_entry(name, value))
            }
        }
    )*};
    (@new $kind:ident $field:ident $value:expr) => { $value };
    (@new optional $field:ident) => { Default::default() };
    (@new $given:ident $field:ident) => { $field.into() };
    (@read required $fields:ident, $key:literal) => { $fields.required($key)? };
    (@read $optional:ident $fields:ident, $key:literal) => { $fields.optional($key)? };
    (@write required $map:ident, $key:literal, $self:ident.$field:ident) => {
        $map.serialize_entry($key, &$self.$field)?;
    };
    (@write $optional:ident $map:ident, $key:literal, $self:ident.$field:ident) => {
        if !$crate::json::is_default(&$self.$field) {
            $map.serialize_entry($key, &$self.$field)?;
        }
    };
}
pub(crate) use persisted;

/// Lets persisted structs that stand for themselves be written and read.
macro_rules! standalone {
    ($($name:ident),*) => {$(
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let mut map = serializer.serialize_map(None)?;
                self.write(&mut map)?;
                map.end()
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let raw = Box::<RawValue>::deserialize(deserializer)?;
                Fields::parse("record", &raw).and_then(Self::read).map_err(JsonError::into_serde)
            }
        }
    )*};
}
pub(crate) use standalone;

/// Declares an enum of persisted structs, told apart by a field, and the structs. Its fn `unknown`
/// makes something of the names that are not listed, if need be the variants in its own braces.
macro_rules! tagged {
    (
        $(#[$enum_meta:meta])*
        pub enum $enum:ident as $enum_what:literal by $tag:literal {
            $( $(#[$other_meta:meta])* $other:ident($other_type:ty), )*
        }
        $(
            $(#[$meta:meta])*
            $variant:ident = $key:literal: pub struct $name:ident as $what:literal { $($fields:tt)* }
        )*
    ) => {
        $(#[$enum_meta])*
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        pub enum $enum {
            $( $(#[$meta])* $variant($name), )*
            $( $(#[$other_meta])* $other($other_type), )*
        }

        $crate::json::persisted! { $( $(#[$meta])* pub struct $name as $what { $($fields)* } )* }

        $( impl From<$name> for $enum {
            fn from(value: $name) -> Self {
                Self::$variant(value)
            }
        } )*

        impl Serialize for $enum {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    $( Self::$variant(value) => {
                        let mut map = serializer.serialize_map(None)?;
                        map.serialize_entry($tag, $key)?;
                        value.write(&mut map)?;
                        map.end()
                    } )*
                    $( Self::$other(value) => value.write(serializer), )*
                }
            }
        }

        impl<'de> Deserialize<'de> for $enum {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let read = |raw: &RawValue| {
                    let mut fields = $crate::json::Fields::parse($enum_what, raw)?;
                    let tag: String = fields.required($tag)?;
                    match tag.as_str() {
                        $( $key => $name::read(fields).map(Self::$variant), )*
                        _ => Self::unknown(tag, fields, raw),
                    }
                };
                read(&*Box::<RawValue>::deserialize(deserializer)?).map_err($crate::JsonError::into_serde)
            }
        }
    };
}
pub(crate) use tagged;
