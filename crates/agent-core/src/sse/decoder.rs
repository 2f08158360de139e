//! The decoder: cuts chunks into lines and carries the one line that a chunk's end cuts.

use std::collections::VecDeque;
use std::mem;
use std::time::Duration;

use bytes::Bytes;
use bytestring::ByteString;

use super::error::SseError;
use super::event::SseEvent;
use super::field;
use super::pending::{Line, Pending};

const DEFAULT_LIMIT: usize = 64 << 20;
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

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
/// - Each byte is looked at once, so the work is linear in the bytes that arrive.
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
#[derive(Debug)]
pub struct SseDecoder {
    /// The chunk that is being read, up to `cursor`, and where in the stream it begins.
    chunk: Bytes,
    cursor: usize,
    chunk_offset: u64,
    /// Chunks pushed before the one being read was read to its end.
    waiting: VecDeque<Bytes>,
    cut: Cut,
    /// The bytes so far of a cut line; empty unless `cut` is `Kept`.
    carry: Vec<u8>,
    /// What must follow for the byte order mark to be whole; empty when it is behind us.
    mark: &'static [u8],
    /// The last chunk ended in a CR, so an LF at the start of the next one belongs to it.
    after_cr: bool,
    pending: Pending,
    end: End,
    limit: usize,
    unterminated: UnterminatedEvent,
}

/// The line, if any, that was cut by the end of a chunk.
#[derive(Debug, Clone, Copy)]
enum Cut {
    None,
    /// It may be of a known field: its bytes so far are in `carry`.
    Kept {
        offset: u64,
    },
    /// A comment or an unknown field: only counted.
    Ignored {
        offset: u64,
        len: usize,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Open,
    /// No more chunks will come, but those that are there may be unread.
    Announced,
    /// Nothing more comes out.
    Done,
}

impl SseDecoder {
    /// A decoder at the start of a stream, with a limit of 64 MiB for one event.
    #[must_use]
    pub fn new() -> Self {
        Self {
            chunk: Bytes::new(),
            cursor: 0,
            chunk_offset: 0,
            waiting: VecDeque::new(),
            cut: Cut::None,
            carry: Vec::new(),
            mark: BYTE_ORDER_MARK,
            after_cr: false,
            pending: Pending::default(),
            end: End::Open,
            limit: DEFAULT_LIMIT,
            unterminated: UnterminatedEvent::Discard,
        }
    }

    /// Sets how many bytes the lines of one event may have in all, without their line ends.
    ///
    /// Comments and lines of unknown fields don't count as part of an event; each alone may have
    /// as many bytes. More is [`SseError::TooLarge`].
    #[must_use]
    pub fn with_limit(mut self, bytes: usize) -> Self {
        self.limit = bytes;
        self
    }

    /// Sets what becomes of an event that no blank line ended when the input ends.
    #[must_use]
    pub fn with_unterminated_event(mut self, unterminated: UnterminatedEvent) -> Self {
        self.unterminated = unterminated;
        self
    }

    /// Takes the next chunk of the stream.
    ///
    /// Meant to be called when [`next_event`](Self::next_event) gave `None`. Chunks pushed earlier
    /// than that wait in order; how many wait is up to the caller. A chunk pushed after
    /// [`finish`](Self::finish) or after an error is dropped.
    pub fn push(&mut self, chunk: Bytes) {
        if self.end != End::Open || chunk.is_empty() {
            return;
        }
        if self.cursor < self.chunk.len() {
            self.waiting.push_back(chunk);
        } else {
            self.open(chunk);
        }
    }

    /// Says that the stream has ended. Take the events that are left afterwards.
    pub fn finish(&mut self) {
        if self.end == End::Open {
            self.end = End::Announced;
        }
    }

    /// The next event, `None` when there is none without another chunk.
    ///
    /// # Errors
    /// [`SseError`] if the stream cannot be decoded further; every later call gives `None`.
    pub fn next_event(&mut self) -> Option<Result<SseEvent, SseError>> {
        match self.advance() {
            Ok(None) => None,
            Ok(Some(event)) => Some(Ok(event)),
            Err(error) => {
                self.stop();
                Some(Err(error))
            }
        }
    }

    /// The last event id as of the event taken last. Empty when none was set.
    ///
    /// It is what a reconnecting client sends as `Last-Event-ID`. It may be a slice of the chunk
    /// that set it, and keeps that chunk's memory.
    #[must_use]
    pub fn last_event_id(&self) -> &ByteString {
        self.pending.last_event_id()
    }

    /// How long the server asks a client to wait before it reconnects, if it said so.
    #[must_use]
    pub fn retry(&self) -> Option<Duration> {
        self.pending.retry()
    }

    /// How many bytes of the stream have been read.
    ///
    /// Comments count: a position that moved although no event came out is a sign of life.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.chunk_offset + self.cursor as u64
    }

