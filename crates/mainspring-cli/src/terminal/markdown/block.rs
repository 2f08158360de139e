//! What kind of line begins, as soon as its first characters say.

/// A line that begins, in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    /// How many `>` stand before it.
    pub(super) quotes: usize,
    /// How far it is indented behind them.
    pub(super) indent: usize,
    /// The marker of a list item.
    pub(super) marker: Option<Marker>,
    pub(super) kind: Kind,
    /// What was read already of its text.
    pub(super) rest: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Marker {
    /// The number with its mark; `None` for a bullet.
    pub(super) number: Option<String>,
    /// How far the marker and the space behind it reach.
    pub(super) width: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Blank,
    /// With its level.
    Heading(usize),
    Rule,
    /// A fence, whose label follows.
    Fence {
        mark: char,
        length: usize,
    },
    /// A row of a table.
    Row,
    Text,
}

/// Longer beginnings are text.
const MAX_UNDECIDED: usize = 400;
const MAX_QUOTES: usize = 8;

/// Says what a line is; `None` while that depends on what follows.
pub(super) fn decide(head: &str, is_whole: bool) -> Option<Line> {
    let is_whole = is_whole || head.len() > MAX_UNDECIDED;
    let (mut quotes, mut rest) = (0, head);
    let mut indent;
    loop {
        (indent, rest) = indentation(rest);
        match rest.strip_prefix('>') {
            Some(after) if quotes < MAX_QUOTES => {
                if after.is_empty() && !is_whole {
                    return None;
                }
                rest = after.strip_prefix(' ').unwrap_or(after);
                quotes += 1;
            }
            _ => break,
        }
    }
    let line = |marker, kind, rest: &str| Some(Line { quotes, indent, marker, kind, rest: rest.to_owned() });
    let Some(first) = rest.chars().next() else {
        return if is_whole { line(None, Kind::Blank, "") } else { None };
    };
    if rest.chars().all(|c| c == first || c == ' ') && matches!(first, '-' | '*' | '_') {
        if !is_whole {
            return None;
        }
        if rest.chars().filter(|c| *c == first).count() >= 3 {
            return line(None, Kind::Rule, "");
        }
    }
    match marker(rest, is_whole) {
        Sure::NotYet => None,
        Sure::Yes(marker, after) => match plain_kind(after, is_whole)? {
            (kind @ (Kind::Fence { .. } | Kind::Blank), after) => line(Some(marker), kind, after),
            _ => line(Some(marker), Kind::Text, after),
        },
        Sure::No => {
            let (kind, after) = plain_kind(rest, is_whole)?;
            line(None, kind, after)
        }
    }
}

/// Cells of white space, and what follows them.
pub(super) fn indentation(text: &str) -> (usize, &str) {
    let rest = text.trim_start_matches([' ', '\t']);
    let space = text.strip_suffix(rest).unwrap_or_default();
    (space.chars().map(|c| if c == '\t' { 4 } else { 1 }).sum(), rest)
}

enum Sure<'a> {
    Yes(Marker, &'a str),
    NotYet,
    No,
}

fn marker(text: &str, is_whole: bool) -> Sure<'_> {
    let digits = text.chars().take_while(char::is_ascii_digit).count();
    let (number, after) = if digits > 0 {
        if digits > 9 {
            return Sure::No;
        }
        let Some((number, after)) = text.split_at_checked(digits) else { return Sure::No };
        match after.chars().next() {
            Some(mark @ ('.' | ')')) => (Some(format!("{number}{mark}")), after.strip_prefix(mark).unwrap_or_default()),
            None if !is_whole => return Sure::NotYet,
            _ => return Sure::No,
        }
    } else {
        match text.strip_prefix(['-', '*', '+']) {
            Some(after) => (None, after),
            None => return Sure::No,
        }
    };
    let width = number.as_ref().map_or(1, String::len);
    match after.strip_prefix([' ', '\t']) {
        Some(after) => {
            let (more, text) = indentation(after);
            if text.is_empty() && !is_whole {
                return Sure::NotYet;
            }
            Sure::Yes(Marker { number, width: width + 1 + if more < 4 { more } else { 0 } }, text)
        }
        None if after.is_empty() && is_whole && number.is_none() => Sure::Yes(Marker { number, width: width + 1 }, ""),
        None if after.is_empty() && !is_whole => Sure::NotYet,
        None => Sure::No,
    }
}

fn plain_kind(text: &str, is_whole: bool) -> Option<(Kind, &str)> {
    let Some(first) = text.chars().next() else { return Some((Kind::Blank, "")) };
    let length = text.chars().take_while(|c| *c == first).count();
    let after = text.trim_start_matches(first);
    match first {
        '#' if length <= 6 => match after.strip_prefix([' ', '\t']) {
            Some(after) => Some((Kind::Heading(length), after.trim_start())),
            None if after.is_empty() && !is_whole => None,
            None => Some((Kind::Text, text)),
        },
        '`' | '~' if after.is_empty() && !is_whole => None,
        '`' | '~' if length >= 3 => {
            // ```` ```code``` ```` within a line is no fence.
            if first == '`' && after.contains('`') {
                Some((Kind::Text, text))
            } else if is_whole {
                Some((Kind::Fence { mark: first, length }, after.trim()))
            } else {
                None
            }
        }
        '|' => Some((Kind::Row, text)),
        _ => Some((Kind::Text, text)),
    }
}

/// Whether a line ends the block of code that such a fence began.
pub(super) fn closes(line: &str, (mark, length): (char, usize)) -> bool {
    let line = line.trim();
    line.chars().count() >= length && line.chars().all(|c| c == mark)
}
