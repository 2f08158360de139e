//! Which characters the bytes of a file are, and back.

use std::io::{self, Read};

/// How text is written in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    Utf8 {
        mark: bool,
    },
    Utf16 {
        big: bool,
        mark: bool,
    },
    /// ISO 8859-1: every byte is a character, so nothing is lost on the way back.
    Latin1,
}

impl Encoding {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Utf8 { .. } => "UTF-8",
            Self::Utf16 { big: false, .. } => "UTF-16 LE",
            Self::Utf16 { big: true, .. } => "UTF-16 BE",
            Self::Latin1 => "Latin-1",
        }
    }

    /// The bytes in front that are no text.
    pub(crate) fn mark_len(self) -> usize {
        match self {
            Self::Utf8 { mark: true } => 3,
            Self::Utf16 { mark: true, .. } => 2,
            _ => 0,
        }
    }

    /// The encoding of a file that begins with these bytes; `None` where they are no text.
    pub(crate) fn sniff(head: &[u8], whole: bool) -> Option<Self> {
        match head {
            [0xEF, 0xBB, 0xBF, ..] => return Some(Self::Utf8 { mark: true }),
            [0xFF, 0xFE, ..] => return Some(Self::Utf16 { big: false, mark: true }),
            [0xFE, 0xFF, ..] => return Some(Self::Utf16 { big: true, mark: true }),
            _ => {}
        }
        if head.contains(&0) {
            return utf16_without_mark(head);
        }
        let control = |b: &&u8| matches!(b, 0..=7 | 14..=26 | 28..=31 | 127);
        if head.iter().filter(control).count() * 20 > head.len() {
            return None;
        }
        match std::str::from_utf8(head) {
            Ok(_) => Some(Self::Utf8 { mark: false }),
            // The last character may go on behind the head.
            Err(e) if e.error_len().is_none() && !whole => Some(Self::Utf8 { mark: false }),
            // In Latin-1 text most bytes are ASCII or letters; bytes that are neither are rare.
            Err(_) if head.iter().filter(|b| matches!(b, 0x80..=0x9F)).count() * 8 < head.len() => Some(Self::Latin1),
            Err(_) => None,
        }
    }

    /// How many bytes of the file a piece of it is that was read as UTF-8 (or, of Latin-1, as it is).
    pub(crate) fn width(self, piece: &[u8]) -> u64 {
        let width = |byte: &u8| match (self, byte) {
            (Self::Utf8 { .. } | Self::Latin1, _) => 1,
            // The bytes behind the first of a character; beyond the first plane it is two pairs.
            (Self::Utf16 { .. }, 0x80..0xC0) => 0,
            (Self::Utf16 { .. }, 0xF0..) => 4,
            (Self::Utf16 { .. }, _) => 2,
        };
        piece.iter().map(width).sum()
    }

    /// The text of a whole file, without the mark; `None` where it is none.
    pub(crate) fn decode(self, bytes: &[u8]) -> Option<String> {
        let bytes = bytes.get(self.mark_len()..)?;
        match self {
            Self::Utf8 { .. } => String::from_utf8(bytes.to_vec()).ok(),
            Self::Latin1 => Some(bytes.iter().copied().map(char::from).collect()),
            Self::Utf16 { big, .. } => {
                let (pairs, rest) = bytes.as_chunks::<2>();
                let units = pairs.iter().map(|pair| unit(*pair, big));
                let text: Result<String, _> = char::decode_utf16(units).collect();
                text.ok().filter(|_| rest.is_empty())
            }
        }
    }

    /// The bytes of a text, with the mark; the character that cannot be written where there is one.
    pub(crate) fn encode(self, text: &str) -> Result<Vec<u8>, char> {
        Ok(match self {
            Self::Utf8 { mark: true } => ["\u{FEFF}".as_bytes(), text.as_bytes()].concat(),
            Self::Utf8 { mark: false } => text.as_bytes().to_vec(),
            Self::Latin1 => text.chars().map(|c| u8::try_from(c).map_err(|_| c)).collect::<Result<_, _>>()?,
            Self::Utf16 { big, mark } => {
                let units = mark.then_some(0xFEFF).into_iter().chain(text.encode_utf16());
                units.flat_map(|unit| if big { unit.to_be_bytes() } else { unit.to_le_bytes() }).collect()
            }
        })
    }
}

fn unit(pair: [u8; 2], big: bool) -> u16 {
    if big { u16::from_be_bytes(pair) } else { u16::from_le_bytes(pair) }
}

/// Text of mostly Western characters has a zero in every second byte, and only there.
fn utf16_without_mark(head: &[u8]) -> Option<Encoding> {
    let (pairs, _) = head.as_chunks::<2>();
    let zeros = |first: bool| pairs.iter().filter(|[a, b]| if first { *a == 0 } else { *b == 0 }).count();
    let (first, second) = (zeros(true), zeros(false));
    let mostly = |n: usize| n * 10 >= pairs.len() * 7 && n > 0;
    match () {
        () if mostly(second) && first == 0 => Some(Encoding::Utf16 { big: false, mark: false }),
        () if mostly(first) && second == 0 => Some(Encoding::Utf16 { big: true, mark: false }),
        () => None,
    }
}

/// Reads UTF-16 as UTF-8; what is no character becomes U+FFFD.
pub(crate) struct Utf16Reader<R> {
    inner: R,
    big: bool,
    bytes: Vec<u8>,
    out: Vec<u8>,
    taken: usize,
}

impl<R: Read> Utf16Reader<R> {
    pub(crate) fn new(inner: R, big: bool) -> Self {
        Self { inner, big, bytes: Vec::new(), out: Vec::new(), taken: 0 }
    }

    fn refill(&mut self) -> io::Result<()> {
        self.out.clear();
        self.taken = 0;
        while self.out.is_empty() {
            let read = self.inner.by_ref().take(16 * 1024).read_to_end(&mut self.bytes)?;
            let (pairs, rest) = self.bytes.as_chunks::<2>();
            let mut units: Vec<u16> = pairs.iter().map(|pair| unit(*pair, self.big)).collect();
            let mut kept = rest.to_vec();
            // The first half of a pair waits for the second.
            if let Some(high) = units.pop_if(|unit| (0xD800..0xDC00).contains(unit) && read > 0) {
                let high = if self.big { high.to_be_bytes() } else { high.to_le_bytes() };
                kept.splice(0..0, high);
            }
            let text: String = char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
            self.out.extend_from_slice(text.as_bytes());
            self.bytes = kept;
            if read == 0 {
                if !std::mem::take(&mut self.bytes).is_empty() {
                    self.out.extend_from_slice("\u{FFFD}".as_bytes());
                }
                break;
            }
        }
        Ok(())
    }
}

impl<R: Read> Read for Utf16Reader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.taken >= self.out.len() {
            self.refill()?;
        }
        let mut rest = self.out.get(self.taken..).unwrap_or_default();
        let read = rest.read(buffer)?;
        self.taken += read;
        Ok(read)
    }
}

/// Where bytes end without a piece of a character behind it.
pub(crate) fn boundary(bytes: &[u8]) -> usize {
    let piece = bytes.iter().rev().take(3).position(|b| *b >= 0xC0).map(|back| back + 1);
    match piece.and_then(|back| bytes.split_at_checked(bytes.len() - back)) {
        Some((before, end)) if std::str::from_utf8(end).is_err_and(|e| e.error_len().is_none()) => before.len(),
        _ => bytes.len(),
    }
}
