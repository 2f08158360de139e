//! A record as a line of JSON, with its checksum in front.
//!
//! `{"sum":"<16 digits>","seq":1,"id":"…","parent":0,"kind":"…","lf":[…],"blobs":[…],"data":…}`. The sum is XXH3-64 of
//! everything behind its own digits. The reader goes over the fields in this order by hand and asks serde only where a
//! line has others.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use xxhash_rust::xxh3::xxh3_64;

use crate::{BlobRef, EntryId, FORMAT_VERSION, Fault, Header, Place, Record, id, record::FORMAT};

const SUM: &[u8] = b"{\"sum\":\"";
/// Where what the sum covers begins.
const COVERED: usize = SUM.len() + 16;

/// A record as read, with its payload as text.
#[derive(Debug)]
pub(crate) struct Line<'a> {
    pub(crate) seq: u64,
    pub(crate) id: EntryId,
    pub(crate) place: Place,
    pub(crate) kind: Cow<'a, str>,
    pub(crate) lf: Vec<usize>,
    pub(crate) blobs: Vec<BlobRef>,
    /// JSON that is not looked at yet.
    pub(crate) data: &'a [u8],
}

/// Writes a record, with its line feed.
pub(crate) fn write(record: &Record, out: &mut Vec<u8>) -> Result<(), serde_json::Error> {
    let data = record.data.get();
    out.reserve(data.len() + 160);
    let from = begin(out);
    out.extend_from_slice(b"\",\"seq\":");
    push_number(record.seq, out);
    out.extend_from_slice(b",\"id\":\"");
    out.extend_from_slice(&id::text(record.id.bits()));
    out.extend_from_slice(b"\",");
    if let Place::Below(parent) = record.place {
        out.extend_from_slice(b"\"parent\":");
        push_number(parent, out);
        out.push(b',');
    }
    out.extend_from_slice(b"\"kind\":");
    if record.kind.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'.') {
        out.push(b'"');
        out.extend_from_slice(record.kind.as_bytes());
        out.push(b'"');
    } else {
        serde_json::to_writer(&mut *out, &*record.kind)?;
    }
    out.push(b',');
    // A line feed in JSON stands between tokens, so a space can take its place; where it was is written down.
    let feeds: Vec<usize> = memchr::memchr_iter(b'\n', data.as_bytes()).collect();
    if !feeds.is_empty() {
        out.extend_from_slice(b"\"lf\":");
        serde_json::to_writer(&mut *out, &feeds)?;
        out.push(b',');
    }
    if !record.blobs.is_empty() {
        out.extend_from_slice(b"\"blobs\":");
        serde_json::to_writer(&mut *out, &record.blobs)?;
        out.push(b',');
    }
    out.extend_from_slice(b"\"data\":");
    let begin = out.len();
    out.extend_from_slice(data.as_bytes());
    for feed in feeds {
        if let Some(byte) = out.get_mut(begin + feed) {
            *byte = b' ';
        }
    }
    out.push(b'}');
    seal(from, out);
    Ok(())
}

/// Writes a header, with its line feed.
pub(crate) fn write_header(header: &Header, out: &mut Vec<u8>) -> Result<(), serde_json::Error> {
    let fields = serde_json::to_string(header)?;
    let from = begin(out);
    out.extend_from_slice(b"\",");
    out.extend_from_slice(fields.strip_prefix('{').unwrap_or(&fields).as_bytes());
    seal(from, out);
    Ok(())
}

/// Begins a line whose sum is not known yet, and returns where what it covers begins.
fn begin(out: &mut Vec<u8>) -> usize {
    out.extend_from_slice(SUM);
    out.extend_from_slice(&[b'0'; 16]);
    out.len()
}

/// Puts the sum in and ends the line.
fn seal(from: usize, out: &mut Vec<u8>) {
    let sum = xxh3_64(out.get(from..).unwrap_or_default());
    let digits = out.get_mut(from.saturating_sub(16)..from).unwrap_or_default();
    for (at, byte) in digits.iter_mut().enumerate() {
        let digit = u8::try_from(sum >> (60 - 4 * at) & 15).unwrap_or_default();
        *byte = if digit < 10 { b'0' + digit } else { b'a' + digit - 10 };
    }
    out.push(b'\n');
}

/// Decimal digits without the machinery of formatting, which costs more than the rest of a short line.
fn push_number(number: u64, out: &mut Vec<u8>) {
    let (mut digits, mut left, mut at) = ([b'0'; 20], number, 20);
    loop {
        at -= 1;
        if let Some(digit) = digits.get_mut(at) {
            *digit = b'0' + u8::try_from(left % 10).unwrap_or_default();
        }
        left /= 10;
        if left == 0 || at == 0 {
            break;
        }
    }
    out.extend_from_slice(digits.get(at..).unwrap_or_default());
}

