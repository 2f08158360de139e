//! The event that is being put together, line by line.

use std::mem;
use std::time::Duration;

use bytes::Bytes;
use bytestring::ByteString;

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

/// A whole line: where it lies in `source`, without its line end, and where in the stream.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'a> {
    pub(super) source: &'a Bytes,
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) offset: u64,
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

    /// Takes in a whole line that is not blank.
    #[inline]
    pub(super) fn line(&mut self, line: Line<'_>, limit: usize) -> Result<(), SseError> {
        let Line { source, start, end, offset } = line;
        let bytes = source.get(start..end).unwrap_or_default();
        let split = field::split(bytes);
        let total = if split.is_some() { self.bytes_with(bytes.len()) } else { bytes.len() };
        if total > limit {
            return Err(SseError::TooLarge { limit, offset });
        }
        let Some((field, value)) = split else { return Ok(()) };
        self.bytes = total;
        let skipped = bytes.len() - value.len();
        let slice = || {
            ByteString::try_from(source.slice(start + skipped..end))
                .map_err(|error| invalid(field, offset, skipped, error))
        };
        match field {
            Field::Data => match &mut self.data {
                Data::None => self.data = Data::Line(slice()?),
                more => {
                    let value = str::from_utf8(value)
                        .map_err(|error| invalid(field, offset, skipped, error))?;
                    more.join(value);
                }
            },
            Field::Event => self.event = slice()?,
            // The standard ignores an id with a NUL, because it would go into a header.
            Field::Id if memchr::memchr(0, value).is_some() => {}
            Field::Id => self.id = Some(slice()?),
            Field::Retry => {
                if let Some(milliseconds) = field::milliseconds(value) {
                    self.retry = Some(Duration::from_millis(milliseconds));
                }
            }
        }
        Ok(())
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
    fn join(&mut self, value: &str) {
        let mut joined = match mem::take(self) {
            Data::Joined(joined) => joined,
            Data::Line(first) => {
                let mut joined = String::with_capacity(first.len() + 1 + value.len());
                joined.push_str(&first);
                joined
            }
            Data::None => String::new(),
        };
        joined.push('\n');
        joined.push_str(value);
        *self = Data::Joined(joined);
    }
}

#[cold]
fn invalid(field: Field, line: u64, skipped: usize, error: std::str::Utf8Error) -> SseError {
    let offset = line + skipped as u64 + error.valid_up_to() as u64;
    SseError::InvalidUtf8 { field: field.name(), offset }
}
