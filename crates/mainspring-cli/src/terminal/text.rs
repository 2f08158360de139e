//! Text from elsewhere made safe to show, and how wide it is.

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

/// What is shown in place of a character that a terminal would act on, or that nobody could see.
///
/// Control characters (escape sequences begin with one), overrides of the writing direction, and characters without any
/// shape: all of them could make a text look like another one. Line feeds and tabs are left to the caller.
pub(crate) fn replacement(c: char) -> Option<String> {
    match c {
        '\n' | '\t' => None,
        '\0'..='\x1f' => char::from_u32(0x2400 + u32::from(c)).map(String::from),
        '\x7f' => Some("\u{2421}".to_owned()),
        '\u{80}'..='\u{9f}'
        | '\u{ad}'
        | '\u{200b}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e0fff}' => Some(format!("<U+{:04X}>", u32::from(c))),
        _ => None,
    }
}

/// Text with everything replaced that a terminal would act on, but for line feeds; tabs are spaces.
pub(crate) fn safe(text: &str) -> Cow<'_, str> {
    if text.chars().all(|c| c != '\t' && replacement(c).is_none()) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len());
    let mut column = 0;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\r' if chars.peek() == Some(&'\n') => {}
            '\n' => {
                safe.push('\n');
                column = 0;
            }
            '\t' => {
                let spaces = TAB - column % TAB;
                safe.extend(std::iter::repeat_n(' ', spaces));
                column += spaces;
            }
            c => {
                match replacement(c) {
                    Some(shown) => safe.push_str(&shown),
                    None => safe.push(c),
                }
                column += 1;
            }
        }
    }
    Cow::Owned(safe)
}

/// How far apart tab stops are.
const TAB: usize = 4;

/// How many cells a text takes up in a terminal.
pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// What a person sees as characters.
pub(crate) fn graphemes(text: &str) -> impl DoubleEndedIterator<Item = &str> {
    text.graphemes(true)
}

/// The first line of a text in at most so many cells, with `…` where something is left out.
pub(crate) fn cut(text: &str, cells: usize) -> String {
    let safe = safe(text);
    let mut lines = safe.lines();
    let line = lines.next().unwrap_or_default();
    let has_more = lines.any(|line| !line.trim().is_empty());
    if width(line) <= cells && !has_more {
        return line.to_owned();
    }
    let room = cells.saturating_sub(1);
    let mut cut = prefix(line, room).to_owned();
    cut.push('…');
    cut
}

/// As much of the beginning of a text as fits into so many cells.
pub(crate) fn prefix(text: &str, cells: usize) -> &str {
    let mut end = 0;
    for grapheme in graphemes(text) {
        let next = end + grapheme.len();
        if text.get(..next).is_none_or(|head| width(head) > cells) {
            break;
        }
        end = next;
    }
    text.get(..end).unwrap_or(text)
}
