//! A chunk that differs from an earlier one only in what it adds, read without a parser.
//!
//! The chunks of a stream repeat some 300 bytes around a few letters of text. Where the bytes before and behind a
//! string are those of a chunk that the parser has read, the parser would do the same again with the new string, since
//! it reads from left to right and a string stands for a string. So this is no second reader of the protocol.

use std::borrow::Cow;

use agent_core::json_literal;

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
pub(super) struct Shapes(Vec<Shape>);

struct Shape {
    adds: Adds,
    before: String,
    behind: String,
    /// What follows behind the padding, where there is one.
    last: Option<String>,
}

impl Shapes {
    /// What a chunk of a known shape adds.
    pub(super) fn read<'a>(&self, data: &'a str) -> Option<(Adds, Cow<'a, str>)> {
        self.0.iter().find_map(|shape| {
            let (text, rest) = json_literal(data.strip_prefix(&*shape.before)?)?;
            let rest = rest.strip_prefix(&*shape.behind)?;
            let fits = match &shape.last {
                None => rest.is_empty(),
                Some(last) => json_literal(rest).is_some_and(|(_, rest)| rest == last),
            };
            fits.then_some((shape.adds, text))
        })
    }

    /// Remembers a chunk that does nothing but add this literal, a part of `data`.
    pub(super) fn learn(&mut self, data: &str, literal: &str, adds: Adds) {
        let parts = || {
            let start = literal.as_ptr().addr().checked_sub(data.as_ptr().addr())?;
            let (before, behind) = (data.get(..start)?, data.get(start.checked_add(literal.len())?..)?);
            let (behind, last) = match behind.split_once(PADDING) {
                Some((head, tail)) if tail.starts_with('"') => {
                    (format!("{head}{PADDING}"), Some(json_literal(tail)?.1.to_owned()))
                }
                _ => (behind.to_owned(), None),
            };
            Some(Shape { adds, before: before.to_owned(), behind, last })
        };
        let Some(shape) = parts() else { return };
        self.0.truncate(SHAPES - 1);
        self.0.insert(0, shape);
    }

    /// Forgets what was learnt of calls: a new one may stand in the place of an old one.
    pub(super) fn forget_calls(&mut self) {
        self.0.retain(|shape| !matches!(shape.adds, Adds::Arguments(_)));
    }
}
