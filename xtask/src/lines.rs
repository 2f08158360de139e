//! Counts lines of Rust: what is code, what is comment, and what belongs to tests.

#[cfg(test)]
mod tests;

use std::{collections::BTreeSet, str::Chars};

/// The counts of one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lines {
    /// All lines but those of `#[cfg(test)]` items.
    pub(crate) length: usize,
    /// Lines with a token outside of comments and `#[cfg(test)]` items.
    pub(crate) code: usize,
}

/// Counts the lines of a source text; text that isn't valid Rust gives counts, not an error.
pub(crate) fn count(text: &str) -> Lines {
    let mut counter = Counter::default();
    lex(text, &mut |c, class| counter.push(c, class));
    counter.finish(text.lines().count())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Code,
    Literal,
    Comment,
}

/// Gives each character to `emit` with its class.
fn lex(text: &str, emit: &mut impl FnMut(char, Class)) {
    let mut chars = text.chars();
    let mut after_word = false;
    loop {
        let rest = chars.as_str();
        let Some(first) = rest.chars().next() else { return };
        if rest.starts_with("//") {
            take(&mut chars, rest.find('\n').unwrap_or(rest.len()), Class::Comment, emit);
        } else if rest.starts_with("/*") {
            take(&mut chars, block_comment(rest), Class::Comment, emit);
        } else if let Some(length) = raw_string(rest).filter(|_| !after_word) {
            take(&mut chars, length, Class::Literal, emit);
        } else if first == '"' {
            take(&mut chars, quoted(rest, '"'), Class::Literal, emit);
        } else if first == '\'' && is_char_literal(rest) {
            take(&mut chars, quoted(rest, '\''), Class::Literal, emit);
        } else {
            take(&mut chars, first.len_utf8(), Class::Code, emit);
        }
        after_word = first.is_alphanumeric() || first == '_';
    }
}

fn take(chars: &mut Chars<'_>, bytes: usize, class: Class, emit: &mut impl FnMut(char, Class)) {
    let end = chars.as_str().len().saturating_sub(bytes);
    while chars.as_str().len() > end {
        let Some(c) = chars.next() else { return };
        emit(c, class);
    }
}

/// The length in bytes of the nested comment at the start.
fn block_comment(text: &str) -> usize {
    let (mut depth, mut chars) = (0_usize, text.chars());
    loop {
        if chars.as_str().starts_with("/*") {
            depth += 1;
            chars.next();
        } else if chars.as_str().starts_with("*/") {
            depth -= 1;
            chars.next();
        }
        if chars.next().is_none() || depth == 0 {
            return text.len() - chars.as_str().len();
        }
    }
}

/// The length in bytes of the raw string at the start, if there is one.
fn raw_string(text: &str) -> Option<usize> {
    let body = ["r", "br", "cr"].iter().find_map(|prefix| text.strip_prefix(prefix))?;
    let opened = body.trim_start_matches('#');
    let hashes = body.len() - opened.len();
    let inner = opened.strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    let after = inner.find(&end).map_or(inner.len(), |at| at + end.len());
    Some(text.len() - inner.len() + after)
}

/// The length in bytes of the literal at the start, to the closing quote that isn't escaped.
fn quoted(text: &str, quote: char) -> usize {
    let mut chars = text.chars();
    chars.next();
    while let Some(c) = chars.next() {
        if c == '\\' {
            chars.next();
        } else if c == quote {
            break;
        }
    }
    text.len() - chars.as_str().len()
}

/// Tells `'a'` and `'\n'` from the lifetime `'a`.
fn is_char_literal(text: &str) -> bool {
    let mut chars = text.chars().skip(1);
    match chars.next() {
        Some('\\') => true,
        Some('\'') | None => false,
        Some(_) => chars.next() == Some('\''),
    }
}

/// Where the counter is in the text.
#[derive(Debug, Default)]
enum State {
    #[default]
    Code,
    /// After a `#` or `#!`.
    Hash { from: Mark, inner: bool },
    /// In the brackets of an attribute, with what was in them so far.
    Attribute { from: Mark, inner: bool, depth: usize, text: String },
    /// In an item under `#[cfg(test)]`.
    Test { first_line: usize, depth: usize, head: String },
    /// After the closing brace of such an item: a `;` or `,` still belongs to it.
    TestEnd,
    /// In a file under `#![cfg(test)]`.
    TestFile,
}

