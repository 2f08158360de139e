//! Tables, laid out when all their rows are there.

use super::super::{
    style::{Style, Theme},
    text,
};
use super::inline::{self, Around, Span};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Align {
    Left,
    Right,
    Centre,
}

/// The lines of a table in at most so many cells; `None` where it does not fit, or is none.
pub(super) fn layout(rows: &[String], theme: Theme, width: usize) -> Option<Vec<String>> {
    let mut rows = rows.iter().map(|row| cells(row));
    let (head, aligns) = (rows.next()?, rows.next()?);
    let aligns: Vec<Align> = aligns.iter().map(|cell| align(cell)).collect::<Option<_>>()?;
    if head.len() != aligns.len() {
        return None;
    }
    let style = |row: Vec<String>, style| -> Vec<Vec<Span>> {
        (0..aligns.len()).map(|i| spans(row.get(i).map_or("", String::as_str), style)).collect()
    };
    let mut table = vec![style(head, Style::BOLD)];
    table.extend(rows.map(|row| style(row, Style::PLAIN)));
    let widths: Vec<usize> = (0..aligns.len())
        .map(|i| table.iter().filter_map(|row| row.get(i)).map(|cell| cell_width(cell)).max().unwrap_or(0).max(1))
        .collect();
    if widths.iter().sum::<usize>() + 3 * widths.len() > width + 1 {
        return None;
    }
    let mut lines = Vec::new();
    for (i, row) in table.iter().enumerate() {
        let mut line = String::new();
        for (column, ((cell, width), align)) in row.iter().zip(&widths).zip(&aligns).enumerate() {
            if column > 0 {
                line.push(' ');
                theme.paint_into(&mut line, Style::DIM, "│");
                line.push(' ');
            }
            let free = width.saturating_sub(cell_width(cell));
            let left = match align {
                Align::Left => 0,
                Align::Right => free,
                Align::Centre => free / 2,
            };
            line.extend(std::iter::repeat_n(' ', left));
            for (style, piece) in cell {
                theme.paint_into(&mut line, *style, piece);
            }
            line.extend(std::iter::repeat_n(' ', free - left));
        }
        lines.push(line.trim_end().to_owned());
        if i == 0 {
            let rule: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
            lines.push(theme.paint(Style::DIM, rule.join("─┼─")));
        }
    }
    Some(lines)
}

fn cell_width(cell: &[Span]) -> usize {
    let whole: String = cell.iter().map(|(_, piece)| piece.as_str()).collect();
    text::width(&whole)
}

fn spans(cell: &str, style: Style) -> Vec<Span> {
    let (chars, mut spans): (Vec<char>, _) = (cell.chars().collect(), Vec::new());
    inline::parse(&chars, Around { before: None, is_whole: true }, style, &mut spans);
    spans
}

/// The cells of a row; `\|` and a bar in code are text.
fn cells(row: &str) -> Vec<String> {
    let row = row.trim();
    let row = row.strip_prefix('|').unwrap_or(row);
    let (mut cells, mut cell, mut in_code) = (Vec::new(), String::new(), false);
    let mut chars = row.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' if chars.peek() == Some(&'|') => cell.extend(chars.next()),
            '|' if !in_code => cells.push(std::mem::take(&mut cell)),
            c => {
                in_code ^= c == '`';
                cell.push(c);
            }
        }
    }
    if !cell.trim().is_empty() {
        cells.push(cell);
    }
    cells.iter().map(|cell| cell.trim().replace("<br>", " ")).collect()
}

fn align(cell: &str) -> Option<Align> {
    let dashes = cell.trim_matches(':');
    let is_one = !dashes.is_empty() && dashes.chars().all(|c| c == '-');
    is_one.then(|| match (cell.starts_with(':'), cell.ends_with(':')) {
        (true, true) => Align::Centre,
        (false, true) => Align::Right,
        _ => Align::Left,
    })
}
