//! Markdown for a terminal, as it arrives.

mod block;
mod inline;
mod table;
#[cfg(test)]
mod tests;

use self::{
    block::{Kind, Line},
    inline::Around,
};
use super::{
    style::{Style, Theme},
    text,
    wrap::{Pieces, Wrap, may_break},
};

/// Renders markdown that arrives in pieces.
///
/// Its state moves one character at a time, so what it writes in all does not depend on how the text was cut. A word is
/// written when it is whole and its look is known: what stands behind an opening mark waits for the closing one, or for
/// the end of the line. A line of code waits for its end, a table for its last row. Lines of the source stay lines.
/// Nothing that the text holds reaches the terminal as a control character; every write leaves the terminal plain.
#[derive(Debug)]
pub(crate) struct Markdown {
    theme: Theme,
    wrap: Wrap,
    state: State,
    /// The line so far, while it is not known what it is.
    head: String,
    /// Text of the line whose look is not known.
    pending: Vec<char>,
    /// What stands before it.
    before: Option<char>,
    /// The look of the line.
    style: Style,
    quotes: usize,
    items: Vec<Item>,
    fence: Option<Fence>,
    rows: Vec<String>,
    /// How many `>` an empty line has that is due.
    blank: Option<usize>,
    last: Last,
    ended_with_cr: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// At the beginning of a line.
    Head,
    /// In its text.
    Inline,
    /// In a line that is looked at as a whole.
    Whole,
}

/// What was written last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Last {
    Nothing,
    Heading,
    Code,
    Other,
}

/// An item of a list that is open.
#[derive(Debug, Clone, Copy)]
struct Item {
    /// Where its marker stands in the source.
    marker: usize,
    /// Where its text begins in what is shown.
    shown: usize,
}

#[derive(Debug, Clone, Copy)]
struct Fence {
    mark: char,
    length: usize,
    /// How far it is indented in the source.
    indent: usize,
    quotes: usize,
}

/// How many characters wait for a closing mark.
const MAX_PENDING: usize = 600;
/// How long a line is that is looked at as a whole, and how much of a table is kept.
const MAX_WHOLE: usize = 64 * 1024;

impl Markdown {
    /// For a terminal that is so many cells wide.
    pub(crate) fn new(theme: Theme, width: usize) -> Self {
        Self {
            theme,
            wrap: Wrap::new(theme, width),
            state: State::Head,
            head: String::new(),
            pending: Vec::new(),
            before: None,
            style: Style::PLAIN,
            quotes: 0,
            items: Vec::new(),
            fence: None,
            rows: Vec::new(),
            blank: None,
            last: Last::Nothing,
            ended_with_cr: false,
        }
    }

    /// Takes more text; returns what is to be written.
    pub(crate) fn push(&mut self, delta: &str) -> String {
        for c in delta.chars() {
            if std::mem::take(&mut self.ended_with_cr) && c != '\n' {
                self.character('\u{240d}');
            }
            match c {
                '\r' => self.ended_with_cr = true,
                '\n' => self.end_line(),
                c => match text::replacement(c) {
                    Some(shown) => shown.chars().for_each(|c| self.character(c)),
                    None => self.character(c),
                },
            }
        }
        self.wrap.take()
    }

    /// Ends the text; returns what is left to write, which ends with a line feed. The next text begins anew.
    pub(crate) fn finish(&mut self) -> String {
        if self.state != State::Head || !self.head.is_empty() {
            self.end_line();
        }
        self.end_table();
        let out = self.wrap.take();
        *self = Self::new(self.theme, self.wrap.width());
        out
    }

    fn character(&mut self, c: char) {
        match self.state {
            State::Head => {
                self.head.push(c);
                if self.fence.is_some() {
                    self.state = State::Whole;
                } else if let Some(line) = block::decide(&self.head, false) {
                    self.begin(line);
                }
            }
            State::Inline => self.inline(c),
            State::Whole => {
                self.head.push(c);
                if self.head.len() > MAX_WHOLE {
                    self.end_line();
                }
            }
        }
    }

    fn end_line(&mut self) {
        match self.state {
            State::Head | State::Whole => {
                let head = std::mem::take(&mut self.head);
                match self.fence {
                    Some(fence) => self.code_line(&head, fence),
                    None if self.state == State::Whole => self.row(head),
                    None => {
                        if let Some(line) = block::decide(&head, true) {
                            self.begin(line);
                            if self.state == State::Inline {
                                self.end_text();
                            } else if self.state == State::Whole {
                                let head = std::mem::take(&mut self.head);
                                self.row(head);
                            }
                        }
                    }
                }
            }
            State::Inline => self.end_text(),
        }
        self.state = State::Head;
    }

