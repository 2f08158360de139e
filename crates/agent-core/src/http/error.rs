//! What can go wrong between a request and the end of its response.

use crate::macros::words;
use crate::{Billed, BoxError, ProviderError, ProviderErrorKind};

words! {
    /// Where in an exchange something happened.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    #[non_exhaustive]
    pub enum HttpPhase {
        /// While the connection was made: nothing was sent.
        Connect = "connecting",
        /// While the request was sent or its response awaited.
        Head = "waiting for the response",
        /// While the response body was read.
        Body = "reading the response body",
    }
}

/// A failed exchange.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HttpError {
    /// The connection could not be made, or broke.
    #[error("network failure while {phase}")]
    Network {
        /// Where.
        phase: HttpPhase,
        /// The cause.
        source: BoxError,
    },
    /// Nothing happened for too long.
    #[error("nothing happened for {after_ms} ms while {phase}")]
    Timeout {
        /// Where.
        phase: HttpPhase,
        /// How long was waited, in milliseconds.
        after_ms: u64,
    },
    /// A body that had to be kept whole is too large.
    #[error("the response body is larger than the limit of {limit} bytes")]
    BodyTooLarge {
        /// The limit in bytes.
        limit: usize,
    },
    /// The server sends the request elsewhere.
    #[error("the server redirects to {to}, which is not followed: {reason}")]
    Redirect {
        /// Where to: a path, or the origin where it is another one. Never a query.
        to: String,
        /// Why it is not followed.
        reason: &'static str,
    },
    /// The request cannot be sent as it is.
    #[error("the request cannot be sent: {reason}")]
    InvalidRequest {
        /// Why, and what to change.
        reason: String,
    },
    /// A client of the application failed in its own way.
    #[error("the http client failed")]
    Other {
        /// Its error.
        source: BoxError,
    },
}

impl HttpError {
    /// Wraps the error of a stack; an [`HttpError`] inside stays what it is.
    pub fn from_service(error: impl Into<BoxError>) -> Self {
        Self::unwrap_or(error.into(), |source| Self::Other { source })
    }

    /// The error inside a box, or what becomes of another's.
    pub(super) fn unwrap_or(error: BoxError, other: impl FnOnce(BoxError) -> Self) -> Self {
        error.downcast().map_or_else(other, |own| *own)
    }

    /// Whether the vendor can have billed the request.
    pub fn billed(&self) -> Billed {
        match self {
            Self::Network { phase, .. } | Self::Timeout { phase, .. } if *phase == HttpPhase::Connect => Billed::No,
            Self::Redirect { .. } | Self::InvalidRequest { .. } => Billed::No,
            _ => Billed::Unknown,
        }
    }
}

impl From<HttpError> for ProviderError {
    fn from(error: HttpError) -> Self {
        let kind = match &error {
            HttpError::Network { .. } | HttpError::Other { .. } => ProviderErrorKind::Network,
            HttpError::Timeout { .. } => ProviderErrorKind::Timeout,
            HttpError::BodyTooLarge { .. } => ProviderErrorKind::Protocol,
            HttpError::Redirect { .. } | HttpError::InvalidRequest { .. } => ProviderErrorKind::InvalidRequest,
        };
        let billed = error.billed();
        Self::new(kind, error.to_string()).with_billed(billed).with_source(error)
    }
}