    fn advance(&mut self) -> Result<Option<SseEvent>, SseError> {
        loop {
            let rest = self.chunk.get(self.cursor..).unwrap_or_default();
            let Some(&first) = rest.first() else {
                match self.waiting.pop_front() {
                    Some(chunk) => self.open(chunk),
                    None => return self.at_end(),
                }
                continue;
            };
            let len = if first == b'\n' || first == b'\r' {
                0
            } else if let Some(len) = memchr::memchr2(b'\n', b'\r', rest) {
                len
            } else {
                self.cut()?;
                continue;
            };
            let start = self.cursor;
            self.pass_line_end(start + len);
            if !matches!(self.cut, Cut::None) {
                self.complete(start, len)?;
            } else if len > 0 {
                let offset = self.chunk_offset + start as u64;
                let line = Line { source: &self.chunk, start, end: start + len, offset };
                self.pending.line(line, self.limit)?;
            } else if let Some(event) = self.pending.dispatch() {
                return Ok(Some(event));
            }
        }
    }

    /// Makes `chunk` the one that is read, and passes what may only stand at its start.
    fn open(&mut self, chunk: Bytes) {
        self.chunk_offset += self.chunk.len() as u64;
        self.chunk = chunk;
        self.cursor = 0;
        if mem::take(&mut self.after_cr) && self.chunk.first() == Some(&b'\n') {
            self.cursor = 1;
        }
        if !self.mark.is_empty() {
            self.pass_mark();
        }
    }

    /// Passes the byte order mark, or as much of it as there is, at the start of the stream.
    fn pass_mark(&mut self) {
        let same = self.mark.iter().zip(&self.chunk).take_while(|(a, b)| a == b).count();
        self.cursor = same;
        if same == self.chunk.len() {
            self.mark = self.mark.get(same..).unwrap_or_default();
            return;
        }
        let passed = BYTE_ORDER_MARK.len() - self.mark.len() + same;
        if passed > 0 && passed < BYTE_ORDER_MARK.len() {
            // It was none: it is the start of a field name that the standard does not know.
            self.cut = Cut::Ignored { offset: 0, len: passed };
        }
        self.mark = &[];
    }

    /// Moves the cursor behind the line end at `at`: CR, LF, or both.
    #[inline]
    fn pass_line_end(&mut self, at: usize) {
        self.cursor = at + 1;
        if self.chunk.get(at) == Some(&b'\r') {
            match self.chunk.get(at + 1) {
                Some(b'\n') => self.cursor = at + 2,
                Some(_) => {}
                None => self.after_cr = true,
            }
        }
    }

    /// Keeps or counts the rest of the chunk, in which no line ends.
    fn cut(&mut self) -> Result<(), SseError> {
        let rest = self.chunk.get(self.cursor..).unwrap_or_default();
        let here = self.chunk_offset + self.cursor as u64;
        self.cursor = self.chunk.len();
        let (offset, total) = match &mut self.cut {
            Cut::Ignored { offset, len } => {
                *len = len.saturating_add(rest.len());
                (*offset, *len)
            }
            Cut::None if !field::may_be_known(rest) => {
                self.cut = Cut::Ignored { offset: here, len: rest.len() };
                (here, rest.len())
            }
            cut => {
                let offset = if let Cut::Kept { offset } = *cut { offset } else { here };
                let undecided = self.carry.len() <= field::LONGEST_NAME;
                let len = self.carry.len() + rest.len();
                let total = self.pending.bytes_with(len);
                if !undecided && total > self.limit {
                    return Err(SseError::TooLarge { limit: self.limit, offset });
                }
                self.carry.extend_from_slice(rest);
                *cut = Cut::Kept { offset };
                if undecided && !field::may_be_known(&self.carry) {
                    self.carry.clear();
                    *cut = Cut::Ignored { offset, len };
                    (offset, len)
                } else if len <= field::LONGEST_NAME {
                    return Ok(());
                } else {
                    (offset, total)
                }
            }
        };
        if total > self.limit {
            return Err(SseError::TooLarge { limit: self.limit, offset });
        }
        Ok(())
    }

    /// Ends the cut line with the `len` bytes at `start` of the chunk.
    fn complete(&mut self, start: usize, len: usize) -> Result<(), SseError> {
        let limit = self.limit;
        match mem::replace(&mut self.cut, Cut::None) {
            Cut::None => Ok(()),
            Cut::Ignored { len: before, .. } if before.saturating_add(len) <= limit => Ok(()),
            Cut::Ignored { offset, .. } => Err(SseError::TooLarge { limit, offset }),
            Cut::Kept { offset } => {
                let mut line = mem::take(&mut self.carry);
                line.extend_from_slice(self.chunk.get(start..start + len).unwrap_or_default());
                let end = line.len();
                let source = &Bytes::from(line);
                self.pending.line(Line { source, start: 0, end, offset }, limit)
            }
        }
    }

    /// Everything there is has been read.
    fn at_end(&mut self) -> Result<Option<SseEvent>, SseError> {
        if self.end != End::Announced {
            return Ok(None);
        }
        self.end = End::Done;
        let mut event = None;
        if self.unterminated == UnterminatedEvent::Dispatch {
            self.complete(self.cursor, 0)?;
            event = self.pending.dispatch();
        }
        self.stop();
        Ok(event)
    }

    /// Lets go of everything but what the accessors tell.
    fn stop(&mut self) {
        self.end = End::Done;
        self.chunk_offset += self.cursor as u64;
        self.cursor = 0;
        self.chunk = Bytes::new();
        self.waiting.clear();
        self.carry = Vec::new();
    }
}

impl Default for SseDecoder {
    fn default() -> Self {
        Self::new()
    }
}
