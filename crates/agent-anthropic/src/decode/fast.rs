//! The one event that makes up a stream, read without a parser where it has exactly the shape that the vendor writes.
//!
//! Whatever looks different in the least is left to the parser, so that both give the same.

use std::borrow::Cow;

use super::event::{Delta, Text};

const HEAD: &str = "{\"type\":\"content_block_delta\",\"index\":";
const DELTA: &str = ",\"delta\":{\"type\":\"";

/// The number of the block and the delta; `None` where the parser has to look.
pub(super) fn delta(data: &str) -> Option<(u64, Delta<'_>)> {
    let rest = data.strip_prefix(HEAD)?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    // A number with a zero in front is no JSON.
    let index =
        rest.get(..digits).filter(|text| (1..10).contains(&text.len()) && (*text == "0" || !text.starts_with('0')))?;
    let index = index.bytes().fold(0, |sum: u64, digit| sum * 10 + u64::from(digit - b'0'));
    let rest = rest.get(digits..)?.strip_prefix(DELTA)?;
    let mut delta = Delta::default();
    let (kind, field, rest) = if let Some(rest) = rest.strip_prefix("text_delta\",\"text\":") {
        ("text_delta", &mut delta.text, rest)
    } else if let Some(rest) = rest.strip_prefix("input_json_delta\",\"partial_json\":") {
        ("input_json_delta", &mut delta.partial_json, rest)
    } else {
        let rest = rest.strip_prefix("thinking_delta\",\"thinking\":")?;
        ("thinking_delta", &mut delta.thinking, rest)
    };
    let (text, rest) = literal(rest)?;
    // The vendor pads events with spaces behind the inner bracket.
    let padding = rest.strip_prefix('}')?.trim_ascii().strip_prefix('}')?;
    if !padding.is_empty() {
        return None;
    }
    *field = text;
    delta.kind = Text(Cow::Borrowed(kind));
    Some((index, delta))
}

/// A string literal and what follows it.
fn literal(text: &str) -> Option<(Text<'_>, &str)> {
    let inner = text.strip_prefix('"')?;
    let mut escaped = false;
    let mut bytes = inner.bytes().enumerate();
    let end = loop {
        match bytes.next()? {
            (at, b'"') => break at,
            (_, b'\\') => {
                escaped = true;
                bytes.next()?;
            }
            (_, 0..0x20) => return None,
            _ => {}
        }
    };
    let read = match escaped {
        false => Cow::Borrowed(inner.get(..end)?),
        true => Cow::Owned(serde_json::from_str(text.get(..end + 2)?).ok()?),
    };
    Some((Text(read), inner.get(end + 1..)?))
}
