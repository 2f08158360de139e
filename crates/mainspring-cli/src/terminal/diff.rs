//! A unified diff in colours.

use super::{
    style::{Colour, Style, Theme},
    text,
};

/// The lines of a unified diff, each cut to the terminal's width; of more than `most` lines, the first ones and how
/// many were left out.
pub(crate) fn diff(diff: &str, theme: Theme, width: usize, most: usize) -> Vec<String> {
    let lines: Vec<&str> = diff.lines().collect();
    let shown = if lines.len() > most { most.saturating_sub(1) } else { lines.len() };
    let mut in_hunk = false;
    let mut out: Vec<String> = Vec::new();
    for line in lines.iter().take(shown) {
        in_hunk |= line.starts_with("@@");
        // Before the first hunk stand the names of the files, which begin like lines of it.
        let style = match line.chars().next() {
            Some('@') if line.starts_with("@@") => Style::PLAIN.colour(Colour::Cyan),
            Some('+') if in_hunk => Style::GOOD,
            Some('-') if in_hunk => Style::ERROR,
            Some(' ') if in_hunk => Style::PLAIN,
            _ => Style::DIM,
        };
        out.push(theme.paint(style, text::cut(line, width)));
    }
    let left = lines.len() - shown;
    if left > 0 {
        out.push(theme.paint(Style::DIM, format!("… {left} more lines")));
    }
    out
}
