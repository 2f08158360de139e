//! A text whose lines all end in `\n`, with the memory of how they ended.

use std::ops::Range;

/// Text to edit. What is not replaced keeps its line endings byte for byte.
pub(super) struct Lines {
    pub(super) text: String,
    /// For each `\n` of the text whether it was `\r\n`.
    crlf: Vec<bool>,
    /// What new lines end in: what most lines do.
    mostly_crlf: bool,
}

impl Lines {
    pub(super) fn new(whole: &str) -> Self {
        let mut text = String::with_capacity(whole.len());
        let mut crlf = Vec::new();
        for line in whole.split_inclusive('\n') {
            match line.strip_suffix("\r\n") {
                Some(content) => {
                    text.push_str(content);
                    text.push('\n');
                    crlf.push(true);
                }
                None => {
                    text.push_str(line);
                    crlf.extend(line.ends_with('\n').then_some(false));
                }
            }
        }
        let mostly_crlf = crlf.iter().filter(|crlf| **crlf).count() * 2 > crlf.len();
        Self { text, crlf, mostly_crlf }
    }

    /// The line that holds a byte, from 1.
    pub(super) fn line_at(&self, at: usize) -> usize {
        1 + newlines(self.text.get(..at).unwrap_or_default())
    }

    /// Replaces a range that begins and ends between characters.
    pub(super) fn replace(&mut self, range: Range<usize>, new: &str) {
        let before = newlines(self.text.get(..range.start).unwrap_or_default());
        let old = newlines(self.text.get(range.clone()).unwrap_or_default());
        let new_count = newlines(new);
        let kept = before..(before + old).min(self.crlf.len());
        // As many lines as before: each keeps its ending.
        if old != new_count {
            self.crlf.splice(kept, std::iter::repeat_n(self.mostly_crlf, new_count));
        }
        self.text.replace_range(range, new);
    }

    /// The whole, with its line endings.
    pub(super) fn whole(&self) -> String {
        let mut whole = String::with_capacity(self.text.len() + self.crlf.len());
        for (i, line) in self.text.split_inclusive('\n').enumerate() {
            match line.strip_suffix('\n') {
                Some(content) if self.crlf.get(i) == Some(&true) => {
                    whole.push_str(content);
                    whole.push_str("\r\n");
                }
                _ => whole.push_str(line),
            }
        }
        whole
    }
}

fn newlines(text: &str) -> usize {
    text.bytes().filter(|b| *b == b'\n').count()
}
