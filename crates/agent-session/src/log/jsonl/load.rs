//! A file read once, from beginning to end: lines by their line feeds, sums checked, payloads left alone.

use std::{io, ops::ControlFlow};

use super::medium::Medium;
use crate::{FORMAT_VERSION, Fault, Header, Index, RecordHead, SessionError, Torn, line};

/// How much is read at a time: what fits into a cache.
const CHUNK: usize = 256 << 10;

/// What a file holds.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) header: Header,
    pub(super) index: Index,
    /// Where the record with number n begins is at n - 1; the last one is the end.
    pub(super) starts: Vec<u64>,
    pub(super) torn: Option<Torn>,
    /// Whether the last whole line has its line feed.
    pub(super) ending: Ending,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    LineFeed,
    Missing,
}

/// A line with its place.
pub(super) struct Found<'a> {
    /// From 1.
    pub(super) number: u64,
    pub(super) offset: u64,
    /// Without its line feed.
    pub(super) bytes: &'a [u8],
    pub(super) ending: Ending,
}

/// Shows every line to `each`, until it breaks; a last one without line feed, too.
pub(super) fn lines<B>(
    medium: &mut dyn Medium,
    limit: u64,
    mut each: impl FnMut(Found<'_>) -> ControlFlow<B>,
) -> io::Result<ControlFlow<B>> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let (mut buffer, mut filled, mut read_to) = (vec![0; CHUNK], 0usize, 0u64);
    let (mut number, mut offset) = (1, 0u64);
    loop {
        let space = buffer.get_mut(filled..).unwrap_or_default();
        let got = medium.read_at(read_to, space)?;
        read_to += u64::try_from(got).unwrap_or_default();
        let searched = filled;
        filled += got;
        let mut begin = 0;
        // What was searched before holds no line feed.
        let mut from = searched;
        while let Some(at) = buffer.get(from..filled).and_then(|rest| memchr::memchr(b'\n', rest)) {
            let end = from + at;
            let bytes = buffer.get(begin..end).unwrap_or_default();
            if let ControlFlow::Break(value) = each(Found { number, offset, bytes, ending: Ending::LineFeed }) {
                return Ok(ControlFlow::Break(value));
            }
            number += 1;
            offset += u64::try_from(end + 1 - begin).unwrap_or_default();
            (begin, from) = (end + 1, end + 1);
        }
        let rest = filled - begin;
        if got == 0 || rest > limit {
            let bytes = buffer.get(begin..filled).unwrap_or_default();
            let last = (!bytes.is_empty()).then(|| each(Found { number, offset, bytes, ending: Ending::Missing }));
            return Ok(last.unwrap_or(ControlFlow::Continue(())));
        }
        buffer.copy_within(begin..filled, 0);
        filled = rest;
        if filled > buffer.len() / 2 {
            buffer.resize(buffer.len() * 2, 0);
        }
    }
}

/// Reads a whole file. `place` names it in errors, `limit` is the longest line.
pub(super) fn load(medium: &mut dyn Medium, place: &str, limit: u64) -> Result<Loaded, SessionError> {
    let mut loading =
        Loading { place, limit, header: None, index: Index::new(), starts: Vec::new(), bad: None, end: 0 };
    let mut ending = Ending::LineFeed;
    let io = |source| SessionError::Io { what: "read", path: place.into(), source };
    let broke = lines(medium, limit, |found| {
        let whole = found.ending;
        match loading.take(found) {
            Ok(Taken::Whole) => ending = whole,
            Ok(Taken::Bad) => {}
            Err(error) => return ControlFlow::Break(error),
        }
        ControlFlow::Continue(())
    });
    if let ControlFlow::Break(error) = broke.map_err(io)? {
        return Err(error);
    }
    let size = medium.size().map_err(io)?;
    let Loading { header, index, mut starts, bad, end, .. } = loading;
    let header = header.ok_or_else(|| SessionError::NoHeader { place: place.to_owned() })?;
    starts.push(end);
    let torn = bad.map(|(line, offset, _)| Torn { line, offset, bytes: size.saturating_sub(offset), kept: None });
    Ok(Loaded { header, index, starts, torn, ending })
}

struct Loading<'a> {
    place: &'a str,
    limit: u64,
    header: Option<Header>,
    index: Index,
    starts: Vec<u64>,
    /// The first line that is not whole: the torn end, if no whole one follows.
    bad: Option<(u64, u64, Fault)>,
    /// Where the next record begins.
    end: u64,
}

enum Taken {
    Whole,
    Bad,
}

impl Loading<'_> {
    fn take(&mut self, found: Found<'_>) -> Result<Taken, SessionError> {
        let Found { number, offset, bytes, ending } = found;
        let after = offset + u64::try_from(bytes.len()).unwrap_or_default() + 1;
        if number == 1 {
            self.header = Some(self.header(bytes, ending)?);
            self.end = after;
            return Ok(Taken::Whole);
        }
        match line::read(bytes) {
            Ok(_) if let Some((number, offset, fault)) = self.bad.take() => Err(self.damaged(number, offset, fault)),
            Ok(read) => {
                let head = RecordHead::new(read.seq, read.id, read.place, &read.kind, &read.blobs);
                self.index.push(&head, read.data).map_err(|fault| self.damaged(number, offset, fault))?;
                self.starts.push(offset);
                self.end = after;
                Ok(Taken::Whole)
            }
            // The end of a write that was broken off, unless something whole follows.
            Err(Fault::Checksum) => {
                let too_long = u64::try_from(bytes.len()).is_ok_and(|length| length > self.limit);
                if too_long {
                    return Err(self.damaged(number, offset, Fault::TooLong { limit: self.limit }));
                }
                self.bad.get_or_insert((number, offset, Fault::Checksum));
                Ok(Taken::Bad)
            }
            Err(fault) => Err(self.damaged(number, offset, fault)),
        }
    }

    fn header(&self, bytes: &[u8], ending: Ending) -> Result<Header, SessionError> {
        match line::read_header(bytes) {
            Ok(Ok(header)) => Ok(header),
            Ok(Err(found)) => Err(SessionError::Version { found, known: FORMAT_VERSION }),
            Err(fault) if ending == Ending::LineFeed && line::is_begun(bytes) => Err(self.damaged(1, 0, fault)),
            Err(_) => Err(SessionError::NoHeader { place: self.place.to_owned() }),
        }
    }

    fn damaged(&self, line: u64, offset: u64, source: Fault) -> SessionError {
        SessionError::Damaged { place: self.place.to_owned(), line, offset, source }
    }
}
