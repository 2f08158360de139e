//! A request as tokens: words, quoted texts, and regular expressions between slashes.

/// A piece of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) text: String,
    /// In small letters.
    pub(super) lower: String,
    pub(super) kind: Kind,
    pub(super) end: End,
}

/// How a token was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Word,
    Quoted,
    /// Between slashes; whether `i` stands behind them.
    Regex {
        ignore_case: bool,
    },
}

/// What stands behind a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Nothing,
    Comma,
    /// The end of a part of a sentence, or of all.
    Part,
}

impl Token {
    fn new(text: String, kind: Kind, end: End) -> Self {
        Self { lower: text.to_lowercase(), text, kind, end }
    }

    pub(super) fn is_word(&self) -> bool {
        self.kind == Kind::Word
    }

    /// Whether it is one of these words, which stand in one text.
    pub(super) fn is(&self, words: &str) -> bool {
        self.is_word() && words.split(' ').any(|word| word == self.lower)
    }

    /// Whether it looks like a name of a program or a marker, and not like a word of English.
    pub(super) fn is_code(&self) -> bool {
        let text = self.text.as_str();
        let capitals = text.chars().filter(|c| c.is_uppercase()).count();
        let inner_capital = text.chars().skip(1).any(char::is_uppercase);
        capitals >= 2 || inner_capital || text.contains(|c: char| !c.is_alphanumeric() && !matches!(c, '-' | '\''))
    }
}

/// The words before which slashes are folders and not the borders of a regular expression.
const BEFORE_PATHS: &str = "in under inside within of from folder directory below";

/// Takes a request apart.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let chars: Vec<char> = text.chars().collect();
    let mut tokens: Vec<Token> = Vec::new();
    let mut at = 0;
    while let Some(c) = chars.get(at).copied() {
        if c == '\n'
            && let Some(last) = tokens.last_mut()
        {
            last.end = End::Part;
        }
        if c.is_whitespace() {
            at += 1;
            continue;
        }
        let path_next = tokens.last().is_some_and(|token| token.is(BEFORE_PATHS));
        let found = quoted(&chars, at).or_else(|| {
            (c == '/').then(|| regex(&chars, at))?.filter(|(inner, ..)| {
                // No folder has such a name.
                !path_next || inner.contains(['\\', '|', '(', '[', '^', '$', '+'])
            })
        });
        if let Some((inner, kind, next)) = found {
            at = next;
            let mut end = End::Nothing;
            while let Some(c) = chars.get(at).copied().filter(|c| ".,;:!?)".contains(*c)) {
                end = behind(c, end);
                at += 1;
            }
            tokens.push(Token::new(inner, kind, end));
            continue;
        }
        let word: String = chars.iter().skip(at).take_while(|c| !c.is_whitespace()).collect();
        at += word.chars().count();
        let (word, end) = trim(&word);
        match tokens.last_mut() {
            Some(last) if word.is_empty() => last.end = end,
            _ if word.is_empty() => {}
            _ => tokens.push(Token::new(word, Kind::Word, end)),
        }
    }
    if let Some(last) = tokens.last_mut() {
        last.end = End::Part;
    }
    tokens
}

fn behind(c: char, before: End) -> End {
    match c {
        ',' if before == End::Nothing => End::Comma,
        ')' => before,
        _ => End::Part,
    }
}

/// A word without the punctuation of the sentence.
fn trim(word: &str) -> (String, End) {
    let mut word = word.trim_start_matches(['(', '¿', '¡']);
    let mut end = End::Nothing;
    while let Some(last) = word.chars().next_back() {
        let rest = word.get(..word.len() - last.len_utf8()).unwrap_or_default();
        let goes = match last {
            ',' | ';' | '?' => true,
            // `println!` is a name where the sentence goes on.
            '!' => !rest.is_empty() && end == End::Part,
            '.' => !matches!(word, "." | "..") && !word.ends_with("/.."),
            ':' => !rest.ends_with(':'),
            ')' => word.matches(')').count() > word.matches('(').count(),
            '—' | '–' => true,
            _ => false,
        };
        if !goes {
            break;
        }
        end = behind(last, end);
        word = rest;
    }
    if word == "-" {
        return (String::new(), End::Part);
    }
    (word.to_owned(), end)
}

type Found = (String, Kind, usize);

fn quoted(chars: &[char], at: usize) -> Option<Found> {
    let close = match chars.get(at)? {
        '"' => '"',
        '`' => '`',
        '\'' => '\'',
        '“' | '„' => '”',
        '‘' => '’',
        '«' => '»',
        _ => return None,
    };
    let inner = chars.get(at + 1..)?;
    let mut ends = inner.iter().enumerate().filter(|(_, c)| **c == close || (close == '”' && **c == '“'));
    // An apostrophe in a word is no end.
    let fits = |length: usize| inner.get(length + 1).is_none_or(|c| !c.is_alphanumeric());
    let length = ends.find(|(length, _)| fits(*length))?.0;
    let text: String = inner.get(..length)?.iter().collect();
    (!text.trim().is_empty()).then_some((text, Kind::Quoted, at + length + 2))
}

fn regex(chars: &[char], at: usize) -> Option<Found> {
    let inner = chars.get(at + 1..)?;
    let mut escaped = false;
    let length = inner.iter().position(|c| {
        let end = (*c == '/' || *c == '\n') && !escaped;
        escaped = *c == '\\' && !escaped;
        end
    })?;
    let after: Vec<char> = inner.get(length..)?.iter().take_while(|c| !c.is_whitespace()).copied().collect();
    let flags: String = after.iter().skip(1).take_while(|c| c.is_alphanumeric()).collect();
    let rest = after.get(1 + flags.len()..)?;
    let closed = after.first() == Some(&'/') && rest.iter().all(|c| ".,;:!?)".contains(*c));
    let text: String = inner.get(..length)?.iter().collect();
    if !closed || text.trim().is_empty() || !(flags.is_empty() || flags == "i") {
        return None;
    }
    let kind = Kind::Regex { ignore_case: flags == "i" };
    Some((text.replace("\\/", "/"), kind, at + length + 2 + flags.len()))
}
