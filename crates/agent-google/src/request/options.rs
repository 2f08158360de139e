//! What a request says besides contents and functions
//! (<https://ai.google.dev/api/generate-content#v1beta.GenerationConfig>).

use agent_core::{Effort, Loss, ModelCall, ModelFacts, OutputSchema, ProviderError, Reasoning, Section, ToolChoice};
use serde_json::{json, value::RawValue};

use crate::{
    ALWAYS_THINKS, BEFORE_3, GoogleWire,
    json::{Members, items, object, write},
    schema::{SchemaDialect, lower_output},
};

/// How many stop sequences the vendor takes.
const STOPS: usize = 5;

/// The budgets that stand for steps of effort, in tokens.
const BUDGETS: [(Effort, u64); 3] = [(Effort::Low, 1_024), (Effort::Medium, 8_192), (Effort::Max, 24_576)];

/// The least and the largest budget that a model takes, in tokens, besides none
/// (<https://ai.google.dev/gemini-api/docs/thinking#set-budget>).
fn budgets_of(facts: &ModelFacts) -> (u64, u64) {
    match () {
        () if has_quirk(facts, ALWAYS_THINKS) => (128, 32_768),
        () if facts.model.contains("lite") => (512, 24_576),
        () => (1, 24_576),
    }
}

#[derive(Default)]
pub(super) struct Plan {
    /// Fields of `generationConfig`, and what they break.
    pub(super) config: Vec<(Section, String, String)>,
    /// Other fields of the request.
    pub(super) fields: Vec<(Section, String, String)>,
    /// Tools of the vendor's, each a JSON object.
    pub(super) tools: Vec<String>,
    /// Text behind the system prompt.
    pub(super) instruction: Option<String>,
    /// Whether system prompt and tools stand in cached content.
    pub(super) is_cached: bool,
    pub(super) losses: Vec<Loss>,
}

pub(super) fn has_quirk(facts: &ModelFacts, quirk: &str) -> bool {
    facts.quirks.iter().any(|known| known == quirk)
}

pub(super) fn plan(wire: &GoogleWire, call: &ModelCall, facts: &ModelFacts) -> Result<Plan, ProviderError> {
    let options = &call.options;
    let mut plan = Plan::default();
    let has_tools = !call.tools.specs().is_empty();
    if let Some(tokens) = options.max_output {
        plan.config(Section::Irrelevant, "maxOutputTokens", tokens.to_string());
    }
    for (name, value) in [("temperature", options.temperature), ("topP", options.top_p)] {
        match value {
            Some(value) if facts.abilities.temperature => {
                plan.config(Section::Irrelevant, name, json!(value).to_string());
            }
            Some(_) => plan.losses.push(Loss::option(format!("`{name}`, which the model refuses"))),
            None => {}
        }
    }
    if let Some(seed) = options.seed {
        plan.config(Section::Irrelevant, "seed", seed.to_string());
    }
    if let Some(stops) = options.stop_sequences.get(..options.stop_sequences.len().min(STOPS)).filter(|s| !s.is_empty())
    {
        plan.config(Section::Irrelevant, "stopSequences", write(stops)?);
    }
    if options.stop_sequences.len() > STOPS {
        plan.losses.push(Loss::option(format!("stop sequences behind the first {STOPS}, which are all it takes")));
    }
    if options.parallel_calls == Some(false) {
        plan.losses.push(Loss::option("the switch for parallel calls, which the vendor has not"));
    }
    plan.thinking(options.reasoning, facts);
    if let Some(schema) = &options.output_schema {
        plan.structured(wire.dialect, schema, has_tools && has_quirk(facts, BEFORE_3))?;
    }
    if !wire.safety.is_empty() {
        let rows =
            wire.safety.iter().map(|(category, threshold)| json!({"category": category, "threshold": threshold}));
        plan.field(Section::Irrelevant, "safetySettings", write(&rows.collect::<Vec<_>>())?);
    }
    if has_tools {
        plan.choose(&options.tool_choice)?;
    }
    if let Some(extras) = options.extras.get(&wire.provider) {
        plan.extras(extras.get())?;
    }
    if plan.is_cached && (has_tools || !options.system.is_empty() || plan.instruction.is_some()) {
        let text = "system prompt and tools, which the vendor takes from the cached content alone";
        plan.losses.push(Loss::option(text));
        plan.fields.retain(|(_, name, _)| name != "toolConfig");
    }
    Ok(plan)
}

impl Plan {
    fn config(&mut self, section: Section, name: &str, value: String) {
        set(&mut self.config, section, name, value);
    }

    fn field(&mut self, section: Section, name: &str, value: String) {
        set(&mut self.fields, section, name, value);
    }

