//! What a model is told about tools.

use std::{collections::BTreeSet, fmt, sync::Arc};

use crate::{
    CanonicalError, ChainHash, RawJson, canonical,
    macros::{getters, setters},
};

/// What a model is told about a tool.
///
/// ```
/// use agent_core::{RawJson, ToolSet, ToolSpec};
/// let schema = RawJson::parse(r#"{"type":"object"}"#)?;
/// let read = ToolSpec::new("read_file", "Reads a file.", schema.clone())?.label("Read");
/// assert!(ToolSpec::new("read file", "A space is no part of a name.", schema).is_err());
/// assert!(ToolSet::new(vec![read.clone(), read]).is_err(), "two tools of one name");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolSpec {
    name: String,
    label: String,
    description: String,
    schema: RawJson,
}

/// What a schema has to have at its top.
#[derive(serde::Deserialize)]
struct Head {
    r#type: String,
}

/// A tool that no provider would accept.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ToolSpecError {
    /// The name has other characters, or too many or none.
    #[error("`{name}` is no tool name: 1 to 64 letters, digits, `_` and `-` are allowed")]
    Name {
        /// The name.
        name: String,
    },
    /// Two tools have one name.
    #[error("two tools are named `{name}`; rename one of them")]
    Duplicate {
        /// The name.
        name: String,
    },
    /// The schema is not the JSON Schema of an object.
    #[error("the schema of the tool `{name}` has to be a JSON Schema of type `object`")]
    NotObject {
        /// The tool.
        name: String,
    },
    /// The schema cannot be put into canonical order.
    #[error("the schema of the tool `{name}` cannot be used")]
    Schema {
        /// The tool.
        name: String,
        /// Why.
        source: CanonicalError,
    },
}

impl ToolSpec {
    /// A tool with its JSON Schema (2020-12), which is kept in canonical key order.
    ///
    /// # Errors
    /// [`ToolSpecError`] for a name or schema that providers refuse.
    pub fn new(
        name: impl Into<String>,
        description: impl Into<String>,
        schema: RawJson,
    ) -> Result<Self, ToolSpecError> {
        let name = name.into();
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        if !(1..=64).contains(&name.len()) || !name.chars().all(fits) {
            return Err(ToolSpecError::Name { name });
        }
        if !matches!(schema.read(), Ok(Head { r#type }) if r#type == "object") {
            return Err(ToolSpecError::NotObject { name });
        }
        match canonical(&schema) {
            Ok(schema) => Ok(Self { label: name.clone(), name, description: description.into(), schema }),
            Err(source) => Err(ToolSpecError::Schema { name, source }),
        }
    }
}

setters!(ToolSpec {
    /// Sets the name that people are shown.
    label(label: impl Into<String>) => label = label.into();
});

getters!(ToolSpec {
    /// The name that the model calls.
    name -> &str = |this| &this.name;
    /// The name that people are shown.
    display_label -> &str = |this| &this.label;
    /// When and how to use it.
    description -> &str = |this| &this.description;
    /// The JSON Schema of the arguments, in canonical key order.
    schema -> &RawJson = |this| &this.schema;
});

/// The tools of a call, without two of one name; a clone is O(1).
///
/// The order is the caller's: it is part of the prompt cache, so sort what comes in no order.
#[derive(Clone, Default)]
pub struct ToolSet(Arc<Tools>);

#[derive(Default)]
struct Tools {
    specs: Vec<ToolSpec>,
    hash: ChainHash,
}

impl ToolSet {
    /// A set of tools.
    ///
    /// # Errors
    /// [`ToolSpecError::Duplicate`] where two have one name.
    pub fn new(specs: Vec<ToolSpec>) -> Result<Self, ToolSpecError> {
        let mut seen = BTreeSet::new();
        if let Some(spec) = specs.iter().find(|spec| !seen.insert(&spec.name)) {
            return Err(ToolSpecError::Duplicate { name: spec.name.clone() });
        }
        let parts = specs.iter().flat_map(|spec| [&spec.name, &spec.description, spec.schema.get()]);
        let hash = parts.fold(ChainHash::default(), |hash, part| hash.then(ChainHash::of(&[part.as_bytes()])));
        Ok(Self(Arc::new(Tools { specs, hash })))
    }
}

getters!(ToolSet {
    /// The tools, in order.
    specs -> &[ToolSpec] = |this| &this.0.specs;
    /// A hash over everything that a model is told of them.
    hash -> ChainHash = |this| this.0.hash;
});

impl fmt::Debug for ToolSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.specs().iter().map(ToolSpec::name)).finish()
    }
}
