//! JSON as the wire writes it.

use agent_core::{ProviderError, ProviderErrorKind};
use serde::Serialize;

/// The JSON text of a value of ours, whose writing can only fail by a fault of ours.
pub(crate) fn write<T: Serialize + ?Sized>(value: &T) -> Result<String, ProviderError> {
    serde_json::to_string(value).map_err(|source| {
        ProviderError::new(ProviderErrorKind::InvalidRequest, "the request cannot be written as JSON")
            .with_source(source)
    })
}
