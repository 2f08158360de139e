//! When a failed call is tried again.

use agent_core::ProviderError;

/// Exponential backoff with full jitter, and the vendor's advice where there is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct RetryPolicy {
    /// How often a request is sent at most, the first time included.
    pub attempts: u32,
    /// The longest wait before the second attempt, in milliseconds; it doubles with each further one.
    pub base_ms: u64,
    /// The longest wait, in milliseconds. Advice to wait longer fails the call at once.
    pub cap_ms: u64,
    /// Whether a call is tried again whose text the consumer has seen. Off: its text is kept, and the turn ends.
    pub after_output: bool,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self { attempts: 4, base_ms: 1_000, cap_ms: 60_000, after_output: false }
    }
}

impl RetryPolicy {
    /// Never.
    pub const NEVER: Self = Self { attempts: 1, base_ms: 0, cap_ms: 0, after_output: false };

    /// How long to wait before the next attempt, in milliseconds; `None` where there is none.
    ///
    /// `number` is the attempt that failed, from 1; `draw` is a random number.
    pub(crate) fn wait(&self, failed: &FailedCall, number: u32, shown: bool) -> Option<u64> {
        if !failed.retryable || number >= self.attempts || (shown && !self.after_output) {
            return None;
        }
        match failed.advice_ms {
            Some(advice) => (advice <= self.cap_ms).then_some(advice),
            None => {
                let doubled = 1u64.checked_shl(number.saturating_sub(1)).unwrap_or(u64::MAX);
                let most = self.base_ms.saturating_mul(doubled).min(self.cap_ms);
                Some(failed.draw % most.saturating_add(1))
            }
        }
    }
}

/// What the machine hears of a failed call.
#[derive(Debug)]
#[non_exhaustive]
pub struct FailedCall {
    /// The error.
    pub error: ProviderError,
    /// Whether it can be tried again.
    pub retryable: bool,
    /// How long the vendor asks to wait, in milliseconds.
    pub advice_ms: Option<u64>,
    /// A random number, from which a wait is drawn.
    pub draw: u64,
}

impl FailedCall {
    /// A failed call at this time, with a random number.
    pub fn new(error: ProviderError, now_ms: u64, draw: u64) -> Self {
        let advice = error.retry_after(now_ms).map(|wait| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX));
        Self { retryable: error.is_retryable(), advice_ms: advice, error, draw }
    }
}
