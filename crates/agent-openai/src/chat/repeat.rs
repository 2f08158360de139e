//! Chunks of a known shape.

use std::borrow::Cow;

use agent_core::json_literal;
use serde::Deserialize;

use crate::repeat::Template;

/// How many shapes are remembered: text, reasoning, and a few calls at once.
const SHAPES: usize = 4;

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
    adding: Vec<(Adds, Template)>,
    /// What stands around the choices of a chunk that says nothing else.
    around: Option<Template>,
}

impl Shapes {
    /// What a chunk of a known shape adds.
    pub(super) fn read<'a>(&self, data: &'a str) -> Option<(Adds, Cow<'a, str>)> {
        self.adding.iter().find_map(|(adds, template)| Some((*adds, template.read(data, json_literal)?)))
    }

    /// Remembers a chunk that does nothing but add this literal, a part of `data`.
    pub(super) fn learn(&mut self, data: &str, literal: &str, adds: Adds) {
        let Some(template) = Template::around(data, literal) else { return };
        self.adding.truncate(SHAPES - 1);
        self.adding.insert(0, (adds, template));
    }

    /// The choices of a chunk that says nothing else, where what stands around them is known.
    pub(super) fn choices<'a, T: Deserialize<'a>>(&self, data: &'a str) -> Option<T> {
        self.around.as_ref()?.read(data, |rest| {
            let mut values = serde_json::Deserializer::from_str(rest).into_iter::<T>();
            let choices = values.next()?.ok()?;
            Some((choices, rest.get(values.byte_offset()..)?))
        })
    }

    /// Remembers what stands around the choices, a part of `data`, of a chunk that says nothing else.
    pub(super) fn learn_around(&mut self, data: &str, choices: &str) {
        self.around = Template::around(data, choices);
    }

    /// Forgets what was learnt of calls: a new one may stand in the place of an old one.
    pub(super) fn forget_calls(&mut self) {
        self.adding.retain(|(adds, _)| !matches!(adds, Adds::Arguments(_)));
    }
}
