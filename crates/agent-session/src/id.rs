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

/// Stands for no value.
const NONE: u8 = 32;

/// The value of each character of Crockford's base 32.
static VALUES: LazyLock<[u8; 256]> = LazyLock::new(|| {
    let mut values = [NONE; 256];
    for (value, c) in (0..).zip(DIGITS) {
        if let Some(slot) = values.get_mut(usize::from(*c)) {
            *slot = value;
        }
    }
    values
});

/// The bits of 26 characters, if they are an id.
pub(crate) fn bits(text: &[u8]) -> Option<u128> {
    let text: &[u8; 26] = text.try_into().ok()?;
    let (first, rest) = text.split_first_chunk::<2>()?;
    let (second, third) = rest.split_first_chunk::<12>()?;
    let values = &*VALUES;
    // Pieces that fit a machine word; that a character is none shows in the bits that none of them has.
    let mut seen = 0;
    let mut word = |piece: &[u8]| {
        piece.iter().fold(0u64, |bits, c| {
            let value = values.get(usize::from(*c)).copied().unwrap_or(NONE);
            seen |= value;
            bits << 5 | u64::from(value & 31)
        })
    };
    let (high, middle, low) = (word(first), word(second), word(third));
    let fits = seen < NONE && high < 1 << 8;
    fits.then_some(u128::from(high) << 120 | u128::from(middle) << 60 | u128::from(low))
}
