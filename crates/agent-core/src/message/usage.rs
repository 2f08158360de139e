//! Token counts in buckets that never overlap.

use serde::{Deserialize, Serialize};

use crate::{json::is_default, macros::getters};

macro_rules! buckets {
    ($(#[$meta:meta])* pub struct Usage { $( $(#[$about:meta])* $bucket:ident, )* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
        #[serde(rename_all = "camelCase", default)]
        #[non_exhaustive]
        pub struct Usage {
            $( $(#[$about])* #[serde(skip_serializing_if = "is_default")] pub $bucket: u64, )*
        }

        impl Usage {
            /// No tokens.
            pub const ZERO: Self = Self { $($bucket: 0),* };

            /// The sum, bucket by bucket; saturates instead of overflowing.
            #[must_use]
            pub fn plus(self, other: Self) -> Self {
                Self { $($bucket: self.$bucket.saturating_add(other.$bucket)),* }
            }
        }
    };
}
buckets! {
    /// Tokens of one model call or of many; every token is in exactly one bucket.
    ///
    /// Vendors overlap their counts in different ways (OpenAI's input holds the cached tokens,
    /// Anthropic's does not): a wire sorts them apart, and nothing after it subtracts again.
    ///
    /// ```
    /// let mut usage = agent_core::Usage::new(100, 20);
    /// usage.cache_read = 900;
    /// assert_eq!((usage.prompt(), usage.generated(), usage.total()), (1_000, 20, 1_020));
    /// ```
    pub struct Usage {
        /// Prompt tokens that were neither read from nor written to a cache.
        input,
        /// Generated tokens without the reasoning.
        output,
        /// Generated reasoning tokens, where the vendor tells them apart.
        reasoning,
        /// Prompt tokens read from the vendor's cache.
        cache_read,
        /// Prompt tokens written to a cache that lives for about five minutes, or for a time that
        /// the vendor does not tell.
        cache_write_5m,
        /// Prompt tokens written to a cache that lives for an hour.
        cache_write_1h,
    }
}

impl Usage {
    /// The usage of a call without a cache.
    pub const fn new(input: u64, output: u64) -> Self {
        Self { input, output, ..Self::ZERO }
    }
}

getters!(Usage {
    /// Everything that the model was shown, in tokens.
    prompt -> u64 = |this| {
        [this.cache_read, this.cache_write_5m, this.cache_write_1h].into_iter().fold(this.input, u64::saturating_add)
    };
    /// Everything that the model generated, in tokens.
    generated -> u64 = |this| this.output.saturating_add(this.reasoning);
    /// Prompt and generated tokens together.
    total -> u64 = |this| this.prompt().saturating_add(this.generated());
});

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
