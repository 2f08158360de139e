//! The one event that makes up a stream, read without a parser where it has exactly the shape that the vendor writes.
//!
//! Whatever looks different in the least is left to the parser, so that both give the same.

use agent_core::json_literal;

use super::event::Text;

const HEAD: &str = "{\"type\":\"content_block_delta\",\"index\":";
const DELTA: &str = ",\"delta\":{\"type\":\"";

/// A delta of text.
pub(super) struct Step<'a> {
    /// The vendor's number of the block.
    pub(super) index: u64,
    pub(super) adds: Adds,
    pub(super) text: Text<'a>,
}

/// What a delta adds to.
#[derive(Clone, Copy)]
pub(super) enum Adds {
    Text,
    Thinking,
    Arguments,
}

/// The delta of an event; `None` where the parser has to look.
pub(super) fn step(data: &str) -> Option<Step<'_>> {
    let rest = data.strip_prefix(HEAD)?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    // A number with a zero in front is no JSON.
    let index =
        rest.get(..digits).filter(|text| (1..10).contains(&text.len()) && (*text == "0" || !text.starts_with('0')))?;
    let index = index.bytes().fold(0, |sum: u64, digit| sum * 10 + u64::from(digit - b'0'));
    let rest = rest.get(digits..)?.strip_prefix(DELTA)?;
    let (adds, rest) = if let Some(rest) = rest.strip_prefix("text_delta\",\"text\":") {
        (Adds::Text, rest)
    } else if let Some(rest) = rest.strip_prefix("input_json_delta\",\"partial_json\":") {
        (Adds::Arguments, rest)
    } else {
        (Adds::Thinking, rest.strip_prefix("thinking_delta\",\"thinking\":")?)
    };
    let (text, rest) = json_literal(rest)?;
    // The vendor pads events with spaces behind the inner bracket.
    let padding = rest.strip_prefix('}')?.trim_ascii().strip_prefix('}')?;
    if !padding.is_empty() {
        return None;
    }
    Some(Step { index, adds, text: Text(text) })
}
