//! The options of a call as fields of the request, each with what it does to the vendor's cache.

use std::collections::BTreeMap;

use agent_core::{
    CallOptions, JsonMembers, Loss, ModelFacts, OutputSchema, ProviderError, ProviderErrorKind, RawJson, Section,
    ToolChoice,
};
use serde_json::{json, value::RawValue};

use super::{Purpose, thinking::Thinking};
use crate::{
    AnthropicWire, NO_FORCED_TOOL,
    json::write_text,
    models::{ALWAYS_THINKS, BUDGET_THINKING},
    schema::lower_output_schema,
};

/// Fields that have a place of their own in a call.
const RESERVED: [&str; 5] = ["model", "messages", "system", "max_tokens", "stream"];
/// Fields that the vendor's cache ignores.
const IRRELEVANT: [&str; 11] = [
    "stop_sequences",
    "temperature",
    "top_p",
    "top_k",
    "metadata",
    "service_tier",
    "diagnostics",
    "user_profile_id",
    "workspace_id",
    "cache_control",
    "container",
];
/// Fields that break the cached messages and keep tools and system prompt
/// (<https://docs.claude.com/en/docs/build-with-claude/prompt-caching>).
const OF_MESSAGES: [&str; 2] = ["thinking", "tool_choice"];
/// Fields that the token counter takes.
const COUNTED: [&str; 5] = ["thinking", "tool_choice", "output_config", "mcp_servers", "context_management"];

pub(super) struct Field {
    pub(super) section: Section,
    /// `"name":value`.
    pub(super) text: String,
}

/// What a request says besides messages, tools and system prompt.
pub(super) struct Plan {
    pub(super) fields: Vec<Field>,
    pub(super) betas: Vec<String>,
    /// Tools of the vendor, as they stand in the extras.
    pub(super) server_tools: Vec<String>,
    /// The tool that stands for the shape of the answer.
    pub(super) output_tool: Option<OutputSchema>,
    pub(super) max_tokens: u64,
    /// Whether the caller put a cache marker at the top of the request.
    pub(super) marked: bool,
    /// Whether the vendor may add tokens that nobody can bound: tools that it runs itself.
    pub(super) unbounded: bool,
    pub(super) losses: Vec<Loss>,
}

type Fields = BTreeMap<String, String>;

impl Plan {
    pub(super) fn of(
        wire: &AnthropicWire,
        options: &CallOptions,
        has_tools: bool,
        facts: &ModelFacts,
        purpose: Purpose,
    ) -> Result<Self, ProviderError> {
        let mut losses = Vec::new();
        let mut extras = extras(wire, options)?;
        let mut betas = wire.betas.clone();
        let list = |text: Option<String>| -> Vec<Box<RawValue>> {
            text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
        };
        betas
            .extend(list(extras.remove("betas")).iter().filter_map(|raw| agent_core::json_string(raw)).map(Into::into));
        let server_tools: Vec<String> = list(extras.remove("tools")).iter().map(|raw| raw.get().to_owned()).collect();
        let unbounded = !server_tools.is_empty() || extras.contains_key("mcp_servers");

        let cap = facts.max_output.filter(|_| wire.knows(&options.model));
        let mut thinking = Thinking::of(options, facts, cap, &mut losses);
        let (format, output_tool) = output(options, facts, &mut losses)?;
        let has_tools = has_tools || !server_tools.is_empty();
        let choice = choice(options, output_tool.as_ref(), has_tools, facts, &mut losses)?;
        if choice.as_ref().is_some_and(|choice| choice.forces) && !extras.contains_key("thinking") {
            unthink(&mut thinking, facts, &mut losses);
        }

        let mut fields = Fields::new();
        sampling(wire, options, facts, thinking.on, &mut fields, &mut losses)?;
        let stops: Vec<&String> = options.stop_sequences.iter().filter(|text| !text.trim().is_empty()).collect();
        if stops.len() < options.stop_sequences.len() {
            losses.push(Loss::option("stop_sequences: the vendor refuses white space alone; it is left out"));
        }
        if !stops.is_empty() {
            fields.insert("stop_sequences".to_owned(), write_text(&stops)?);
        }
        fields.extend(thinking.field.map(|text| ("thinking".to_owned(), text)));
        fields.extend(choice.map(|choice| ("tool_choice".to_owned(), choice.text)));
        let own = extras.remove("output_config");
        let (config, shaped) = output_config(thinking.effort, format.as_ref(), own.as_deref())?;
        fields.extend(config.map(|text| ("output_config".to_owned(), text)));
        let marked = extras.contains_key("cache_control");
        fields.extend(extras);

        let counted = |name: &str| purpose == Purpose::Answer || COUNTED.contains(&name);
        let fields = fields.into_iter().filter(|(name, _)| counted(name)).map(|(name, value)| {
            let section = match &*name {
                name if IRRELEVANT.contains(&name) => Section::Irrelevant,
                name if OF_MESSAGES.contains(&name) => Section::MessageOption,
                // Effort is said behind everything else; a format is a part of the prompt.
                "output_config" if !shaped => Section::MessageOption,
                _ => Section::Option,
            };
            Ok(Field { section, text: format!("{}:{value}", write_text(&name)?) })
        });
        let fields = fields.collect::<Result<_, ProviderError>>()?;
        let max_tokens = thinking.max_tokens;
        Ok(Self { fields, betas, server_tools, output_tool, max_tokens, marked, unbounded, losses })
    }
}

