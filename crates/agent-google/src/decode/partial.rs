//! The arguments of a call that come in pieces, each with its place as a JSON path, joined into one object.

use serde_json::value::RawValue;

use super::chunk::PartialArg;
use crate::{error::text_of, json::string};

/// How deep arguments may be, how many values they may have, and how many bytes.
const MAX_DEPTH: usize = 64;
const MAX_NODES: usize = 10_000;
const MAX_BYTES: usize = 16 * 1024 * 1024;

/// Arguments while they come, their keys in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct PartialArgs {
    root: Node,
    nodes: usize,
    bytes: usize,
}

#[derive(Debug, Default)]
enum Node {
    /// Begun, with nothing in it.
    #[default]
    Empty,
    Object(Vec<(String, Node)>),
    Array(Vec<Node>),
    Text(String),
    /// A number, a boolean or null, as it was written.
    Plain(String),
}

enum Step {
    Key(String),
    Index(usize),
}

/// Pieces that make no object: a fault of the server, or a hostile one.
#[derive(Debug)]
pub(super) struct Misfit(pub(super) &'static str);

impl PartialArgs {
    /// Adds a piece: text is put behind the text that is there, other values are set.
    pub(super) fn push(&mut self, piece: &PartialArg<'_>) -> Result<(), Misfit> {
        let path = text_of(piece.json_path).ok_or(Misfit("a piece of arguments has no place"))?;
        let steps = read_path(&path).ok_or(Misfit("a piece of arguments has a place that cannot be read"))?;
        let node = Self::find(&mut self.root, &mut self.nodes, steps)?;
        if let Some(text) = piece.string_value.and_then(string) {
            self.bytes = self.bytes.saturating_add(text.len());
            if self.bytes > MAX_BYTES {
                return Err(Misfit("the pieces of arguments are too large"));
            }
            match node {
                Node::Text(before) => before.push_str(&text),
                node => *node = Node::Text(text.into_owned()),
            }
        } else if let Some(value) = plain(piece.number_value).or_else(|| plain(piece.bool_value)) {
            *node = Node::Plain(value.to_owned());
        } else if piece.null_value.is_some() {
            *node = Node::Plain("null".to_owned());
        }
        Ok(())
    }

    fn find<'n>(root: &'n mut Node, nodes: &mut usize, steps: Vec<Step>) -> Result<&'n mut Node, Misfit> {
        if steps.len() > MAX_DEPTH {
            return Err(Misfit("the pieces of arguments are nested too deeply"));
        }
        let mut node = root;
        for step in steps {
            let before = *nodes;
            node = match step {
                Step::Key(key) => {
                    if !matches!(node, Node::Object(_)) {
                        *node = Node::Object(Vec::new());
                    }
                    let Node::Object(members) = node else { return Err(Misfit("the pieces of arguments do not fit")) };
                    let at = members.iter().position(|(known, _)| *known == key).unwrap_or(members.len());
                    if at == members.len() {
                        members.push((key, Node::Empty));
                        *nodes += 1;
                    }
                    members.get_mut(at).map(|(_, node)| node)
                }
                Step::Index(index) => {
                    if !matches!(node, Node::Array(_)) {
                        *node = Node::Array(Vec::new());
                    }
                    let Node::Array(items) = node else { return Err(Misfit("the pieces of arguments do not fit")) };
                    while items.len() <= index && *nodes <= MAX_NODES {
                        items.push(Node::Empty);
                        *nodes += 1;
                    }
                    items.get_mut(index)
                }
            }
            .ok_or(Misfit("the pieces of arguments have too many values"))?;
            if *nodes > MAX_NODES && *nodes > before {
                return Err(Misfit("the pieces of arguments have too many values"));
            }
        }
        Ok(node)
    }

    /// The object.
    pub(super) fn to_json(&self) -> String {
        match &self.root {
            Node::Empty => "{}".to_owned(),
            root => {
                let mut out = String::new();
                root.write(&mut out);
                out
            }
        }
    }
}

impl Node {
    fn write(&self, out: &mut String) {
        match self {
            Self::Empty => out.push_str("null"),
            Self::Plain(text) => out.push_str(text),
            Self::Text(text) => push_string(out, text),
            Self::Array(items) => {
                out.push('[');
                for (i, item) in items.iter().enumerate() {
                    out.push_str(if i > 0 { "," } else { "" });
                    item.write(out);
                }
                out.push(']');
            }
            Self::Object(members) => {
                out.push('{');
                for (i, (name, value)) in members.iter().enumerate() {
                    out.push_str(if i > 0 { "," } else { "" });
                    push_string(out, name);
                    out.push(':');
                    value.write(out);
                }
                out.push('}');
            }
        }
    }
}

/// A value that is not null, as it was written.
fn plain(raw: Option<&RawValue>) -> Option<&str> {
    raw.map(RawValue::get).filter(|text| *text != "null")
}

fn push_string(out: &mut String, text: &str) {
    // Writing a string as JSON cannot fail.
    out.push_str(&serde_json::to_string(text).unwrap_or_default());
}

/// Reads a path such as `$.recipe.steps[0]` or `$['a b'][1]` (RFC 9535, names and indices only).
fn read_path(path: &str) -> Option<Vec<Step>> {
    let mut rest = path.strip_prefix('$').unwrap_or(path);
    let mut steps = Vec::new();
    while !rest.is_empty() {
        if let Some(inner) = rest.strip_prefix('[') {
            let quote = inner.chars().next()?;
            if matches!(quote, '\'' | '"') {
                let (name, after) = quoted(inner.get(1..)?, quote)?;
                steps.push(Step::Key(name));
                rest = after.strip_prefix(']')?;
            } else {
                let (number, after) = inner.split_once(']')?;
                steps.push(Step::Index(number.trim().parse().ok()?));
                rest = after;
            }
        } else {
            let name = rest.strip_prefix('.').unwrap_or(rest);
            let end = name.find(['.', '[']).unwrap_or(name.len());
            let (name, after) = name.split_at_checked(end)?;
            if name.is_empty() {
                return None;
            }
            steps.push(Step::Key(name.to_owned()));
            rest = after;
        }
    }
    (!steps.is_empty()).then_some(steps)
}

/// A name in quotes, and what follows its closing quote.
fn quoted(text: &str, quote: char) -> Option<(String, &str)> {
    let mut name = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => name.push(chars.next()?.1),
            c if c == quote => return Some((name, text.get(at + c.len_utf8()..)?)),
            c => name.push(c),
        }
    }
    None
}
