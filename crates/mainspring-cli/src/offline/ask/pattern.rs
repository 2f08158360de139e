//! What is searched for.

/// A text or an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pattern {
    /// As `search` takes it.
    pub(crate) text: String,
    /// Whether it is plain text.
    pub(crate) literal: bool,
    pub(crate) ignore_case: bool,
    /// As it was asked for.
    pub(crate) shown: String,
    pub(crate) kind: Kind,
    /// Whether it is words of English that may mean something else.
    pub(crate) guessed: bool,
}

/// How it is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    Word,
    Regex,
    /// Lines that define something, of this name in words.
    Definition(String),
}

impl Pattern {
    /// Plain text.
    pub(crate) fn text(text: &str) -> Self {
        let text = text.to_owned();
        Self { shown: text.clone(), text, literal: true, ignore_case: false, kind: Kind::Text, guessed: false }
    }

    /// Text that is no part of a longer word.
    pub(crate) fn word(text: &str) -> Self {
        let before = if text.chars().next().is_some_and(is_word) { r"\b" } else { "" };
        let after = if text.chars().next_back().is_some_and(is_word) { r"\b" } else { "" };
        let pattern = format!("{before}{}{after}", escaped(text));
        Self {
            text: pattern,
            literal: false,
            ignore_case: false,
            shown: text.to_owned(),
            kind: Kind::Word,
            guessed: false,
        }
    }

    /// A regular expression.
    pub(crate) fn regex(text: &str) -> Self {
        Self { literal: false, kind: Kind::Regex, ..Self::text(text) }
    }

    /// Lines that begin a test in Rust, Python or JavaScript.
    pub(crate) fn tests() -> Self {
        let text = r"#\[(?:\w+::)*test\b|^\s*(?:async )?def test_|^\s*(?:it|test)\(".to_owned();
        let kind = Kind::Definition("the beginning of a test".to_owned());
        Self { text, literal: false, ignore_case: false, shown: String::new(), kind, guessed: false }
    }

    /// Lines that define something, by the keywords of several languages; with a name, and whether it only begins so.
    pub(crate) fn definition(keywords: &str, name: Option<(&str, bool)>, what: &str) -> Self {
        let rest = match name {
            None => r"\w+".to_owned(),
            Some((name, true)) => escaped(name),
            Some((name, false)) => format!(r"{}\b", escaped(name)),
        };
        let shown = name.map_or_else(String::new, |(name, _)| name.to_owned());
        let kind = Kind::Definition(what.to_owned());
        Self {
            text: format!(r"\b(?:{keywords})\s+{rest}"),
            literal: false,
            ignore_case: false,
            shown,
            kind,
            guessed: false,
        }
    }

    /// Whether a line matches; `None` where only the search can tell.
    pub(crate) fn judges(&self, line: &str) -> Option<bool> {
        // Beyond ASCII the search knows more letters that are the same, and more letters at all.
        let plain = line.is_ascii() && self.shown.is_ascii();
        match self.kind {
            Kind::Text if !self.ignore_case => Some(line.contains(&self.text)),
            Kind::Text if plain => Some(line.to_ascii_lowercase().contains(&self.text.to_ascii_lowercase())),
            Kind::Word if plain && !self.ignore_case && self.shown.chars().all(is_word) => {
                Some(line.split(|c| !is_word(c)).any(|word| word == self.shown))
            }
            _ => None,
        }
    }

    /// With capitals and small letters as the same.
    pub(crate) fn ignoring_case(self, ignore_case: bool) -> Self {
        Self { ignore_case, ..self }
    }
}

/// Whether a character is part of a word, to the search.
fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// A text as an expression that matches it.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        if c.is_ascii_punctuation()
            && !matches!(c, '_' | '"' | '\'' | '`' | ',' | ';' | ':' | '!' | '@' | '%' | '=' | '<' | '>' | '/')
        {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}
