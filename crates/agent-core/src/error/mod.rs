//! What goes wrong at a provider or a tool, sorted so that it can be decided on.

mod classify;
mod provider_error;

pub use self::classify::{ErrorDetail, classify, is_overflow_text};
pub use self::provider_error::{Billed, ProviderError, ProviderErrorKind};

/// Any error, for sources.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Why a tool gave no output. The model is shown the text and can mend what it did.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ToolError {
    /// The arguments do not fit the tool.
    #[error("invalid arguments: {reason}")]
    InvalidArguments {
        /// What does not fit, and what would.
        reason: String,
    },
    /// The tool ran and failed.
    #[error("{message}")]
    Failed {
        /// What failed, for the model.
        message: String,
        /// The cause, for the application.
        #[source]
        source: Option<BoxError>,
    },
    /// A policy said no.
    #[error("denied: {reason}")]
    Denied {
        /// Why.
        reason: String,
    },
    /// There is no such tool.
    #[error("there is no tool `{name}`")]
    NotFound {
        /// The name that was called.
        name: String,
    },
    /// The tool took too long.
    #[error("the tool did not finish within {after_ms} ms")]
    Timeout {
        /// How long it was given, in milliseconds.
        after_ms: u64,
    },
    /// The call was cancelled.
    #[error("cancelled")]
    Cancelled,
}

impl ToolError {
    /// A failure with a text for the model.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::Failed { message: message.into(), source: None }
    }

    /// Arguments that do not fit.
    pub fn invalid_arguments(reason: impl Into<String>) -> Self {
        Self::InvalidArguments { reason: reason.into() }
    }
}
