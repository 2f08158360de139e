//! Tool calls while they stream, told apart by place and id.

use agent_core::{BlockStart, ByteString, CallSlots, Events, ModelEvent};

use super::chunk::CallDelta;
use crate::json::string;

#[derive(Default)]
pub(super) struct Calls {
    slots: CallSlots,
    blocks: Vec<u32>,
    /// A call whose name has not come: what came before it.
    nameless: Option<(Option<u64>, String)>,
}

impl Calls {
    pub(super) fn blocks(&self) -> &[u32] {
        &self.blocks
    }

    /// Takes a fragment; a new call takes the block `next`. Whether it did.
    pub(super) fn take(&mut self, delta: &CallDelta<'_>, next: u32, data: &ByteString, events: &mut Events) -> bool {
        let id = delta.id.and_then(string).filter(|id| !id.is_empty());
        let function = delta.function.as_ref();
        let name = function.and_then(|f| f.name).and_then(string).filter(|name| !name.is_empty());
        let arguments = function.and_then(|f| f.arguments).map(|raw| match string(raw) {
            Some(text) => super::decode::share(data, &text),
            // An object, as some servers send it at once.
            None if raw.get() == "null" => ByteString::new(),
            None => ByteString::from(raw.get()),
        });
        let arguments = arguments.unwrap_or_default();
        let found = self.slots.find(delta.index, id.as_deref());
        // A second name at the place of a whole call is another call, even without an id.
        let (block, is_new) = match (found, &name) {
            (Some(block), _) => (block, false),
            (None, Some(name)) => {
                let block = self.slots.insert(delta.index, id.as_deref(), next);
                self.blocks.push(block);
                let vendor_id = id.map(|id| super::decode::share(data, &id));
                let start = BlockStart::ToolCall { name: super::decode::share(data, name), vendor_id };
                events.push(ModelEvent::BlockStart { block, start });
                if let Some((_, early)) = self.nameless.take_if(|(place, _)| *place == delta.index)
                    && !early.is_empty()
                {
                    events.push(ModelEvent::ArgumentsDelta { block, json: early.into() });
                }
                (block, true)
            }
            (None, None) => {
                let (_, early) = self.nameless.get_or_insert_with(|| (delta.index, String::new()));
                early.push_str(&arguments);
                return false;
            }
        };
        if !arguments.is_empty() {
            events.push(ModelEvent::ArgumentsDelta { block, json: arguments });
        }
        is_new
    }
}
