//! Emphasis, code and links within a line.

use super::super::style::Style;

/// A piece of a line.
pub(super) type Span = (Style, String);

/// How deep emphasis may be nested.
const MAX_DEPTH: u32 = 6;

/// What stands before a text, and whether more may follow.
#[derive(Clone, Copy)]
pub(super) struct Around {
    pub(super) before: Option<char>,
    pub(super) is_whole: bool,
}

/// What came of looking for the end of something.
enum Found<T> {
    At(T),
    /// It may still come.
    NotYet,
    No,
}

/// Reads a text up to its end, or up to what only its continuation decides; says how many characters were read.
pub(super) fn parse(text: &[char], around: Around, style: Style, spans: &mut Vec<Span>) -> usize {
    parse_at(text, around, style, spans, 0)
}

fn parse_at(text: &[char], around: Around, style: Style, spans: &mut Vec<Span>, depth: u32) -> usize {
    let mut at = 0;
    while let Some(&c) = text.get(at) {
        let step = match c {
            '\\' => escape(text, at, around),
            '`' => code(text, at, around),
            '*' | '_' | '~' if depth < MAX_DEPTH => emphasis(text, at, around),
            '[' | '!' if depth < MAX_DEPTH => link(text, at, around),
            '<' => address(text, at),
            _ => Found::No,
        };
        let (end, inner) = match step {
            Found::NotYet => return at,
            Found::No => (at + 1, Inner::Literal(c.to_string())),
            Found::At(found) => found,
        };
        let mut nested = |inner: &[char], style| {
            let whole = Around { before: None, is_whole: true };
            parse_at(inner, whole, style, spans, depth + 1);
        };
        match inner {
            Inner::Literal(text) => push(spans, style, &text),
            Inner::Code(text) => push(spans, style.colour(super::super::style::Colour::Cyan), &text),
            Inner::Bold(range) => nested(slice(text, range), style.bold()),
            Inner::Italic(range) => nested(slice(text, range), style.italic()),
            Inner::Both(range) => nested(slice(text, range), style.bold().italic()),
            Inner::Strike(range) => nested(slice(text, range), style.strike()),
            Inner::Address(text) => push(spans, Style::LINK, &text),
            Inner::Link(range, url) => {
                let shown = slice(text, range);
                nested(shown, Style::LINK);
                let is_shown = shown.iter().copied().eq(url.chars());
                // The address is always shown: a text must not be able to lead elsewhere than it says.
                if !url.is_empty() && !is_shown {
                    push(spans, Style::PLAIN, " ");
                    push(spans, Style::DIM, &format!("({url})"));
                }
            }
        }
        at = end;
    }
    at
}

/// What was found; ranges are places in the text.
enum Inner {
    Literal(String),
    Code(String),
    Bold((usize, usize)),
    Italic((usize, usize)),
    Both((usize, usize)),
    Strike((usize, usize)),
    Address(String),
    Link((usize, usize), String),
}

type Step = Found<(usize, Inner)>;

fn push(spans: &mut Vec<Span>, style: Style, text: &str) {
    match spans.last_mut() {
        Some((as_before, piece)) if *as_before == style => piece.push_str(text),
        _ => spans.push((style, text.to_owned())),
    }
}

fn slice(text: &[char], (from, to): (usize, usize)) -> &[char] {
    text.get(from..to).unwrap_or_default()
}

fn string(text: &[char], range: (usize, usize)) -> String {
    slice(text, range).iter().collect()
}

fn run(text: &[char], at: usize) -> usize {
    let Some(first) = text.get(at) else { return 0 };
    text.get(at..).unwrap_or_default().iter().take_while(|c| *c == first).count()
}

fn before(text: &[char], at: usize, around: Around) -> Option<char> {
    at.checked_sub(1).map_or(around.before, |at| text.get(at).copied())
}

fn escape(text: &[char], at: usize, around: Around) -> Step {
    match text.get(at + 1) {
        Some(next) if next.is_ascii_punctuation() => Found::At((at + 2, Inner::Literal(next.to_string()))),
        None if !around.is_whole => Found::NotYet,
        _ => Found::No,
    }
}

fn code(text: &[char], at: usize, around: Around) -> Step {
    let length = run(text, at);
    let from = at + length;
    match code_end(text, from, length, around) {
        Found::At(to) => {
            let mut inner = string(text, (from, to));
            let is_padded = inner.len() > 2 && inner.starts_with(' ') && inner.ends_with(' ');
            if is_padded && !inner.trim().is_empty() {
                inner = inner.strip_prefix(' ').and_then(|inner| inner.strip_suffix(' ')).unwrap_or(&inner).to_owned();
            }
            Found::At((to + length, Inner::Code(inner)))
        }
        Found::NotYet => Found::NotYet,
        Found::No => Found::At((from, Inner::Literal("`".repeat(length)))),
    }
}

