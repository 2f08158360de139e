//! The toy encoding: JSON in real segments, so that chain, cache guard and bound have something to
//! work on.

use agent_core::{
    Block, CacheLifetime, CacheOrder, ChainHash, ContentBlock, DocumentBlock, ImageBlock, MarkerSlot, MediaSource,
    MessageWalk, ModelCall, Origin, ProviderError, ProviderErrorKind, RawJson, Section, Segments, SegmentsBuilder,
    TokenBound, ToolSpec, ViewEntry,
};

/// What an image or document costs at most, in tokens.
const MEDIA: TokenBound = TokenBound::AtMost(2_000);
const MARKER: &str = r#","cache":true"#;

/// The body of a call.
pub(super) fn segments(call: &ModelCall, origin: &Origin) -> Result<Segments, ProviderError> {
    let options = &call.options;
    let identity = [&origin.protocol, &origin.provider, &origin.model];
    let generation =
        identity.iter().fold(ChainHash::default(), |hash, part| hash.then(ChainHash::of(&[part.as_bytes()])));
    // The upper half of the bits: any 64 of them do.
    let generation = u64::try_from(generation.bits() >> 64).unwrap_or_default();

    let mut body = SegmentsBuilder::new(CacheOrder::ToolsFirst);
    for part in identity {
        body = body.identity(part.as_bytes());
    }
    body = body.push(Section::Irrelevant, r#"{"model":"#, json(&options.model)?);
    if let Some(tokens) = options.max_output {
        body = body.push(Section::Irrelevant, r#","maxOutput":"#, json(&tokens)?);
    }
    body = body.push(Section::Irrelevant, r#","temperature":"#, json(&options.temperature)?);
    body = body.push(Section::MessageOption, r#","toolChoice":"#, json(&options.tool_choice)?);
    body = body.push(Section::MessageOption, r#","reasoning":"#, json(&options.reasoning)?);
    if let Some(schema) = &options.output_schema {
        body = body.push(Section::Option, r#","schema":"#, json(&schema.schema)?);
    }

    body = body.push(Section::Irrelevant, r#","tools":["#, Block::new(""));
    let tools = call.cache.section(generation, call.tools.hash().bits(), || {
        call.tools.specs().iter().map(tool).collect::<Result<Vec<_>, ProviderError>>()
    })?;
    for (lead, block) in leads().zip(&*tools) {
        body = body.push(Section::Tools, lead, block.clone());
    }
    body = body.push(Section::Irrelevant, r#"],"system":["#, Block::new(""));
    for (lead, part) in leads().zip(&options.system) {
        body = body.push(Section::System, lead, json(part)?);
    }
    body = body.push(Section::Irrelevant, r#"],"messages":["#, Block::new(""));

    let messages = call.cache.messages(generation, &call.view, message)?;
    let count = messages.pieces().len();
    if options.cache != CacheLifetime::Off {
        // As real wires do: where the last request ended, and where this one does.
        let before = call.previous.map(|chain| usize::try_from(chain.count).unwrap_or(count));
        let mut slots: Vec<usize> = before.into_iter().chain([count]).collect();
        slots.retain(|slot| *slot > 0 && *slot <= count);
        slots.dedup();
        for slot in slots {
            body = body.marker(MarkerSlot::Message(slot - 1), MARKER);
        }
    }
    body = body.messages(messages);
    if let Some(note) = &call.note {
        let note = Block::new(format!(r#"{{"role":"note","text":{}"#, text(&**note)?)).close("}");
        body = body.tail(if count == 0 { "" } else { "," }, &note);
    }
    Ok(body.end("]}").finish())
}

fn message(walk: &mut MessageWalk, entry: &ViewEntry) -> Result<(), ProviderError> {
    let message = entry.message();
    let role = message.role();
    let call = match &**message {
        agent_core::Message::ToolResult(result) => format!(r#","call":"{}""#, result.call),
        _ => String::new(),
    };
    let empty = message.content().is_empty().then_some(None);
    let blocks = message.content().iter().map(Some).chain(empty);
    for (index, content) in (0u32..).zip(blocks) {
        let lead = if walk.state() == 0 { "" } else { "," };
        walk.set_state(1);
        walk.block(index, 0, lead, || {
            let block = text(&content)?;
            let block = Block::new(format!(r#"{{"role":"{role}"{call},"block":{block}"#)).close("}");
            Ok::<_, ProviderError>(match content.and_then(media) {
                Some(bound) => block.bound(bound),
                None => block,
            })
        })?;
    }
    Ok(())
}

fn media(content: &ContentBlock) -> Option<TokenBound> {
    match content {
        ContentBlock::Image(ImageBlock { source, .. }) | ContentBlock::Document(DocumentBlock { source, .. }) => {
            match source {
                MediaSource::Url(_) => Some(TokenBound::Unknown),
                _ => Some(MEDIA),
            }
        }
        _ => None,
    }
}

fn tool(spec: &ToolSpec) -> Result<Block, ProviderError> {
    let (name, description) = (text(spec.name())?, text(spec.description())?);
    let schema = spec.schema();
    let body = format!(r#"{{"name":{name},"description":{description},"schema":{schema}"#);
    Ok(Block::new(body).close("}"))
}

fn leads() -> impl Iterator<Item = &'static str> {
    std::iter::once("").chain(std::iter::repeat(","))
}

fn json<T: serde::Serialize + ?Sized>(value: &T) -> Result<Block, ProviderError> {
    text(value).map(Block::new)
}

fn text<T: serde::Serialize + ?Sized>(value: &T) -> Result<String, ProviderError> {
    RawJson::of(value)
        .map(|raw| raw.get().to_owned())
        .map_err(|e| ProviderError::new(ProviderErrorKind::Unsupported, "the call has no JSON form").with_source(e))
}
