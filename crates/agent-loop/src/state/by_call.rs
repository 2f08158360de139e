//! A few things by their calls, in the order in which they came.
//!
//! A map of the standard library takes 3 KB for its first entry of this size; there are as many entries as calls of one
//! answer, and often a single one that waits for days.

use agent_core::CallId;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ByCall<T>(Vec<(CallId, Box<T>)>);

impl<T> Default for ByCall<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> ByCall<T> {
    pub(crate) fn get(&self, call: CallId) -> Option<&T> {
        self.0.iter().find(|(id, _)| *id == call).map(|(_, one)| &**one)
    }

    pub(crate) fn contains(&self, call: CallId) -> bool {
        self.get(call).is_some()
    }

    pub(super) fn get_mut(&mut self, call: CallId) -> Option<&mut T> {
        self.0.iter_mut().find(|(id, _)| *id == call).map(|(_, one)| &mut **one)
    }

    /// Puts one, in the place of an earlier one of the same call.
    pub(super) fn insert(&mut self, call: CallId, one: T) {
        match self.get_mut(call) {
            Some(old) => *old = one,
            None => {
                self.0.reserve_exact(1);
                self.0.push((call, Box::new(one)));
            }
        }
    }

    pub(super) fn remove(&mut self, call: CallId) -> Option<T> {
        let at = self.0.iter().position(|(id, _)| *id == call)?;
        Some(*self.0.remove(at).1)
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = &T> {
        self.0.iter().map(|(_, one)| &**one)
    }
}
