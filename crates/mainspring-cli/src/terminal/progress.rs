//! One line that says what is going on, written over itself.

use super::{
    style::{Style, Theme},
    text,
};

/// A line at the bottom that is redrawn in place; nothing where the output is no terminal.
#[derive(Debug)]
pub(crate) struct Progress {
    theme: Theme,
    /// The terminal's width; `None` where there is none.
    width: Option<usize>,
    shown: String,
}

impl Progress {
    pub(crate) fn new(theme: Theme, width: Option<usize>) -> Self {
        Self { theme, width, shown: String::new() }
    }

    /// What is to be written to show this text; nothing where it is shown already.
    pub(crate) fn show(&mut self, text: &str) -> String {
        let Some(width) = self.width else { return String::new() };
        // The last cell stays free: a cursor behind it would be on the next line in some terminals.
        let line = text::cut(text, width.saturating_sub(1));
        if line == self.shown {
            return String::new();
        }
        self.shown = line;
        format!("\r\x1b[2K{}", self.theme.paint(Style::DIM, &self.shown))
    }

    /// What is to be written before anything else is.
    pub(crate) fn clear(&mut self) -> &'static str {
        if std::mem::take(&mut self.shown).is_empty() { "" } else { "\r\x1b[2K" }
    }
}
