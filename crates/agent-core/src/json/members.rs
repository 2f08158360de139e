//! JSON from servers, read one level at a time and leniently, with the order of keys and the text of values kept.

use std::{borrow::Cow, fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, SeqAccess, Visitor, value},
};
use serde_json::value::RawValue;

/// The members of a JSON object in their order, as they stand in the text.
///
/// ```
/// use agent_core::JsonMembers;
/// let members = JsonMembers::read(r#"{"type":"ping","n":1.50}"#).ok_or("no object")?;
/// assert_eq!(members.text("type").as_deref(), Some("ping"));
/// assert_eq!(members.value("n").map(|raw| raw.get()), Some("1.50"));
/// # Ok::<(), &str>(())
/// ```
#[derive(Debug)]
pub struct JsonMembers<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> JsonMembers<'a> {
    /// The members of an object; `None` where the text is something else.
    pub fn read(text: &'a str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// All members with their names.
    pub fn pairs(&self) -> &[(Cow<'a, str>, &'a RawValue)] {
        &self.0
    }

    /// The same, owned.
    pub fn into_pairs(self) -> Vec<(Cow<'a, str>, &'a RawValue)> {
        self.0
    }

    /// The value of a member; of two with one name the last counts, as in most readers.
    pub fn value(&self, name: &str) -> Option<&'a RawValue> {
        self.0.iter().rev().find(|(key, _)| key == name).map(|(_, value)| *value)
    }

    /// The text of a member that is a string.
    pub fn text(&self, name: &str) -> Option<Cow<'a, str>> {
        json_string(self.value(name)?)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for JsonMembers<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;

        impl<'de> Visitor<'de> for InOrder {
            type Value = Vec<(Cow<'de, str>, &'de RawValue)>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                #[derive(Deserialize)]
                struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

                let mut members = Vec::with_capacity(8);
                while let Some((Name(name), value)) = map.next_entry()? {
                    members.push((name, value));
                }
                Ok(members)
            }
        }

        deserializer.deserialize_map(InOrder).map(Self)
    }
}

/// The text of a JSON string, borrowed where it has no escapes; `None` where the value is something else.
pub fn json_string(raw: &RawValue) -> Option<Cow<'_, str>> {
    json_literal(raw.get()).map(|(text, _)| text)
}

/// The string that a JSON text begins with, and what follows it; `None` where it does not begin with a valid one.
///
/// ```
/// assert_eq!(agent_core::json_literal(r#""a",1]"#), Some(("a".into(), ",1]")));
/// assert_eq!(agent_core::json_literal("17"), None);
/// ```
pub fn json_literal(text: &str) -> Option<(Cow<'_, str>, &str)> {
    let inner = text.strip_prefix('"')?;
    let special = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..0x20);
    let (plain, rest) = inner.split_at_checked(inner.as_bytes().iter().position(special)?)?;
    if let Some(rest) = rest.strip_prefix('"') {
        return Some((Cow::Borrowed(plain), rest));
    }
    let mut bytes = text.bytes().enumerate().skip(1);
    let end = loop {
        match bytes.next()? {
            (at, b'"') => break at,
            (_, b'\\') => _ = bytes.next()?,
            _ => {}
        }
    };
    let (literal, rest) = text.split_at_checked(end + 1)?;
    Some((Cow::Owned(serde_json::from_str(literal).ok()?), rest))
}

/// Reads a field as the type that is expected where it is that, and as nothing where it is not: what servers leave out,
/// set to null or get wrong must not cost an answer. For `#[serde(deserialize_with)]`, in types whose own fields are read
/// so too.
///
/// # Errors
/// Only where it is no JSON, or an object says something twice.
pub fn json_lenient<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    deserializer.deserialize_any(Lenient(PhantomData))
}

struct Lenient<T>(PhantomData<T>);

/// A plain value is handed on; what the type does not take is nothing.
macro_rules! plain {
    ($($visit:ident: $type:ty => $deserializer:ident),*) => {$(
        fn $visit<E: serde::de::Error>(self, value: $type) -> Result<Self::Value, E> {
            Ok(T::deserialize(value::$deserializer::<value::Error>::new(value)).ok())
        }
    )*};
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for Lenient<T> {
    type Value = Option<T>;

    plain! {
        visit_bool: bool => BoolDeserializer,
        visit_u64: u64 => U64Deserializer,
        visit_i64: i64 => I64Deserializer,
        visit_f64: f64 => F64Deserializer,
        visit_borrowed_str: &'de str => BorrowedStrDeserializer,
        visit_string: String => StringDeserializer
    }

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<Self::Value, E> {
        self.visit_string(value.to_owned())
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let read = T::deserialize(value::SeqAccessDeserializer::new(&mut seq)).ok();
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(read)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let read = T::deserialize(value::MapAccessDeserializer::new(&mut map)).ok();
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(read)
    }
}