    /// Begins a line of which it is known what it is.
    fn begin(&mut self, line: Line) {
        self.head.clear();
        if line.kind == Kind::Row {
            self.state = State::Whole;
            self.head = format!("{}{}", ">".repeat(line.quotes), line.rest);
            return;
        }
        self.end_table();
        if line.kind == Kind::Blank && line.marker.is_none() {
            self.blank = Some(self.blank.map_or(line.quotes, |quotes| quotes.min(line.quotes)));
            self.quotes = line.quotes;
            return;
        }
        if line.quotes != self.quotes {
            // Text that goes on after a quote would look like a part of it.
            if self.last != Last::Nothing && line.quotes < self.quotes {
                self.blank.get_or_insert(line.quotes);
            }
            self.items.clear();
            self.quotes = line.quotes;
        }
        let is_code = self.nest(&line);
        let is_heading = matches!(line.kind, Kind::Heading(_));
        if is_heading && self.last != Last::Nothing && self.last != Last::Heading {
            self.blank.get_or_insert(line.quotes);
        }
        self.write_blank(line.quotes);
        let (first, rest) = self.prefixes(line.marker.as_ref().map(|marker| marker.number.as_deref()));
        match line.kind {
            Kind::Text | Kind::Blank if is_code => {
                let base = self.items.last().map_or(0, |item| item.marker + 2);
                let code = format!("{}{}", " ".repeat(line.indent.saturating_sub(base + 4)), line.rest);
                self.text(code.trim_start_matches('\n'), (first, rest), Style::CODE);
            }
            Kind::Heading(level) => {
                self.text("", (first, rest), Style::HEADING);
                self.wrap.text(Style::DIM, &"#".repeat(level));
                self.wrap.text(Style::DIM, " ");
                line.rest.chars().for_each(|c| self.inline(c));
                self.last = Last::Heading;
            }
            Kind::Rule => {
                let prefix: usize = rest.iter().map(|(_, piece)| text::width(piece)).sum();
                let rule = "─".repeat(self.wrap.width().saturating_sub(prefix).min(40));
                self.wrap.raw_line(&rest, Style::DIM, &rule);
                self.items.clear();
                self.last = Last::Other;
            }
            Kind::Fence { mark, length } => {
                let indent = line.indent + line.marker.as_ref().map_or(0, |marker| marker.width);
                self.fence = Some(Fence { mark, length, indent, quotes: line.quotes });
                if line.marker.is_some() || !line.rest.is_empty() {
                    let label = line.rest.split_whitespace().next().unwrap_or_default();
                    self.wrap.raw_line(&first, Style::DIM, label);
                }
                self.last = Last::Code;
            }
            _ => self.text(&line.rest, (first, rest), Style::PLAIN),
        }
    }

    /// Opens and closes items of lists for a line; says whether it is indented so far that it is code.
    fn nest(&mut self, line: &Line) -> bool {
        if let Some(marker) = &line.marker {
            self.items.retain(|item| line.indent >= item.marker + 2);
            let shown = self.items.last().map_or(0, |item| item.shown);
            let width = marker.number.as_ref().map_or(2, |number| number.len() + 1);
            self.items.push(Item { marker: line.indent, shown: shown + width });
            return false;
        }
        let is_apart = self.blank.is_some() || matches!(line.kind, Kind::Heading(_) | Kind::Rule | Kind::Fence { .. });
        if is_apart {
            self.items.retain(|item| line.indent > item.marker);
        }
        let is_beside_code = self.blank.is_some() || matches!(self.last, Last::Nothing | Last::Code);
        self.items.is_empty() && line.indent >= 4 && is_beside_code && line.kind == Kind::Text
    }

    /// What stands before the line that begins, and before those that follow it.
    fn prefixes(&self, marker: Option<Option<&str>>) -> (Pieces, Pieces) {
        let mut rest = Pieces::new();
        for _ in 0..self.quotes {
            rest.push((Style::DIM, "│".to_owned()));
            rest.push((Style::PLAIN, " ".to_owned()));
        }
        let mut first = rest.clone();
        let shown = self.items.last().map_or(0, |item| item.shown);
        // Lists that are nested very deep would leave no room.
        let indent = |cells: usize| " ".repeat(cells.min(self.wrap.width() / 2));
        rest.push((Style::PLAIN, indent(shown)));
        match marker {
            Some(number) => {
                let bullets = ["•", "◦", "▪"];
                let bullet = bullets.get(self.items.len().saturating_sub(1) % bullets.len()).copied();
                let marker = number.or(bullet).unwrap_or("•");
                let outer = shown.saturating_sub(text::width(marker) + 1);
                first.push((Style::PLAIN, indent(outer)));
                first.push((Style::DIM, marker.to_owned()));
                first.push((Style::PLAIN, " ".to_owned()));
            }
            None => first.clone_from(&rest),
        }
        (first, rest)
    }

