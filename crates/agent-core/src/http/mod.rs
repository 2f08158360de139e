//! The seam to HTTP: a client that any tower stack can be, bodies, retry advice, redaction.

mod body;
mod client;
mod error;
mod redact;

use std::time::{Duration, UNIX_EPOCH};

use http::HeaderMap;

pub use self::body::Body;
pub use self::client::HttpClient;
pub use self::error::{HttpError, HttpPhase};
pub use self::redact::{Secret, redact};

/// The vendor's id of a request, under any of the names that vendors give it.
pub(crate) fn request_id(headers: &HeaderMap) -> Option<&str> {
    const NAMES: [&str; 5] = ["request-id", "x-request-id", "x-amzn-requestid", "apim-request-id", "cf-ray"];
    NAMES.iter().find_map(|name| headers.get(*name)?.to_str().ok())
}

/// Retry advice as a server gives it.
///
/// ```
/// use agent_core::RetryAfter;
/// let mut headers = http::HeaderMap::new();
/// headers.insert("retry-after", http::HeaderValue::from_static("Thu, 01 Jan 1970 00:00:09 GMT"));
/// assert_eq!(RetryAfter::from_headers(&headers).map(|advice| advice.wait(2_000).as_secs()), Some(7));
/// ```
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
        // Negative, infinite and absurd numbers are no advice.
        let seconds = |name, per_second| {
            let number: f64 = text(name)?.parse().ok()?;
            Duration::try_from_secs_f64(number / per_second).ok().map(Self::Delay)
        };
        let date = || {
            let at = httpdate::parse_http_date(text("retry-after")?).ok()?;
            u64::try_from(at.duration_since(UNIX_EPOCH).ok()?.as_millis()).ok().map(Self::At)
        };
        seconds("retry-after-ms", 1_000.0).or_else(|| seconds("retry-after", 1.0)).or_else(date)
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
