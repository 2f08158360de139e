//! Text of models, tools and users on a page: nothing of it is markup.

use std::fmt::Write;

/// The most of one text that a page shows, in bytes.
const SHOWN: usize = 100_000;

/// Writes text so that it is only text: characters of markup are spelled, invisible ones that turn text around or end
/// it are replaced.
pub(super) fn escape(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            '\r' => {}
            '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' => out.push('\u{fffd}'),
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => out.push('\u{fffd}'),
            _ => out.push(c),
        }
    }
}

/// The same as a value.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    escape(text, &mut out);
    out
}

/// The beginning of a text in one line.
pub(super) fn short(text: &str, characters: usize) -> String {
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim();
    let mut short: String = line.chars().take(characters).collect();
    if line.chars().nth(characters).is_some() || text.trim().lines().nth(1).is_some() {
        short.push_str(" …");
    }
    escaped(&short)
}

/// What is shown of a text, and how many bytes are not.
fn cut(text: &str) -> (&str, usize) {
    let shown = text.get(..text.floor_char_boundary(SHOWN)).unwrap_or(text);
    (shown, text.len() - shown.len())
}

fn rest(left_out: usize, out: &mut String) {
    if left_out > 0 {
        _ = write!(out, "<p class=\"cut\">{left_out} more bytes are in the session.</p>");
    }
}

/// Text as it is, in a box.
pub(super) fn verbatim(text: &str, out: &mut String) {
    let (shown, left_out) = cut(text);
    out.push_str("<pre tabindex=\"0\">");
    escape(shown, out);
    out.push_str("</pre>");
    rest(left_out, out);
}

/// Text of people and models: code between fences, code in a line, and bold; the rest as it is.
pub(super) fn prose(text: &str, out: &mut String) {
    let (shown, left_out) = cut(text.trim_end());
    let (mut fence, mut paragraph) = (None::<String>, String::new());
    for line in shown.lines() {
        let trimmed = line.trim_start();
        let ticks = trimmed.len() - trimmed.trim_start_matches('`').len();
        match &fence {
            None if ticks >= 3 => {
                end_paragraph(&mut paragraph, out);
                fence = Some("`".repeat(ticks));
                out.push_str("<pre tabindex=\"0\">");
            }
            Some(open) if trimmed.trim_end() == open => {
                fence = None;
                out.push_str("</pre>");
            }
            Some(_) => {
                escape(line, out);
                out.push('\n');
            }
            None if trimmed.is_empty() => end_paragraph(&mut paragraph, out),
            None => {
                if !paragraph.is_empty() {
                    paragraph.push('\n');
                }
                match heading(trimmed) {
                    Some(title) => {
                        paragraph.push_str("<strong>");
                        inline(title, &mut paragraph);
                        paragraph.push_str("</strong>");
                    }
                    None => inline(line, &mut paragraph),
                }
            }
        }
    }
    if fence.is_some() {
        out.push_str("</pre>");
    }
    end_paragraph(&mut paragraph, out);
    rest(left_out, out);
}

fn end_paragraph(paragraph: &mut String, out: &mut String) {
    if !paragraph.is_empty() {
        _ = write!(out, "<p>{paragraph}</p>");
        paragraph.clear();
    }
}

fn heading(line: &str) -> Option<&str> {
    let title = line.trim_start_matches('#');
    let level = line.len() - title.len();
    (1..=6).contains(&level).then_some(title.strip_prefix(' ')?)
}

/// Marks code between single backquotes and bold between double stars, where both ends are in the line.
fn inline(mut line: &str, out: &mut String) {
    loop {
        let next = ["`", "**"].into_iter().filter_map(|mark| Some((line.find(mark)?, mark))).min();
        let Some((at, mark)) = next else { return escape(line, out) };
        let (before, marked) = line.split_at(at);
        let inside = marked.get(mark.len()..).unwrap_or_default();
        let Some(end) = inside.find(mark).filter(|end| *end > 0) else {
            escape(before, out);
            escape(mark, out);
            line = inside;
            continue;
        };
        let tag = if mark == "`" { "code" } else { "strong" };
        escape(before, out);
        _ = write!(out, "<{tag}>");
        escape(inside.get(..end).unwrap_or_default(), out);
        _ = write!(out, "</{tag}>");
        line = inside.get(end + mark.len()..).unwrap_or_default();
    }
}

/// A unified diff, its lines coloured.
pub(super) fn diff(text: &str, out: &mut String) {
    let (shown, left_out) = cut(text);
    out.push_str("<pre class=\"diff\" tabindex=\"0\">");
    for line in shown.lines() {
        let class = match line.as_bytes() {
            [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] => "file",
            [b'+', ..] => "add",
            [b'-', ..] => "del",
            [b'@', ..] => "hunk",
            _ => "same",
        };
        _ = write!(out, "<span class=\"{class}\">");
        escape(line, out);
        out.push_str("\n</span>");
    }
    out.push_str("</pre>");
    rest(left_out, out);
}

/// What replaces what, as a diff: lines that both begin or end with are shown once.
pub(super) fn replacement(old: &str, new: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let before = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let room = old.len().min(new.len()) - before;
    let behind = old.iter().rev().zip(new.iter().rev()).take(room).take_while(|(a, b)| a == b).count();
    let mut out = String::new();
    let mut lines = |mark: char, lines: &[&str], from: usize, to: usize| {
        lines.get(from..to).unwrap_or_default().iter().for_each(|line| _ = writeln!(out, "{mark}{line}"));
    };
    lines(' ', &old, before.saturating_sub(3), before);
    lines('-', &old, before, old.len() - behind);
    lines('+', &new, before, new.len() - behind);
    lines(' ', &old, old.len() - behind, (old.len() - behind + 3).min(old.len()));
    out
}
