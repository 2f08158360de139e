//! What a tool call comes to.

use serde::{Deserialize, Serialize};

use crate::{
    ContentBlock, RawJson, RunId, ToolError,
    macros::{from_text, setters},
};

/// What a tool call comes to.
#[derive(Debug)]
#[non_exhaustive]
pub enum ToolOutcome {
    /// It ran.
    Output(ToolOutput),
    /// It failed; the model is told.
    Error(ToolError),
    /// It waits for something outside, and the run with it; nothing is lost by ending the process.
    Suspended(Suspended),
}

/// What a tool has to say.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolOutput {
    /// For the model.
    pub content: Vec<ContentBlock>,
    /// For the application only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<RawJson>,
    /// Whether the model is told that it failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
}

/// Why a call waits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Suspended {
    /// The run that has to go on first, where it waits for one.
    pub run: Option<RunId>,
    /// What it waits for, for people.
    pub reason: String,
}

impl Suspended {
    /// A call that waits for a run.
    pub fn on_run(run: RunId, reason: impl Into<String>) -> Self {
        Self { run: Some(run), reason: reason.into() }
    }

    /// A call that waits for something else.
    pub fn on(reason: impl Into<String>) -> Self {
        Self { run: None, reason: reason.into() }
    }
}

impl ToolOutput {
    /// Text for the model.
    pub fn text(text: impl Into<String>) -> Self {
        Self { content: vec![ContentBlock::text(text)], ..Self::default() }
    }
}

setters!(ToolOutput {
    /// Marks the output as that of a failure.
    as_error() => is_error = true;
    /// Adds something for the application.
    details(details: RawJson) => details = Some(details);
});

from_text!(ToolOutput: &str, String);

impl<T: Into<ToolOutput>> From<Result<T, ToolError>> for ToolOutcome {
    fn from(result: Result<T, ToolError>) -> Self {
        result.map_or_else(Self::Error, |output| Self::Output(output.into()))
    }
}

/// What the model is shown of a failed call.
impl From<&ToolError> for ToolOutput {
    fn from(error: &ToolError) -> Self {
        Self::text(error.to_string()).as_error()
    }
}
