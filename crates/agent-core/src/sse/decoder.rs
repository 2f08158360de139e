//! The decoder: cuts chunks into lines and puts the lines of an event together.
//!
//! A line that the end of a chunk cuts is carried until its end comes, and is then read as a chunk of
//! its own, so that every line is read in the same way.

use std::{collections::VecDeque, mem, ops::Range, str::Utf8Error, time::Duration};

use bytes::Bytes;
use bytestring::ByteString;
use memchr::memchr2;

use crate::macros::{getters, setters};
use crate::{SseError, SseEvent};

const DEFAULT_LIMIT: usize = 64 << 20;
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();
/// The fields that the standard knows.
const FIELDS: [&str; 4] = ["data", "event", "id", "retry"];
/// As many bytes of a line tell its field: a byte order mark, `event` or `retry`, and a colon.
const TELLING: u64 = 9;
/// Stands for a cut line that will be ignored and is only counted; no line has one.
const IGNORED: &[u8] = b"\n";

/// What becomes of an event that no blank line ended when the input ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnterminatedEvent {
    /// It is dropped, as the standard says.
    #[default]
    Discard,
    /// It is dispatched, its last line complete or not, if it has a `data` line.
    Dispatch,
}

/// Decodes a stream of server-sent events from chunks of bytes.
///
/// Push a chunk, then take events until there are none: [`SseDecoder::next_event`] gives `None`
/// when it wants another chunk. What is decoded does not depend on where the chunks are cut.
///
/// - An event whose `data` is one line within one chunk is a slice of that chunk. Only a line cut
///   by a chunk's end is carried (copied), and only lines that are more than one are joined.
/// - No byte is searched twice, however an event is cut: the work is linear in the bytes.
/// - Bytes that are not UTF-8 in a `data`, `event` or `id` line are an error, never replaced.
///   Comments and fields unknown to the standard are skipped unread and never stored.
/// - After an error nothing more comes out. Dropping the decoder drops what it carries.
///
/// ```
/// use agent_core::SseDecoder;
/// use bytes::Bytes;
///
/// let mut decoder = SseDecoder::new();
/// let mut seen = Vec::new();
/// for chunk in ["event: delta\nda", "ta: {\"text\":", "\"Hi\"}\n\ndata: [DONE]\n\n"] {
///     decoder.push(Bytes::from(chunk));
///     while let Some(event) = decoder.next_event() {
///         let event = event?;
///         seen.push((event.event.to_string(), event.data.to_string()));
///     }
/// }
/// assert_eq!(seen, [
///     ("delta".into(), r#"{"text":"Hi"}"#.into()),
///     (String::new(), "[DONE]".into()),
/// ]);
/// # Ok::<(), agent_core::SseError>(())
/// ```
#[derive(Debug, Default)]
pub struct SseDecoder {
    /// The chunk that is being read, and how much of it has been read.
    chunk: Bytes,
    read: usize,
    /// As much of the chunk as is text, once that was asked for.
    text: Option<ByteString>,
    /// Where in the stream the line that is being read begins.
    line_start: u64,
    waiting: VecDeque<Bytes>,
    /// The start of a line that a chunk's end cut, or `IGNORED`.
    cut: Vec<u8>,
    /// How much of that line has been read.
    cut_len: u64,
    /// The last line ended in CR: an LF that follows belongs to it.
    after_cr: bool,
    /// The first `data` line of the event; with more than one all of them are in `joined`.
    data: Option<ByteString>,
    joined: String,
    event: ByteString,
    id: Option<ByteString>,
    /// The bytes of this event's lines so far, without line ends and ignored lines.
    bytes: u64,
    last_event_id: ByteString,
    retry: Option<Duration>,
    pushed: u64,
    finished: bool,
    limit: Option<usize>,
    unterminated: UnterminatedEvent,
}

setters!(SseDecoder {
    /// Sets how many bytes the lines of one event may have in all, without their line ends; 64 MiB
    /// if it isn't set.
    ///
    /// Comments and lines of unknown fields don't count as part of an event; each alone may have
    /// as many bytes. More is [`SseError::TooLarge`].
    with_limit(bytes: usize) => limit = Some(bytes);
    /// Sets what becomes of an event that no blank line ended when the input ends.
    with_unterminated_event(unterminated: UnterminatedEvent) => unterminated = unterminated;
});

