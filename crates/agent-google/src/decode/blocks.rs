//! The blocks of an answer while they arrive, numbered in the order in which they begin.
//!
//! What the vendor signs it wants back in the same parts
//! (<https://ai.google.dev/gemini-api/docs/thought-signatures>), so the place of every signature is kept: that of a
//! text as a range of its bytes.

use agent_core::{
    BlockStart, ByteString, ContentBlock, Events, ImageBlock, MediaSource, ModelEvent, OpaqueBlock, Origin,
    ProviderError, RawJson,
};
use serde_json::value::RawValue;

use super::{
    chunk::{Blob, Call, Candidate, Part},
    partial::{Misfit, PartialArgs},
    share,
};
use crate::{
    error::{protocol, text_of},
    json::{Members, string, write},
    request::{METADATA, Mark, Marks},
};

/// How much of the metadata of an answer is kept, in bytes and in values.
const MAX_METADATA: usize = 8 * 1024 * 1024;
const MAX_VALUES: usize = 256;
/// How many signatures a text may have before another one begins.
const MAX_MARKS: usize = 64;

pub(super) struct Blocks {
    pub(super) origin: Origin,
    next: u32,
    open: Open,
    calling: Option<Calling>,
    has_calls: bool,
    /// Grounding and the like: what stands beside the parts, each value once.
    metadata: Vec<(&'static str, String)>,
    metadata_bytes: usize,
}

enum Open {
    None,
    Text { block: u32, length: usize, marks: Vec<Mark> },
    Thinking { block: u32 },
}

/// A call whose arguments come in pieces.
struct Calling {
    block: u32,
    arguments: PartialArgs,
    /// Arguments that came at once, before more was announced.
    whole: Option<String>,
}

impl Blocks {
    pub(super) fn new(origin: Origin) -> Self {
        Self {
            origin,
            next: 0,
            open: Open::None,
            calling: None,
            has_calls: false,
            metadata: Vec::new(),
            metadata_bytes: 0,
        }
    }

    pub(super) fn has_calls(&self) -> bool {
        self.has_calls
    }

    pub(super) fn part(&mut self, raw: &RawValue, data: &ByteString, events: &mut Events) -> Result<(), ProviderError> {
        let Ok(part) = serde_json::from_str::<Part<'_>>(raw.get()) else { return Ok(()) };
        let signature = text_of(part.thought_signature).map(|text| share(data, &text));
        if let Some(call) = &part.function_call {
            return self.call(call, signature, data, events);
        }
        if let Some(text) = part.text.and_then(string) {
            let text = share(data, &text);
            if part.thought == Some(true) {
                self.think(text, signature, events);
            } else {
                self.say(text, signature, events)?;
            }
            return Ok(());
        }
        if let Some(image) = part.inline_data.as_ref().and_then(image) {
            self.whole(image.into(), events);
            if let Some(signature) = signature {
                // An image has no place for it.
                self.opaque(&format!("{{\"thoughtSignature\":{}}}", write(&*signature)?), events);
            }
            return Ok(());
        }
        // A part of nothing is none.
        let members = Members::read(raw.get()).unwrap_or_default();
        if members.0.iter().any(|(name, value)| name != "thought" && value.get() != "null") {
            self.opaque(raw.get(), events);
        }
        Ok(())
    }

    fn begin(&mut self, start: BlockStart, events: &mut Events) -> u32 {
        let block = self.next;
        self.next = self.next.saturating_add(1);
        events.push(ModelEvent::BlockStart { block, start });
        block
    }

    /// Ends the text or thinking that is open.
    fn close(&mut self, events: &mut Events) {
        if let Open::Text { block, .. } | Open::Thinking { block } = std::mem::replace(&mut self.open, Open::None) {
            events.push(ModelEvent::BlockEnd { block });
        }
    }

    fn say(
        &mut self,
        text: ByteString,
        signature: Option<ByteString>,
        events: &mut Events,
    ) -> Result<(), ProviderError> {
        if text.is_empty() && signature.is_none() {
            return Ok(());
        }
        if !matches!(&self.open, Open::Text { marks, .. } if marks.len() < MAX_MARKS) {
            self.close(events);
            let block = self.begin(BlockStart::Text, events);
            self.open = Open::Text { block, length: 0, marks: Vec::new() };
        }
        let Open::Text { block, length, marks } = &mut self.open else { return Ok(()) };
        let (block, from) = (*block, *length);
        *length = length.saturating_add(text.len());
        if !text.is_empty() {
            events.push(ModelEvent::TextDelta { block, text });
        }
        if let Some(signature) = signature {
            marks.push(Mark { from, to: *length, signature: signature.to_string() });
            let metadata = Marks::of(marks)?;
            events.push(ModelEvent::Metadata { block, metadata });
        }
        Ok(())
    }

    fn think(&mut self, text: ByteString, signature: Option<ByteString>, events: &mut Events) {
        if text.is_empty() && signature.is_none() {
            return;
        }
        // A signature covers its own part, not what came before it.
        if signature.is_some() || !matches!(self.open, Open::Thinking { .. }) {
            self.close(events);
            let start = BlockStart::Thinking { origin: self.origin.clone(), encrypted: None };
            let block = self.begin(start, events);
            self.open = Open::Thinking { block };
        }
        let Open::Thinking { block } = self.open else { return };
        if !text.is_empty() {
            events.push(ModelEvent::ThinkingDelta { block, text });
        }
        if let Some(signature) = signature {
            events.push(ModelEvent::SignatureDelta { block, signature });
            self.close(events);
        }
    }