fn invalid(text: impl AsRef<str>) -> ProviderError {
    ProviderError::new(ProviderErrorKind::InvalidRequest, text)
}

/// The fields that the caller has for this provider.
fn extras(wire: &AnthropicWire, options: &CallOptions) -> Result<Fields, ProviderError> {
    let Some(raw) = options.extras.get(&wire.provider) else { return Ok(Fields::new()) };
    let name = &wire.provider;
    let members =
        JsonMembers::read(raw.get()).ok_or_else(|| invalid(format!("the extras of `{name}` are no object")))?;
    if let Some((field, _)) = members.pairs().iter().find(|(field, _)| RESERVED.contains(&&**field)) {
        return Err(invalid(format!("`{field}` is no extra of `{name}`; the call has a place of its own for it")));
    }
    Ok(members.into_pairs().into_iter().map(|(field, value)| (field.into_owned(), value.get().to_owned())).collect())
}

/// The shape of the answer: enforced by the vendor, or as a tool that has to be called.
fn output(
    options: &CallOptions,
    facts: &ModelFacts,
    losses: &mut Vec<Loss>,
) -> Result<(Option<RawJson>, Option<OutputSchema>), ProviderError> {
    let Some(shape) = &options.output_schema else { return Ok((None, None)) };
    let forces = !facts.quirks.iter().any(|quirk| quirk == NO_FORCED_TOOL);
    if facts.abilities.structured_output {
        match lower_output_schema(&shape.schema) {
            Ok(lowered) => {
                let lost = lowered.lost.iter().map(|what| Loss::option(format!("output_schema {what}")));
                losses.extend(lost);
                return Ok((Some(lowered.schema), None));
            }
            Err(error) if !forces => return Err(error),
            Err(_) => losses.push(Loss::option("output_schema: the vendor cannot enforce it; the model is only told")),
        }
    }
    if !forces {
        let text = "the model neither writes by a schema nor takes a forced tool call";
        return Err(ProviderError::new(ProviderErrorKind::Unsupported, text));
    }
    let text = format!("output_schema: the answer comes as a call of the tool `{}`", shape.name);
    losses.push(Loss::option(text));
    Ok((None, Some(shape.clone())))
}

struct Choice {
    text: String,
    forces: bool,
}

