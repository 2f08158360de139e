//! The decoder: cuts chunks into lines and carries the one line that a chunk's end cuts.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;
use bytestring::ByteString;

use super::chunk::Chunk;
use super::cut::Cut;
use super::error::SseError;
use super::event::SseEvent;
use super::pending::Pending;

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
#[derive(Debug)]
pub struct SseDecoder {
    chunk: Chunk,
    /// Chunks pushed before the one being read was read to its end.
    waiting: VecDeque<Bytes>,
    cut: Cut,
    /// What must follow for the byte order mark to be whole; empty when it is behind us.
    mark: &'static [u8],
    pending: Pending,
    end: End,
    limit: usize,
    unterminated: UnterminatedEvent,
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
            chunk: Chunk::default(),
            waiting: VecDeque::new(),
            cut: Cut::None,
            mark: BYTE_ORDER_MARK,
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
        if self.chunk.is_read() {
            self.open(chunk);
        } else {
            self.waiting.push_back(chunk);
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
        loop {
            let rest = self.chunk.rest();
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
                match self.cut_line() {
                    Ok(()) => continue,
                    Err(error) => return self.fail(error),
                }
            };
            if self.cut.is_none()
                && let Some(skipped) = self.pending.whole_event(rest, len, self.limit)
                && let Ok(data) = self.chunk.text(skipped, len - skipped)
            {
                self.chunk.skip(len + 2);
                return Some(Ok(self.pending.dispatch_whole(data)));
            }
            if len == 0 && self.cut.is_none() {
                self.chunk.skip_line(0);
                match self.pending.dispatch() {
                    Some(event) => return Some(Ok(event)),
                    None => continue,
                }
            }
            if let Err(error) = self.line(len) {
                return self.fail(error);
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
        self.chunk.position()
    }

    /// Takes in the line of `len` bytes at the cursor, which is not blank.
    #[inline(never)]
    fn line(&mut self, len: usize) -> Result<(), SseError> {
        if self.cut.is_none() {
            self.pending.line(&mut self.chunk, len, self.limit)?;
        } else {
            let rest = self.chunk.rest().get(..len).unwrap_or_default();
            self.cut.complete(rest, &mut self.pending, self.limit)?;
        }
        self.chunk.skip_line(len);
        Ok(())
    }

    /// Takes in the rest of the chunk, in which no line ends.
    #[inline(never)]
    fn cut_line(&mut self) -> Result<(), SseError> {
        let rest = self.chunk.rest();
        self.cut.extend(rest, self.chunk.position(), &self.pending, self.limit)?;
        self.chunk.skip(rest.len());
        Ok(())
    }

    /// Makes `chunk` the one that is read, and passes what may only stand at its start.
    fn open(&mut self, chunk: Bytes) {
        self.chunk.replace(chunk);
        if !self.mark.is_empty() {
            self.pass_mark();
        }
    }

    /// Passes the byte order mark, or as much of it as there is, at the start of the stream.
    fn pass_mark(&mut self) {
        let rest = self.chunk.rest();
        let same = self.mark.iter().zip(rest).take_while(|(a, b)| a == b).count();
        let passed = BYTE_ORDER_MARK.len() - self.mark.len() + same;
        if same == rest.len() {
            self.mark = self.mark.get(same..).unwrap_or_default();
        } else {
            self.mark = &[];
            if passed > 0 && passed < BYTE_ORDER_MARK.len() {
                // It was none: it is the start of a field name that the standard does not know.
                self.cut = Cut::Ignored { offset: 0, len: passed };
            }
        }
        self.chunk.skip(same);
    }

    /// Everything there is has been read.
    fn at_end(&mut self) -> Option<Result<SseEvent, SseError>> {
        if self.end != End::Announced {
            return None;
        }
        let mut event = None;
        if self.unterminated == UnterminatedEvent::Dispatch {
            if let Err(error) = self.cut.complete(&[], &mut self.pending, self.limit) {
                return self.fail(error);
            }
            event = self.pending.dispatch();
        }
        self.stop();
        event.map(Ok)
    }

    #[cold]
    fn fail(&mut self, error: SseError) -> Option<Result<SseEvent, SseError>> {
        self.stop();
        Some(Err(error))
    }

    /// Lets go of everything but what the accessors tell.
    fn stop(&mut self) {
        self.end = End::Done;
        self.chunk.release();
        self.waiting.clear();
        self.cut = Cut::None;
        self.pending.clear();
    }
}

impl Default for SseDecoder {
    fn default() -> Self {
        Self::new()
    }
}
