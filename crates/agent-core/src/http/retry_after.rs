//! When a server wants to be asked again.

use std::time::{Duration, UNIX_EPOCH};

use http::HeaderMap;

/// Retry advice as a server gives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RetryAfter {
    /// After this time.
    Delay(Duration),
    /// At this time, in milliseconds since the Unix epoch.
    At(u64),
}

impl RetryAfter {
    /// Reads `retry-after-ms` (OpenAI, Azure) and `retry-after` (RFC 9110 section 10.2.3: seconds or
    /// an HTTP date; vendors also send fractions). The finer one wins; nonsense counts as absent.
    pub fn from_headers(headers: &HeaderMap) -> Option<Self> {
        let text = |name| headers.get(name)?.to_str().ok().map(str::trim);
        if let Some(ms) = text("retry-after-ms").and_then(|ms| seconds(ms, 1_000.0)) {
            return Some(Self::Delay(ms));
        }
        let value = text("retry-after")?;
        seconds(value, 1.0).map(Self::Delay).or_else(|| {
            let at = httpdate::parse_http_date(value).ok()?;
            let since = at.duration_since(UNIX_EPOCH).ok()?;
            u64::try_from(since.as_millis()).ok().map(Self::At)
        })
    }

    /// How long to wait from `now_ms`, milliseconds since the Unix epoch; zero for a time that is
    /// over.
    pub fn wait(self, now_ms: u64) -> Duration {
        match self {
            Self::Delay(delay) => delay,
            Self::At(at) => Duration::from_millis(at.saturating_sub(now_ms)),
        }
    }
}

fn seconds(text: &str, per_second: f64) -> Option<Duration> {
    let number: f64 = text.parse().ok()?;
    // Negative, infinite and absurd numbers are no advice.
    Duration::try_from_secs_f64(number / per_second).ok()
}