    fn call(
        &mut self,
        call: &Call<'_>,
        signature: Option<ByteString>,
        data: &ByteString,
        events: &mut Events,
    ) -> Result<(), ProviderError> {
        let continues = call.will_continue == Some(true);
        let pieces = call.partial_args.as_deref().unwrap_or_default();
        let whole = call.args.filter(|raw| raw.get() != "null").map(RawValue::get);
        let metadata = match &signature {
            Some(signature) => Some(signature_metadata(signature)?),
            None => None,
        };
        if let Some(name) = text_of(call.name) {
            // One that was to go on and did not is cut off.
            self.cut_call(events);
            self.close(events);
            let vendor_id = text_of(call.id).map(|id| share(data, &id));
            let start = BlockStart::ToolCall { name: share(data, &name), vendor_id };
            let block = self.begin(start, events);
            self.has_calls = true;
            if continues || !pieces.is_empty() {
                let whole = whole.map(str::to_owned);
                self.calling = Some(Calling { block, arguments: PartialArgs::default(), whole });
            } else {
                if let Some(text) = whole {
                    events.push(ModelEvent::ArgumentsDelta { block, json: data.slice_ref(text) });
                }
                attach(block, metadata, events);
                events.push(ModelEvent::BlockEnd { block });
                return Ok(());
            }
        }
        // A call that has no name and follows none cannot be run, and is none.
        let Some(calling) = &mut self.calling else { return Ok(()) };
        for piece in pieces {
            calling.arguments.push(piece).map_err(|Misfit(what)| protocol(what))?;
        }
        attach(calling.block, metadata, events);
        if !continues && let Some(calling) = self.calling.take() {
            let (block, json) = (calling.block, calling.json());
            events.push(ModelEvent::ArgumentsDelta { block, json: json.into() });
            events.push(ModelEvent::BlockEnd { block });
        }
        Ok(())
    }

    /// Gives out what came of a call that did not end, as what it is: cut off.
    fn cut_call(&mut self, events: &mut Events) {
        let Some(calling) = self.calling.take() else { return };
        let mut json = calling.json();
        json.pop();
        events.push(ModelEvent::ArgumentsDelta { block: calling.block, json: json.into() });
    }

    fn whole(&mut self, block: ContentBlock, events: &mut Events) {
        self.close(events);
        self.begin(BlockStart::Whole(block), events);
    }

    fn opaque(&mut self, text: &str, events: &mut Events) {
        if let Ok(data) = RawJson::parse(text) {
            self.whole(ContentBlock::Opaque(OpaqueBlock::new(self.origin.clone(), data)), events);
        }
    }

    /// Keeps what stands beside the parts; a value that comes again is kept once.
    pub(super) fn metadata(&mut self, candidate: &Candidate<'_>) -> Result<(), ProviderError> {
        let [grounding, url_context, citation, logprobs] = METADATA;
        let found = [
            (grounding, candidate.grounding_metadata),
            (url_context, candidate.url_context_metadata),
            (citation, candidate.citation_metadata),
            (logprobs, candidate.logprobs_result),
        ];
        for (name, raw) in found.into_iter().filter_map(|(name, raw)| Some((name, raw?.get()))) {
            let known = self.metadata.iter().any(|(known, text)| *known == name && text == raw);
            if known || matches!(raw.trim(), "null" | "{}") {
                continue;
            }
            self.metadata_bytes = self.metadata_bytes.saturating_add(raw.len());
            if self.metadata_bytes > MAX_METADATA || self.metadata.len() >= MAX_VALUES {
                let text = format!("the answer has more than {MAX_METADATA} bytes or {MAX_VALUES} values of metadata");
                return Err(protocol(text));
            }
            self.metadata.push((name, raw.to_owned()));
        }
        Ok(())
    }

    /// Ends what is open, and gives out what was kept for the end.
    pub(super) fn finish(&mut self, events: &mut Events) {
        self.close(events);
        self.cut_call(events);
        for (name, raw) in std::mem::take(&mut self.metadata) {
            self.opaque(&format!("{{\"{name}\":{raw}}}"), events);
        }
    }
}

impl Calling {
    fn json(&self) -> String {
        match &self.whole {
            Some(whole) => whole.clone(),
            None => self.arguments.to_json(),
        }
    }
}

/// Puts metadata out, where there is any.
fn attach(block: u32, metadata: Option<RawJson>, events: &mut Events) {
    if let Some(metadata) = metadata {
        events.push(ModelEvent::Metadata { block, metadata });
    }
}

fn signature_metadata(signature: &str) -> Result<RawJson, ProviderError> {
    let text = format!("{{\"thoughtSignature\":{}}}", write(signature)?);
    RawJson::parse(text).map_err(|e| protocol("a signature cannot be kept").with_source(e))
}

fn image(blob: &Blob<'_>) -> Option<ImageBlock> {
    let media_type = text_of(blob.mime_type).filter(|kind| kind.starts_with("image/"))?;
    let data = blob.data.and_then(string)?;
    Some(ImageBlock::new(MediaSource::Base64(data.into_owned())).media_type(media_type))
}
