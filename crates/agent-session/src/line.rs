//! A record as a line of JSON, with its checksum in front.
//!
//! `{"sum":"<16 digits>","seq":1,"id":"…","parent":0,"kind":"…","lf":[…],"blobs":[…],"data":…}`. The sum is XXH3-64 of
//! everything behind its own digits. The reader goes over the fields in this order by hand and asks serde only where a
//! line has others.

use std::{borrow::Cow, fmt::Write};

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
    pub(crate) data: &'a str,
}

/// Writes a record, with its line feed.
pub(crate) fn write(record: &Record, out: &mut String) -> Result<(), serde_json::Error> {
    let mut rest = String::with_capacity(record.data.get().len() + 128);
    // Writing to a string does not fail.
    _ = write!(rest, "\",\"seq\":{},\"id\":\"{}\",", record.seq, record.id);
    if let Place::Below(parent) = record.place {
        _ = write!(rest, "\"parent\":{parent},");
    }
    _ = write!(rest, "\"kind\":{},", serde_json::to_string(&*record.kind)?);
    let data = record.data.get();
    // A line feed in JSON stands between tokens, so a space can take its place; where it was is written down.
    let feeds: Vec<usize> = memchr::memchr_iter(b'\n', data.as_bytes()).collect();
    if !feeds.is_empty() {
        _ = write!(rest, "\"lf\":{},", serde_json::to_string(&feeds)?);
    }
    if !record.blobs.is_empty() {
        _ = write!(rest, "\"blobs\":{},", serde_json::to_string(&record.blobs)?);
    }
    rest.push_str("\"data\":");
    if feeds.is_empty() {
        rest.push_str(data);
    } else {
        rest.push_str(&data.replace('\n', " "));
    }
    rest.push('}');
    seal(&rest, out);
    Ok(())
}

/// Writes a header, with its line feed.
pub(crate) fn write_header(header: &Header, out: &mut String) -> Result<(), serde_json::Error> {
    let fields = serde_json::to_string(header)?;
    seal(&format!("\",{}", fields.strip_prefix('{').unwrap_or(&fields)), out);
    Ok(())
}

fn seal(rest: &str, out: &mut String) {
    out.reserve(COVERED + rest.len() + 1);
    out.push_str("{\"sum\":\"");
    _ = write!(out, "{:016x}", xxh3_64(rest.as_bytes()));
    out.push_str(rest);
    out.push('\n');
}

/// Checks the sum of a line (without its line feed) and returns what it covers.
fn unseal(line: &[u8]) -> Result<&[u8], Fault> {
    let (sum, rest) = line.split_at_checked(COVERED).ok_or(Fault::Checksum)?;
    let digits = sum.strip_prefix(SUM).ok_or(Fault::Checksum)?;
    let read = digits.iter().try_fold(0u64, |sum, digit| match digit {
        b'0'..=b'9' => Some(sum << 4 | u64::from(digit - b'0')),
        b'a'..=b'f' => Some(sum << 4 | u64::from(digit - b'a' + 10)),
        _ => None,
    });
    if read == Some(xxh3_64(rest)) { Ok(rest) } else { Err(Fault::Checksum) }
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
    let text = str::from_utf8(rest).map_err(|_| Fault::Syntax)?;
    match in_order(text) {
        Some(read) => Ok(read),
        None => in_any_order(line),
    }
}

fn in_order(text: &str) -> Option<Line<'_>> {
    let rest = text.strip_prefix("\",\"seq\":")?;
    let (seq, rest) = number(rest)?;
    let rest = rest.strip_prefix(",\"id\":\"")?;
    let (id, rest) = rest.split_at_checked(26)?;
    let id = EntryId::from_bits(id::bits(id.as_bytes())?);
    let mut rest = rest.strip_prefix("\",\"")?;
    let mut place = Place::Outside;
    if let Some(parent) = rest.strip_prefix("parent\":") {
        let (parent, after) = number(parent)?;
        (place, rest) = (Place::Below(parent), after.strip_prefix(",\"")?);
    }
    let kind = rest.strip_prefix("kind\":\"")?;
    let end = memchr::memchr2(b'"', b'\\', kind.as_bytes())?;
    let (kind, rest) = kind.split_at_checked(end)?;
    let data = rest.strip_prefix("\",\"data\":")?.strip_suffix('}')?;
    Some(Line { seq, id, place, kind: Cow::Borrowed(kind), lf: Vec::new(), blobs: Vec::new(), data })
}

fn number(text: &str) -> Option<(u64, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = text.split_at_checked(digits)?;
    Some((number.parse().ok()?, rest))
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
    Ok(Line { seq, id, place, kind, lf, blobs, data: data.get() })
}

/// The payload as it was before it became part of a line.
pub(crate) fn payload(line: &Line<'_>) -> Option<String> {
    let mut data = line.data.to_owned().into_bytes();
    for at in &line.lf {
        let feed = data.get_mut(*at).filter(|byte| **byte == b' ')?;
        *feed = b'\n';
    }
    String::from_utf8(data).ok()
}
