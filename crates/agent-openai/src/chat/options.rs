//! What a request says besides messages and tools.

use agent_core::{
    CacheLifetime, ChainHash, Effort, Loss, ModelCall, ModelFacts, OutputSchema, ProviderError, Reasoning, Section,
    ToolChoice,
};
use serde_json::json;

use crate::{ChatWire, EffortStyle, Profile, StructuredStyle, json::write, lower_strict_schema};

pub(super) struct Plan {
    /// The fields, as `"name":value` with commas between, by what a change of them breaks.
    pub(super) fields: [(Section, String); 3],
    /// What is said behind the instructions.
    pub(super) words: Option<String>,
    pub(super) max_output: Option<u64>,
    pub(super) losses: Vec<Loss>,
}

pub(super) fn plan(wire: &ChatWire, call: &ModelCall, facts: &ModelFacts) -> Result<Plan, ProviderError> {
    let (options, profile) = (&call.options, &wire.profile);
    let mut losses = Vec::new();
    let mut fields =
        [Section::Irrelevant, Section::MessageOption, Section::Option].map(|section| (section, String::new()));
    let mut put = |section: Section, name: &str, value: &str| {
        let Some((_, text)) = fields.iter_mut().find(|(known, _)| *known == section) else { return };
        text.reserve(name.len().saturating_add(value.len()).saturating_add(4));
        [if text.is_empty() { "\"" } else { ",\"" }, name, "\":", value].iter().for_each(|part| text.push_str(part));
    };
    put(Section::Irrelevant, "stream", "true");
    if profile.stream_options {
        put(Section::Irrelevant, "stream_options", r#"{"include_usage":true}"#);
    }
    let limit = options.max_output.or(facts.max_output);
    if let Some(tokens) = limit {
        let name = if profile.completion_tokens { "max_completion_tokens" } else { "max_tokens" };
        put(Section::Irrelevant, name, &tokens.to_string());
    }
    let sampling = [("temperature", options.temperature), ("top_p", options.top_p)];
    for (name, value) in sampling.into_iter().filter_map(|(name, value)| Some((name, value?))) {
        if facts.abilities.temperature {
            put(Section::Irrelevant, name, &json!(value).to_string());
        } else {
            losses.push(Loss::option(format!("`{name}`, which the model refuses")));
        }
    }
    if let Some(seed) = options.seed {
        put(Section::Irrelevant, "seed", &seed.to_string());
    }
    if !options.stop_sequences.is_empty() {
        put(Section::Irrelevant, "stop", &write(&options.stop_sequences)?);
    }
    if !call.tools.specs().is_empty() {
        match &options.tool_choice {
            ToolChoice::Auto => {}
            ToolChoice::Never => put(Section::Irrelevant, "tool_choice", "\"none\""),
            ToolChoice::Required => put(Section::Irrelevant, "tool_choice", "\"required\""),
            ToolChoice::Tool(name) => {
                let choice = json!({"type": "function", "function": {"name": name}});
                put(Section::Irrelevant, "tool_choice", &choice.to_string());
            }
            _ => losses.push(Loss::option("a choice of tools that the wire does not know")),
        }
        match options.parallel_calls {
            Some(parallel) if profile.parallel => {
                put(Section::Irrelevant, "parallel_tool_calls", if parallel { "true" } else { "false" })
            }
            Some(_) => losses.push(Loss::option("the switch for parallel calls, which the vendor has not")),
            None => {}
        }
    }
    for (name, value) in effort(profile.effort, options.reasoning, facts, &mut losses) {
        put(Section::MessageOption, name, &value);
    }
    let mut words = None;
    if let Some(schema) = &options.output_schema {
        let (field, said) = structured(profile, schema, &mut losses)?;
        if let Some(value) = field {
            put(Section::Option, "response_format", &value);
        }
        words = said;
    }
    if profile.cache_key && options.cache != CacheLifetime::Off && !options.system.is_empty() {
        // It depends on nothing behind the instructions, so that a conversation keeps it.
        let key = ChainHash::of(&[options.system.join("\n\n").as_bytes()]);
        put(Section::Irrelevant, "prompt_cache_key", &format!("\"ms-{key:?}\""));
    }
    if let Some(extras) = options.extras.get(&wire.server.provider) {
        // Of the vendor's own: not judged, and part of what the cache may see.
        let inner = extras.get().trim().strip_prefix('{').and_then(|text| text.strip_suffix('}')).map(str::trim);
        match inner {
            Some("") => {}
            Some(inner) => {
                let [.., (_, text)] = &mut fields;
                text.push_str(if text.is_empty() { "" } else { "," });
                text.push_str(inner);
            }
            None => losses.push(Loss::option("extras that are no JSON object")),
        }
    }
    Ok(Plan { fields, words, max_output: limit.filter(|_| facts.abilities.honours_max_output), losses })
}

type Fields = Vec<(&'static str, String)>;

fn effort(style: EffortStyle, asked: Reasoning, facts: &ModelFacts, losses: &mut Vec<Loss>) -> Fields {
    let word = |effort: Effort| {
        let effort = if facts.efforts.is_empty() { Some(effort) } else { facts.nearest_effort(effort) };
        effort.and_then(|effort| serde_json::to_string(&effort).ok())
    };
    match (style, asked) {
        (_, Reasoning::Default) => Vec::new(),
        (EffortStyle::None, _) => {
            losses.push(Loss::option("how much to think, which the vendor is not told"));
            Vec::new()
        }
        (EffortStyle::Switch, Reasoning::Off) => vec![("thinking", r#"{"type":"disabled"}"#.into())],
        (EffortStyle::Object, Reasoning::Off) => vec![("reasoning", r#"{"enabled":false}"#.into())],
        (EffortStyle::Object, Reasoning::Budget(tokens)) => {
            vec![("reasoning", format!("{{\"max_tokens\":{tokens}}}"))]
        }
        (EffortStyle::Field, Reasoning::Off) => {
            losses.push(Loss::option("not to think, which the vendor cannot be told"));
            Vec::new()
        }
        (_, Reasoning::Effort(effort)) => match (style, word(effort)) {
            (EffortStyle::Object, Some(word)) => vec![("reasoning", format!("{{\"effort\":{word}}}"))],
            (EffortStyle::Switch, Some(word)) => {
                vec![("thinking", r#"{"type":"enabled"}"#.into()), ("reasoning_effort", word)]
            }
            (_, Some(word)) => vec![("reasoning_effort", word)],
            (_, None) => Vec::new(),
        },
        _ => {
            losses.push(Loss::option("a budget of tokens for thinking, which the vendor does not take"));
            Vec::new()
        }
    }
}

/// The field that holds the vendor to a schema, and what is said to the model where none does.
fn structured(
    profile: &Profile,
    schema: &OutputSchema,
    losses: &mut Vec<Loss>,
) -> Result<(Option<String>, Option<String>), ProviderError> {
    let raw = schema.schema.get();
    let field = match profile.structured {
        StructuredStyle::JsonSchema => {
            let name = write(&schema.name)?;
            let (schema, strict) = if profile.strict { strict_format(schema, losses) } else { (raw.to_owned(), false) };
            let strict = if strict { ",\"strict\":true" } else { "" };
            let inner = format!("{{\"name\":{name}{strict},\"schema\":{schema}}}");
            return Ok((Some(format!("{{\"type\":\"json_schema\",\"json_schema\":{inner}}}")), None));
        }
        StructuredStyle::JsonObject => Some(r#"{"type":"json_object"}"#.to_owned()),
        StructuredStyle::Words => None,
    };
    losses.push(Loss::option("the hold of the answer's schema: the model is told, the vendor does not enforce it"));
    let words = "Answer with one JSON object and nothing around it, no code fence either. It fits this JSON Schema:";
    Ok((field, Some(format!("{words}\n{raw}"))))
}

/// The schema of an answer in the strict dialect; as it is, a guide, where the dialect cannot say it.
pub(crate) fn strict_format(schema: &OutputSchema, losses: &mut Vec<Loss>) -> (String, bool) {
    match lower_strict_schema(&schema.schema) {
        Ok(lowered) => {
            losses.extend(lowered.lost.iter().map(|what| Loss::option(format!("answer schema {what}"))));
            (lowered.schema.get().to_owned(), true)
        }
        Err(error) => {
            losses.push(Loss::option(format!("answer schema is a guide only: {error}")));
            (schema.schema.get().to_owned(), false)
        }
    }
}
