//! Tools: what a model may call, and what the loop has to know to run them safely.

mod context;
mod effects;
mod outcome;

use std::{borrow::Cow, sync::Arc};

pub use self::{
    context::{ToolContext, ToolEvents},
    effects::{Access, Approval, Effects, Replay},
    outcome::{Suspended, ToolOutcome, ToolOutput},
};
use crate::{BoxFuture, RawJson, ToolError, ToolSpec};

/// Something that a model may call.
///
/// Dropping the future of [`call`](Self::call) has to stop the work. A tool that blocks inside a
/// poll cannot be interrupted.
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
