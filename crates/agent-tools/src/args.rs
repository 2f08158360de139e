//! What the tools have in common: specs from constants, arguments that are mended and checked, work on files, answers
//! with details.

use std::time::Duration;

use agent_core::{
    BoxFuture, RawJson, StructuralValidator, ToolContext, ToolError, ToolOutcome, ToolOutput, ToolSpec, ToolSpecError,
    Validator, coerce,
};
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    Workspace,
    blocking::{self, OnCancel, Stop},
};

/// The spec of a tool whose schema is a constant of this crate.
pub(crate) fn spec(name: &str, label: &str, description: &str, schema: &str) -> Result<ToolSpec, ToolSpecError> {
    let schema = RawJson::parse(schema).map_err(|_| ToolSpecError::NotObject { name: name.to_owned() })?;
    Ok(ToolSpec::new(name, description, schema)?.label(label))
}

/// Reads arguments. A loop has checked them already; who calls a tool without a loop gets the same checks.
pub(crate) fn read<T: DeserializeOwned>(spec: &ToolSpec, arguments: &RawJson) -> Result<T, ToolError> {
    let (arguments, _) = coerce(spec.schema(), arguments);
    if let Err(violations) = StructuralValidator.validate(spec.schema(), &arguments) {
        let all: Vec<String> = violations.iter().map(ToString::to_string).collect();
        return Err(ToolError::invalid_arguments(all.join("; ")));
    }
    arguments.read().map_err(|e| ToolError::invalid_arguments(e.to_string()))
}

/// What a tool does with files.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Work {
    /// It looks at them, for so long at most; nobody waits for the end of it who does not want the answer.
    Looks(Option<Duration>),
    /// It changes one; the answer to a cancel says what became of the change.
    Changes,
}

/// Reads the arguments and does a tool's work on a blocking thread.
pub(crate) fn work<'a, A: DeserializeOwned + Send + 'static>(
    (spec, workspace): (&'a ToolSpec, &'a Workspace),
    (arguments, context): (RawJson, ToolContext),
    kind: Work,
    work: fn(&Workspace, &A, &Stop) -> Result<ToolOutput, ToolError>,
) -> BoxFuture<'a, ToolOutcome> {
    Box::pin(async move {
        let args: A = match read(spec, &arguments) {
            Ok(args) => args,
            Err(e) => return ToolOutcome::Error(e),
        };
        let (stop, on_cancel) = match kind {
            Work::Looks(limit) => (limit.map_or_else(Stop::default, Stop::after), OnCancel::Leave),
            Work::Changes => (Stop::default(), OnCancel::Wait),
        };
        let workspace = workspace.clone();
        blocking::run(&context.cancel, stop, on_cancel, move |stop| work(&workspace, &args, stop)).await.into()
    })
}

/// An answer, with what the application is told beside it.
pub(crate) fn answer(text: String, details: &impl Serialize) -> ToolOutput {
    let output = ToolOutput::text(text);
    match RawJson::of(details) {
        Ok(details) => output.details(details),
        Err(_) => output,
    }
}