    /// Levels for models with steps of effort, budgets for others (<https://ai.google.dev/gemini-api/docs/thinking>).
    fn thinking(&mut self, asked: Reasoning, facts: &ModelFacts) {
        if asked == Reasoning::Default {
            return;
        }
        if !facts.abilities.reasoning {
            if asked != Reasoning::Off {
                self.losses.push(Loss::option("how much to think, which the model does not do"));
            }
            return;
        }
        let levels = !facts.efforts.is_empty();
        let (least, most) = budgets_of(facts);
        let always = levels || has_quirk(facts, ALWAYS_THINKS);
        let budget = |tokens: u64| Some(json!({"thinkingBudget": tokens, "includeThoughts": true}));
        let mut lose = |what: &'static str| self.losses.push(Loss::option(what));
        let config = match asked {
            Reasoning::Off | Reasoning::Budget(0) if always => {
                lose("not to think, which the model cannot be told; it thinks as little as it can");
                if levels {
                    facts.nearest_effort(Effort::Minimal).and_then(level)
                } else {
                    Some(json!({"thinkingBudget": least}))
                }
            }
            Reasoning::Off | Reasoning::Budget(0) => Some(json!({"thinkingBudget": 0})),
            Reasoning::Effort(effort) if levels => facts.nearest_effort(effort).and_then(level),
            Reasoning::Effort(effort) => {
                budget(BUDGETS.iter().find(|(step, _)| effort <= *step).map_or(most, |(_, tokens)| *tokens))
            }
            Reasoning::Budget(tokens) if levels => {
                lose("a budget of tokens for thinking, for which the nearest level is set");
                let step = BUDGETS.iter().find(|(_, most)| tokens <= *most).map_or(Effort::Max, |(step, _)| *step);
                facts.nearest_effort(step).and_then(level)
            }
            Reasoning::Budget(tokens) => {
                if !(least..=most).contains(&tokens) {
                    lose("a budget for thinking that the model does not take; the nearest one is set");
                }
                budget(tokens.clamp(least, most))
            }
            _ => {
                self.losses.push(Loss::option("a way to think that the wire does not know"));
                None
            }
        };
        if let Some(config) = config {
            self.config(Section::MessageOption, "thinkingConfig", config.to_string());
        }
    }

    /// Natively, or in words where the model takes no schema beside functions
    /// (<https://ai.google.dev/gemini-api/docs/structured-output>).
    fn structured(
        &mut self,
        dialect: SchemaDialect,
        schema: &OutputSchema,
        in_words: bool,
    ) -> Result<(), ProviderError> {
        if in_words {
            let text = format!(
                "Answer with JSON alone, without a code fence. It has to fit this JSON Schema:\n{}",
                schema.schema
            );
            self.instruction = Some(text);
            let what = "the schema of the answer, which the model does not take beside functions; it is told in words";
            self.losses.push(Loss::option(what));
            return Ok(());
        }
        let lowered = lower_output(dialect, &schema.schema)?;
        let lost = lowered.lost.into_iter().map(|what| Loss::option(format!("the schema of the answer {what}")));
        self.losses.extend(lost);
        let name = match dialect {
            SchemaDialect::JsonSchema => "responseJsonSchema",
            _ => "responseSchema",
        };
        self.config(Section::Option, "responseMimeType", "\"application/json\"".into());
        self.config(Section::Option, name, lowered.schema.get().to_owned());
        Ok(())
    }

    fn choose(&mut self, choice: &ToolChoice) -> Result<(), ProviderError> {
        let config = match choice {
            ToolChoice::Auto => return Ok(()),
            ToolChoice::Never => json!({"mode": "NONE"}),
            ToolChoice::Required => json!({"mode": "ANY"}),
            ToolChoice::Tool(name) => json!({"mode": "ANY", "allowedFunctionNames": [name]}),
            _ => {
                self.losses.push(Loss::option("a choice of tools that the wire does not know"));
                return Ok(());
            }
        };
        let config = object(&[("functionCallingConfig".to_owned(), config.to_string())])?;
        self.field(Section::Irrelevant, "toolConfig", config);
        Ok(())
    }

    /// Fields of the vendor's own: not judged, and part of what the cache may see.
    fn extras(&mut self, text: &str) -> Result<(), ProviderError> {
        let Some(extras) = Members::read(text) else {
            self.losses.push(Loss::option("extras that are no JSON object"));
            return Ok(());
        };
        for (name, value) in extras.0 {
            match &*name {
                "contents" | "systemInstruction" => {
                    let text = format!("`{name}` among the extras: it stands in the call itself");
                    self.losses.push(Loss::option(text));
                }
                "generationConfig" => {
                    for (name, value) in Members::read(value.get()).unwrap_or_default().0 {
                        self.config(Section::Option, &name, value.get().to_owned());
                    }
                }
                "tools" => self.tools.extend(items(value).into_iter().map(|tool| tool.get().to_owned())),
                "toolConfig" => {
                    let before = self.fields.iter().find(|(_, known, _)| known == "toolConfig");
                    let merged = merge(before.map(|(_, _, text)| text.as_str()), value)?;
                    self.field(Section::Irrelevant, "toolConfig", merged);
                }
                name => {
                    self.is_cached |= name == "cachedContent";
                    let section = if name == "safetySettings" { Section::Irrelevant } else { Section::Option };
                    self.field(section, name, value.get().to_owned());
                }
            }
        }
        Ok(())
    }
}

fn set(fields: &mut Vec<(Section, String, String)>, section: Section, name: &str, value: String) {
    match fields.iter_mut().find(|(_, known, _)| known == name) {
        Some(field) => (field.0, field.2) = (section, value),
        None => fields.push((section, name.to_owned(), value)),
    }
}

/// An object with the fields of another put over its own.
fn merge(under: Option<&str>, over: &RawValue) -> Result<String, ProviderError> {
    let Some(over) = Members::read(over.get()) else { return Ok(under.unwrap_or("{}").to_owned()) };
    let under = under.and_then(Members::read).unwrap_or_default();
    let kept = under.0.iter().filter(|(name, _)| over.value(name).is_none());
    let fields: Vec<_> = kept.chain(&over.0).map(|(name, value)| (name.to_string(), value.get().to_owned())).collect();
    object(&fields)
}

fn level(effort: Effort) -> Option<serde_json::Value> {
    let level = match effort {
        Effort::Minimal => "MINIMAL",
        Effort::Low => "LOW",
        Effort::Medium => "MEDIUM",
        _ => "HIGH",
    };
    Some(json!({"thinkingLevel": level, "includeThoughts": true}))
}
