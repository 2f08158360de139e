//! Tells apart the tool calls of vendors that name them by a place, an id, both or neither.

/// Finds the block of a streamed tool call.
///
/// A vendor names the call that a fragment belongs to by a place in its list, an id, both, or (for
/// later fragments) only one of them. Some give two calls the same place, and only the id tells
/// them apart; some leave gaps.
///
/// ```
/// use agent_core::CallSlots;
/// let mut slots = CallSlots::new();
/// let mut next = 1; // the next free block
/// let mut block = |at, id| match slots.find(at, id) {
///     Some(block) => block,
///     None => {
///         next += 1;
///         slots.insert(at, id, next - 1)
///     }
/// };
/// assert_eq!(block(Some(0), Some("a")), 1);
/// assert_eq!(block(Some(0), None), 1);      // a later fragment
/// assert_eq!(block(Some(0), Some("b")), 2); // the same place, another call
/// assert_eq!(block(Some(0), None), 2);      // belongs to the newest call at that place
/// assert_eq!(block(None, Some("a")), 1);
/// ```
#[derive(Debug, Default)]
pub struct CallSlots(Vec<Slot>);

#[derive(Debug)]
struct Slot {
    place: Option<u64>,
    id: Option<String>,
    block: u32,
}

impl CallSlots {
    /// No calls yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The block of the call that a fragment with this place and id belongs to; `None` where it
    /// begins a new call. An empty id is no id. A place or an id that comes late is noted.
    pub fn find(&mut self, place: Option<u64>, id: Option<&str>) -> Option<u32> {
        let id = id.filter(|id| !id.is_empty());
        let fits = |slot: &&mut Slot| {
            let same_place = place.is_none() || slot.place.is_none() || slot.place == place;
            match (id, &slot.id) {
                (Some(id), Some(known)) => known == id && same_place,
                // The id came late: it belongs to the call that waits at this place.
                (Some(_), None) => place.is_some() && slot.place == place,
                (None, _) => place.is_none() || slot.place == place,
            }
        };
        let slot = self.0.iter_mut().rev().find(fits)?;
        (slot.place, slot.id) = (slot.place.or(place), slot.id.take().or(id.map(str::to_owned)));
        Some(slot.block)
    }

    /// Notes that a new call takes this block, and returns the block.
    pub fn insert(&mut self, place: Option<u64>, id: Option<&str>, block: u32) -> u32 {
        let id = id.filter(|id| !id.is_empty()).map(str::to_owned);
        self.0.push(Slot { place, id, block });
        block
    }
}
