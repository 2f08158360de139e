//! Tool calls while they stream, told apart by place and id.

use agent_core::{BlockStart, ByteString, CallSlots, Events, ModelEvent, RawJson, json_string as string};
use serde_json::value::RawValue;

use super::{chunk::CallDelta, decode::share};

#[derive(Default)]
pub(super) struct Calls {
    slots: CallSlots,
    blocks: Vec<u32>,
    /// The arguments of each call so far, by its block.
    texts: Vec<(u32, String)>,
    nameless: Vec<Nameless>,
}

/// A call whose name has not come: what came before it.
struct Nameless {
    place: Option<u64>,
    id: Option<ByteString>,
    arguments: String,
}

impl Calls {
    pub(super) fn blocks(&self) -> &[u32] {
        &self.blocks
    }

    /// Takes a fragment; a new call takes the block `next`. Whether it did.
    pub(super) fn take(&mut self, delta: &CallDelta<'_>, next: u32, data: &ByteString, events: &mut Events) -> bool {
        let text = |raw: &RawValue| string(raw).map(|text| share(data, &text)).filter(|text| !text.is_empty());
        let (id, function) = (delta.id.and_then(text), delta.function.as_ref());
        let name = function.and_then(|f| f.name).and_then(text);
        let arguments = function.and_then(|f| f.arguments).map(|raw| match string(raw) {
            Some(text) => share(data, &text),
            // An object, as some servers send it at once.
            None if raw.get() == "null" => ByteString::new(),
            None => ByteString::from(raw.get()),
        });
        let arguments = arguments.unwrap_or_default();
        let found = self.slots.find(delta.index, id.as_deref());
        // A name without an id at the place of a call that is whole is another call.
        let found = found.filter(|block| name.is_none() || id.is_some() || !self.is_whole(*block));
        let (block, is_new) = match (found, name) {
            (Some(block), _) => (block, false),
            (None, Some(name)) => {
                let early = self.nameless.iter().position(|one| one.place == delta.index);
                let early = early.map(|at| self.nameless.remove(at));
                let (early_id, early) = early.map_or((None, String::new()), |one| (one.id, one.arguments));
                let vendor_id = id.or(early_id);
                let block = self.slots.insert(delta.index, vendor_id.as_deref(), next);
                self.blocks.push(block);
                events.push(ModelEvent::BlockStart { block, start: BlockStart::ToolCall { name, vendor_id } });
                self.add(block, early.into(), events);
                (block, true)
            }
            (None, None) => {
                match self.nameless.iter_mut().find(|one| one.place == delta.index) {
                    Some(one) => {
                        one.id = one.id.take().or(id);
                        one.arguments.push_str(&arguments);
                    }
                    None => {
                        let arguments = arguments.to_string();
                        self.nameless.push(Nameless { place: delta.index, id, arguments });
                    }
                }
                return false;
            }
        };
        self.add(block, arguments, events);
        let extra = delta.extra_content.filter(|raw| raw.get() != "null");
        let metadata = extra.and_then(|raw| RawJson::parse(format!("{{\"extra_content\":{}}}", raw.get())).ok());
        events.extend(metadata.map(|metadata| ModelEvent::Metadata { block, metadata }));
        is_new
    }

    /// A call that came at once, in its own block.
    pub(super) fn whole(&mut self, name: String, arguments: String, block: u32, events: &mut Events) {
        let start = BlockStart::ToolCall { name: name.into(), vendor_id: None };
        events.push(ModelEvent::BlockStart { block, start });
        if !arguments.is_empty() {
            events.push(ModelEvent::ArgumentsDelta { block, json: arguments.into() });
        }
        self.blocks.push(block);
    }

    /// The block that a fragment adds its arguments to, where it does nothing else.
    pub(super) fn only_adds(&mut self, delta: &CallDelta<'_>) -> Option<u32> {
        let is_empty = |raw: &RawValue| matches!(raw.get(), "null" | "\"\"");
        let nameless = delta.function.as_ref()?.name.is_none_or(is_empty);
        let alone = delta.extra_content.is_none_or(is_empty);
        let id = delta.id.filter(|raw| !is_empty(raw));
        let id = id.and_then(string);
        self.slots.find(delta.index, id.as_deref()).filter(|_| nameless && alone)
    }

    /// Adds to the arguments of a call.
    pub(super) fn add(&mut self, block: u32, json: ByteString, events: &mut Events) {
        if json.is_empty() {
            return;
        }
        match self.texts.iter_mut().find(|(known, _)| *known == block) {
            Some((_, text)) => text.push_str(&json),
            None => self.texts.push((block, json.to_string())),
        }
        events.push(ModelEvent::ArgumentsDelta { block, json });
    }

    fn is_whole(&self, block: u32) -> bool {
        let text = self.texts.iter().find(|(known, _)| *known == block).map(|(_, text)| text.trim_end());
        text.is_some_and(|text| text.ends_with('}') && serde_json::from_str::<&RawValue>(text).is_ok())
    }
}
