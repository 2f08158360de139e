//! Why a model stopped.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Why the model's answer ended.
///
/// Reasons that no variant names are kept as the vendor spelled them.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StopReason {
    /// The model was done.
    EndTurn,
    /// The model wants tools to run.
    ToolUse,
    /// The output limit was reached; the answer is cut.
    MaxTokens,
    /// A stop sequence was met.
    StopSequence,
    /// The model or a filter of the vendor refused.
    Refusal,
    /// The context window was full.
    ContextWindow,
    /// The vendor paused a long turn that can be continued.
    Paused,
    /// We stopped it: cancel, limit or deadline.
    Cancelled,
    /// The call failed; the message holds what had arrived.
    Error,
    /// A reason that this version does not know, as the vendor spelled it.
    Other(String),
}

const NAMES: [(&str, StopReason); 9] = [
    ("endTurn", StopReason::EndTurn),
    ("toolUse", StopReason::ToolUse),
    ("maxTokens", StopReason::MaxTokens),
    ("stopSequence", StopReason::StopSequence),
    ("refusal", StopReason::Refusal),
    ("contextWindow", StopReason::ContextWindow),
    ("paused", StopReason::Paused),
    ("cancelled", StopReason::Cancelled),
    ("error", StopReason::Error),
];

impl StopReason {
    /// The name in files and logs.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Other(name) => name,
            known => NAMES.iter().find(|(_, r)| r == known).map_or("", |(name, _)| name),
        }
    }

    /// The reason with this name; an unknown name is kept.
    pub fn from_name(name: impl Into<String>) -> Self {
        let name = name.into();
        let known = NAMES.iter().find(|(n, _)| *n == name).map(|(_, reason)| reason.clone());
        known.unwrap_or(Self::Other(name))
    }
}

impl std::fmt::Display for StopReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for StopReason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for StopReason {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::from_name)
    }
}
