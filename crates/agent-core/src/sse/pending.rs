//! The event that is being put together, line by line.

use std::mem;
use std::time::Duration;

use bytes::Bytes;
use bytestring::ByteString;

use super::chunk::Chunk;
use super::error::SseError;
use super::event::SseEvent;
use super::field::{self, Field};

/// The lines since the last blank line, and what outlives an event: last event id and retry time.
#[derive(Debug, Default)]
pub(super) struct Pending {
    data: Data,
    event: ByteString,
    id: Option<ByteString>,
    /// The bytes of this event's lines so far, without line ends and ignored lines.
    bytes: usize,
    last_event_id: ByteString,
    retry: Option<Duration>,
}

#[derive(Debug, Default)]
enum Data {
    #[default]
    None,
    /// One line: a slice of what arrived.
    Line(ByteString),
    /// More than one: joined, a copy.
    Joined(String),
}

impl Pending {
    pub(super) fn last_event_id(&self) -> &ByteString {
        &self.last_event_id
    }

    pub(super) fn retry(&self) -> Option<Duration> {
        self.retry
    }

    /// How many bytes the event would have with a line of a known field of `len` bytes.
    pub(super) fn bytes_with(&self, len: usize) -> usize {
        self.bytes.saturating_add(len)
    }

    /// Takes in a line of `len` bytes that the rest of the chunk begins with.
    #[inline]
    pub(super) fn line(&mut self, chunk: &mut Chunk, len: usize, limit: usize) -> Result<(), SseError> {
        let offset = chunk.position();
        let line = chunk.rest().get(..len).unwrap_or_default();
        let Some((field, value)) = self.split(line, offset, limit)? else { return Ok(()) };
        if field == Field::Retry {
            self.retry = field::duration(value).or(self.retry);
            return Ok(());
        }
        let skipped = len - value.len();
        let invalid = |error| invalid(field, offset, skipped, error);
        if field == Field::Data && !matches!(self.data, Data::None) {
            self.data.join(chunk.borrowed(skipped, len - skipped).map_err(invalid)?);
        } else {
            self.field(field, chunk.text(skipped, len - skipped).map_err(invalid)?);
        }
        Ok(())
    }

    /// The common case in one go: how many bytes come before the value if `rest` begins with a
    /// `data` line of `len` bytes that a blank line follows, and it makes up the whole event.
    #[inline]
    pub(super) fn whole_event(&self, rest: &[u8], len: usize, limit: usize) -> Option<usize> {
        let skipped = if rest.starts_with(b"data: ") {
            6
        } else if rest.starts_with(b"data:") {
            5
        } else {
            return None;
        };
        if rest.get(len..len + 2)? != b"\n\n" {
            return None;
        }
        let is_first = matches!(self.data, Data::None) && self.id.is_none();
        (is_first && self.bytes_with(len) <= limit).then_some(skipped)
    }

    /// Dispatches what [`whole_event`](Self::whole_event) found.
    #[inline]
    pub(super) fn dispatch_whole(&mut self, data: ByteString) -> SseEvent {
        self.bytes = 0;
        SseEvent { event: mem::take(&mut self.event), data, id: None }
    }

    /// Takes in a line that was cut by the end of a chunk.
    pub(super) fn carried_line(&mut self, line: Vec<u8>, offset: u64, limit: usize) -> Result<(), SseError> {
        let Some((field, value)) = self.split(&line, offset, limit)? else { return Ok(()) };
        if field == Field::Retry {
            self.retry = field::duration(value).or(self.retry);
            return Ok(());
        }
        let skipped = line.len() - value.len();
        let value = ByteString::try_from(Bytes::from(line).slice(skipped..))
            .map_err(|error| invalid(field, offset, skipped, error))?;
        self.field(field, value);
        Ok(())
    }

    /// Splits a line and counts it.
    #[inline]
    fn split<'a>(&mut self, line: &'a [u8], offset: u64, limit: usize) -> Result<Option<(Field, &'a [u8])>, SseError> {
        let split = field::split(line);
        let total = if split.is_some() { self.bytes_with(line.len()) } else { line.len() };
        if total > limit {
            return Err(SseError::TooLarge { limit, offset });
        }
        if split.is_some() {
            self.bytes = total;
        }
        Ok(split)
    }

    #[inline]
    fn field(&mut self, field: Field, value: ByteString) {
        match field {
            Field::Data if matches!(self.data, Data::None) => self.data = Data::Line(value),
            Field::Data => self.data.join(&value),
            Field::Event => self.event = value,
            // The standard ignores an id with a NUL, because it would go into a header.
            Field::Id if value.contains('\0') => {}
            Field::Id => self.id = Some(value),
            Field::Retry => {}
        }
    }

    /// Lets go of an event that nothing more will come of.
    pub(super) fn clear(&mut self) {
        self.data = Data::None;
        self.event = ByteString::new();
        self.id = None;
    }

    /// Takes in a blank line: the event, if there was a `data` line, and a clean sheet.
    #[inline]
    pub(super) fn dispatch(&mut self) -> Option<SseEvent> {
        self.bytes = 0;
        let id = self.id.take();
        if let Some(id) = &id {
            self.last_event_id = id.clone();
        }
        let event = mem::take(&mut self.event);
        let data = match mem::take(&mut self.data) {
            Data::None => return None,
            Data::Line(data) => data,
            Data::Joined(data) => data.into(),
        };
        Some(SseEvent { event, data, id })
    }
}

impl Data {
    /// Adds a line that is not the first.
    fn join(&mut self, value: &str) {
        if let Data::Line(first) = self {
            *self = Data::Joined(first.to_string());
        }
        if let Data::Joined(joined) = self {
            joined.push('\n');
            joined.push_str(value);
        }
    }
}

#[cold]
fn invalid(field: Field, line: u64, skipped: usize, error: std::str::Utf8Error) -> SseError {
    let offset = line + skipped as u64 + error.valid_up_to() as u64;
    SseError::InvalidUtf8 { field: field.name(), offset }
}
