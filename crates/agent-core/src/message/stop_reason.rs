//! Why a model stopped.

use serde::{Deserialize, Serialize};

/// Why the model's answer ended.
///
/// Reasons that no variant names are kept as the vendor spelled them.
///
/// ```
/// use agent_core::StopReason;
/// assert_eq!(StopReason::from_name("endTurn"), StopReason::EndTurn);
/// assert_eq!(StopReason::from_name("eos").as_str(), "eos");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
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
    #[serde(untagged)]
    Other(String),
}

macro_rules! names {
    ($($reason:ident = $name:literal),*) => {
        impl StopReason {
            /// The name in files and logs.
            pub fn as_str(&self) -> &str {
                match self {
                    $( Self::$reason => $name, )*
                    Self::Other(name) => name,
                }
            }

            /// The reason with this name; an unknown name is kept.
            pub fn from_name(name: impl Into<String>) -> Self {
                match name.into() {
                    $( name if name == $name => Self::$reason, )*
                    name => Self::Other(name),
                }
            }
        }
    };
}
names! {
    EndTurn = "endTurn", ToolUse = "toolUse", MaxTokens = "maxTokens", StopSequence = "stopSequence",
    Refusal = "refusal", ContextWindow = "contextWindow", Paused = "paused", Cancelled = "cancelled", Error = "error"
}

impl std::fmt::Display for StopReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}
