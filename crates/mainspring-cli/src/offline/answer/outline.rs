//! The answer about one file.

use std::fmt::Write as _;

use super::{count, finished, places_told};
use crate::offline::{
    outline::{self, Text},
    work::Moved,
};

/// As many headings or items are shown.
const SHOWN: usize = 60;
/// As many lines are shown of a file.
const HEAD: usize = 40;
/// The longest line that is shown, in characters.
const WIDTH: usize = 160;

/// The headings of a file.
pub(in crate::offline) fn outline(path: &str, text: &Result<Text, String>, moved: &[Moved]) -> String {
    let mut out = String::new();
    places_told(&mut out, moved);
    let text = match text {
        Ok(text) => text,
        Err(_) if moved.iter().any(|one| one.found.is_none()) => return finished(out),
        Err(said) => {
            let _ = writeln!(out, "I could not read `{path}`: {said}");
            return finished(out);
        }
    };
    let least = if text.whole { "" } else { "more than " };
    let total = if text.whole { text.total } else { text.lines.last().map_or(0, |(number, _)| *number) };
    let _ = writeln!(out, "**`{path}`** has {least}{}.", count(usize::try_from(total).unwrap_or(usize::MAX), "line"));
    if !text.whole {
        let _ = writeln!(out, "Only the first {total} were read.");
    }
    let lower = path.to_lowercase();
    let markdown = [".md", ".markdown", ".mdx"].iter().any(|ending| lower.ends_with(ending));
    if markdown || !lower.rsplit('/').next().unwrap_or_default().contains('.') {
        headings(&mut out, text);
    } else if lower.ends_with(".rs") {
        rust(&mut out, text);
    } else {
        let parts = outline::parts(path, &text.lines);
        match parts.as_slice() {
            [] => head(&mut out, text, 10),
            parts => items(&mut out, "These lines begin its parts:", parts),
        }
    }
    finished(out)
}

fn headings(out: &mut String, text: &Text) {
    let headings = outline::headings(&text.lines);
    if headings.is_empty() {
        let _ = writeln!(out, "It has no headings. It begins:");
        head(out, text, 10);
        return;
    }
    let number = count(headings.len(), "heading");
    let _ = writeln!(out, "It has {number}; behind each stands the first sentence below it, word for word:\n");
    let top = headings.iter().map(|heading| heading.level).min().unwrap_or(1);
    for heading in headings.iter().take(SHOWN) {
        let indent = "  ".repeat(heading.level - top);
        let title = if heading.title.is_empty() { "(no title)" } else { &heading.title };
        let sentence = short(&heading.sentence);
        let colon = if sentence.is_empty() { "" } else { ": " };
        let _ = writeln!(out, "{indent}- **{title}** (line {}){colon}{sentence}", heading.line);
    }
    if let Some(more) = headings.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        let _ = writeln!(out, "- {more} more");
    }
}

fn rust(out: &mut String, text: &Text) {
    let source = outline::source(&text.lines);
    match source.docs.as_str() {
        "" => out.push_str("It has no `//!` documentation.\n"),
        docs => {
            let _ = writeln!(out, "It says of itself: {}", short(docs));
        }
    }
    match source.items.as_slice() {
        [] => out.push_str("No line of it begins a public item.\n"),
        list => items(out, "These lines begin what it makes public:", list),
    }
}

fn items(out: &mut String, what: &str, items: &[(u64, String)]) {
    let _ = writeln!(out, "{what}\n");
    for (line, item) in items.iter().take(SHOWN) {
        let _ = writeln!(out, "- line {line}: `{}`", short(item));
    }
    if let Some(more) = items.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        let _ = writeln!(out, "- {more} more");
    }
}

/// The first lines of a file.
pub(in crate::offline) fn show(path: &str, text: &Result<Text, String>, moved: &[Moved]) -> String {
    let mut out = String::new();
    places_told(&mut out, moved);
    match text {
        Ok(text) => {
            let total = count(usize::try_from(text.total).unwrap_or(usize::MAX), "line");
            let _ = writeln!(out, "**`{path}`** has {total}.");
            head(&mut out, text, HEAD);
        }
        Err(_) if moved.iter().any(|one| one.found.is_none()) => {}
        Err(said) => {
            let _ = writeln!(out, "I could not read `{path}`: {said}");
        }
    }
    finished(out)
}

fn head(out: &mut String, text: &Text, most: usize) {
    let lines: Vec<String> = text.lines.iter().take(most).map(|(_, line)| short(&line.text)).collect();
    if lines.is_empty() {
        return;
    }
    // A fence in the file must not end ours.
    let longest = lines.iter().map(|line| line.chars().take_while(|c| *c == '`').count()).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    let _ = writeln!(out, "\n{fence}text\n{}\n{fence}", lines.join("\n"));
    let total = usize::try_from(text.total).unwrap_or(usize::MAX);
    if let Some(more) = total.checked_sub(lines.len()).filter(|more| *more > 0) {
        let _ = writeln!(out, "{} more are not shown.", count(more, "line"));
    }
}

fn short(text: &str) -> String {
    let mut short: String = text.chars().take(WIDTH).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}
