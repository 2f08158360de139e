//! Words into lines.

use super::{
    style::{Style, Theme},
    text,
};

/// Puts words into lines that fit, with a prefix before each line.
///
/// A word is written when it is known to be whole. Every write leaves the terminal plain.
#[derive(Debug)]
pub(super) struct Wrap {
    theme: Theme,
    width: usize,
    out: String,
    /// Before the next line.
    prefix: Pieces,
    /// Before the lines after it.
    rest: Pieces,
    /// Where the next word goes; `None` before the prefix is written.
    column: Option<usize>,
    /// Where the first word of the line went.
    start: usize,
    /// Whether a space is due before the next word.
    space: bool,
    word: Pieces,
    /// The bytes of the word.
    length: usize,
}

/// Longer words are cut.
const MAX_WORD: usize = 4096;

/// Text in styles.
pub(super) type Pieces = Vec<(Style, String)>;

impl Wrap {
    pub(super) fn new(theme: Theme, width: usize) -> Self {
        Self {
            theme,
            // Narrower is no use to anybody, and a word needs some room.
            width: width.max(8),
            out: String::new(),
            prefix: Pieces::new(),
            rest: Pieces::new(),
            column: None,
            start: 0,
            space: false,
            word: Pieces::new(),
            length: 0,
        }
    }

    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// What is to be written.
    pub(super) fn take(&mut self) -> String {
        std::mem::take(&mut self.out)
    }

    /// Begins a line; `prefix` stands before it, `rest` before those that it is broken into.
    pub(super) fn begin(&mut self, prefix: Pieces, rest: Pieces) {
        (self.prefix, self.rest) = (prefix, rest);
    }

    /// Adds text, whose white space parts words.
    pub(super) fn text(&mut self, style: Style, text: &str) {
        for c in text.chars() {
            if c.is_whitespace() && c != '\u{a0}' {
                self.end_word();
                self.space = true;
                continue;
            }
            let last = self.word.last().and_then(|(_, piece)| piece.chars().next_back());
            if last.is_some_and(|last| may_break(last, c)) {
                self.end_word();
            }
            match self.word.last_mut() {
                Some((as_before, piece)) if *as_before == style => piece.push(c),
                _ => self.word.push((style, c.to_string())),
            }
            self.length += c.len_utf8();
            if self.length > MAX_WORD {
                self.end_word();
            }
        }
    }

    /// Writes the word, on a new line where it does not fit.
    pub(super) fn end_word(&mut self) {
        if self.word.is_empty() {
            return;
        }
        let word = std::mem::take(&mut self.word);
        self.length = 0;
        let whole: String = word.iter().map(|(_, piece)| piece.as_str()).collect();
        let width = text::width(&whole);
        let space = usize::from(self.space && self.column.is_some_and(|column| column > self.start));
        if self.column.is_some_and(|column| column > self.start && column + space + width > self.width) {
            self.break_line();
        } else if space > 0 {
            self.out.push(' ');
            self.column = self.column.map(|column| column + space);
        }
        self.space = false;
        self.write_prefix();
        if self.column.unwrap_or_default() + width <= self.width {
            self.write(&word, width);
        } else if whole.contains("://") {
            // A terminal can follow an address only in one piece.
            self.write(&word, self.width);
        } else {
            self.write_broken(&word);
        }
    }

    fn write(&mut self, word: &Pieces, width: usize) {
        for (style, piece) in word {
            self.theme.paint_into(&mut self.out, *style, piece);
        }
        self.column = self.column.map(|column| column + width);
    }

    /// Writes a word that is longer than a line.
    fn write_broken(&mut self, word: &Pieces) {
        for (style, piece) in word {
            let mut rest = piece.as_str();
            while !rest.is_empty() {
                let room = self.width.saturating_sub(self.column.unwrap_or_default());
                let mut head = text::prefix(rest, room);
                if head.is_empty() {
                    if self.column.is_some_and(|column| column > self.start) {
                        self.break_line();
                        self.write_prefix();
                        continue;
                    }
                    // Wider than a line: it goes alone.
                    head = text::graphemes(rest).next().unwrap_or(rest);
                }
                self.theme.paint_into(&mut self.out, *style, head);
                self.column = self.column.map(|column| column + text::width(head));
                rest = rest.get(head.len()..).unwrap_or_default();
            }
        }
    }

    /// Ends the line, an empty one too.
    pub(super) fn end_line(&mut self) {
        self.end_word();
        self.write_prefix();
        self.break_line();
        self.prefix = Pieces::new();
    }

    /// Writes a line as it is, behind the prefix.
    pub(super) fn raw_line(&mut self, prefix: &Pieces, style: Style, line: &str) {
        for (style, piece) in prefix {
            self.theme.paint_into(&mut self.out, *style, piece);
        }
        self.theme.paint_into(&mut self.out, style, line);
        self.trim_and_break();
    }

    fn write_prefix(&mut self) {
        if self.column.is_none() {
            let mut column = 0;
            for (style, piece) in &self.prefix {
                self.theme.paint_into(&mut self.out, *style, piece);
                column += text::width(piece);
            }
            // A prefix that leaves no room has to be ignored by the words.
            (self.column, self.start) = (Some(column), column);
            self.prefix = self.rest.clone();
        }
    }

    fn break_line(&mut self) {
        self.trim_and_break();
        (self.column, self.space) = (None, false);
    }

    fn trim_and_break(&mut self) {
        while self.out.ends_with(' ') {
            self.out.pop();
        }
        self.out.push('\n');
    }
}

/// Whether a line may end between two characters that no space parts: in Chinese and Japanese.
pub(super) fn may_break(before: char, after: char) -> bool {
    (is_ideographic(before) || is_ideographic(after)) && !is_closing(after) && !is_opening(before) && !joins(after)
}

fn is_ideographic(c: char) -> bool {
    matches!(c, '\u{2e80}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{ff00}'..='\u{ff60}' | '\u{20000}'..='\u{3ffff}')
}

/// What must not begin a line.
fn is_closing(c: char) -> bool {
    matches!(
        c,
        '、' | '。'
            | '，'
            | '．'
            | '：'
            | '；'
            | '？'
            | '！'
            | '）'
            | '」'
            | '』'
            | '】'
            | '》'
            | '〉'
            | '］'
            | '｝'
    ) || matches!(c, '々' | 'ー' | 'っ' | 'ゃ' | 'ゅ' | 'ょ' | 'ッ' | 'ャ' | 'ュ' | 'ョ' | '…' | '’' | '”')
        || c.is_ascii_punctuation()
}

/// What must not end a line.
fn is_opening(c: char) -> bool {
    matches!(c, '（' | '「' | '『' | '【' | '《' | '〈' | '［' | '｛' | '(' | '[' | '{' | '‘' | '“')
}

/// What belongs to the character before it.
fn joins(c: char) -> bool {
    matches!(c, '\u{200d}' | '\u{fe00}'..='\u{fe0f}' | '\u{3099}' | '\u{309a}' | '\u{e0100}'..='\u{e01ef}')
}
