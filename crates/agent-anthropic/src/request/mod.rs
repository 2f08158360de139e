//! A call as a request: `POST /messages`, or `POST /messages/count_tokens`
//! (<https://docs.claude.com/en/api/messages>).
//!
//! The body is options, tools, system prompt, messages; the vendor's cache sees tools, system prompt, messages.

mod blocks;
mod markers;
mod media;
mod messages;
mod options;
mod thinking;
mod tools;

use agent_core::{
    Block, CacheOrder, ChainHash, Encoded, ModelCall, ModelFacts, ProviderError, ProviderErrorKind, Section,
    SegmentsBuilder, TokenBound,
};
use http::{HeaderValue, Request, header, request::Parts};
use serde_json::json;

pub(crate) use self::tools::ToolLosses;
use self::{
    blocks::Out,
    markers::Places,
    messages::{Encoder, note_lead},
    options::Plan,
};
use crate::{AnthropicWire, json::write};

/// What the vendor adds to a prompt at most, in tokens: its text about tools and about formats.
const OVERHEAD: u64 = 1_536;
/// What it adds for a message, where no facts say so.
const PER_MESSAGE: u64 = 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// The model answers.
    Answer,
    /// The input is counted.
    Count,
}

pub(crate) fn encode(wire: &AnthropicWire, call: &ModelCall, purpose: Purpose) -> Result<Encoded, ProviderError> {
    let options = &call.options;
    let facts = wire.facts(&options.model);
    let generation = generation(wire, &facts, &options.model);
    let plan = Plan::of(wire, options, !call.tools.specs().is_empty(), &facts, purpose)?;
    let path = if purpose == Purpose::Answer { "messages" } else { "messages/count_tokens" };
    let parts = head(wire, path, &plan.betas)?;

    let mut body = SegmentsBuilder::new(CacheOrder::ToolsFirst)
        .identity(options.model.as_bytes())
        .identity(wire.base.as_bytes())
        .identity(wire.revision.version().as_bytes())
        .identity(plan.betas.join(",").as_bytes());
    let mut start = format!("{{\"model\":{}", json!(options.model));
    if purpose == Purpose::Answer {
        start.push_str(&format!(",\"max_tokens\":{},\"stream\":true", plan.max_tokens));
    }
    body = body.push(Section::Irrelevant, "", Block::new(start));
    for field in plan.fields {
        body = body.push(field.section, ",", Block::new(field.text));
    }

    let mut losses = plan.losses;
    let mut marked = Vec::new();
    let tools = tools::blocks(wire, call, generation, &plan.server_tools, plan.output_tool.as_ref(), &mut losses)?;
    let system = system(call, &facts, generation)?;
    for (section, name, blocks) in [(Section::Tools, ",\"tools\":[", tools), (Section::System, ",\"system\":[", system)]
    {
        if blocks.is_empty() {
            continue;
        }
        for (i, block) in blocks.iter().enumerate() {
            body = body.push(section, if i == 0 { name } else { "," }, block.clone());
        }
        // What is kept as it is takes no marker.
        let last = body.prelude_len().saturating_sub(1);
        body = body.push(Section::Irrelevant, "]", Block::new(""));
        marked.push(last);
    }

    let (target, foreign) = (wire.target(&options.model), wire.foreign);
    let mut encoder = Encoder { target, facts: &facts, foreign, calls: Vec::new() };
    let messages = call.cache.messages(generation, &call.view, |walk, entry| encoder.message(walk, entry))?;
    let note = call.note.as_deref().filter(|note| !note.trim().is_empty());
    if messages.pieces().is_empty() && note.is_none() {
        let text = "there is no message to send; the vendor wants one at least";
        return Err(ProviderError::new(ProviderErrorKind::InvalidRequest, text));
    }
    let lost = messages.losses().clone();
    body = body.push(Section::Irrelevant, ",\"messages\":[", Block::new(""));
    let places = Places {
        messages: options.cache,
        prefix: wire.prefix_cache,
        prelude: marked,
        pieces: messages.pieces(),
        previous: call.previous.as_ref(),
        taken: usize::from(plan.marked),
    };
    let slots = if purpose == Purpose::Answer { places.slots() } else { Vec::new() };
    let state = messages.state();
    body = body.messages(messages);
    for (slot, text) in slots {
        body = body.marker(slot, text);
    }
    if let Some(note) = note {
        body = body.tail(note_lead(state), &Block::new(write(&Out::text(note))?));
    }
    let mut encoded = Encoded::new(parts, body.end("]}]}").finish());
    encoded.overhead = overhead(&facts, call, plan.unbounded);
    encoded.max_output = (purpose == Purpose::Answer).then_some(plan.max_tokens);
    (encoded.losses.options, encoded.losses.messages) = (losses, lost);
    Ok(encoded)
}

/// A hash of everything besides the messages that changes how they are encoded.
fn generation(wire: &AnthropicWire, facts: &ModelFacts, model: &str) -> u64 {
    let can = &facts.abilities;
    let flags = format!(
        "anthropic 1 {:?} {} {} {} {:?} {:?}",
        wire.foreign, can.images, can.documents, can.tool_images, facts.max_image_tokens, facts.context_window
    );
    let target = wire.target(model);
    let parts = [flags.as_bytes(), target.provider.as_bytes(), crate::replay::bare(&target.model).as_bytes()];
    u64::try_from(ChainHash::of(&parts).bits() >> 64).unwrap_or_default()
}

fn head(wire: &AnthropicWire, path: &str, betas: &[String]) -> Result<Parts, ProviderError> {
    let invalid = |what: &str| ProviderError::new(ProviderErrorKind::InvalidRequest, what);
    let request = Request::post(format!("{}/{path}", wire.base)).body(());
    let (mut parts, ()) = request.map_err(|e| invalid("the address is no address").with_source(e))?.into_parts();
    parts.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    parts.headers.insert("anthropic-version", HeaderValue::from_static(wire.revision.version()));
    let mut names: Vec<&str> = Vec::new();
    for name in betas.iter().map(|name| name.trim()) {
        if !name.is_empty() && !names.contains(&name) {
            names.push(name);
        }
    }
    if !names.is_empty() {
        let value = HeaderValue::from_str(&names.join(","))
            .map_err(|e| invalid("a beta has a name that no header can hold").with_source(e))?;
        parts.headers.insert("anthropic-beta", value);
    }
    // What the caller sets himself stands once, in his words.
    parts.headers.extend(wire.headers.clone());
    Ok(parts)
}

fn system(call: &ModelCall, facts: &ModelFacts, generation: u64) -> Result<Vec<Block>, ProviderError> {
    let parts: Vec<&str> =
        call.options.system.iter().map(String::as_str).filter(|part| !part.trim().is_empty()).collect();
    let key = parts.iter().fold(ChainHash::of(&[b"system"]), |key, part| key.then(ChainHash::of(&[part.as_bytes()])));
    let build = || parts.iter().map(|part| Out::text(part).encode(facts)).collect();
    Ok(call.cache.section(generation, key.bits(), build)?.to_vec())
}

fn overhead(facts: &ModelFacts, call: &ModelCall, unbounded: bool) -> TokenBound {
    if unbounded {
        return TokenBound::Unknown;
    }
    let messages = u64::try_from(call.view.len()).unwrap_or(u64::MAX);
    let each = facts.message_overhead.unwrap_or(PER_MESSAGE);
    TokenBound::AtMost(OVERHEAD.saturating_add(messages.saturating_mul(each)))
}