/// A place to go back to when an attribute turns out to be `#[cfg(test)]`.
#[derive(Debug, Default, Clone, Copy)]
struct Mark {
    line: usize,
    code: usize,
}

#[derive(Debug, Default)]
struct Counter {
    line: usize,
    state: State,
    /// The lines that have code, in order, with repeats.
    code: Vec<usize>,
    tests: BTreeSet<usize>,
}

impl Counter {
    fn push(&mut self, c: char, class: Class) {
        if class != Class::Comment && !c.is_whitespace() {
            self.token(c, class);
        } else if let State::Test { head, depth: 0, .. } = &mut self.state {
            head.push(' ');
        }
        if c == '\n' {
            self.line += 1;
        }
    }

    fn token(&mut self, c: char, class: Class) {
        let is_code = class == Class::Code;
        let state = std::mem::take(&mut self.state);
        if !matches!(state, State::Test { .. } | State::TestEnd | State::TestFile) {
            self.code.push(self.line);
        }
        self.state = match state {
            State::Code if is_code && c == '#' => {
                let from = Mark { line: self.line, code: self.code.len() - 1 };
                State::Hash { from, inner: false }
            }
            State::Hash { from, inner: false } if is_code && c == '!' => State::Hash { from, inner: true },
            State::Hash { from, inner } if is_code && c == '[' => {
                State::Attribute { from, inner, depth: 1, text: String::new() }
            }
            State::Code | State::Hash { .. } => State::Code,
            State::Attribute { from, inner, depth, mut text } => match (is_code, c, depth) {
                (true, ']', 1) => self.attribute(from, inner, &text),
                (true, ']' | '[', _) => {
                    let depth = if c == '[' { depth + 1 } else { depth - 1 };
                    text.push(c);
                    State::Attribute { from, inner, depth, text }
                }
                _ => {
                    text.push(if is_code { c } else { '"' });
                    State::Attribute { from, inner, depth, text }
                }
            },
            State::Test { first_line, depth, head } => self.test(first_line, depth, head, c, class),
            State::TestEnd if is_code && matches!(c, ';' | ',') => {
                self.tests.insert(self.line);
                State::Code
            }
            State::TestEnd => {
                self.state = State::Code;
                self.token(c, class);
                return;
            }
            State::TestFile => State::TestFile,
        };
    }

    /// At the end of an attribute: whether the item that follows is a test.
    fn attribute(&mut self, from: Mark, inner: bool, text: &str) -> State {
        if text != "cfg(test)" && !text.starts_with("cfg(all(test,") {
            return State::Code;
        }
        self.code.truncate(from.code);
        if inner {
            return State::TestFile;
        }
        State::Test { first_line: from.line, depth: 0, head: String::new() }
    }

    fn test(&mut self, first_line: usize, depth: usize, mut head: String, c: char, class: Class) -> State {
        if class != Class::Code {
            return State::Test { first_line, depth, head };
        }
        if depth == 0 {
            head.push(c);
        }
        let depth_after = match c {
            '{' | '[' | '(' => depth + 1,
            '}' | ']' | ')' if depth == 0 => {
                // The block around the item ends: so does the item.
                self.code.push(self.line);
                self.tests.extend(first_line..self.line);
                return State::Code;
            }
            '}' | ']' | ')' => depth - 1,
            _ => depth,
        };
        let ended = depth_after == 0 && (c == '}' || c == ';' || (c == ',' && !is_item(&head)));
        if !ended {
            return State::Test { first_line, depth: depth_after, head };
        }
        self.tests.extend(first_line..=self.line);
        if c == '}' { State::TestEnd } else { State::Code }
    }

    fn finish(mut self, total: usize) -> Lines {
        match self.state {
            State::TestFile => self.tests.extend(0..total),
            State::Test { first_line, .. } => self.tests.extend(first_line..total),
            _ => {}
        }
        let code: BTreeSet<usize> = self.code.into_iter().collect();
        let tests = self.tests.difference(&code).count();
        Lines { length: total.saturating_sub(tests), code: code.len() }
    }
}

/// Whether the words before the first bracket begin an item, whose commas don't end it as they
/// would end a field, a variant or an arm.
fn is_item(head: &str) -> bool {
    const KEYWORDS: &[&str] = &[
        "async", "const", "enum", "extern", "fn", "impl", "let", "mod", "static", "struct", "trait", "type", "union",
        "unsafe", "use",
    ];
    let mut words = head.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|w| !w.is_empty());
    words.find(|word| *word != "pub").is_some_and(|word| KEYWORDS.contains(&word))
}
