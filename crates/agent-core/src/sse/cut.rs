//! The line that the end of a chunk cut.

use std::mem;

use super::error::SseError;
use super::field;
use super::pending::Pending;

/// The line, if any, whose start lies in chunks that are gone, and where in the stream it begins.
#[derive(Debug, Default)]
pub(super) enum Cut {
    #[default]
    None,
    /// It may be one of a known field: what came of it.
    Kept { offset: u64, bytes: Vec<u8> },
    /// A comment or an unknown field: only counted.
    Ignored { offset: u64, len: usize },
}

impl Cut {
    #[inline]
    pub(super) fn is_none(&self) -> bool {
        matches!(self, Cut::None)
    }

    /// Takes in bytes at `offset` in which no line ends.
    pub(super) fn extend(&mut self, more: &[u8], offset: u64, pending: &Pending, limit: usize) -> Result<(), SseError> {
        let (offset, total) = match mem::take(self) {
            Cut::None if field::may_be_known(more) => self.keep(offset, Vec::new(), more, pending, limit)?,
            Cut::None => self.ignore(offset, more.len()),
            Cut::Ignored { offset, len } => self.ignore(offset, len.saturating_add(more.len())),
            Cut::Kept { offset, bytes } => self.keep(offset, bytes, more, pending, limit)?,
        };
        if total > limit { Err(SseError::TooLarge { limit, offset }) } else { Ok(()) }
    }

    fn ignore(&mut self, offset: u64, len: usize) -> (u64, usize) {
        *self = Cut::Ignored { offset, len };
        (offset, len)
    }

    /// Keeps the bytes, unless they show that the field is unknown; what counts for the limit.
    fn keep(
        &mut self,
        offset: u64,
        mut bytes: Vec<u8>,
        more: &[u8],
        pending: &Pending,
        limit: usize,
    ) -> Result<(u64, usize), SseError> {
        let len = bytes.len() + more.len();
        let undecided = bytes.len() <= field::LONGEST_NAME;
        if !undecided && pending.bytes_with(len) > limit {
            return Err(SseError::TooLarge { limit, offset });
        }
        bytes.extend_from_slice(more);
        if undecided && !field::may_be_known(&bytes) {
            return Ok(self.ignore(offset, len));
        }
        *self = Cut::Kept { offset, bytes };
        // Too short to tell how it is counted: what comes out must not depend on the cuts.
        let total = if len <= field::LONGEST_NAME { 0 } else { pending.bytes_with(len) };
        Ok((offset, total))
    }

    /// Ends the line with `rest` and gives it to the event.
    pub(super) fn complete(&mut self, rest: &[u8], pending: &mut Pending, limit: usize) -> Result<(), SseError> {
        match mem::take(self) {
            Cut::None => Ok(()),
            Cut::Ignored { offset, len } if len.saturating_add(rest.len()) > limit => {
                Err(SseError::TooLarge { limit, offset })
            }
            Cut::Ignored { .. } => Ok(()),
            Cut::Kept { offset, mut bytes } => {
                bytes.extend_from_slice(rest);
                pending.carried_line(bytes, offset, limit)
            }
        }
    }
}
