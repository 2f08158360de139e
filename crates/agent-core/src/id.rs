//! Ids: 128 bits, sortable by time, written as 26 characters (the ULID layout).
//!
//! Core has neither a clock nor randomness, so an [`IdSource`] is given both.

use std::{borrow::Cow, fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

/// Crockford's base 32, as <https://github.com/ulid/spec> has it.
const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// Text that is not an id of ours.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not an id: 26 characters of Crockford's base 32 are expected, got {length}")]
pub struct IdError {
    length: usize,
}

fn write(bits: u128, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    // At once: a formatter that is given letter by letter grows its text letter by letter.
    let mut text = [b'0'; 26];
    for (i, place) in text.iter_mut().rev().enumerate() {
        let digit = usize::try_from((bits >> (i * 5)) & 31).unwrap_or_default();
        *place = ALPHABET.get(digit).copied().unwrap_or(b'0');
    }
    f.write_str(std::str::from_utf8(&text).unwrap_or_default())
}

fn read(text: &str) -> Result<u128, IdError> {
    let digit = |c: u8| ALPHABET.iter().position(|&known| known == c).and_then(|digit| u128::try_from(digit).ok());
    let bits = text.bytes().try_fold(0u128, |bits, c| Some(bits << 5 | digit(c)?));
    bits.filter(|_| text.len() == 26 && text.starts_with(|c| c <= '7')).ok_or(IdError { length: text.len() })
}

/// Writes and reads types in their text form.
macro_rules! as_text {
    ($($type:ty),*) => {$(
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Cow::<str>::deserialize(deserializer)?.parse().map_err(D::Error::custom)
            }
        }
    )*};
}
as_text!(MessageId, RunId, AttemptId, CallId);

macro_rules! ids {
    ($( $(#[$meta:meta])* $name:ident made by $make:ident; )*) => {
        $(
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
            }
            impl fmt::Display for $name {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    write(self.0, f)
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
                    read(text).map(Self)
                }
            }
        )*

        impl IdSource {
            $(
                #[doc = concat!("A new [`", stringify!($name), "`].")]
                pub fn $make(&mut self, now_ms: u64) -> $name {
                    $name(self.bits(now_ms))
                }
            )*
        }
    };
}
ids! {
    /// Names a message of a transcript, for ever.
    MessageId made by message;
    /// Names a run.
    RunId made by run;
    /// Names one attempt to get an answer from a model.
    AttemptId made by attempt;
}

/// Names a tool call: the message that holds it, and its place among that message's blocks.
///
/// Unique by construction; the id that a vendor gave is an attribute of the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId {
    message: MessageId,
    block: u32,
}

impl CallId {
    /// The call at block `block` (from 0) of a message.
    pub const fn new(message: MessageId, block: u32) -> Self {
        Self { message, block }
    }
    /// The message that holds the call.
    pub const fn message(self) -> MessageId {
        self.message
    }
    /// The block of that message, from 0.
    pub const fn block(self) -> u32 {
        self.block
    }
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write(self.message.0, f)?;
        f.write_str("_")?;
        self.block.fmt(f)
    }
}

impl FromStr for CallId {
    type Err = IdError;
    fn from_str(text: &str) -> Result<Self, IdError> {
        let error = || IdError { length: text.len() };
        let (message, block) = text.split_once('_').ok_or_else(error)?;
        let id = Self::new(message.parse()?, block.parse().map_err(|_| error())?);
        // `_+1` and `_01` would be other texts for the same call.
        if id.to_string() == text { Ok(id) } else { Err(error()) }
    }
}

/// Makes ids: 48 bits of time in milliseconds, then 80 bits of a seeded sequence.
///
/// The same seed and times give the same ids, which makes runs replayable. Two sources with
/// different seeds do not meet in practice; within a source ids never repeat and always grow.
///
/// ```
/// use agent_core::{IdSource, MessageId};
/// let mut ids = IdSource::seeded(7);
/// let (a, b): (MessageId, MessageId) = (ids.message(1_000), ids.message(1_000));
/// assert!(a < b);
/// assert_eq!(a.to_string().parse(), Ok(a));
/// ```
#[derive(Debug, Clone)]
pub struct IdSource {
    state: u64,
    last: u128,
}

impl IdSource {
    /// A source that always gives the same ids for the same seed and times.
    pub const fn seeded(seed: u64) -> Self {
        Self { state: seed, last: 0 }
    }

    /// A source seeded by the process's hash keys, which std draws from the operating system.
    ///
    /// On `wasm32-unknown-unknown` std's keys are constant: use [`IdSource::seeded`] there.
    pub fn from_hash_keys() -> Self {
        use std::hash::{BuildHasher, Hasher};
        Self::seeded(std::hash::RandomState::new().build_hasher().finish())
    }

    fn bits(&mut self, now_ms: u64) -> u128 {
        let time = u128::from(now_ms & 0xFFFF_FFFF_FFFF) << 80;
        let tail = (u128::from(self.split_mix()) << 16) | u128::from(self.split_mix() & 0xFFFF);
        // A clock that stands still or steps back must not make ids that sort before older ones.
        let fresh = time | (tail & ((1 << 80) - 1));
        self.last = if fresh > self.last { fresh } else { self.last.wrapping_add(1) };
        self.last
    }

    /// SplitMix64 (Steele, Lea, Flood 2014): small, well spread, not for secrets.
    fn split_mix(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
}

/// A map by ids. They are ours, and spread already: the standard library's guard against keys that collide by intent
/// costs a thousand instructions and more for each.
pub(crate) type IdMap<K, V> = std::collections::HashMap<K, V, std::hash::BuildHasherDefault<IdHasher>>;

#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct IdHasher(u64);

impl std::hash::Hasher for IdHasher {
    fn finish(&self) -> u64 {
        // The map looks at the upper bits too.
        self.0 ^ (self.0 >> 32)
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u32(&mut self, word: u32) {
        self.write_u64(u64::from(word));
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }

    fn write_u128(&mut self, word: u128) {
        let [low, high] = [word & u128::from(u64::MAX), word >> 64].map(|half| u64::try_from(half).unwrap_or_default());
        self.write_u64(low);
        self.write_u64(high);
    }
}
