//! Names of sessions and of their entries, written like all ids: 26 characters, sortable by time.

use std::{fmt, str::FromStr, sync::LazyLock};

use agent_core::{IdError, IdSource, MessageId};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

macro_rules! ids {
    ($($(#[$meta:meta])* $name:ident)*) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u128);

        impl $name {
            /// The id with these bits.
            pub const fn from_bits(bits: u128) -> Self {
                Self(bits)
            }
            /// The bits of the id.
            pub const fn bits(self) -> u128 {
                self.0
            }
            /// When it was made, in milliseconds since the Unix epoch.
            pub fn made_ms(self) -> u64 {
                u64::try_from(self.0 >> 80).unwrap_or(u64::MAX)
            }
            pub(crate) fn new(ids: &mut IdSource, now_ms: u64) -> Self {
                Self(ids.message(now_ms).bits())
            }
        }
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                MessageId::from_bits(self.0).fmt(f)
            }
        }
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self)
            }
        }
        impl FromStr for $name {
            type Err = IdError;
            fn from_str(text: &str) -> Result<Self, IdError> {
                // Core words the error; the table is only faster.
                bits(text.as_bytes()).map(Self).map_or_else(|| text.parse().map(|id: MessageId| Self(id.bits())), Ok)
            }
        }
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                std::borrow::Cow::<str>::deserialize(deserializer)?.parse().map_err(D::Error::custom)
            }
        }
    )*};
}
ids! {
    /// Names an entry of a session, also in copies of it.
    EntryId
    /// Names a session.
    SessionId
}

const DIGITS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// The 26 characters of an id.
pub(crate) fn text(bits: u128) -> [u8; 26] {
    let (mut text, mut left) = ([b'0'; 26], bits);
    for character in text.iter_mut().rev() {
        let digit = DIGITS.get(usize::try_from(left & 31).unwrap_or_default());
        *character = digit.copied().unwrap_or(b'0');
        left >>= 5;
    }
    text
}

/// The value of each character of Crockford's base 32; 32 stands for none.
static VALUES: LazyLock<[u8; 256]> = LazyLock::new(|| {
    let mut values = [32; 256];
    for (value, c) in (0..).zip(DIGITS) {
        if let Some(slot) = values.get_mut(usize::from(*c)) {
            *slot = value;
        }
    }
    values
});

/// The bits of 26 characters, if they are an id.
pub(crate) fn bits(text: &[u8]) -> Option<u128> {
    if text.len() != 26 || text.first().is_none_or(|first| *first > b'7') {
        return None;
    }
    let values = &*VALUES;
    text.iter().try_fold(0u128, |bits, c| match values.get(usize::from(*c)) {
        Some(value) if *value < 32 => Some(bits << 5 | u128::from(*value)),
        _ => None,
    })
}