    fn text(&mut self, text: &str, (first, rest): (Pieces, Pieces), style: Style) {
        self.wrap.begin(first, rest);
        self.state = State::Inline;
        self.style = style;
        (self.before, self.last) = (None, Last::Other);
        text.chars().for_each(|c| self.inline(c));
        if style == Style::CODE {
            self.last = Last::Code;
        }
    }

    fn inline(&mut self, c: char) {
        if self.pending.last().is_some_and(|last| may_break(*last, c)) {
            self.resolve(false);
        }
        self.pending.push(c);
        if c.is_whitespace() || self.pending.len() > MAX_PENDING {
            self.resolve(false);
        }
    }

    /// Hands on the text whose look is known.
    fn resolve(&mut self, is_whole: bool) {
        let mut spans = Vec::new();
        let around = Around { before: self.before, is_whole };
        let mut read = inline::parse(&self.pending, around, self.style, &mut spans);
        if self.pending.len() - read.min(self.pending.len()) > MAX_PENDING {
            // Whatever it opens is not closed: it stands for itself.
            let around = Around { before: self.before, is_whole: true };
            spans.clear();
            read = inline::parse(&self.pending, around, self.style, &mut spans);
        }
        let read: Vec<char> = self.pending.drain(..read.min(self.pending.len())).collect();
        self.before = read.last().copied().or(self.before);
        for (style, piece) in spans {
            self.wrap.text(style, &piece);
        }
    }

    fn end_text(&mut self) {
        self.resolve(true);
        self.wrap.end_line();
        self.style = Style::PLAIN;
    }

    fn write_blank(&mut self, quotes: usize) {
        if let Some(blank) = self.blank.take().filter(|_| self.last != Last::Nothing) {
            let mut prefix = Pieces::new();
            for _ in 0..blank.min(quotes) {
                prefix.push((Style::DIM, "│".to_owned()));
                prefix.push((Style::PLAIN, " ".to_owned()));
            }
            self.wrap.raw_line(&prefix, Style::PLAIN, "");
        }
    }

    /// A line of a block of code, which is never broken.
    fn code_line(&mut self, line: &str, fence: Fence) {
        let mut line = line;
        for _ in 0..fence.quotes {
            match line.trim_start().strip_prefix('>') {
                Some(inner) => line = inner.strip_prefix(' ').unwrap_or(inner),
                None => {
                    // The quote has ended, and the block with it.
                    self.fence = None;
                    self.head = line.to_owned();
                    self.state = State::Head;
                    return self.end_line();
                }
            }
        }
        if block::closes(line, (fence.mark, fence.length)) {
            self.fence = None;
            return;
        }
        let (indent, code) = block::indentation(line);
        let code = format!("{}{code}", " ".repeat(indent.saturating_sub(fence.indent)));
        let (_, mut prefix) = self.prefixes(None);
        prefix.push((Style::PLAIN, "  ".to_owned()));
        self.wrap.raw_line(&prefix, Style::CODE, text::safe(&code).trim_end());
        self.last = Last::Code;
    }

    fn row(&mut self, row: String) {
        self.rows.push(row);
        if self.rows.iter().map(String::len).sum::<usize>() > MAX_WHOLE {
            self.end_table();
        }
    }

    fn end_table(&mut self) {
        let rows = std::mem::take(&mut self.rows);
        let Some(first) = rows.first() else { return };
        let quotes = first.chars().take_while(|c| *c == '>').count();
        if quotes != self.quotes {
            self.items.clear();
            self.quotes = quotes;
        }
        self.write_blank(quotes);
        let (_, prefix) = self.prefixes(None);
        let room = self.wrap.width().saturating_sub(prefix.iter().map(|(_, piece)| text::width(piece)).sum());
        let rows: Vec<String> =
            rows.iter().map(|row| text::safe(row.trim_start_matches('>').trim()).into_owned()).collect();
        let lines = table::layout(&rows, self.theme, room);
        for line in lines.unwrap_or(rows) {
            self.wrap.raw_line(&prefix, Style::PLAIN, &line);
        }
        self.last = Last::Other;
    }
}