/// Where a run of exactly so many backticks begins.
fn code_end(text: &[char], mut at: usize, length: usize, around: Around) -> Found<usize> {
    while let Some(&c) = text.get(at) {
        if c != '`' {
            at += 1;
            continue;
        }
        let this = run(text, at);
        if this == length && (around.is_whole || at + this < text.len()) {
            return Found::At(at);
        }
        at += this;
    }
    if around.is_whole { Found::No } else { Found::NotYet }
}

fn emphasis(text: &[char], at: usize, around: Around) -> Step {
    let Some(&c) = text.get(at) else { return Found::No };
    let length = run(text, at);
    let from = at + length;
    if from == text.len() && !around.is_whole {
        return Found::NotYet;
    }
    let literal = Found::At((from, Inner::Literal(c.to_string().repeat(length))));
    let follows_word = before(text, at, around).is_some_and(char::is_alphanumeric);
    let can_open = text.get(from).is_some_and(|next| !next.is_whitespace()) && !(c == '_' && follows_word);
    let fits = if c == '~' { length == 2 } else { length <= 3 };
    if !can_open || !fits {
        return literal;
    }
    match emphasis_end(text, from, (c, length), around) {
        Found::At(to) => {
            let range = (from, to);
            let inner = match (c, length) {
                ('~', _) => Inner::Strike(range),
                (_, 1) => Inner::Italic(range),
                (_, 2) => Inner::Bold(range),
                _ => Inner::Both(range),
            };
            Found::At((to + length, inner))
        }
        Found::NotYet => Found::NotYet,
        Found::No => literal,
    }
}

fn emphasis_end(text: &[char], from: usize, (mark, length): (char, usize), around: Around) -> Found<usize> {
    let mut at = from;
    while let Some(&c) = text.get(at) {
        match c {
            '\\' => at += 2,
            '`' => {
                let ticks = run(text, at);
                at = match code_end(text, at + ticks, ticks, around) {
                    Found::At(end) => end + ticks,
                    Found::NotYet => return Found::NotYet,
                    Found::No => at + ticks,
                };
            }
            c if c == mark => {
                let this = run(text, at);
                let end = at + this;
                if end == text.len() && !around.is_whole {
                    return Found::NotYet;
                }
                let follows_text = at > from && !text.get(at - 1).is_some_and(|before| before.is_whitespace());
                let before_word = text.get(end).is_some_and(|after| after.is_alphanumeric());
                // The last marks of a run close what began first.
                let fits = this == length || (this == 3 && length < 3);
                if follows_text && fits && !(mark == '_' && before_word) {
                    return Found::At(end - length);
                }
                at = end;
            }
            _ => at += 1,
        }
    }
    if around.is_whole { Found::No } else { Found::NotYet }
}

/// `[text](address)`, and the same of an image.
fn link(text: &[char], at: usize, around: Around) -> Step {
    let unsure = if around.is_whole { Found::No } else { Found::NotYet };
    let open = if text.get(at) == Some(&'!') { at + 1 } else { at };
    match text.get(open) {
        Some('[') => {}
        Some(_) => return Found::No,
        None => return unsure,
    }
    let Some(close) = balanced(text, open, '[', ']') else { return unsure };
    match text.get(close + 1) {
        Some('(') => {}
        Some(_) => return Found::No,
        None => return unsure,
    }
    let Some(end) = balanced(text, close + 1, '(', ')') else { return unsure };
    let target = string(text, (close + 2, end));
    // A title may stand behind the address.
    let url = target.split_whitespace().next().unwrap_or_default();
    let url = url.trim_start_matches('<').trim_end_matches('>');
    Found::At((end + 1, Inner::Link((open + 1, close), url.to_owned())))
}

/// The place of the mark that closes the one at `from`.
fn balanced(text: &[char], from: usize, open: char, close: char) -> Option<usize> {
    let mut depth = 0usize;
    let mut is_escaped = false;
    for (at, &c) in text.iter().enumerate().skip(from) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            c if c == open => depth += 1,
            c if c == close => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

/// `<https://…>`.
fn address(text: &[char], at: usize) -> Step {
    let rest = text.get(at + 1..).unwrap_or_default();
    let Some(length) = rest.iter().position(|c| *c == '>' || c.is_whitespace()) else { return Found::No };
    let address = string(rest, (0, length));
    let is_address = ["http://", "https://", "mailto:"].iter().any(|scheme| address.starts_with(scheme));
    if rest.get(length) == Some(&'>') && is_address {
        return Found::At((at + length + 2, Inner::Address(address)));
    }
    Found::No
}
