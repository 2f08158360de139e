//! What a request says besides instructions, tools and items.

use agent_core::{
    CacheLifetime, ChainHash, Effort, Loss, ModelCall, ModelFacts, ProviderError, Reasoning, Section, ToolChoice,
};
use serde_json::json;

use super::{ReasoningSummary, ResponsesWire};
use crate::{chat::strict_format, json::write};

pub(super) struct Plan {
    /// The fields, as `"name":value` with commas between, by what a change of them breaks.
    pub(super) fields: [(Section, String); 3],
    pub(super) max_output: Option<u64>,
    pub(super) losses: Vec<Loss>,
}

pub(super) fn plan(wire: &ResponsesWire, call: &ModelCall, facts: &ModelFacts) -> Result<Plan, ProviderError> {
    let options = &call.options;
    let mut losses = Vec::new();
    let sections = [Section::Irrelevant, Section::MessageOption, Section::Option];
    let mut fields = sections.map(|section| (section, String::new()));
    let mut put = |section: Section, name: &str, value: &str| {
        let Some((_, text)) = fields.iter_mut().find(|(known, _)| *known == section) else { return };
        [if text.is_empty() { "\"" } else { ",\"" }, name, "\":", value].iter().for_each(|part| text.push_str(part));
    };
    put(Section::Irrelevant, "stream", "true");
    put(Section::Irrelevant, "store", if wire.store { "true" } else { "false" });
    let limit = options.max_output.or(facts.max_output);
    if let Some(tokens) = limit {
        put(Section::Irrelevant, "max_output_tokens", &tokens.to_string());
    }
    let sampling = [("temperature", options.temperature), ("top_p", options.top_p)];
    for (name, value) in sampling.into_iter().filter_map(|(name, value)| Some((name, value?))) {
        if facts.abilities.temperature {
            put(Section::Irrelevant, name, &json!(value).to_string());
        } else {
            losses.push(Loss::option(format!("`{name}`, which the model refuses")));
        }
    }
    if options.seed.is_some() {
        losses.push(Loss::option("a seed, which the protocol has not"));
    }
    if !options.stop_sequences.is_empty() {
        losses.push(Loss::option("stop sequences, which the protocol has not"));
    }
    if !call.tools.specs().is_empty() {
        match &options.tool_choice {
            ToolChoice::Auto => {}
            ToolChoice::Never => put(Section::Irrelevant, "tool_choice", "\"none\""),
            ToolChoice::Required => put(Section::Irrelevant, "tool_choice", "\"required\""),
            ToolChoice::Tool(name) => {
                let choice = json!({"type": "function", "name": name});
                put(Section::Irrelevant, "tool_choice", &choice.to_string());
            }
            _ => losses.push(Loss::option("a choice of tools that the wire does not know")),
        }
        if let Some(parallel) = options.parallel_calls {
            put(Section::Irrelevant, "parallel_tool_calls", if parallel { "true" } else { "false" });
        }
    }
    if facts.abilities.reasoning {
        if !wire.store {
            // Else nothing of it could go back.
            put(Section::Irrelevant, "include", r#"["reasoning.encrypted_content"]"#);
        }
        if let Some(reasoning) = reasoning(wire.summary, options.reasoning, facts, &mut losses) {
            put(Section::MessageOption, "reasoning", &reasoning);
        }
    } else if options.reasoning != Reasoning::Default && options.reasoning != Reasoning::Off {
        losses.push(Loss::option("how much to think, which the model does not"));
    }
    if let Some(schema) = &options.output_schema {
        let (schema_text, strict) = strict_format(schema, &mut losses);
        let strict = if strict { ",\"strict\":true" } else { "" };
        let name = write(&schema.name)?;
        let format = format!("{{\"type\":\"json_schema\",\"name\":{name}{strict},\"schema\":{schema_text}}}");
        put(Section::Option, "text", &format!("{{\"format\":{format}}}"));
    }
    if options.cache != CacheLifetime::Off && !options.system.is_empty() {
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
    Ok(Plan { fields, max_output: limit.filter(|_| facts.abilities.honours_max_output), losses })
}

fn reasoning(
    summary: ReasoningSummary,
    asked: Reasoning,
    facts: &ModelFacts,
    losses: &mut Vec<Loss>,
) -> Option<String> {
    let word = |effort: Effort| {
        let effort = if facts.efforts.is_empty() { Some(effort) } else { facts.nearest_effort(effort) };
        effort.and_then(|effort| serde_json::to_string(&effort).ok())
    };
    let effort = match asked {
        Reasoning::Default => None,
        Reasoning::Off => Some("\"none\"".to_owned()),
        Reasoning::Effort(effort) => word(effort),
        _ => {
            losses.push(Loss::option("a budget of tokens for thinking, which the vendor does not take"));
            None
        }
    };
    let summary = match summary {
        _ if asked == Reasoning::Off => None,
        ReasoningSummary::Off => None,
        ReasoningSummary::Auto => Some("\"auto\""),
        ReasoningSummary::Concise => Some("\"concise\""),
        ReasoningSummary::Detailed => Some("\"detailed\""),
    };
    let effort = effort.map(|word| format!("\"effort\":{word}"));
    let parts: Vec<String> = effort.into_iter().chain(summary.map(|word| format!("\"summary\":{word}"))).collect();
    (!parts.is_empty()).then(|| format!("{{{}}}", parts.join(",")))
}
