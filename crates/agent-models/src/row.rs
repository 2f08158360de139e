//! What a row of the catalogue states of a model. Everything is optional: rows lie over one another.

use std::collections::BTreeMap;

use agent_core::Effort;
use serde::{Deserialize, Serialize};

use crate::{
    CacheStyle, Date, InstructionsRole, ModelKind, PriceSheet, Protocol, StructuredMode, ThinkingMode, TokenField,
};

macro_rules! facts {
    ($($(#[$doc:meta])* $field:ident: $type:ty => $fact:ident $word:literal,)*) => {
        /// What is stated of a model. What is `None` is not stated, and comes from the row below.
        ///
        /// ```
        /// use agent_models::{Fact, ModelRow};
        /// let mut row = ModelRow::default();
        /// row.window = Some(32_000);
        /// assert_eq!(row.stated(), [Fact::Window]);
        /// ```
        #[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
        #[serde(rename_all = "camelCase", deny_unknown_fields, default)]
        #[non_exhaustive]
        pub struct ModelRow {
            $($(#[$doc])* #[serde(rename = $word, skip_serializing_if = "Option::is_none")] pub $field: Option<$type>,)*
            /// A remark for people.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub note: Option<String>,
            /// The id of the source of what the row states.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub source: Option<String>,
            /// The ids of the sources of facts that come from elsewhere.
            #[serde(skip_serializing_if = "BTreeMap::is_empty")]
            pub sources: BTreeMap<Fact, String>,
        }

        /// The name of a fact.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[non_exhaustive]
        pub enum Fact {
            $($(#[$doc])* #[serde(rename = $word)] $fact,)*
        }

        impl Fact {
            /// Every one of them.
            pub const ALL: &'static [Self] = &[$(Self::$fact),*];

            /// The word that stands for it in files.
            pub const fn word(self) -> &'static str {
                match self { $(Self::$fact => $word,)* }
            }
        }

        impl ModelRow {
            /// Which facts the row states.
            pub fn stated(&self) -> Vec<Fact> {
                let stated = [$((self.$field.is_some(), Fact::$fact)),*];
                stated.into_iter().filter_map(|(is, fact)| is.then_some(fact)).collect()
            }

            /// Takes a fact back.
            pub(crate) fn forget(&mut self, fact: Fact) {
                match fact { $(Fact::$fact => self.$field = None,)* }
            }

            /// Lays another row over this one: what that one states, counts. A price counts whole.
            pub fn overlay(&mut self, over: &Self) {
                $(if over.$field.is_some() { self.$field.clone_from(&over.$field); })*
                if over.note.is_some() { self.note.clone_from(&over.note); }
            }
        }
    };
}

facts! {
    /// Its name for people.
    name: String => Name "name",
    /// Other names that it can be asked for by.
    aliases: Vec<String> => Aliases "aliases",
    /// The protocol, where it is not that of the provider.
    protocol: Protocol => Protocol "protocol",
    /// What it is for.
    kind: ModelKind => Kind "kind",
    /// How many tokens prompt and answer may have together.
    window: u64 => Window "window",
    /// How many tokens may be generated.
    max_output: u64 => MaxOutput "maxOutput",
    /// Whether it calls tools.
    tools: bool => Tools "tools",
    /// Whether it calls several tools at once.
    parallel_calls: bool => ParallelCalls "parallelCalls",
    /// Whether it reads images.
    images: bool => Images "images",
    /// Whether it reads documents.
    documents: bool => Documents "documents",
    /// Whether it reads images in tool results.
    tool_images: bool => ToolImages "toolImages",
    /// Whether it thinks before it answers.
    reasoning: bool => Reasoning "reasoning",
    /// Whether it takes a temperature.
    temperature: bool => Temperature "temperature",
    /// Whether it stops at the output limit that it is given.
    honours_max_output: bool => HonoursMaxOutput "honoursMaxOutput",
    /// The steps of effort that it has, least first.
    efforts: Vec<Effort> => Efforts "efforts",
    /// The effort where none is asked for.
    default_effort: Effort => DefaultEffort "defaultEffort",
    /// How it is told how much to think.
    thinking: ThinkingMode => Thinking "thinking",
    /// Whether thinking cannot be switched off.
    always_thinks: bool => AlwaysThinks "alwaysThinks",
    /// How it is held to a schema.
    structured_output: StructuredMode => StructuredOutput "structuredOutput",
    /// How its prompt cache is used.
    cache: CacheStyle => Cache "cache",
    /// Where the instructions go.
    instructions: InstructionsRole => Instructions "instructions",
    /// The field that limits the answer.
    token_field: TokenField => TokenField "tokenField",
    /// Deviations from its wire, by name.
    quirks: Vec<String> => Quirks "quirks",
    /// The set of deviations, where it is not that of the provider.
    profile: String => Profile "profile",
    /// What it costs.
    price: PriceSheet => Price "price",
    /// At most so many tokens are counted for an image.
    max_image_tokens: u64 => MaxImageTokens "maxImageTokens",
    /// At most so many tokens are added to the prompt for each message.
    message_overhead: u64 => MessageOverhead "messageOverhead",
    /// The day on which the vendor switches it off.
    retires: Date => Retires "retires",
}

impl ModelRow {
    /// Lays another row over this one, with the source of each fact.
    pub(crate) fn lay(&mut self, over: &Self) {
        for fact in over.stated() {
            match over.source_of(fact) {
                Some(source) => self.sources.insert(fact, source.to_owned()),
                None => self.sources.remove(&fact),
            };
        }
        self.overlay(over);
    }

    /// The id of the source of a fact.
    pub fn source_of(&self, fact: Fact) -> Option<&str> {
        self.sources.get(&fact).or(self.source.as_ref()).map(String::as_str)
    }
}
