//! A call as `POST /chat/completions`: options, tools, then the messages, of which the instructions are the first.

use agent_core::{
    Block, CacheOrder, ChainHash, Encoded, Loss, ModelCall, Origin, ProviderError, ProviderErrorKind, Section,
    SegmentsBuilder, TokenBound, ToolSpec, Wire,
};
use serde::Serialize;

use super::{messages::Encoder, options};
use crate::{ChatWire, json::write, lower_strict_schema};

/// What a vendor adds to a prompt at most, in tokens: its text about tools and formats.
const OVERHEAD: u64 = 1_024;
/// What it adds for a message, where no facts say so.
const PER_MESSAGE: u64 = 16;

#[derive(Serialize)]
struct Tool<'a> {
    r#type: &'static str,
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    strict: bool,
    parameters: &'a agent_core::RawJson,
}

pub(crate) fn encode(wire: &ChatWire, call: &ModelCall) -> Result<Encoded, ProviderError> {
    let (model, has_tools) = (&call.options.model, !call.tools.specs().is_empty());
    let facts = wire.facts(model);
    let plan = options::plan(wire, call, &facts)?;
    let target = wire.origin(model);
    let generation = generation(wire, &facts, &target, has_tools);

    let mut body = SegmentsBuilder::new(CacheOrder::ToolsFirst)
        .identity(model.as_bytes())
        .identity(wire.server.base.as_bytes())
        .push(Section::Irrelevant, "{\"model\":", Block::new(write(model)?));
    for (section, text) in plan.fields.into_iter().filter(|(_, text)| !text.is_empty()) {
        body = body.push(section, ",", Block::new(text));
    }
    let strict = wire.strict_tools && wire.profile.strict;
    let key = ChainHash::of(&[b"tools"]).then(call.tools.hash());
    let build = || call.tools.specs().iter().map(|spec| tool(spec, strict)).collect::<Result<Vec<_>, _>>();
    let tools = call.cache.section(generation, key.bits(), build)?;
    for (index, block) in tools.iter().enumerate() {
        body = body.push(Section::Tools, if index == 0 { ",\"tools\":[" } else { "," }, block.clone());
    }
    if has_tools {
        body = body.push(Section::Irrelevant, "]", Block::new(""));
    }
    body = body.push(Section::Irrelevant, ",\"messages\":[", Block::new(""));
    let said = call.options.system.iter().map(String::as_str).chain(plan.words.as_deref());
    let system: Vec<&str> = said.filter(|part| !part.trim().is_empty()).collect();
    let role = if wire.profile.developer { "developer" } else { "system" };
    let has_system = !system.is_empty();
    if has_system {
        let text = write(&system.join("\n\n"))?;
        let message = format!("{{\"role\":\"{role}\",\"content\":{text}}}");
        body = body.push(Section::System, "", Block::new(message));
    }

    let mut encoder = Encoder::new(wire, &facts, target);
    (encoder.has_tools, encoder.has_system) = (has_tools, has_system);
    let messages = call.cache.messages(generation, &call.view, |walk, entry| encoder.message(walk, entry))?;
    let note = call.note.as_deref().filter(|note| !note.trim().is_empty());
    if messages.pieces().is_empty() && note.is_none() {
        let text = "there is no message to send; the vendor wants one at least";
        return Err(ProviderError::new(ProviderErrorKind::InvalidRequest, text));
    }
    let mut losses = plan.losses;
    if strict {
        losses.extend(tool_losses(call));
    }
    let lost = messages.losses().clone();
    let state = messages.state();
    body = body.messages(messages);
    if let Some(note) = note {
        let message = format!("{{\"role\":\"user\",\"content\":{}}}", write(note)?);
        body = body.tail(encoder.lead(state, false), &Block::new(message));
    }
    let mut encoded = Encoded::new(wire.server.head()?, body.end("]}").finish());
    let messages = u64::try_from(call.view.len()).unwrap_or(u64::MAX);
    let each = facts.message_overhead.unwrap_or(PER_MESSAGE);
    encoded.overhead = TokenBound::AtMost(OVERHEAD.saturating_add(messages.saturating_mul(each)));
    encoded.max_output = plan.max_output;
    (encoded.losses.options, encoded.losses.messages) = (losses, lost);
    Ok(encoded)
}

fn tool(spec: &ToolSpec, strict: bool) -> Result<Block, ProviderError> {
    let lowered = if strict { lower_strict_schema(spec.schema()).ok() } else { None };
    let parameters = lowered.as_ref().map_or(spec.schema(), |lowered| &lowered.schema);
    let function =
        Function { name: spec.name(), description: spec.description(), strict: lowered.is_some(), parameters };
    Ok(Block::new(write(&Tool { r#type: "function", function })?))
}

/// What is lost of the tools' schemas.
fn tool_losses(call: &ModelCall) -> impl Iterator<Item = Loss> {
    call.tools.specs().iter().flat_map(|spec| {
        let lost = match lower_strict_schema(spec.schema()) {
            Ok(lowered) => lowered.lost,
            Err(error) => vec![format!("is not strict: {error}")],
        };
        lost.into_iter().map(|what| Loss::option(format!("tool `{}` {what}", spec.name())))
    })
}

/// A hash of everything besides the messages that changes how they are encoded.
fn generation(wire: &ChatWire, facts: &agent_core::ModelFacts, target: &Origin, has_tools: bool) -> u64 {
    let can = &facts.abilities;
    let tools = has_tools && wire.profile.replays_reasoning;
    let flags = [can.images, can.documents, tools, wire.strict_tools].map(u8::from);
    let numbers = [facts.max_image_tokens, facts.context_window].map(|n| n.unwrap_or(u64::MAX).to_le_bytes());
    let parts = [&flags[..], numbers.as_flattened(), target.provider.as_bytes(), target.model.as_bytes()];
    let hash = wire.encoding.then(ChainHash::of(&parts));
    u64::try_from(hash.bits() >> 64).unwrap_or_default()
}