getters!(SseDecoder {
    /// The last event id as of the event taken last. Empty when none was set.
    ///
    /// It is what a reconnecting client sends as `Last-Event-ID`. It may be a slice of the chunk
    /// that set it, and keeps that chunk's memory.
    last_event_id -> &ByteString = |this| &this.last_event_id;
    /// How long the server asks a client to wait before it reconnects, if it said so.
    retry -> Option<Duration> = |this| this.retry;
    /// How many bytes of the stream have been read.
    ///
    /// Comments count: a position that moved although no event came out is a sign of life.
    position -> u64 = |this| this.pushed.min(this.line_start + this.cut_len);
});

impl SseDecoder {
    /// A decoder at the start of a stream, with a limit of 64 MiB for one event.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next chunk of the stream.
    ///
    /// Meant to be called when [`next_event`](Self::next_event) gave `None`. Chunks pushed earlier
    /// than that wait in order; how many wait is up to the caller. A chunk pushed after
    /// [`finish`](Self::finish) or after an error is dropped.
    pub fn push(&mut self, chunk: Bytes) {
        if !self.finished {
            self.pushed += chunk.len() as u64;
            self.waiting.push_back(chunk);
        }
    }

    /// Says that the stream has ended. Take the events that are left afterwards.
    pub fn finish(&mut self) {
        if !mem::replace(&mut self.finished, true) && self.unterminated == UnterminatedEvent::Dispatch {
            // What ends the last line and the last event, or is without effect.
            self.waiting.push_back(Bytes::from_static(b"\n\n"));
        }
    }

    /// The next event, `None` when there is none without another chunk.
    ///
    /// # Errors
    /// [`SseError`] if the stream cannot be decoded further; every later call gives `None`.
    pub fn next_event(&mut self) -> Option<Result<SseEvent, SseError>> {
        loop {
            let rest = self.chunk.get(self.read..).unwrap_or_default();
            let result = match rest.first() {
                None => {
                    (self.chunk, self.read, self.text) = (self.waiting.pop_front()?, 0, None);
                    continue;
                }
                Some(b'\n') if self.after_cr => {
                    self.pass_line(0);
                    continue;
                }
                Some(b'\n' | b'\r') if self.cut.is_empty() => match self.blank_line() {
                    None => Ok(()),
                    event => return event,
                },
                Some(_) => match memchr2(b'\n', b'\r', rest) {
                    Some(len) => self.line(len).map(|len| self.pass_line(len)),
                    None => self.carry(rest.len()),
                },
            };
            let Err(error) = result else { continue };
            self.stop();
            return Some(Err(error));
        }
    }

    /// Takes in a blank line: the event, if there was a `data` line, and a clean sheet.
    fn blank_line(&mut self) -> Option<Result<SseEvent, SseError>> {
        self.pass_line(0);
        self.bytes = 0;
        let id = self.id.take().inspect(|id| self.last_event_id = id.clone());
        let event = mem::take(&mut self.event);
        let first = self.data.take()?;
        let data = if self.joined.is_empty() { first } else { mem::take(&mut self.joined).into() };
        Some(Ok(SseEvent { event, data, id }))
    }

    /// Takes in the next `len` bytes and their line end: a line, or the rest of a cut one.
    fn line(&mut self, mut len: usize) -> Result<usize, SseError> {
        if !self.cut.is_empty() {
            len = self.join(len)?;
        }
        let end = self.read + len;
        let line = self.chunk.get(self.read..end).unwrap_or_default();
        let Some((field, value)) = self.split(line) else { return self.check(len as u64).map(|()| len) };
        self.bytes += len as u64;
        self.check(self.bytes)?;
        if field == "retry" {
            let digits = str::from_utf8(value).ok().filter(|value| value.bytes().all(|byte| byte.is_ascii_digit()));
            self.retry = digits.and_then(|digits| digits.parse().ok()).map(Duration::from_millis).or(self.retry);
            return Ok(len);
        }
        let skipped = len - value.len();
        let value = self.text(self.read + skipped..end).map_err(|error| SseError::InvalidUtf8 {
            field,
            offset: self.line_start + (skipped + error.valid_up_to()) as u64,
        })?;
        match (field, &self.data) {
            ("data", None) => self.data = Some(value),
            ("data", Some(first)) if self.joined.is_empty() => self.joined.extend([first, "\n", &value]),
            ("data", Some(_)) => self.joined.extend(["\n", &value]),
            ("event", _) => self.event = value,
            // The standard ignores an id with a NUL, because it would go into a header.
            _ if value.contains('\0') => {}
            _ => self.id = Some(value),
        }
        Ok(len)
    }

