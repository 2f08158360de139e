//! Where a piece of a model's answer came from.

use serde::{Deserialize, Serialize};

/// The protocol, provider and model that made something that only they can read back: reasoning,
/// signatures, opaque blocks.
///
/// Whether such a block may be replayed to a target is a pure function of its origin and the target.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct Origin {
    /// The wire protocol, for example `anthropic-messages`.
    pub protocol: String,
    /// The provider, for example `anthropic` or `openrouter`.
    pub provider: String,
    /// The model as the provider spells it.
    pub model: String,
}

impl Origin {
    /// The origin with these names.
    pub fn new(protocol: impl Into<String>, provider: impl Into<String>, model: impl Into<String>) -> Self {
        Self { protocol: protocol.into(), provider: provider.into(), model: model.into() }
    }
}
