//! A call as `streamGenerateContent`: options, system prompt, functions, then the contents
//! (<https://ai.google.dev/api/generate-content>).

mod messages;
mod options;
mod parts;
mod tools;

use agent_core::{
    Block, CacheOrder, ChainHash, Encoded, ModelCall, ModelFacts, Origin, ProviderError, ProviderErrorKind, Section,
    SegmentsBuilder, TokenBound,
};
use http::{HeaderValue, Request, header, request::Parts};

use self::{
    messages::{Encoder, USER, lead},
    options::has_quirk,
    parts::Part,
};
pub(crate) use self::{
    parts::{METADATA, Mark, Marks},
    tools::ToolLosses,
};
use crate::{BEFORE_3, GoogleWire, json::write, place::Place};

/// What the vendor adds to a prompt at most, in tokens: its text about functions and formats.
const OVERHEAD: u64 = 1_024;
/// What it adds for a message, where no facts say so.
const PER_MESSAGE: u64 = 16;

pub(crate) fn encode(wire: &GoogleWire, call: &ModelCall) -> Result<Encoded, ProviderError> {
    let model = &call.options.model;
    let facts = wire.facts(model);
    let mut plan = options::plan(wire, call, &facts)?;
    let target = wire.target(model);
    let invents_ids = wire.place == Place::Gemini;
    let generation = generation(&facts, &target, invents_ids);

    let mut body = SegmentsBuilder::new(CacheOrder::SystemFirst)
        .identity(model.as_bytes())
        .identity(wire.base.as_bytes())
        .push(Section::Irrelevant, "{\"generationConfig\":{", Block::new(""));
    for (index, (section, name, value)) in plan.config.iter().enumerate() {
        let field = Block::new(format!("{}:{value}", write(name)?));
        body = body.push(*section, if index == 0 { "" } else { "," }, field);
    }
    body = body.push(Section::Irrelevant, "}", Block::new(""));
    for (section, name, value) in &plan.fields {
        body = body.push(*section, ",", Block::new(format!("{}:{value}", write(name)?)));
    }
    if !plan.is_cached {
        body = system(body, call, plan.instruction.as_deref())?;
        let functions = tools::blocks(wire, call, generation, &mut plan.losses)?;
        body = functions_of(body, &functions, &plan.tools);
    }
    body = body.push(Section::Irrelevant, ",\"contents\":[", Block::new(""));

    let before_3 = has_quirk(&facts, BEFORE_3);
    let mut encoder = Encoder { target, facts: &facts, before_3, invents_ids, calls: Vec::new() };
    let messages = call.cache.messages(generation, &call.view, |walk, entry| encoder.message(walk, entry))?;
    let note = call.note.as_deref().filter(|note| !note.trim().is_empty());
    if messages.pieces().is_empty() && note.is_none() {
        let text = "there is no message to send; the vendor wants one at least";
        return Err(ProviderError::new(ProviderErrorKind::InvalidRequest, text));
    }
    let lost = messages.losses().clone();
    let state = messages.state();
    body = body.messages(messages);
    if let Some(note) = note {
        body = body.tail(lead(state, USER), &Block::new(write(&Part::text(note))?));
    }
    let mut encoded = Encoded::new(head(wire, model)?, body.end("]}]}").finish());
    let count = u64::try_from(call.view.len()).unwrap_or(u64::MAX);
    let each = facts.message_overhead.unwrap_or(PER_MESSAGE);
    // What stands in cached content, or what the vendor's tools find, is not in the request.
    encoded.overhead = if plan.is_cached || !plan.tools.is_empty() {
        TokenBound::Unknown
    } else {
        TokenBound::AtMost(OVERHEAD.saturating_add(count.saturating_mul(each)))
    };
    encoded.max_output = facts.output_bound(call.options.max_output);
    (encoded.losses.options, encoded.losses.messages) = (plan.losses, lost);
    Ok(encoded)
}

fn system(
    mut body: SegmentsBuilder,
    call: &ModelCall,
    instruction: Option<&str>,
) -> Result<SegmentsBuilder, ProviderError> {
    let own = call.options.system.iter().map(String::as_str).chain(instruction);
    let texts: Vec<&str> = own.filter(|text| !text.trim().is_empty()).collect();
    for (index, text) in texts.iter().enumerate() {
        let lead = if index == 0 { ",\"systemInstruction\":{\"parts\":[" } else { "," };
        body = body.push(Section::System, lead, Block::new(write(&Part::text(text))?));
    }
    Ok(if texts.is_empty() { body } else { body.push(Section::Irrelevant, "]}", Block::new("")) })
}

fn functions_of(mut body: SegmentsBuilder, functions: &[Block], vendors: &[String]) -> SegmentsBuilder {
    if functions.is_empty() && vendors.is_empty() {
        return body;
    }
    for (index, block) in functions.iter().enumerate() {
        let lead = if index == 0 { ",\"tools\":[{\"functionDeclarations\":[" } else { "," };
        body = body.push(Section::Tools, lead, block.clone());
    }
    if !functions.is_empty() {
        body = body.push(Section::Irrelevant, "]}", Block::new(""));
    }
    for (index, tool) in vendors.iter().enumerate() {
        let lead = if index == 0 && functions.is_empty() { ",\"tools\":[" } else { "," };
        body = body.push(Section::Tools, lead, Block::new(tool.clone()));
    }
    body.push(Section::Irrelevant, "]", Block::new(""))
}

/// A hash of everything besides the messages that changes how they are encoded.
fn generation(facts: &ModelFacts, target: &Origin, invents_ids: bool) -> u64 {
    let can = &facts.abilities;
    let flags = format!(
        "gemini 1 {target:?} {invents_ids} {} {} {} {} {:?} {:?}",
        can.images,
        can.documents,
        can.tool_images,
        has_quirk(facts, BEFORE_3),
        facts.max_image_tokens,
        facts.context_window,
    );
    u64::try_from(ChainHash::of(&[flags.as_bytes()]).bits() >> 64).unwrap_or_default()
}

fn head(wire: &GoogleWire, model: &str) -> Result<Parts, ProviderError> {
    let request = Request::post(wire.place.stream_of(&wire.base, wire.version, model)).body(());
    let (mut parts, ()) = request
        .map_err(|source| {
            ProviderError::new(ProviderErrorKind::InvalidRequest, "the address is no address").with_source(source)
        })?
        .into_parts();
    parts.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    // What the caller sets himself stands once, in his words.
    parts.headers.extend(wire.headers.clone());
    Ok(parts)
}