    /// Passes a line of `len` bytes and the line end behind it.
    fn pass_line(&mut self, len: usize) {
        self.after_cr = self.chunk.get(self.read + len) == Some(&b'\r');
        self.read += len + 1;
        self.line_start += len as u64 + 1;
    }

    /// Carries the next `len` bytes, which belong to a line that a chunk's end cuts.
    fn carry(&mut self, len: usize) -> Result<(), SseError> {
        let piece = self.chunk.get(self.read..self.read + len).unwrap_or_default();
        if self.cut != IGNORED {
            self.cut.extend_from_slice(piece);
        }
        self.after_cr = false;
        self.read += len;
        self.cut_len += len as u64;
        match self.split(&self.cut) {
            // Whether it is too large must not depend on where the cuts are.
            _ if self.cut_len < TELLING => Ok(()),
            Some(_) => self.check(self.bytes + self.cut_len),
            None => {
                self.cut = IGNORED.to_vec();
                self.check(self.cut_len)
            }
        }
    }

    /// Makes the cut line, whose end follows `len` bytes on, a chunk of its own; its length.
    fn join(&mut self, len: usize) -> Result<usize, SseError> {
        self.carry(len)?;
        let line_len = self.cut.len();
        self.cut.extend(self.chunk.get(self.read));
        self.waiting.push_front(self.chunk.slice(self.read + 1..));
        self.line_start += mem::take(&mut self.cut_len) - line_len as u64;
        (self.chunk, self.read, self.text) = (mem::take(&mut self.cut).into(), 0, None);
        Ok(line_len)
    }

    /// A part of the chunk as text that shares its memory.
    ///
    /// The whole chunk is checked at once, which costs much less than line by line.
    fn text(&mut self, part: Range<usize>) -> Result<ByteString, Utf8Error> {
        let text = self.text.get_or_insert_with(|| text_of(&self.chunk));
        let checked = text.get(part.clone()).map(|value| Ok(text.slice_ref(value)));
        checked.unwrap_or_else(|| ByteString::try_from(self.chunk.slice(part)))
    }

    /// Splits the line that is being read; only the first may have a byte order mark.
    fn split<'a>(&self, line: &'a [u8]) -> Option<(&'static str, &'a [u8])> {
        split(line).or_else(|| split(line.strip_prefix(BYTE_ORDER_MARK).filter(|_| self.line_start == 0)?))
    }

    fn check(&self, bytes: u64) -> Result<(), SseError> {
        let limit = self.limit.unwrap_or(DEFAULT_LIMIT);
        if bytes > limit as u64 { Err(SseError::TooLarge { limit, offset: self.line_start }) } else { Ok(()) }
    }

    /// Lets go of everything but what the accessors tell; nothing comes after.
    #[cold]
    fn stop(&mut self) {
        let (line_start, last_event_id) = (self.position(), mem::take(&mut self.last_event_id));
        let Self { pushed, retry, .. } = *self;
        *self = Self { finished: true, pushed, line_start, last_event_id, retry, ..Self::default() };
    }
}

/// Splits a line into field and value; `None` for comments and for fields that the standard does
/// not know. One space after the colon is no part of the value.
#[inline]
fn split(line: &[u8]) -> Option<(&'static str, &[u8])> {
    FIELDS.iter().find_map(|name| match line.strip_prefix(name.as_bytes())? {
        [b':', b' ', value @ ..] | [b':', value @ ..] | value @ [] => Some((*name, value)),
        _ => None,
    })
}

/// The chunk, or as much of its start as is text.
#[cold]
fn text_of(chunk: &Bytes) -> ByteString {
    let valid = |error: Utf8Error| ByteString::try_from(chunk.slice(..error.valid_up_to()));
    ByteString::try_from(chunk.clone()).or_else(valid).unwrap_or_default()
}
