//! Items that are whole: what of them was not streamed, and what goes back with them.

use std::borrow::Cow;

use agent_core::{
    BlockStart, ByteString, ContentBlock, Events, ModelEvent, OpaqueBlock, RawJson, json_string as string,
};
use serde_json::value::RawValue;

use super::{
    ResponsesDecoder,
    decode::Adds,
    event::{Item, ItemPart},
    slots::Kind,
};
use crate::chat::share;

impl ResponsesDecoder {
    /// What was not streamed of a call's arguments.
    pub(super) fn complete(&mut self, at: usize, whole: &str, events: &mut Events) {
        let Some(block) = self.block_of(at, 0) else { return };
        let streamed = self.slots.get_mut(at).map(|slot| slot.streamed.clone()).unwrap_or_default();
        if let Some(rest) = whole.strip_prefix(&*streamed) {
            self.add(Adds::Arguments(at), block, rest.into(), events);
        }
    }

    /// Text for a tool that takes text: the arguments are an object that holds it.
    pub(super) fn custom(&mut self, at: usize, text: &str, events: &mut Events) {
        let Some(block) = self.block_of(at, 0) else { return };
        let Some(slot) = self.slots.get_mut(at) else { return };
        let first = slot.streamed.is_empty();
        slot.streamed.push_str(text);
        let escaped = serde_json::to_string(text).unwrap_or_default();
        let inner = escaped.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or_default();
        let json = format!("{}{inner}", if first { "{\"input\":\"" } else { "" });
        events.push(ModelEvent::ArgumentsDelta { block, json: json.into() });
    }

    pub(super) fn item_done(&mut self, place: Option<u64>, raw: &RawValue, data: &ByteString, events: &mut Events) {
        let item: Item<'_> = serde_json::from_str(raw.get()).unwrap_or_default();
        let id = item.id.and_then(string);
        let found = self.slots.find(place, id.as_deref(), None);
        let at = found.unwrap_or_else(|| self.item_added(place, raw, data, events));
        let Some(slot) = self.slots.get_mut(at) else { return };
        (slot.done, slot.cut) = (true, item.status.and_then(string).is_some_and(|status| status == "incomplete"));
        match slot.kind {
            Kind::Message => self.message_done(at, &item, data, events),
            Kind::Reasoning => self.reasoning_done(at, &item, raw, events),
            Kind::Call => {
                if let Some(arguments) = item.arguments.and_then(string) {
                    self.complete(at, &arguments, events);
                }
                self.tag(at, &item, false, events);
            }
            Kind::Custom => {
                let streamed = self.slots.get_mut(at).map(|slot| slot.streamed.clone()).unwrap_or_default();
                let whole = item.input.and_then(string).unwrap_or_default();
                if let Some(rest) =
                    whole.strip_prefix(&*streamed).filter(|rest| !rest.is_empty() || streamed.is_empty())
                {
                    self.custom(at, rest, events);
                }
                if let Some(block) = self.block_of(at, 0) {
                    events.push(ModelEvent::ArgumentsDelta { block, json: ByteString::from_static("\"}") });
                }
                self.tag(at, &item, true, events);
            }
            Kind::Other => {
                if let Ok(data) = RawJson::parse(raw.get()) {
                    let block = OpaqueBlock::new(self.origin.clone(), data);
                    let block = self.new_block(at, 0, BlockStart::Whole(ContentBlock::Opaque(block)), events);
                    events.push(ModelEvent::BlockEnd { block });
                }
            }
        }
    }

    /// Keeps the vendor's id of an item, which goes back with it.
    fn tag(&mut self, at: usize, item: &Item<'_>, custom: bool, events: &mut Events) {
        let (Some(block), Some(id)) = (self.block_of(at, 0), item.id) else { return };
        let custom = if custom { ",\"custom\":true" } else { "" };
        let metadata = RawJson::parse(format!("{{\"itemId\":{}{custom}}}", id.get()));
        events.extend(metadata.ok().map(|metadata| ModelEvent::Metadata { block, metadata }));
    }

    fn message_done(&mut self, at: usize, item: &Item<'_>, data: &ByteString, events: &mut Events) {
        for (part, content) in (0..).zip(item.content.as_deref().unwrap_or_default()) {
            let ItemPart { text, refusal, annotations } = content;
            self.refused |= refusal.is_some();
            let known = self.block_of(at, part);
            let whole = text.or(*refusal).and_then(string).filter(|text| known.is_none() && !text.is_empty());
            let block = match (known, whole) {
                (Some(block), _) => block,
                (None, Some(text)) => {
                    let block = self.new_block(at, part, BlockStart::Text, events);
                    self.add(Adds::Text, block, share(data, &text), events);
                    block
                }
                (None, None) => continue,
            };
            let cited = annotations.filter(|raw| !matches!(raw.get(), "null" | "[]"));
            let cited = cited.map(|raw| format!(",\"annotations\":{}", raw.get())).unwrap_or_default();
            let id = item.id.map_or("null", RawValue::get);
            let phase = item.phase.filter(|raw| raw.get().starts_with('"'));
            let phase = phase.map(|raw| format!(",\"phase\":{}", raw.get())).unwrap_or_default();
            let metadata = RawJson::parse(format!("{{\"itemId\":{id}{phase}{cited}}}"));
            events.extend(metadata.ok().map(|metadata| ModelEvent::Metadata { block, metadata }));
            events.push(ModelEvent::BlockEnd { block });
        }
    }

    fn reasoning_done(&mut self, at: usize, item: &Item<'_>, raw: &RawValue, events: &mut Events) {
        let has_block = self.block_of(at, 0).is_some();
        let block = self.reasoning_block(at, events);
        if !has_block {
            let parts = item.summary.iter().flatten().chain(item.content.iter().flatten());
            let texts: Vec<Cow<'_, str>> = parts.filter_map(|part| part.text).filter_map(string).collect();
            self.add(Adds::Thinking, block, texts.join("\n\n").into(), events);
        }
        // Only what is encrypted can go back without the vendor's store.
        if item.encrypted_content.and_then(string).is_some_and(|text| !text.is_empty()) {
            events.push(ModelEvent::SignatureDelta { block, signature: raw.get().into() });
        }
        events.push(ModelEvent::BlockEnd { block });
    }
}
