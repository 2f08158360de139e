//! An event that differs from an earlier one only in what it adds, read without a parser.
//!
//! The events of a stream repeat some 300 bytes around a few letters of text. Where all bytes around a value are those
//! of an event that the parser has read, the parser would do the same again with the new value, since it reads from
//! left to right and a value stands for a value. So this is no second reader of the protocol.

use std::ops::Range;

use agent_core::json_literal;

/// What differs from event to event and says nothing: OpenAI's padding, which hides the length of the text, and the
/// number of the event.
const OTHERS: [(&str, Hole); 2] = [("\"obfuscation\":", Hole::Text), ("\"sequence_number\":", Hole::Number)];

/// An event with its changing parts out.
pub(crate) struct Template {
    /// Fixed bytes, and the part behind them.
    parts: Vec<(String, Hole)>,
    last: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Hole {
    /// What is wanted.
    Value,
    Text,
    Number,
}

impl Template {
    /// The template of an event around one of its parts, which is a whole JSON value.
    pub(crate) fn around(data: &str, part: &str) -> Option<Self> {
        let start = part.as_ptr().addr().checked_sub(data.as_ptr().addr())?;
        let end = start.checked_add(part.len())?;
        let mut holes: Vec<(Range<usize>, Hole)> = vec![(start..end, Hole::Value)];
        for (name, hole) in OTHERS {
            for side in [0..start, end..data.len()] {
                let text = data.get(side.clone())?;
                // A quote in a string is escaped, so that this is a name and no text.
                let Some(at) = text.find(name) else { continue };
                let from = side.start.checked_add(at)?.checked_add(name.len())?;
                let rest = data.get(from..)?;
                let behind = match hole {
                    Hole::Number => rest.trim_start_matches(|c: char| c.is_ascii_digit()),
                    _ => json_literal(rest)?.1,
                };
                let to = data.len().checked_sub(behind.len())?;
                if to > from && to <= side.end {
                    holes.push((from..to, hole));
                }
            }
        }
        holes.sort_by_key(|(range, _)| range.start);
        let (mut parts, mut at) = (Vec::new(), 0);
        for (range, hole) in holes {
            parts.push((data.get(at..range.start)?.to_owned(), hole));
            at = range.end;
        }
        Some(Self { parts, last: data.get(at..)?.to_owned() })
    }

    /// The value of an event of this template; `value` reads it from the beginning of a text, and returns the rest.
    pub(crate) fn read<'a, T>(&self, data: &'a str, value: impl FnOnce(&'a str) -> Option<(T, &'a str)>) -> Option<T> {
        let (mut rest, mut value, mut found) = (data, Some(value), None);
        for (fixed, hole) in &self.parts {
            rest = rest.strip_prefix(&**fixed)?;
            rest = match hole {
                Hole::Value => {
                    let (value, rest) = value.take()?(rest)?;
                    found = Some(value);
                    rest
                }
                Hole::Text => json_literal(rest)?.1,
                Hole::Number => {
                    let behind = rest.trim_start_matches(|c: char| c.is_ascii_digit());
                    let digits = rest.strip_suffix(behind)?;
                    // A number with a zero in front is no JSON.
                    if digits.is_empty() || (digits.len() > 1 && digits.starts_with('0')) {
                        return None;
                    }
                    behind
                }
            };
        }
        found.filter(|_| rest == self.last)
    }
}
