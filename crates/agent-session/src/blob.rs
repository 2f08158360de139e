//! Long strings of payloads, kept apart under the hash of their content.

use std::{fmt, str::FromStr, sync::Arc};

use agent_core::{JsonError, RawJson};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use sha2::{Digest, Sha256};

/// Names a blob: the SHA-256 of its content, as 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlobId([u8; 32]);

/// Text that is not 64 lower-case hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not the id of a blob: 64 lower-case hexadecimal digits are expected")]
#[non_exhaustive]
pub struct BlobIdError;

impl BlobId {
    /// The id of this content.
    pub fn of(content: &[u8]) -> Self {
        Self(Sha256::digest(content).into())
    }
}

impl fmt::Display for BlobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for BlobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BlobId({self})")
    }
}

impl FromStr for BlobId {
    type Err = BlobIdError;
    fn from_str(text: &str) -> Result<Self, BlobIdError> {
        let digit = |c: &u8| match c {
            b'0'..=b'9' => Some(c - b'0'),
            b'a'..=b'f' => Some(c - b'a' + 10),
            _ => None,
        };
        let pairs = text.as_bytes().chunks(2).map(|pair| match pair {
            [high, low] => Some(digit(high)? << 4 | digit(low)?),
            _ => None,
        });
        let bytes: Option<Vec<u8>> = pairs.collect();
        bytes.and_then(|bytes| bytes.try_into().ok()).map(Self).ok_or(BlobIdError)
    }
}

impl Serialize for BlobId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for BlobId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        std::borrow::Cow::<str>::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

/// Where a payload has a blob in place of a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct BlobRef {
    /// Where the string `"blob:<id>"` begins in the payload as stored, in bytes; `None` for a blob that the record only
    /// names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<u64>,
    /// The blob.
    pub sha256: BlobId,
    /// How long its content is, in bytes.
    pub bytes: u64,
}

/// A blob that is to be written.
#[derive(Clone)]
#[non_exhaustive]
pub struct Blob {
    /// Its name.
    pub id: BlobId,
    /// Its content.
    pub content: Arc<[u8]>,
}

impl Blob {
    pub(crate) fn new(content: impl Into<Arc<[u8]>>) -> Self {
        let content = content.into();
        Self { id: BlobId::of(&content), content }
    }

    pub(crate) fn len(&self) -> u64 {
        self.content.len().try_into().unwrap_or(u64::MAX)
    }

    pub(crate) fn reference(&self, at: Option<u64>) -> BlobRef {
        BlobRef { at, sha256: self.id, bytes: self.len() }
    }
}

impl fmt::Debug for Blob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Blob({}, {} bytes)", self.id, self.content.len())
    }
}

/// A payload without its long strings.
#[derive(Debug)]
pub(crate) struct Spilled {
    pub(crate) data: RawJson,
    pub(crate) refs: Vec<BlobRef>,
    pub(crate) blobs: Vec<Blob>,
}

/// Takes the strings out of a payload that have more than `limit` bytes. Keys stay, and so does a string whose spelling
/// would not come back the same.
pub(crate) fn spill(data: RawJson, limit: usize) -> Result<Spilled, JsonError> {
    let mut found = Spilled { data: data.clone(), refs: Vec::new(), blobs: Vec::new() };
    let text = data.get();
    if text.len() <= limit {
        return Ok(found);
    }
    let (mut short, mut rest) = (String::new(), text);
    while let Some((before, literal, after)) = next_string(rest) {
        short.push_str(before);
        let is_key = after.trim_start().starts_with(':');
        let content: Option<String> = match literal.len() > limit && !is_key {
            true => serde_json::from_str::<String>(literal).ok().filter(|content| same_spelling(content, literal)),
            false => None,
        };
        match content {
            Some(content) => {
                let blob = Blob::new(content.into_bytes());
                found.refs.push(blob.reference(Some(short.len().try_into().unwrap_or(u64::MAX))));
                short.push_str(&placeholder(blob.id));
                found.blobs.push(blob);
            }
            None => short.push_str(literal),
        }
        rest = after;
    }
    short.push_str(rest);
    if !found.blobs.is_empty() {
        found.data = RawJson::parse(short)?;
    }
    Ok(found)
}

/// Puts the strings back; `None` where the payload has no such place, or a blob is not text.
pub(crate) fn restore(data: &str, refs: &[BlobRef], contents: &[Vec<u8>]) -> Option<String> {
    let (mut whole, mut from) = (String::new(), 0);
    for (place, content) in refs.iter().zip(contents) {
        let Some(at) = place.at else { continue };
        let at = usize::try_from(at).ok()?;
        let placeholder = placeholder(place.sha256);
        whole.push_str(data.get(from..at)?);
        data.get(at..)?.starts_with(&placeholder).then_some(())?;
        whole.push_str(&serde_json::to_string(str::from_utf8(content).ok()?).ok()?);
        from = at + placeholder.len();
    }
    whole.push_str(data.get(from..)?);
    Some(whole)
}

fn placeholder(id: BlobId) -> String {
    format!("\"blob:{id}\"")
}

fn same_spelling(content: &str, literal: &str) -> bool {
    serde_json::to_string(content).is_ok_and(|spelled| spelled == literal)
}

/// What stands before the next string of valid JSON, the string with its quotes, and what follows.
fn next_string(text: &str) -> Option<(&str, &str, &str)> {
    let bytes = text.as_bytes();
    let start = memchr::memchr(b'"', bytes)?;
    let mut at = start + 1;
    loop {
        at += memchr::memchr2(b'"', b'\\', bytes.get(at..)?)?;
        match bytes.get(at)? {
            b'"' => break,
            _ => at += 2,
        }
    }
    Some((text.get(..start)?, text.get(start..=at)?, text.get(at + 1..)?))
}
