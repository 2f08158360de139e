//! What goes wrong at a provider or a tool, sorted so that it can be decided on.

mod classify;
mod provider_error;
mod tool_error;

pub use self::{
    classify::{ErrorDetail, classify, is_overflow_text},
    provider_error::{Billed, ProviderError, ProviderErrorKind},
    tool_error::ToolError,
};

/// Any error, for sources.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;
