//! What the catalogue answers about a model.

use std::collections::BTreeMap;

use agent_core::{Effort, ModelFacts, Price};
use serde::{Deserialize, Serialize};

use crate::{
    CacheStyle, Date, Fact, InstructionsRole, ModelKind, PriceSheet, Protocol, StructuredMode, ThinkingMode, TokenField,
};

/// Where a fact comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct Source {
    /// What it is: a page, a package, a file.
    pub what: String,
    /// The day on which it was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<Date>,
}

impl Source {
    /// A source.
    pub fn new(what: impl Into<String>, date: impl Into<Option<Date>>) -> Self {
        Self { what: what.into(), date: date.into() }
    }
}

/// On what ground a fact was assumed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Assumed {
    /// The provider's models go this way.
    Provider,
    /// Nobody says anything: what the library takes then.
    Library,
}

/// A fact that no row of the model states.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct Assumption {
    /// The fact.
    pub fact: Fact,
    /// On what ground.
    pub from: Assumed,
}

/// All that is known of a model at a provider, and what is assumed.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ModelEntry {
    /// What core and the wires read.
    pub facts: ModelFacts,
    /// Its name for people.
    pub name: String,
    /// Other names that it can be asked for by.
    pub aliases: Vec<String>,
    /// Whether the catalogue has a row of the model itself. Where it has not, everything is assumed.
    pub known: bool,
    /// What it is for.
    pub kind: ModelKind,
    /// The protocol.
    pub protocol: Protocol,
    /// How it is told how much to think.
    pub thinking: ThinkingMode,
    /// Whether thinking cannot be switched off.
    pub always_thinks: bool,
    /// The effort where none is asked for; `None` where nobody says.
    pub default_effort: Option<Effort>,
    /// How it is held to a schema.
    pub structured_output: StructuredMode,
    /// How its prompt cache is used.
    pub cache: CacheStyle,
    /// Where the instructions go.
    pub instructions: InstructionsRole,
    /// The field that limits the answer.
    pub token_field: TokenField,
    /// What it costs; `None` where that is not known, which is not the same as nothing.
    pub price: Option<PriceSheet>,
    /// The day on which the vendor switches it off.
    pub retires: Option<Date>,
    /// A remark for people.
    pub note: Option<String>,
    /// What no row of the model states.
    pub assumed: Vec<Assumption>,
    pub(crate) sources: BTreeMap<Fact, Source>,
}

impl ModelEntry {
    /// `provider/model`.
    pub fn id(&self) -> String {
        format!("{}/{}", self.facts.provider, self.facts.model)
    }

    /// Where a fact comes from; `None` where the library assumed it or nobody states it.
    pub fn source(&self, fact: Fact) -> Option<&Source> {
        self.sources.get(&fact)
    }

    /// On what ground a fact is assumed; `None` where a row of the model states it.
    pub fn assumed(&self, fact: Fact) -> Option<Assumed> {
        self.assumed.iter().find(|assumption| assumption.fact == fact).map(|assumption| assumption.from)
    }

    /// The price at a time, in milliseconds since 1970. `facts.price` is the price at the dearest time, which a
    /// budget reserves by.
    pub fn price_at(&self, unix_ms: u64) -> Option<Price> {
        self.price.as_ref().map(|sheet| sheet.price_at(unix_ms))
    }
}
