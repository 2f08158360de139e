//! The events of a streamed answer as they stand in the bytes, borrowed wherever the JSON has no escapes.
//!
//! Every field is optional, of any type, and unknown ones are skipped: what gateways leave out, set to null or add
//! must not cost an answer. Events: <https://docs.claude.com/en/docs/build-with-claude/streaming>.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::value::RawValue;

/// One event, or a whole message, which has the fields of its start and its end together.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Event<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Text<'a>,
    pub(super) index: Number,
    #[serde(borrow)]
    pub(super) delta: Option<Delta<'a>>,
    #[serde(borrow)]
    pub(super) content_block: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) message: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) usage: Option<&'a RawValue>,
}

/// What an event adds: to a block, or to the message.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Delta<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Text<'a>,
    #[serde(borrow)]
    pub(super) text: Text<'a>,
    #[serde(borrow)]
    pub(super) thinking: Text<'a>,
    #[serde(borrow)]
    pub(super) partial_json: Text<'a>,
    #[serde(borrow)]
    pub(super) signature: Text<'a>,
    #[serde(borrow)]
    pub(super) citation: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) stop_reason: Text<'a>,
    #[serde(borrow)]
    pub(super) stop_details: Option<&'a RawValue>,
}

/// The message of a `message_start`, or a whole response.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Head<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Text<'a>,
    #[serde(borrow)]
    pub(super) id: Text<'a>,
    #[serde(borrow)]
    pub(super) model: Text<'a>,
    #[serde(borrow)]
    pub(super) content: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) usage: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) stop_reason: Text<'a>,
    #[serde(borrow)]
    pub(super) stop_details: Option<&'a RawValue>,
    /// Of a token count.
    pub(super) input_tokens: Number,
}

/// A block as it begins.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Start<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Text<'a>,
    #[serde(borrow)]
    pub(super) text: Text<'a>,
    #[serde(borrow)]
    pub(super) citations: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) thinking: Text<'a>,
    #[serde(borrow)]
    pub(super) signature: Text<'a>,
    #[serde(borrow)]
    pub(super) data: Text<'a>,
    #[serde(borrow)]
    pub(super) id: Text<'a>,
    #[serde(borrow)]
    pub(super) name: Text<'a>,
    #[serde(borrow)]
    pub(super) input: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) caller: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) toolset_name: Option<&'a RawValue>,
}

/// Why a model refused, in its own words.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct StopDetails<'a> {
    #[serde(borrow)]
    pub(super) category: Text<'a>,
    #[serde(borrow)]
    pub(super) explanation: Text<'a>,
}

/// A string; whatever is no string is empty.
#[derive(Default)]
pub(super) struct Text<'a>(pub(super) Cow<'a, str>);

/// A whole number that is not negative; whatever is none is `None`.
#[derive(Default, Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Number(pub(super) Option<u64>);

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor).map(Self)
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumberVisitor).map(Self)
    }
}

struct TextVisitor;
struct NumberVisitor;

/// What both visitors do with values of other types: they are skipped whole.
macro_rules! skips {
    ($empty:expr, $($visit:ident: $type:ty),*) => {
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("any JSON value")
        }
        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok($empty)
        }
        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
            while seq.next_element::<IgnoredAny>()?.is_some() {}
            Ok($empty)
        }
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            Ok($empty)
        }
        $( fn $visit<E>(self, _: $type) -> Result<Self::Value, E> {
            Ok($empty)
        } )*
    };
}

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Cow<'de, str>;

    skips!(Cow::Borrowed(""), visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64);

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(text))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text))
    }
}

impl<'de> Visitor<'de> for NumberVisitor {
    type Value = Option<u64>;

    skips!(None, visit_bool: bool, visit_i64: i64, visit_f64: f64, visit_str: &str);

    fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
        Ok(Some(number))
    }
}
