//! Token counts in buckets that never overlap.

use serde::{Deserialize, Serialize};

use crate::json::is_default;

/// Tokens of one model call or of many; every token is in exactly one bucket.
///
/// Vendors overlap their counts in different ways (OpenAI's input holds the cached tokens,
/// Anthropic's does not): a wire sorts them apart, and nothing after it subtracts again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct Usage {
    /// Prompt tokens that were neither read from nor written to a cache.
    #[serde(skip_serializing_if = "is_default")]
    pub input: u64,
    /// Generated tokens without the reasoning.
    #[serde(skip_serializing_if = "is_default")]
    pub output: u64,
    /// Generated reasoning tokens, where the vendor tells them apart.
    #[serde(skip_serializing_if = "is_default")]
    pub reasoning: u64,
    /// Prompt tokens read from the vendor's cache.
    #[serde(skip_serializing_if = "is_default")]
    pub cache_read: u64,
    /// Prompt tokens written to a cache that lives for about five minutes, or for a time that the
    /// vendor does not tell.
    #[serde(skip_serializing_if = "is_default")]
    pub cache_write_5m: u64,
    /// Prompt tokens written to a cache that lives for an hour.
    #[serde(skip_serializing_if = "is_default")]
    pub cache_write_1h: u64,
}

impl Usage {
    /// No tokens.
    pub const ZERO: Self =
        Self { input: 0, output: 0, reasoning: 0, cache_read: 0, cache_write_5m: 0, cache_write_1h: 0 };

    /// The usage of a call without a cache.
    pub const fn new(input: u64, output: u64) -> Self {
        Self { input, output, ..Self::ZERO }
    }

    /// Everything that the model was shown, in tokens.
    pub fn prompt(&self) -> u64 {
        [self.cache_read, self.cache_write_5m, self.cache_write_1h].into_iter().fold(self.input, u64::saturating_add)
    }

    /// Everything that the model generated, in tokens.
    pub fn generated(&self) -> u64 {
        self.output.saturating_add(self.reasoning)
    }

    /// Prompt and generated tokens together.
    pub fn total(&self) -> u64 {
        self.prompt().saturating_add(self.generated())
    }

    /// The sum, bucket by bucket; saturates instead of overflowing.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            input: self.input.saturating_add(other.input),
            output: self.output.saturating_add(other.output),
            reasoning: self.reasoning.saturating_add(other.reasoning),
            cache_read: self.cache_read.saturating_add(other.cache_read),
            cache_write_5m: self.cache_write_5m.saturating_add(other.cache_write_5m),
            cache_write_1h: self.cache_write_1h.saturating_add(other.cache_write_1h),
        }
    }
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        *self = self.plus(other);
    }
}

impl std::iter::Sum for Usage {
    fn sum<I: Iterator<Item = Self>>(usages: I) -> Self {
        usages.fold(Self::ZERO, Self::plus)
    }
}
