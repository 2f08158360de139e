//! The hash of the chain.

use std::{borrow::Cow, fmt};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

/// 128 bits of XXH3, written as 32 hexadecimal digits.
///
/// It finds accidents, not attacks: somebody who can choose the text of a prompt gains nothing by a
/// collision but a cache miss that is not announced.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct ChainHash(u128);

impl ChainHash {
    /// The hash of some parts, one behind the other.
    pub fn of(parts: &[&[u8]]) -> Self {
        let mut hash = Xxh3::new();
        parts.iter().for_each(|part| hash.update(part));
        Self(hash.digest128())
    }

    /// The hash of this and what follows it.
    #[must_use]
    pub fn then(self, next: Self) -> Self {
        let mut bytes = [0u8; 32];
        let (a, b) = bytes.split_at_mut(16);
        a.copy_from_slice(&self.0.to_le_bytes());
        b.copy_from_slice(&next.0.to_le_bytes());
        Self(xxh3_128(&bytes))
    }

    /// The bits.
    pub const fn bits(self) -> u128 {
        self.0
    }
}

impl fmt::Debug for ChainHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl Serialize for ChainHash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{self:?}"))
    }
}

impl<'de> Deserialize<'de> for ChainHash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        u128::from_str_radix(&text, 16).map(Self).map_err(D::Error::custom)
    }
}
