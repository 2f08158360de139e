//! A page of lines or bytes of a file, read once and in pieces.

use std::{
    fmt::Write as _,
    fs::File,
    io::{self, BufRead, BufReader, Read},
};

use agent_core::ToolError;

use super::SHOWN;
use crate::{
    blocking::Stop,
    decode::{Encoding, Utf16Reader},
};

/// A line longer than this is shortened; the rest of it can be read by bytes.
const LINE: usize = 2_000;
/// How far a file is read behind the page to count its lines.
const COUNTED: u64 = 256 * 1024 * 1024;

pub(super) struct Wanted {
    pub(super) first: u64,
    pub(super) limit: u64,
    /// Where the text begins in the file, in bytes.
    pub(super) start: u64,
}

#[derive(Default)]
pub(super) struct Page {
    text: String,
    /// The line after the last one shown.
    next: u64,
    /// The lines that were counted; all of them where `complete`.
    counted: u64,
    complete: bool,
    notes: Vec<String>,
    crlf: u64,
    shown: u64,
    foreign: Option<u64>,
}

/// A line while it is read.
#[derive(Default)]
struct Line {
    kept: Vec<u8>,
    length: u64,
    ends: bool,
}

pub(super) fn lines(file: File, encoding: Encoding, wanted: &Wanted, stop: &Stop) -> io::Result<Page> {
    match encoding {
        Encoding::Utf16 { big, .. } => scan(BufReader::new(Utf16Reader::new(file, big)), encoding, wanted, stop),
        _ => scan(BufReader::with_capacity(128 * 1024, file), encoding, wanted, stop),
    }
}

fn scan(mut reader: impl BufRead, encoding: Encoding, wanted: &Wanted, stop: &Stop) -> io::Result<Page> {
    let mut page = Page { next: wanted.first, ..Page::default() };
    let (mut at, mut begun, mut full) = (wanted.start, false, false);
    let mut line = Line::default();
    let mut line_at = at;
    loop {
        let chunk = reader.fill_buf()?;
        if chunk.is_empty() {
            page.complete = true;
            break;
        }
        if stop.is_asked() || (full && at > COUNTED) {
            break;
        }
        let piece = chunk.split_inclusive(|b| *b == b'\n').next().unwrap_or_default();
        let length = piece.len();
        begun = true;
        let number = page.counted + 1;
        let end = wanted.first.saturating_add(wanted.limit);
        if (wanted.first..end).contains(&number) && !full {
            let room = (LINE + 4).saturating_sub(line.kept.len());
            line.kept.extend_from_slice(piece.get(..room.min(length)).unwrap_or_default());
        }
        let width = encoding.width(piece);
        line.length += width;
        line.ends = piece.ends_with(b"\n");
        at += width;
        reader.consume(length);
        if line.ends {
            let ended = std::mem::take(&mut line);
            full = full || page.take(number, ended, line_at, encoding, wanted);
            page.counted = number;
            (begun, line_at) = (false, at);
        }
    }
    if begun && page.complete {
        let number = page.counted + 1;
        page.take(number, line, line_at, encoding, wanted);
        page.counted = number;
    }
    Ok(page)
}

impl Page {
    /// Takes a line in where it is wanted; whether the page is full then.
    fn take(&mut self, number: u64, mut line: Line, at: u64, encoding: Encoding, wanted: &Wanted) -> bool {
        if number < wanted.first || number - wanted.first >= wanted.limit {
            return number >= wanted.first;
        }
        if line.kept.ends_with(b"\n") {
            line.kept.pop();
            if line.kept.ends_with(b"\r") {
                line.kept.pop();
                self.crlf += 1;
            }
        }
        let long = line.kept.len() > LINE;
        line.kept.truncate(LINE);
        let mut text = match encoding {
            Encoding::Latin1 => line.kept.iter().copied().map(char::from).collect(),
            _ => match String::from_utf8(line.kept) {
                Ok(text) => text,
                Err(e) if long && e.utf8_error().error_len().is_none() => {
                    String::from_utf8_lossy(e.as_bytes()).trim_end_matches(char::REPLACEMENT_CHARACTER).to_owned()
                }
                // The head was UTF-8, and this line is not.
                Err(e) => {
                    self.foreign.get_or_insert(number);
                    e.as_bytes().iter().copied().map(char::from).collect()
                }
            },
        };
        if long {
            let _ = write!(text, " …[{} bytes in this line; from_byte {at} shows it]", line.length);
        }
        if self.shown > 0 && self.text.len() + text.len() + 10 > SHOWN {
            return true;
        }
        let _ = writeln!(self.text, "{number:>6}\t{text}");
        self.shown += 1;
        self.next = number + 1;
        false
    }

    /// How many lines the file has, where it was read to its end.
    pub(super) fn total(&self) -> Option<u64> {
        self.complete.then_some(self.counted)
    }

    pub(super) fn into_text(mut self, shown: &str, encoding: Encoding, wanted: &Wanted) -> Result<String, ToolError> {
        let total = self.counted;
        if self.complete && total == 0 && wanted.first == 1 {
            return Ok(format!("[`{shown}` is empty]"));
        }
        if self.shown == 0 {
            let lines = if total == 1 { "line" } else { "lines" };
            let text = format!("`{shown}` has {total} {lines}; there is no line {}", wanted.first);
            return Err(ToolError::failed(text));
        }
        if !self.complete || self.next <= total {
            let (of, last) =
                (if self.complete { total.to_string() } else { format!("more than {total}") }, self.next - 1);
            let next = self.next;
            self.notes.push(format!("lines {} to {last} of {of}; offset {next} reads on", wanted.first));
        }
        if encoding != (Encoding::Utf8 { mark: false }) {
            self.notes.push(format!("encoding: {}", encoding.name()));
        }
        if let Some(line) = self.foreign {
            self.notes.push(format!("not UTF-8 from line {line} on: such lines are shown as Latin-1"));
        }
        match self.crlf {
            0 => {}
            all if all + 1 >= self.shown => self.notes.push("lines end in CRLF".to_owned()),
            some => self.notes.push(format!("{some} of these lines end in CRLF, the others in LF")),
        }
        for note in &self.notes {
            let _ = writeln!(self.text, "[{note}]");
        }
        Ok(self.text)
    }
}

/// A range of bytes as text.
pub(super) fn bytes(
    file: &mut File,
    shown: &str,
    from: u64,
    count: Option<u64>,
    size: u64,
    encoding: Encoding,
) -> io::Result<Result<String, ToolError>> {
    if from >= size {
        return Ok(Err(ToolError::failed(format!("`{shown}` has {size} bytes; there is no byte {from}"))));
    }
    let most = u64::try_from(SHOWN).unwrap_or(u64::MAX);
    let mut read = Vec::new();
    file.take(count.unwrap_or(most).min(most)).read_to_end(&mut read)?;
    let end = from + u64::try_from(read.len()).unwrap_or_default();
    let mut text = match encoding {
        Encoding::Latin1 => read.iter().copied().map(char::from).collect(),
        Encoding::Utf8 { .. } => String::from_utf8_lossy(&read).into_owned(),
        Encoding::Utf16 { big, .. } => {
            let mut text = String::new();
            Utf16Reader::new(read.as_slice(), big).read_to_string(&mut text)?;
            text
        }
    };
    let _ = write!(text, "\n[bytes {from} to {} of {size}", end - 1);
    if end < size {
        let _ = write!(text, "; from_byte {end} reads on");
    }
    text.push(']');
    Ok(Ok(text))
}
