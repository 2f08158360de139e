//! A call as `POST /responses`: options, tools, instructions, then the items of the history.

use agent_core::{
    Block, CacheOrder, ChainHash, Encoded, Loss, ModelCall, ModelFacts, Origin, ProviderError, ProviderErrorKind,
    Section, SegmentsBuilder, TokenBound, ToolSpec, Wire,
};
use serde::Serialize;

use super::{ResponsesWire, items::Encoder, options};
use crate::{json::write, lower_strict_schema};

/// What the vendor adds to a prompt at most, in tokens: its text about tools and formats.
const OVERHEAD: u64 = 1_024;
/// What it adds for a message, where no facts say so.
const PER_MESSAGE: u64 = 16;

#[derive(Serialize)]
struct Tool<'a> {
    r#type: &'static str,
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
    /// It has to be said: the vendor's default is `true`.
    strict: bool,
    parameters: &'a agent_core::RawJson,
}

pub(super) fn encode(wire: &ResponsesWire, call: &ModelCall) -> Result<Encoded, ProviderError> {
    let asked = &call.options.model;
    let facts = wire.facts(asked);
    let plan = options::plan(wire, call, &facts)?;
    let target = wire.origin(asked);
    let generation = generation(wire, &facts, &target);
    let model = wire.deployment.as_ref().unwrap_or(asked);

    let mut body = SegmentsBuilder::new(CacheOrder::ToolsFirst)
        .identity(model.as_bytes())
        .identity(wire.server.base.as_bytes())
        .push(Section::Irrelevant, "{\"model\":", Block::new(write(model)?));
    for (section, text) in plan.fields.into_iter().filter(|(_, text)| !text.is_empty()) {
        body = body.push(section, ",", Block::new(text));
    }
    let key = ChainHash::of(&[b"tools", &[u8::from(wire.strict_tools)]]).then(call.tools.hash());
    let build = || call.tools.specs().iter().map(|spec| tool(spec, wire.strict_tools)).collect::<Result<Vec<_>, _>>();
    let tools = call.cache.section(generation, key.bits(), build)?;
    for (index, block) in tools.iter().enumerate() {
        body = body.push(Section::Tools, if index == 0 { ",\"tools\":[" } else { "," }, block.clone());
    }
    if !tools.is_empty() {
        body = body.push(Section::Irrelevant, "]", Block::new(""));
    }
    let said = call.options.system.iter().map(String::as_str);
    let system: Vec<&str> = said.filter(|part| !part.trim().is_empty()).collect();
    if !system.is_empty() {
        body = body.push(Section::System, ",\"instructions\":", Block::new(write(&system.join("\n\n"))?));
    }
    body = body.push(Section::Irrelevant, ",\"input\":[", Block::new(""));

    let encoder = Encoder { facts: &facts, target };
    let messages = call.cache.messages(generation, &call.view, |walk, entry| encoder.message(walk, entry))?;
    let note = call.note.as_deref().filter(|note| !note.trim().is_empty());
    if messages.pieces().is_empty() && note.is_none() {
        let text = "there is no message to send; the vendor wants one at least";
        return Err(ProviderError::new(ProviderErrorKind::InvalidRequest, text));
    }
    let mut losses = plan.losses;
    if wire.strict_tools {
        losses.extend(tool_losses(call));
    }
    let (lost, lead) = (messages.losses().clone(), if messages.state() == 0 { "" } else { "," });
    body = body.messages(messages);
    if let Some(note) = note {
        let message = format!("{{\"role\":\"user\",\"content\":{}}}", write(note)?);
        body = body.tail(lead, &Block::new(message));
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
    let (name, description) = (spec.name(), spec.description());
    let tool = Tool { r#type: "function", name, description, strict: lowered.is_some(), parameters };
    Ok(Block::new(write(&tool)?))
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
fn generation(wire: &ResponsesWire, facts: &ModelFacts, target: &Origin) -> u64 {
    let can = &facts.abilities;
    let flags = [can.images, can.documents, can.tool_images, can.reasoning, wire.store].map(u8::from);
    let numbers = [facts.max_image_tokens, facts.context_window].map(|n| n.unwrap_or(u64::MAX).to_le_bytes());
    let parts: [&[u8]; 5] =
        [b"openai-responses 1", &flags, numbers.as_flattened(), target.provider.as_bytes(), target.model.as_bytes()];
    u64::try_from(ChainHash::of(&parts).bits() >> 64).unwrap_or_default()
}
