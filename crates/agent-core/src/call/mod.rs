//! What is asked of a model.

mod tool_spec;

use std::{collections::BTreeMap, sync::Arc};

use serde::{Deserialize, Serialize};

pub use self::tool_spec::{ToolSet, ToolSpec, ToolSpecError};
use crate::{Chain, ContextView, PieceCache, RawJson, macros::setters};

/// One model call: everything that a provider needs to make a request. Owned and cheap to clone.
///
/// ```
/// use agent_core::{CallOptions, ContextView, ModelCall};
/// let call = ModelCall::new(CallOptions::new("toy-1").max_output(1_000), ContextView::default());
/// assert_eq!(call.options.max_output, Some(1_000));
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ModelCall {
    /// Model, system prompt, limits and the like.
    pub options: Arc<CallOptions>,
    /// The messages to show.
    pub view: ContextView,
    /// The tools on offer.
    pub tools: ToolSet,
    /// Text that only this call shows, behind the last message and outside the prompt cache.
    pub note: Option<Arc<str>>,
    /// The encoded blocks of the conversation.
    pub cache: PieceCache,
    /// The chain of the last call that was sent, by which a wire places its cache markers.
    pub previous: Option<Chain>,
}

impl ModelCall {
    /// A call without tools, for a conversation that has not called before.
    pub fn new(options: impl Into<Arc<CallOptions>>, view: ContextView) -> Self {
        let (tools, cache) = (ToolSet::default(), PieceCache::new());
        Self { options: options.into(), view, tools, note: None, cache, previous: None }
    }
}

setters!(ModelCall {
    /// Sets the tools on offer.
    tools(tools: ToolSet) => tools = tools;
    /// Sets text that only this call shows.
    note(note: impl Into<Arc<str>>) => note = Some(note.into());
    /// Continues from the blocks of earlier calls.
    cache(cache: PieceCache) => cache = cache;
    /// Names the last call that was sent.
    previous(previous: Chain) => previous = Some(previous);
});

/// Model, system prompt, limits and the like; shared by all calls of a run.
///
/// What a wire cannot carry is reported as a loss, never dropped in silence.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct CallOptions {
    /// The model as the provider spells it.
    pub model: String,
    /// The system prompt, in parts that may be cached apart: what never changes first.
    pub system: Vec<String>,
    /// At most so many generated tokens, reasoning included.
    pub max_output: Option<u64>,
    /// Randomness; the range is the vendor's.
    pub temperature: Option<f64>,
    /// Nucleus sampling; the range is the vendor's.
    pub top_p: Option<f64>,
    /// Texts that end the answer.
    pub stop_sequences: Vec<String>,
    /// For vendors that can repeat an answer.
    pub seed: Option<u64>,
    /// Whether and which tools are called.
    pub tool_choice: ToolChoice,
    /// Whether several tools may be called at once; `None` is the vendor's default.
    pub parallel_calls: Option<bool>,
    /// How much the model thinks.
    pub reasoning: Reasoning,
    /// The shape of the answer.
    pub output_schema: Option<OutputSchema>,
    /// How long the prompt is cached.
    pub cache: CacheLifetime,
    /// Request fields for one provider, by its name: a JSON object each.
    pub extras: BTreeMap<String, RawJson>,
}

/// Whether and which tools a model calls.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum ToolChoice {
    /// As it likes.
    #[default]
    Auto,
    /// None.
    Never,
    /// At least one.
    Required,
    /// This one.
    Tool(String),
}

/// How hard a model thinks, least first. A wire takes the nearest step that its model has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Effort {
    /// Hardly.
    Minimal,
    /// Little.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
    /// Very much.
    XHigh,
    /// As much as it can.
    Max,
}

/// How much a model thinks before it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Reasoning {
    /// The vendor's default.
    #[default]
    Default,
    /// Not at all, where the model can be told so.
    Off,
    /// By effort.
    Effort(Effort),
    /// At most so many tokens.
    Budget(u64),
}

/// How long the vendor keeps the prompt, where it lets us choose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum CacheLifetime {
    /// No markers are sent.
    Off,
    /// About five minutes.
    #[default]
    FiveMinutes,
    /// An hour.
    Hour,
}

/// The shape that an answer must have.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct OutputSchema {
    /// A name for the shape.
    pub name: String,
    /// The JSON Schema (2020-12). Its key order is kept: models write fields in that order.
    pub schema: RawJson,
}

impl OutputSchema {
    /// A shape with a name.
    pub fn new(name: impl Into<String>, schema: RawJson) -> Self {
        Self { name: name.into(), schema }
    }
}

impl CallOptions {
    /// The options of a model, everything else as the vendor has it.
    pub fn new(model: impl Into<String>) -> Self {
        Self { model: model.into(), ..Self::default() }
    }

    /// Adds a part to the system prompt.
    #[must_use]
    pub fn system(mut self, part: impl Into<String>) -> Self {
        self.system.push(part.into());
        self
    }
}

setters!(CallOptions {
    /// Limits the generated tokens.
    max_output(tokens: u64) => max_output = Some(tokens);
    /// Sets the randomness.
    temperature(temperature: f64) => temperature = Some(temperature);
    /// Says whether and which tools are called.
    tool_choice(choice: ToolChoice) => tool_choice = choice;
    /// Says how much the model thinks.
    reasoning(reasoning: Reasoning) => reasoning = reasoning;
    /// Sets the shape of the answer.
    output_schema(schema: OutputSchema) => output_schema = Some(schema);
    /// Says how long the prompt is cached.
    cache(lifetime: CacheLifetime) => cache = lifetime;
});
