//! A failed model call.

use std::{fmt, time::Duration};

use super::BoxError;
use crate::http::{RetryAfter, redact};

/// How much of a response body an error keeps, in bytes.
const EXCERPT: usize = 8 * 1024;

/// What went wrong, coarse enough to decide on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ProviderErrorKind {
    /// The credentials were not accepted.
    Auth,
    /// The credentials are good and do not allow this.
    Permission,
    /// The request can never work as it is.
    InvalidRequest,
    /// The model or address does not exist.
    NotFound,
    /// The prompt does not fit into the context window.
    ContextOverflow,
    /// Too many requests or tokens in a short time.
    RateLimited,
    /// Money or quota is used up.
    Quota,
    /// The service has no capacity.
    Overloaded,
    /// The service failed.
    Server,
    /// No answer in time.
    Timeout,
    /// The connection could not be made, or broke.
    Network,
    /// The answer was not understood, or ended before its end.
    Protocol,
    /// The provider refused the content.
    Refused,
    /// The wire cannot carry what was asked for.
    Unsupported,
    /// We stopped the call.
    Cancelled,
    /// Anything else.
    Other,
}

impl ProviderErrorKind {
    /// Whether the same request may succeed later.
    pub fn is_retryable(self) -> bool {
        matches!(
            self,
            Self::RateLimited | Self::Overloaded | Self::Server | Self::Timeout | Self::Network
        )
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::Auth => "credentials not accepted",
            Self::Permission => "not permitted",
            Self::InvalidRequest => "invalid request",
            Self::NotFound => "not found",
            Self::ContextOverflow => "context window exceeded",
            Self::RateLimited => "rate limited",
            Self::Quota => "quota used up",
            Self::Overloaded => "overloaded",
            Self::Server => "server error",
            Self::Timeout => "timed out",
            Self::Network => "network failure",
            Self::Protocol => "response not understood",
            Self::Refused => "refused",
            Self::Unsupported => "not supported",
            Self::Cancelled => "cancelled",
            Self::Other => "failed",
        }
    }
}

impl fmt::Display for ProviderErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Whether the vendor can have billed a failed call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Billed {
    /// Provably not: the connection was not made, or the request was turned away.
    No,
    /// Perhaps: the reservation counts as spent.
    Unknown,
}

/// A failed model call: what, where, and what to do about it. Never holds a secret.
#[derive(Debug)]
pub struct ProviderError(Box<Inner>);

#[derive(Debug)]
struct Inner {
    kind: ProviderErrorKind,
    message: String,
    status: Option<u16>,
    code: Option<String>,
    request_id: Option<String>,
    retry_after: Option<RetryAfter>,
    should_retry: Option<bool>,
    body: Option<String>,
    billed: Billed,
    source: Option<BoxError>,
}

impl ProviderError {
    /// An error of a kind. The message is redacted; whether it was billed is unknown until
    /// [`billed`](Self::billed) says so.
    pub fn new(kind: ProviderErrorKind, message: impl AsRef<str>) -> Self {
        Self(Box::new(Inner {
            kind,
            message: redact(message.as_ref()).into_owned(),
            status: None,
            code: None,
            request_id: None,
            retry_after: None,
            should_retry: None,
            body: None,
            billed: Billed::Unknown,
            source: None,
        }))
    }

    /// A call that we stopped.
    pub fn cancelled() -> Self {
        Self::new(ProviderErrorKind::Cancelled, "the call was cancelled")
    }

    /// Adds the HTTP status.
    #[must_use]
    pub fn with_status(mut self, status: u16) -> Self {
        self.0.status = Some(status);
        self
    }

    /// Adds the vendor's error code, redacted.
    #[must_use]
    pub fn with_code(mut self, code: impl Into<String>) -> Self {
        self.0.code = Some(redact(&code.into()).into_owned());
        self
    }

    /// Adds the vendor's id of the request.
    #[must_use]
    pub fn with_request_id(mut self, id: impl Into<String>) -> Self {
        self.0.request_id = Some(id.into());
        self
    }

    /// Adds when the vendor wants to be asked again.
    #[must_use]
    pub fn with_retry_after(mut self, advice: RetryAfter) -> Self {
        self.0.retry_after = Some(advice);
        self
    }

    /// Adds the vendor's word on whether to ask again at all; it wins over the kind.
    #[must_use]
    pub fn with_should_retry(mut self, should: impl Into<Option<bool>>) -> Self {
        self.0.should_retry = should.into();
        self
    }

    /// Adds the beginning of the response body, redacted.
    #[must_use]
    pub fn with_body(mut self, body: &[u8]) -> Self {
        let excerpt = body.get(..EXCERPT).unwrap_or(body);
        self.0.body = Some(redact(&String::from_utf8_lossy(excerpt)).into_owned());
        self
    }

    /// Says whether the call can have been billed.
    #[must_use]
    pub fn with_billed(mut self, billed: Billed) -> Self {
        self.0.billed = billed;
        self
    }

    /// Adds the cause.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<BoxError>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// What went wrong.
    pub fn kind(&self) -> ProviderErrorKind {
        self.0.kind
    }

    /// What went wrong, in words.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The HTTP status, where there was a response.
    pub fn status(&self) -> Option<u16> {
        self.0.status
    }

    /// The vendor's error code.
    pub fn code(&self) -> Option<&str> {
        self.0.code.as_deref()
    }

    /// The vendor's id of the request, to name it to their support.
    pub fn request_id(&self) -> Option<&str> {
        self.0.request_id.as_deref()
    }

    /// When the vendor wants to be asked again, as a wait from `now_ms` (milliseconds since the
    /// Unix epoch).
    pub fn retry_after(&self, now_ms: u64) -> Option<Duration> {
        self.0.retry_after.map(|advice| advice.wait(now_ms))
    }

    /// Whether the same request may succeed later.
    pub fn is_retryable(&self) -> bool {
        self.0.should_retry.unwrap_or_else(|| self.0.kind.is_retryable())
    }

    /// The beginning of the response body, redacted; at most 8 KiB.
    pub fn body(&self) -> Option<&str> {
        self.0.body.as_deref()
    }

    /// Whether the vendor can have billed the call.
    pub fn billed(&self) -> Billed {
        self.0.billed
    }
}

impl fmt::Display for ProviderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.kind)?;
        if let Some(status) = self.0.status {
            write!(f, " (HTTP {status})")?;
        }
        if !self.0.message.is_empty() {
            write!(f, ": {}", self.0.message)?;
        }
        Ok(())
    }
}

impl std::error::Error for ProviderError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_ref().map(|source| &**source as _)
    }
}
