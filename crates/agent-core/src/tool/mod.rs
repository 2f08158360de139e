//! Tools: what a model may call, and what the loop has to know to run them safely.

mod context;
mod effects;

use std::{borrow::Cow, sync::Arc};

pub use self::{
    context::{ToolContext, ToolEvents},
    effects::{Access, Approval, Effects, Replay},
};
use serde::{Deserialize, Serialize};

use crate::{
    BoxFuture, ContentBlock, RawJson, RunId, ToolError, ToolSpec,
    macros::{from_text, setters},
};

/// Something that a model may call.
///
/// Dropping the future of [`call`](Self::call) has to stop the work. A tool that blocks inside a
/// poll cannot be interrupted.
///
/// ```
/// use agent_core::{BoxFuture, Effects, RawJson, Tool, ToolContext, ToolOutcome, ToolSpec};
/// struct Clock(ToolSpec);
/// impl Tool for Clock {
///     fn spec(&self) -> &ToolSpec {
///         &self.0
///     }
///     fn effects(&self, _: &RawJson) -> Effects {
///         Effects::shared()
///     }
///     fn call(&self, _: RawJson, _: ToolContext) -> BoxFuture<'_, ToolOutcome> {
///         Box::pin(std::future::ready(ToolOutcome::Output("noon".into())))
///     }
/// }
/// ```
pub trait Tool: Send + Sync {
    /// What the model is told.
    fn spec(&self) -> &ToolSpec;

    /// What a call with these arguments may do. The default is the safe one: alone, not repeatable.
    fn effects(&self, arguments: &RawJson) -> Effects {
        let _ = arguments;
        Effects::exclusive(self.spec().name().to_owned())
    }

    /// Runs. The arguments are a JSON object that fits the schema.
    fn call(&self, arguments: RawJson, context: ToolContext) -> BoxFuture<'_, ToolOutcome>;

    /// Finds out after a crash whether an interrupted call took effect; asked only of tools whose
    /// replay policy is [`Replay::Verify`]. `None` means that it did not.
    fn verify(&self, arguments: RawJson, context: ToolContext) -> BoxFuture<'_, Result<Option<ToolOutput>, ToolError>> {
        let _ = (arguments, context);
        Box::pin(std::future::ready(Err(ToolError::failed("this tool cannot verify a call"))))
    }

    /// Changes when an older call can no longer be verified or repeated by this tool.
    fn version(&self) -> &str {
        "1"
    }
}

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
///
/// ```
/// use agent_core::ToolOutput;
/// let output = ToolOutput::text("no such file").as_error();
/// assert!(output.is_error);
/// ```
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

/// Tools that are not known before they are asked for: an MCP server, an API document.
pub trait ToolSource: Send + Sync {
    /// A name for errors.
    fn name(&self) -> Cow<'_, str>;

    /// The tools now, in an order that only changes when they do. Dropping the future leaves the
    /// source as it was.
    ///
    /// # Errors
    /// [`ToolError`] where the source cannot be reached.
    fn tools(&self) -> BoxFuture<'_, Result<Vec<Arc<dyn Tool>>, ToolError>>;
}

/// Checks arguments against a schema: core's structural check, or a full JSON Schema validator.
pub trait Validator: Send + Sync {
    /// Checks arguments and says what is wrong in words that a model can act on.
    ///
    /// # Errors
    /// Everything that is wrong, with its place.
    fn validate(&self, schema: &RawJson, arguments: &RawJson) -> Result<(), Vec<Violation>>;
}

/// Something in arguments that the schema does not allow.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {problem}")]
#[non_exhaustive]
pub struct Violation {
    /// Where, as a JSON Pointer (RFC 6901); `/` stands for the whole.
    pub place: String,
    /// What is wrong, and what would be right.
    pub problem: String,
}

impl Violation {
    /// A violation at a place.
    pub fn new(place: impl Into<String>, problem: impl Into<String>) -> Self {
        Self { place: place.into(), problem: problem.into() }
    }
}
