//! Where the text to replace stands: exactly, else but for trailing spaces, else but for indentation. Each step counts
//! only where the one before found nothing.

use std::{borrow::Cow, collections::BTreeMap, fmt::Write as _, ops::Range};

/// How exactly a text was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    Exact,
    TrailingSpace,
    Indentation,
}

/// A place, and what to put there.
#[derive(Debug)]
pub(super) struct Found<'a> {
    pub(super) range: Range<usize>,
    pub(super) how: How,
    pub(super) new: Cow<'a, str>,
}

/// Every place where `old` stands, in order, by the first of the three ways that finds any.
pub(super) fn find<'a>(text: &str, old: &str, new: &'a str) -> Vec<Found<'a>> {
    let exact = exactly(text, old);
    if !exact.is_empty() {
        let found = |range| Found { range, how: How::Exact, new: Cow::Borrowed(new) };
        return exact.into_iter().map(found).collect();
    }
    let Some(wanted) = Wanted::new(old, new) else { return Vec::new() };
    let lines = Line::all(text);
    let found = wanted.search(&lines, How::TrailingSpace);
    if found.is_empty() { wanted.search(&lines, How::Indentation) } else { found }
}

/// Places may overlap: then it is not clear which one is meant.
fn exactly(text: &str, old: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| rest.find(old)) {
        let start = from + at;
        found.push(start..start + old.len());
        from = start + text.get(start..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8);
    }
    found
}

/// A line of the file, without its end.
struct Line<'a> {
    start: usize,
    text: &'a str,
}

impl<'a> Line<'a> {
    fn all(text: &'a str) -> Vec<Self> {
        let mut start = 0;
        let line = |text: &'a str| {
            let line = Self { start, text };
            start += text.len() + 1;
            line
        };
        text.split('\n').map(line).collect()
    }
}

/// Whole lines to look for.
struct Wanted<'a> {
    old: Vec<&'a str>,
    new: &'a str,
    /// Whether the end of the last line belongs to it.
    ends: bool,
}

impl<'a> Wanted<'a> {
    fn new<'b: 'a>(old: &'b str, new: &'a str) -> Option<Wanted<'a>> {
        let (body, ends) = old.strip_suffix('\n').map_or((old, false), |body| (body, true));
        let old: Vec<&str> = body.split('\n').collect();
        // White space alone is not looked for but for white space.
        old.iter().any(|line| !line.trim().is_empty()).then_some(Wanted { old, new, ends })
    }
}

impl Wanted<'_> {
    fn search<'n>(&self, lines: &[Line<'_>], how: How) -> Vec<Found<'n>> {
        let windows = lines.windows(self.old.len());
        windows.filter_map(|window| self.fits(window, how, lines.last()?)).collect()
    }

    fn fits<'n>(&self, window: &[Line<'_>], how: How, last_of_file: &Line<'_>) -> Option<Found<'n>> {
        let mut indents: BTreeMap<&str, &str> = BTreeMap::new();
        for (line, old) in window.iter().zip(&self.old) {
            if how == How::TrailingSpace {
                if line.text.trim_end() != old.trim_end() {
                    return None;
                }
                continue;
            }
            if line.text.trim() != old.trim() {
                return None;
            }
            // One indentation of the old text has to be one of the file throughout.
            let (ours, theirs) = (indent(old), indent(line.text));
            if !old.trim().is_empty() && *indents.entry(ours).or_insert(theirs) != theirs {
                return None;
            }
        }
        let (first, last) = (window.first()?, window.last()?);
        let end = last.start + last.text.len();
        // The last line of the file has no end that could be replaced.
        let takes_end = self.ends && last.start != last_of_file.start;
        let mut new: String = if how == How::Indentation { reindent(self.new, &indents) } else { self.new.to_owned() };
        if self.ends && !takes_end && new.ends_with('\n') {
            new.pop();
        }
        let range = first.start..if takes_end { end + 1 } else { end };
        Some(Found { range, how, new: Cow::Owned(new) })
    }
}

fn indent(line: &str) -> &str {
    line.strip_suffix(line.trim_start()).unwrap_or_default()
}

/// Gives each line of the new text the indentation that the file has for it.
fn reindent(new: &str, indents: &BTreeMap<&str, &str>) -> String {
    let mut out = String::with_capacity(new.len());
    for line in new.split_inclusive('\n') {
        let ours = indent(line.trim_end_matches('\n'));
        // The longest known beginning of this indentation; what goes beyond it stays.
        let known = indents.iter().rev().find(|(known, _)| ours.starts_with(**known));
        match known {
            Some((known, theirs)) if !line.trim().is_empty() => {
                out.push_str(theirs);
                out.push_str(line.strip_prefix(known).unwrap_or(line));
            }
            _ => out.push_str(line),
        }
    }
    out
}

/// What to tell about a text that is not there: the lines that are most like it.
pub(super) fn nearest(text: &str, old: &str) -> Option<String> {
    const SHOWN: usize = 12;
    let lines: Vec<&str> = text.split('\n').collect();
    let old: Vec<&str> = old.trim_matches('\n').split('\n').map(str::trim).collect();
    let length = old.len().clamp(1, lines.len().max(1));
    let first = old.iter().find(|line| !line.is_empty())?;
    let pairs = pairs(first);
    let mut best = (0, 0);
    for (start, window) in lines.windows(length).enumerate() {
        let same = window.iter().zip(&old).filter(|(a, b)| !b.is_empty() && a.trim() == **b).count();
        let alike = window.first().map_or(0, |line| likeness(line.trim(), &pairs));
        let score = same * 200 + alike;
        if score > best.0 {
            best = (score, start);
        }
    }
    let (score, start) = best;
    if score < 50 {
        return None;
    }
    let mut shown = format!("the nearest text is in line {}:", start + 1);
    for (i, line) in lines.iter().enumerate().skip(start).take(length.min(SHOWN)) {
        let cut: String = line.chars().take(200).collect();
        let _ = write!(shown, "\n{:>6}\t{cut}", i + 1);
    }
    Some(shown)
}

fn pairs(line: &str) -> Vec<(char, char)> {
    let line = line.chars().take(200);
    let mut pairs: Vec<_> = line.clone().zip(line.skip(1)).collect();
    pairs.sort_unstable();
    pairs
}

/// How alike two lines are, from 0 to 100: the pairs of characters that both have (Dice's coefficient).
fn likeness(line: &str, wanted: &[(char, char)]) -> usize {
    let found = pairs(line);
    let (mut a, mut b, mut both) = (found.iter().peekable(), wanted.iter().peekable(), 0_usize);
    while let (Some(x), Some(y)) = (a.peek(), b.peek()) {
        match x.cmp(y) {
            std::cmp::Ordering::Less => drop(a.next()),
            std::cmp::Ordering::Greater => drop(b.next()),
            std::cmp::Ordering::Equal => {
                both += 1;
                a.next();
                b.next();
            }
        }
    }
    (200 * both).checked_div(found.len() + wanted.len()).unwrap_or(0)
}
