//! How text looks: the 16 colours that every terminal has in its own palette, or none.

use std::fmt::Write as _;

/// A colour of the terminal's palette.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Colour {
    Red,
    Green,
    Yellow,
    Blue,
    Magenta,
    Cyan,
}

/// How a piece of text looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Style {
    bold: bool,
    dim: bool,
    italic: bool,
    underline: bool,
    strike: bool,
    colour: Option<Colour>,
}

impl Style {
    /// As the terminal has it.
    pub(crate) const PLAIN: Self =
        Self { bold: false, dim: false, italic: false, underline: false, strike: false, colour: None };
    /// What matters less.
    pub(crate) const DIM: Self = Self { dim: true, ..Self::PLAIN };
    /// What matters more.
    pub(crate) const BOLD: Self = Self { bold: true, ..Self::PLAIN };
    /// Code within text, and blocks of it.
    pub(crate) const CODE: Self = Self::PLAIN.colour(Colour::Cyan);
    /// A heading.
    pub(crate) const HEADING: Self = Self::BOLD.colour(Colour::Magenta);
    /// The text of a link.
    pub(crate) const LINK: Self = Self { underline: true, ..Self::PLAIN }.colour(Colour::Blue);
    /// What went wrong.
    pub(crate) const ERROR: Self = Self::PLAIN.colour(Colour::Red);
    /// What should be looked at.
    pub(crate) const WARNING: Self = Self::PLAIN.colour(Colour::Yellow);
    /// What went well, and lines that were added.
    pub(crate) const GOOD: Self = Self::PLAIN.colour(Colour::Green);

    pub(crate) const fn colour(self, colour: Colour) -> Self {
        Self { colour: Some(colour), ..self }
    }

    pub(crate) const fn bold(self) -> Self {
        Self { bold: true, ..self }
    }

    pub(crate) const fn italic(self) -> Self {
        Self { italic: true, ..self }
    }

    pub(crate) const fn strike(self) -> Self {
        Self { strike: true, ..self }
    }
}

/// Whether there are colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Theme {
    /// Text alone.
    Plain,
    /// With the 16 colours.
    Coloured,
}

impl Theme {
    /// The theme for an output: colours only in a terminal that can show them and whose user has not asked for none
    /// (<https://no-color.org>: `NO_COLOR` is set and not empty).
    pub(crate) fn detect(is_terminal: bool, env: impl Fn(&str) -> Option<String>) -> Self {
        let is_set = |name| env(name).is_some_and(|value| !value.is_empty());
        let is_dumb = env("TERM").is_some_and(|term| term == "dumb");
        if is_terminal && !is_dumb && !is_set("NO_COLOR") { Self::Coloured } else { Self::Plain }
    }

    /// Text in a style; the terminal is left plain behind it.
    pub(crate) fn paint(self, style: Style, text: impl AsRef<str>) -> String {
        let mut out = String::new();
        self.paint_into(&mut out, style, text.as_ref());
        out
    }

    /// The same at the end of a string.
    pub(crate) fn paint_into(self, out: &mut String, style: Style, text: &str) {
        if text.is_empty() || style == Style::PLAIN || self == Self::Plain {
            out.push_str(text);
            return;
        }
        let colour = style.colour.map(|colour| match colour {
            Colour::Red => 31,
            Colour::Green => 32,
            Colour::Yellow => 33,
            Colour::Blue => 34,
            Colour::Magenta => 35,
            Colour::Cyan => 36,
        });
        let flags = [(style.bold, 1), (style.dim, 2), (style.italic, 3), (style.underline, 4), (style.strike, 9)];
        let codes = flags.iter().filter(|(is_on, _)| *is_on).map(|(_, code)| *code).chain(colour);
        out.push_str("\x1b[");
        for (i, code) in codes.enumerate() {
            let _ = write!(out, "{}{code}", if i == 0 { "" } else { ";" });
        }
        let _ = write!(out, "m{text}\x1b[0m");
    }
}