fn choice(
    options: &CallOptions,
    output: Option<&OutputSchema>,
    has_tools: bool,
    facts: &ModelFacts,
    losses: &mut Vec<Loss>,
) -> Result<Option<Choice>, ProviderError> {
    let named = |name: &str| (format!("{{\"type\":\"tool\",\"name\":{}", json!(name)), true);
    let (mut text, mut forces) = match (output, &options.tool_choice) {
        (Some(output), _) => named(&output.name),
        (None, ToolChoice::Required | ToolChoice::Tool(_)) if !has_tools => {
            return Err(invalid("a tool call is required, and there are no tools"));
        }
        (None, _) if !has_tools => return Ok(None),
        (None, ToolChoice::Never) => return Ok(Some(Choice { text: r#"{"type":"none"}"#.to_owned(), forces: false })),
        (None, ToolChoice::Required) => (r#"{"type":"any""#.to_owned(), true),
        (None, ToolChoice::Tool(name)) => named(name),
        (None, _) => (r#"{"type":"auto""#.to_owned(), false),
    };
    if forces && facts.quirks.iter().any(|quirk| quirk == NO_FORCED_TOOL) {
        losses.push(Loss::option("tool_choice: the model refuses to be forced; it chooses itself"));
        (text, forces) = (r#"{"type":"auto""#.to_owned(), false);
    }
    match options.parallel_calls {
        Some(false) => text.push_str(r#","disable_parallel_tool_use":true"#),
        _ if !forces => return Ok(None),
        _ => {}
    }
    text.push('}');
    Ok(Some(Choice { text, forces }))
}

/// A forced call and thinking exclude each other
/// (<https://docs.claude.com/en/docs/build-with-claude/extended-thinking>).
fn unthink(thinking: &mut Thinking, facts: &ModelFacts, losses: &mut Vec<Loss>) {
    let quirk = |name: &str| facts.quirks.iter().any(|quirk| quirk == name);
    if thinking.on {
        losses.push(Loss::option("reasoning: a forced tool call and thinking exclude each other; it is left out"));
    }
    let told = thinking.on || thinking.field.is_none();
    // Models of today may think where nothing is said.
    let off = told && facts.abilities.reasoning && !quirk(ALWAYS_THINKS) && !quirk(BUDGET_THINKING);
    if told {
        thinking.field = off.then(|| r#"{"type":"disabled"}"#.to_owned());
    }
    (thinking.on, thinking.effort) = (false, None);
}

fn sampling(
    wire: &AnthropicWire,
    options: &CallOptions,
    facts: &ModelFacts,
    thinks: bool,
    fields: &mut Fields,
    losses: &mut Vec<Loss>,
) -> Result<(), ProviderError> {
    let refused = match (wire.revision.has_sampling(), facts.abilities.temperature) {
        (false, _) => Some("the protocol has none since 2026-10-21; it is left out"),
        (_, false) => Some("the model refuses it; it is left out"),
        _ if thinks => Some("thinking excludes it; it is left out"),
        _ => None,
    };
    let both = options.temperature.is_some().then_some("the vendor takes one of temperature and top_p; it is left out");
    let asked = [("temperature", options.temperature, refused), ("top_p", options.top_p, refused.or(both))];
    for (name, value, refused) in asked {
        let Some(value) = value else { continue };
        // A number that is none has no JSON.
        let within = if value.is_finite() { value.clamp(0.0, 1.0) } else { 1.0 };
        let why = refused.or((within != value).then_some("the vendor takes 0 to 1; the nearest is sent"));
        losses.extend(why.map(|why| Loss::option(format!("{name}: {why}"))));
        if refused.is_none() {
            fields.insert(name.to_owned(), write_text(&within)?);
        }
    }
    if options.seed.is_some() {
        losses.push(Loss::option("seed: the vendor has none; it is left out"));
    }
    Ok(())
}

/// `output_config`, and whether it has a format. What the caller put there himself wins.
fn output_config(
    effort: Option<&str>,
    format: Option<&RawJson>,
    own: Option<&str>,
) -> Result<(Option<String>, bool), ProviderError> {
    let mut fields = Fields::new();
    fields.extend(effort.map(|effort| ("effort".to_owned(), json!(effort).to_string())));
    let format = format.map(|schema| format!("{{\"type\":\"json_schema\",\"schema\":{}}}", schema.get()));
    fields.extend(format.map(|format| ("format".to_owned(), format)));
    let own = match own {
        Some(text) => {
            JsonMembers::read(text).ok_or_else(|| invalid("the extra `output_config` is no object"))?.into_pairs()
        }
        None => Vec::new(),
    };
    fields.extend(own.into_iter().map(|(name, value)| (name.into_owned(), value.get().to_owned())));
    let shaped = fields.get("format").is_some_and(|format| format != "null");
    let parts = fields.iter().map(|(name, value)| Ok(format!("{}:{value}", write_text(name)?)));
    let parts = parts.collect::<Result<Vec<_>, ProviderError>>()?;
    Ok(((!parts.is_empty()).then(|| format!("{{{}}}", parts.join(","))), shaped))
}