/// Checks the sum of a line (without its line feed) and returns what it covers.
fn unseal(line: &[u8]) -> Result<&[u8], Fault> {
    let (sum, rest) = line.split_at_checked(COVERED).ok_or(Fault::Checksum)?;
    let digits = sum.strip_prefix(SUM).ok_or(Fault::Checksum)?;
    // Without a branch for each digit: a million lines have sixteen million of them.
    let (mut read, mut wrong) = (0u64, 0u8);
    for digit in digits {
        let (number, letter) = (digit.wrapping_sub(b'0'), digit.wrapping_sub(b'a'));
        let value = if number < 10 { number } else { letter.wrapping_add(10) };
        wrong |= u8::from(number >= 10 && letter >= 6);
        read = read << 4 | u64::from(value & 15);
    }
    if wrong == 0 && read == xxh3_64(rest) { Ok(rest) } else { Err(Fault::Checksum) }
}

/// Whether bytes are, or may become, the beginning of a line of ours.
pub(crate) fn is_begun(bytes: &[u8]) -> bool {
    bytes.starts_with(SUM) || SUM.starts_with(bytes)
}

/// Reads the header; the inner error is a version that is newer than ours.
pub(crate) fn read_header(line: &[u8]) -> Result<Result<Header, u32>, Fault> {
    #[derive(Deserialize)]
    struct Begin {
        format: String,
        version: u32,
    }

    unseal(line)?;
    // A newer header may have other fields, but it has these.
    let begin: Begin = serde_json::from_slice(line).map_err(|_| Fault::Syntax)?;
    match begin {
        Begin { format, .. } if format != FORMAT => Err(Fault::Syntax),
        Begin { version, .. } if version > FORMAT_VERSION => Ok(Err(version)),
        _ => serde_json::from_slice(line).map(Ok).map_err(|_| Fault::Syntax),
    }
}

/// Reads a record.
pub(crate) fn read(line: &[u8]) -> Result<Line<'_>, Fault> {
    let rest = unseal(line)?;
    match in_order(rest) {
        Some(read) => Ok(read),
        None => in_any_order(line),
    }
}

fn in_order(text: &[u8]) -> Option<Line<'_>> {
    let rest = text.strip_prefix(b"\",\"seq\":")?;
    let (seq, rest) = number(rest)?;
    let rest = rest.strip_prefix(b",\"id\":\"")?;
    let (id, rest) = rest.split_at_checked(26)?;
    let id = EntryId::from_bits(id::bits(id)?);
    let mut rest = rest.strip_prefix(b"\",\"")?;
    let mut place = Place::Outside;
    if let Some(parent) = rest.strip_prefix(b"parent\":") {
        let (parent, after) = number(parent)?;
        (place, rest) = (Place::Below(parent), after.strip_prefix(b",\"")?);
    }
    let kind = rest.strip_prefix(b"kind\":\"")?;
    let end = memchr::memchr2(b'"', b'\\', kind)?;
    let (kind, rest) = kind.split_at_checked(end)?;
    let data = rest.strip_prefix(b"\",\"data\":")?.strip_suffix(b"}")?;
    let kind = Cow::Borrowed(str::from_utf8(kind).ok()?);
    Some(Line { seq, id, place, kind, lf: Vec::new(), blobs: Vec::new(), data })
}

/// A number as JSON has it, and what follows.
fn number(text: &[u8]) -> Option<(u64, &[u8])> {
    let digits = text.iter().take_while(|c| c.is_ascii_digit()).count();
    let (number, rest) = text.split_at_checked(digits).filter(|(digits, _)| !digits.is_empty())?;
    let add = |number: u64, digit: &u8| number.checked_mul(10)?.checked_add(u64::from(digit - b'0'));
    Some((number.iter().try_fold(0, add)?, rest))
}

fn in_any_order(line: &[u8]) -> Result<Line<'_>, Fault> {
    #[derive(Deserialize, Serialize)]
    struct Fields<'a> {
        seq: u64,
        id: EntryId,
        parent: Option<u64>,
        #[serde(borrow)]
        kind: Cow<'a, str>,
        #[serde(default)]
        lf: Vec<usize>,
        #[serde(default)]
        blobs: Vec<BlobRef>,
        #[serde(borrow)]
        data: &'a RawValue,
    }

    let fields: Fields<'_> = serde_json::from_slice(line).map_err(|_| Fault::Syntax)?;
    let Fields { seq, id, parent, kind, lf, blobs, data } = fields;
    let place = parent.map_or(Place::Outside, Place::Below);
    Ok(Line { seq, id, place, kind, lf, blobs, data: data.get().as_bytes() })
}

/// The payload as it was before it became part of a line.
pub(crate) fn payload(line: &Line<'_>) -> Option<String> {
    let mut data = line.data.to_owned();
    for at in &line.lf {
        let feed = data.get_mut(*at).filter(|byte| **byte == b' ')?;
        *feed = b'\n';
    }
    String::from_utf8(data).ok()
}
