//! A failed model call.

use std::{fmt, time::Duration};

use crate::macros::{getters, setters, words};
use crate::{BoxError, RetryAfter, redact};

/// How much of a response body an error keeps, in bytes.
const EXCERPT: usize = 8 * 1024;

words! {
    /// What went wrong, coarse enough to decide on.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    #[non_exhaustive]
    pub enum ProviderErrorKind {
        /// The credentials were not accepted.
        Auth = "credentials not accepted",
        /// The credentials are good and do not allow this.
        Permission = "not permitted",
        /// The request can never work as it is.
        InvalidRequest = "invalid request",
        /// The model or address does not exist.
        NotFound = "not found",
        /// The prompt does not fit into the context window.
        ContextOverflow = "context window exceeded",
        /// Too many requests or tokens in a short time.
        RateLimited = "rate limited",
        /// Money or quota is used up.
        Quota = "quota used up",
        /// The service has no capacity.
        Overloaded = "overloaded",
        /// The service failed.
        Server = "server error",
        /// No answer in time.
        Timeout = "timed out",
        /// The connection could not be made, or broke.
        Network = "network failure",
        /// The answer was not understood, or ended before its end.
        Protocol = "response not understood",
        /// The provider refused the content.
        Refused = "refused",
        /// The wire cannot carry what was asked for.
        Unsupported = "not supported",
        /// We stopped the call.
        Cancelled = "cancelled",
        /// Anything else.
        Other = "failed",
    }
}

impl ProviderErrorKind {
    /// Whether the same request may succeed later.
    pub fn is_retryable(self) -> bool {
        matches!(self, Self::RateLimited | Self::Overloaded | Self::Server | Self::Timeout | Self::Network)
    }
}

/// Whether the vendor can have billed a failed call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Billed {
    /// Provably not: the connection was not made, or the request was turned away.
    No,
    /// Perhaps: the reservation counts as spent.
    #[serde(other)]
    Unknown,
}

/// A failed model call: what, where, and what to do about it. Never holds a secret.
///
/// ```
/// use agent_core::{Billed, ProviderError, ProviderErrorKind};
/// let error = ProviderError::new(ProviderErrorKind::Overloaded, "come back later").with_status(529).with_billed(Billed::No);
/// assert_eq!(error.to_string(), "overloaded (HTTP 529): come back later");
/// assert!(error.is_retryable());
/// ```
#[derive(thiserror::Error)]
#[error(transparent)]
pub struct ProviderError(pub(super) Box<Inner>);

#[derive(Debug, thiserror::Error)]
pub(super) struct Inner {
    kind: ProviderErrorKind,
    message: String,
    advice: Option<String>,
    pub(super) response: Response,
    billed: Billed,
    source: Option<BoxError>,
}

/// What the vendor's response said.
#[derive(Debug, Default)]
pub(super) struct Response {
    pub(super) status: Option<u16>,
    pub(super) code: Option<String>,
    pub(super) request_id: Option<String>,
    pub(super) retry_after: Option<RetryAfter>,
    pub(super) should_retry: Option<bool>,
    body: Option<String>,
}

/// Redacted as a whole: a source may hold an address with a key.
impl fmt::Debug for ProviderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&redact(&format!("{:?}", self.0)))
    }
}

impl ProviderError {
    /// An error of a kind. The message is redacted; whether it was billed is unknown until
    /// [`with_billed`](Self::with_billed) says so.
    pub fn new(kind: ProviderErrorKind, message: impl AsRef<str>) -> Self {
        let (message, response) = (redact(message.as_ref()).into_owned(), Response::default());
        Self(Box::new(Inner { kind, message, advice: None, response, billed: Billed::Unknown, source: None }))
    }

    /// A call that we stopped.
    pub fn cancelled() -> Self {
        Self::new(ProviderErrorKind::Cancelled, "the call was cancelled")
    }

    /// When the vendor wants to be asked again, as a wait from `now_ms` (milliseconds since the
    /// Unix epoch).
    pub fn retry_after(&self, now_ms: u64) -> Option<Duration> {
        self.0.response.retry_after.map(|advice| advice.wait(now_ms))
    }
}

setters!(ProviderError {
    /// Adds the HTTP status.
    with_status(status: u16) => 0.response.status = Some(status);
    /// Adds the vendor's error code, redacted.
    with_code(code: impl AsRef<str>) => 0.response.code = Some(redact(code.as_ref()).into_owned());
    /// Adds the vendor's id of the request.
    with_request_id(id: impl Into<String>) => 0.response.request_id = Some(id.into());
    /// Adds when the vendor wants to be asked again.
    with_retry_after(advice: RetryAfter) => 0.response.retry_after = Some(advice);
    /// Adds the vendor's word on whether to ask again at all; it wins over the kind.
    with_should_retry(should: impl Into<Option<bool>>) => 0.response.should_retry = should.into();
    /// Adds the beginning of the response body, redacted.
    with_body(body: &[u8]) => 0.response.body = Some(excerpt(body));
    /// Says whether the call can have been billed.
    with_billed(billed: Billed) => 0.billed = billed;
    /// Adds what a reader may do about it, redacted; it is shown behind the message, and where there is a cause, which
    /// belongs before it, by whoever shows that.
    with_advice(advice: impl AsRef<str>) => 0.advice = Some(redact(advice.as_ref()).into_owned());
    /// Adds the cause.
    with_source(source: impl Into<BoxError>) => 0.source = Some(source.into());
});

getters!(ProviderError {
    /// What went wrong.
    kind -> ProviderErrorKind = |this| this.0.kind;
    /// What went wrong, in words.
    message -> &str = |this| &this.0.message;
    /// What a reader may do about it.
    advice -> Option<&str> = |this| this.0.advice.as_deref();
    /// The HTTP status, where there was a response.
    status -> Option<u16> = |this| this.0.response.status;
    /// The vendor's error code.
    code -> Option<&str> = |this| this.0.response.code.as_deref();
    /// The vendor's id of the request, to name it to their support.
    request_id -> Option<&str> = |this| this.0.response.request_id.as_deref();
    /// Whether the same request may succeed later.
    is_retryable -> bool = |this| this.0.response.should_retry.unwrap_or_else(|| this.0.kind.is_retryable());
    /// The beginning of the response body, redacted; at most 8 KiB.
    body -> Option<&str> = |this| this.0.response.body.as_deref();
    /// Whether the vendor can have billed the call.
    billed -> Billed = |this| this.0.billed;
});

impl fmt::Display for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, message, .. } = self;
        let status = self.response.status.map(|status| format!(" (HTTP {status})")).unwrap_or_default();
        let colon = if message.is_empty() { "" } else { ": " };
        write!(f, "{kind}{status}{colon}{message}")?;
        match (&self.advice, &self.source) {
            (Some(advice), None) => write!(f, "; {advice}"),
            _ => Ok(()),
        }
    }
}

fn excerpt(body: &[u8]) -> String {
    redact(&String::from_utf8_lossy(body.get(..EXCERPT).unwrap_or(body))).into_owned()
}
