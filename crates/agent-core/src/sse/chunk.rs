//! The chunk that is being read: a cursor, and its lines as text without a copy.

use std::str::Utf8Error;

use bytes::Bytes;
use bytestring::ByteString;

/// A chunk, what of it has been read, and where in the stream it lies.
#[derive(Debug, Default)]
pub(super) struct Chunk {
    bytes: Bytes,
    cursor: usize,
    /// Where in the stream it begins.
    offset: u64,
    text: Text,
    /// It ended in a CR, so an LF at the start of the next one belongs to it.
    ends_in_cr: bool,
}

/// What is known of the chunk being UTF-8.
#[derive(Debug, Default)]
enum Text {
    #[default]
    Unchecked,
    /// All from `start` to the last line end is: its lines are slices of `text`, checked at once.
    Checked { text: ByteString, start: usize },
    /// Not all is, so each line is looked at alone: it may only be a comment that isn't.
    Mixed,
}

impl Chunk {
    pub(super) fn is_read(&self) -> bool {
        self.cursor >= self.bytes.len()
    }

    /// What has not been read.
    #[inline]
    pub(super) fn rest(&self) -> &[u8] {
        self.bytes.get(self.cursor..).unwrap_or_default()
    }

    /// Where in the stream the cursor stands.
    #[inline]
    pub(super) fn position(&self) -> u64 {
        self.offset + self.cursor as u64
    }

    /// Goes on with the chunk that follows a read one.
    pub(super) fn replace(&mut self, bytes: Bytes) {
        let cursor = usize::from(self.ends_in_cr && bytes.first() == Some(&b'\n'));
        let offset = self.offset + self.bytes.len() as u64;
        *self = Self { bytes, cursor, offset, text: Text::Unchecked, ends_in_cr: false };
    }

    /// Lets go of the memory and forgets what has not been read.
    pub(super) fn release(&mut self) {
        *self = Self { offset: self.position(), ..Self::default() };
    }

    pub(super) fn skip(&mut self, len: usize) {
        self.cursor += len;
    }

    /// Moves the cursor behind a line of `len` bytes and its line end: CR, LF, or both.
    #[inline]
    pub(super) fn skip_line(&mut self, len: usize) {
        let end = self.cursor + len;
        self.cursor = end + 1;
        if self.bytes.get(end) == Some(&b'\r') {
            match self.bytes.get(end + 1) {
                Some(b'\n') => self.cursor = end + 2,
                Some(_) => {}
                None => self.ends_in_cr = true,
            }
        }
    }

    /// The `len` bytes after the next `skip` as text that shares the chunk's memory.
    ///
    /// They must end at a line end.
    #[inline]
    pub(super) fn text(&mut self, skip: usize, len: usize) -> Result<ByteString, Utf8Error> {
        let start = self.cursor + skip;
        if let Some((text, value)) = self.checked(start, len) {
            return Ok(text.slice_ref(value));
        }
        self.checked_now(start, len)
    }

    #[cold]
    fn checked_now(&mut self, start: usize, len: usize) -> Result<ByteString, Utf8Error> {
        self.check(start, len);
        match self.checked(start, len) {
            Some((text, value)) => Ok(text.slice_ref(value)),
            None => ByteString::try_from(self.bytes.slice(start..start + len)),
        }
    }

    /// The same, borrowed.
    pub(super) fn borrowed(&mut self, skip: usize, len: usize) -> Result<&str, Utf8Error> {
        let start = self.cursor + skip;
        self.check(start, len);
        match self.checked(start, len) {
            Some((_, value)) => Ok(value),
            None => str::from_utf8(self.bytes.get(start..start + len).unwrap_or_default()),
        }
    }

    #[inline]
    fn checked(&self, start: usize, len: usize) -> Option<(&ByteString, &str)> {
        let Text::Checked { text, start: from } = &self.text else { return None };
        let start = start.checked_sub(*from)?;
        Some((text, text.get(start..start + len)?))
    }

    /// Checks all lines at once, which costs much less than line by line, if there are more.
    fn check(&mut self, start: usize, len: usize) {
        if !matches!(self.text, Text::Unchecked) {
            return;
        }
        let rest = self.bytes.get(start..).unwrap_or_default();
        let last = start + memchr::memrchr2(b'\n', b'\r', rest).unwrap_or_default();
        if last > start + len + 2 {
            // From a line's start to a line's end: no character is cut.
            self.text = match ByteString::try_from(self.bytes.slice(start..last)) {
                Ok(text) => Text::Checked { text, start },
                Err(_) => Text::Mixed,
            };
        }
    }
}
