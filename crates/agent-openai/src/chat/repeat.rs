//! A chunk that differs from an earlier one only in what it adds, read without a parser.
//!
//! The chunks of a stream repeat some 300 bytes around a few letters of text. Where the bytes before and behind a
//! string are those of a chunk that the parser has read, the parser would do the same again with the new string, since
//! it reads from left to right and a string stands for a string. So this is no second reader of the protocol.

use std::borrow::Cow;

use agent_core::json_literal;
use serde::Deserialize;

/// How many shapes are remembered: text, reasoning, and a few calls at once.
const SHAPES: usize = 4;
/// The one other string that differs from chunk to chunk: OpenAI's padding, which hides the length of the text.
const PADDING: &str = "\"obfuscation\":";

/// What the string adds to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Adds {
    Text,
    Thinking,
    /// The arguments of the call that has this block.
    Arguments(u32),
}

/// Chunks as they came.
#[derive(Default)]
pub(super) struct Shapes {
    adding: Vec<Shape>,
    around: Option<Around>,
}

struct Shape {
    adds: Adds,
    before: String,
    behind: Tail,
}

/// What stands around the choices of a chunk that says nothing else.
struct Around {
    before: String,
    behind: Tail,
}

/// The end of a chunk, with the padding out.
struct Tail {
    text: String,
    /// What follows behind the padding, where there is one.
    last: Option<String>,
}

impl Tail {
    fn of(text: &str) -> Option<Self> {
        Some(match text.split_once(PADDING) {
            Some((head, tail)) if tail.starts_with('"') => {
                Self { text: format!("{head}{PADDING}"), last: Some(json_literal(tail)?.1.to_owned()) }
            }
            _ => Self { text: text.to_owned(), last: None },
        })
    }

    fn fits(&self, text: &str) -> bool {
        match (text.strip_prefix(&*self.text), &self.last) {
            (Some(rest), None) => rest.is_empty(),
            (Some(rest), Some(last)) => json_literal(rest).is_some_and(|(_, rest)| rest == last),
            (None, _) => false,
        }
    }
}

/// What stands before and behind a part of a chunk.
fn around(data: &str, part: &str) -> Option<(String, Tail)> {
    let start = part.as_ptr().addr().checked_sub(data.as_ptr().addr())?;
    let behind = data.get(start.checked_add(part.len())?..)?;
    Some((data.get(..start)?.to_owned(), Tail::of(behind)?))
}

impl Shapes {
    /// What a chunk of a known shape adds.
    pub(super) fn read<'a>(&self, data: &'a str) -> Option<(Adds, Cow<'a, str>)> {
        self.adding.iter().find_map(|shape| {
            let (text, rest) = json_literal(data.strip_prefix(&*shape.before)?)?;
            shape.behind.fits(rest).then_some((shape.adds, text))
        })
    }

    /// Remembers a chunk that does nothing but add this literal, a part of `data`.
    pub(super) fn learn(&mut self, data: &str, literal: &str, adds: Adds) {
        let Some((before, behind)) = around(data, literal) else { return };
        self.adding.truncate(SHAPES - 1);
        self.adding.insert(0, Shape { adds, before, behind });
    }

    /// The choices of a chunk that says nothing else, where what stands around them is known.
    pub(super) fn choices<'a, T: Deserialize<'a>>(&self, data: &'a str) -> Option<T> {
        let known = self.around.as_ref()?;
        let rest = data.strip_prefix(&*known.before)?;
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<T>();
        let choices = values.next()?.ok()?;
        known.behind.fits(rest.get(values.byte_offset()..)?).then_some(choices)
    }

    /// Remembers what stands around the choices, a part of `data`, of a chunk that says nothing else.
    pub(super) fn learn_around(&mut self, data: &str, choices: &str) {
        self.around = around(data, choices).map(|(before, behind)| Around { before, behind });
    }

    /// Forgets what was learnt of calls: a new one may stand in the place of an old one.
    pub(super) fn forget_calls(&mut self) {
        self.adding.retain(|shape| !matches!(shape.adds, Adds::Arguments(_)));
    }
}
