//! What is known of a model, as data. The catalogue itself lives in `agent-models`.

use serde::{Deserialize, Serialize};

use crate::{Effort, Price};

/// Facts about a model at a provider. What is `None` is not known; each reader says what it assumes
/// then.
///
/// ```
/// use agent_core::{Abilities, ModelFacts};
/// let mut facts = ModelFacts::new("toy", "toy-1");
/// facts.context_window = Some(8_000);
/// assert!(facts.abilities.tools);
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct ModelFacts {
    /// The provider.
    pub provider: String,
    /// The model as the provider spells it.
    pub model: String,
    /// How many tokens prompt and answer may have together.
    pub context_window: Option<u64>,
    /// How many tokens may be generated.
    pub max_output: Option<u64>,
    /// What it can do.
    pub abilities: Abilities,
    /// The steps of effort that it has, least first; empty where effort cannot be set.
    pub efforts: Vec<Effort>,
    /// Deviations of this model from its wire, by names that the wire's crate documents.
    pub quirks: Vec<String>,
    /// The set of deviations of its provider, by a name that the wire's crate documents.
    pub profile: Option<String>,
    /// What it costs.
    pub price: Option<Price>,
    /// At most so many tokens are counted for an image.
    pub max_image_tokens: Option<u64>,
    /// At most so many tokens are added to the prompt for each message.
    pub message_overhead: Option<u64>,
}

/// What a model can do. The default is a model that reads and writes text and calls tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct Abilities {
    /// Calls tools.
    pub tools: bool,
    /// Calls several tools at once.
    pub parallel_calls: bool,
    /// Reads images.
    pub images: bool,
    /// Reads documents.
    pub documents: bool,
    /// Reads images in tool results.
    pub tool_images: bool,
    /// Thinks before it answers.
    pub reasoning: bool,
    /// Writes answers by a schema.
    pub structured_output: bool,
    /// Takes a temperature.
    pub temperature: bool,
    /// Stops at the output limit that it is given.
    pub honours_max_output: bool,
}

impl Default for Abilities {
    fn default() -> Self {
        Self {
            tools: true,
            parallel_calls: true,
            images: false,
            documents: false,
            tool_images: false,
            reasoning: false,
            structured_output: false,
            temperature: true,
            honours_max_output: true,
        }
    }
}

impl ModelFacts {
    /// A model of which nothing is known but its name.
    pub fn new(provider: impl Into<String>, model: impl Into<String>) -> Self {
        Self { provider: provider.into(), model: model.into(), ..Self::default() }
    }

    /// The step of effort to ask for instead of `wanted`: the same, else the nearest below, else the
    /// least; `None` where effort cannot be set.
    pub fn nearest_effort(&self, wanted: Effort) -> Option<Effort> {
        let below = self.efforts.iter().filter(|step| **step <= wanted).max();
        below.or_else(|| self.efforts.iter().min()).copied()
    }

    /// How many tokens a call generates at most: the least of what is asked for and what the model
    /// can; `None` where nothing limits it.
    pub fn output_bound(&self, asked: Option<u64>) -> Option<u64> {
        let asked = asked.filter(|_| self.abilities.honours_max_output);
        asked.into_iter().chain(self.max_output).min()
    }
}
