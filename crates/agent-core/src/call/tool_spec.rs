//! What a model is told about tools.

use std::{fmt, sync::Arc};

use crate::{
    json::RawJson,
    schema::{CanonicalError, canonical},
    wire::ChainHash,
};

/// What a model is told about a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolSpec {
    name: String,
    label: String,
    description: String,
    schema: RawJson,
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
        if name.is_empty() || name.len() > 64 || !name.chars().all(fits) {
            return Err(ToolSpecError::Name { name });
        }
        #[derive(serde::Deserialize)]
        struct Head {
            #[serde(rename = "type")]
            kind: String,
        }
        if !matches!(schema.read::<Head>(), Ok(Head { kind }) if kind == "object") {
            return Err(ToolSpecError::NotObject { name });
        }
        match canonical(&schema) {
            Ok(schema) => {
                let (label, description) = (name.clone(), description.into());
                Ok(Self { name, label, description, schema })
            }
            Err(source) => Err(ToolSpecError::Schema { name, source }),
        }
    }

    /// Sets the name that people are shown.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// The name that the model calls.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The name that people are shown.
    pub fn display_label(&self) -> &str {
        &self.label
    }

    /// When and how to use it.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// The JSON Schema of the arguments, in canonical key order.
    pub fn schema(&self) -> &RawJson {
        &self.schema
    }
}

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
        for (i, spec) in specs.iter().enumerate() {
            if specs.iter().take(i).any(|earlier| earlier.name == spec.name) {
                return Err(ToolSpecError::Duplicate { name: spec.name.clone() });
            }
        }
        let hash = specs.iter().fold(ChainHash::default(), |hash, spec| {
            [&spec.name, &spec.description, spec.schema.get()]
                .iter()
                .fold(hash, |hash, part| hash.then(ChainHash::of(&[part.as_bytes()])))
        });
        Ok(Self(Arc::new(Tools { specs, hash })))
    }

    /// The tools, in order.
    pub fn specs(&self) -> &[ToolSpec] {
        &self.0.specs
    }

    /// A hash over everything that a model is told of them.
    pub fn hash(&self) -> ChainHash {
        self.0.hash
    }
}

impl fmt::Debug for ToolSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.specs().iter().map(ToolSpec::name)).finish()
    }
}
