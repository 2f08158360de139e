//! The items of an answer while they stream, told apart by place and id.

/// What an item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Message,
    Reasoning,
    Call,
    /// A call of a tool whose input is text.
    Custom,
    /// The vendor's own, kept as it is.
    Other,
}

/// An item.
pub(super) struct Slot {
    place: Option<u64>,
    id: Option<String>,
    pub(super) kind: Kind,
    /// Its blocks by their place in it: parts of a message, the one block of everything else.
    pub(super) blocks: Vec<(u64, u32)>,
    /// What was streamed of a call's arguments or input, or of the part of reasoning that streams.
    pub(super) streamed: String,
    /// The part of reasoning that streams.
    pub(super) part: Option<u64>,
    pub(super) done: bool,
    /// It was cut off.
    pub(super) cut: bool,
}

#[derive(Default)]
pub(super) struct Slots(Vec<Slot>);

impl Slots {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Slot> {
        self.0.iter()
    }

    /// The item of an event. Places win over ids, which some gateways change from event to event; where there are
    /// neither, it is the newest of its kind that is not done.
    pub(super) fn find(&self, place: Option<u64>, id: Option<&str>, kind: Option<Kind>) -> Option<usize> {
        let fits = |slot: &Slot| kind.is_none_or(|kind| slot.kind == kind);
        let placed = |slot: &Slot| place.is_some() && slot.place == place;
        let named = |slot: &Slot| id.is_some() && slot.id.as_deref() == id && (place.is_none() || slot.place.is_none());
        let nameless = |slot: &Slot| place.is_none() && id.is_none() && !slot.done;
        self.0.iter().rposition(|slot| fits(slot) && (placed(slot) || named(slot) || nameless(slot)))
    }

    pub(super) fn open(&mut self, place: Option<u64>, id: Option<&str>, kind: Kind) -> usize {
        let (id, blocks, streamed) = (id.map(str::to_owned), Vec::new(), String::new());
        self.0.push(Slot { place, id, kind, blocks, streamed, part: None, done: false, cut: false });
        self.0.len().saturating_sub(1)
    }

    pub(super) fn get_mut(&mut self, at: usize) -> Option<&mut Slot> {
        self.0.get_mut(at)
    }
}
