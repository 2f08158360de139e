//! What a tool is called with: mended where the mending is listed, checked, then read.

use agent_core::{RawJson, StructuralValidator, ToolError, ToolSpec, ToolSpecError, Validator, coerce};
use serde::de::DeserializeOwned;

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
