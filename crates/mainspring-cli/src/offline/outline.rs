//! The headings of a file: of Markdown its headings, of Rust its documentation and what it makes public.

use super::{
    files::Read,
    plan::{Desk, Stuck},
    results::{self, Line},
};

/// As many pages are read of one file.
const PAGES: usize = 20;

/// A text file as far as it was read.
#[derive(Debug, Default)]
pub(super) struct Text {
    pub(super) lines: Vec<(u64, Line)>,
    /// How many lines it has, at least.
    pub(super) total: u64,
    /// Whether all of it was read.
    pub(super) whole: bool,
}

/// Reads a file, page by page; what the tool said instead where it cannot be read.
///
/// # Errors
/// [`Stuck`] while results are wanted, and where the tool is not there.
pub(super) fn text(path: &str, pages: usize, desk: &Desk) -> Result<Result<Text, String>, Stuck> {
    let mut text = Text::default();
    let mut from = None;
    for _ in 0..pages {
        let done = match desk.ask("read", &Read::lines(path, from, None)) {
            Err(Stuck::Spent) => break,
            other => other?,
        };
        let page = if done.failed { None } else { results::page(&done.text) };
        let Some(page) = page else {
            let said = done.text.lines().next().unwrap_or_default().chars().take(200).collect();
            return Ok(if text.lines.is_empty() { Err(said) } else { Ok(text) });
        };
        text.lines.extend(page.lines);
        text.total = page.total;
        text.whole = page.next.is_none();
        from = page.next;
        if text.whole {
            break;
        }
    }
    Ok(Ok(text))
}

/// All that is read of a file for its headings.
///
/// # Errors
/// As of [`text`].
pub(super) fn whole(path: &str, desk: &Desk) -> Result<Result<Text, String>, Stuck> {
    text(path, PAGES, desk)
}

/// A heading, and the first sentence below it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Heading {
    /// 1 for the highest.
    pub(super) level: usize,
    pub(super) line: u64,
    pub(super) title: String,
    pub(super) sentence: String,
}

/// The headings of a Markdown text, by CommonMark: with number signs, or underlined; none in fenced code, in comments
/// or in front matter.
pub(super) fn headings(lines: &[(u64, Line)]) -> Vec<Heading> {
    let mut headings: Vec<Heading> = Vec::new();
    let mut fence: Option<(char, usize)> = None;
    let mut comment = false;
    // The paragraph before the line: an underline makes a heading of it.
    let mut paragraph: Vec<(u64, &str)> = Vec::new();
    let front = front_matter(lines);
    for (number, line) in lines.iter().skip(front) {
        let text = line.text.as_str();
        let bare = text.trim_start();
        let indent = text.len() - bare.len();
        if let Some((mark, length)) = fence {
            let closes = marks(bare, mark) >= length && bare.trim_matches([mark, ' ', '\t']).is_empty();
            fence = fence.filter(|_| !(closes && indent < 4));
            continue;
        }
        if comment || bare.starts_with("<!--") {
            comment = !text.contains("-->");
            end(&mut paragraph, &mut headings);
            continue;
        }
        let opens = ['`', '~'].into_iter().map(|mark| (mark, marks(bare, mark))).find(|(_, length)| *length >= 3);
        if let Some((mark, length)) =
            opens.filter(|(mark, _)| indent < 4 && !(*mark == '`' && bare.matches('`').count() > marks(bare, '`')))
        {
            fence = Some((mark, length));
            end(&mut paragraph, &mut headings);
        } else if let Some((level, title)) = numbered(bare).filter(|_| indent < 4) {
            end(&mut paragraph, &mut headings);
            headings.push(Heading { level, line: *number, title: title.to_owned(), sentence: String::new() });
        } else if let Some(level) = underline(bare).filter(|_| indent < 4 && !paragraph.is_empty()) {
            let title: Vec<&str> = paragraph.iter().map(|(_, text)| text.trim()).collect();
            let line = paragraph.first().map_or(*number, |(number, _)| *number);
            headings.push(Heading { level, line, title: title.join(" "), sentence: String::new() });
            paragraph.clear();
        } else if bare.is_empty() || is_other(bare) || (indent >= 4 && paragraph.is_empty()) {
            end(&mut paragraph, &mut headings);
            // A list or a quote says something, too, but is never underlined.
            if is_other(bare) && !is_rule(bare) {
                say(&mut headings, bare);
            }
        } else {
            paragraph.push((*number, text));
        }
    }
    end(&mut paragraph, &mut headings);
    headings
}

fn front_matter(lines: &[(u64, Line)]) -> usize {
    let is_rule = |line: &(u64, Line)| line.1.text.trim_end() == "---";
    match lines.first() {
        Some(first) if is_rule(first) => lines.iter().skip(1).position(is_rule).map_or(0, |at| at + 2),
        _ => 0,
    }
}

fn marks(text: &str, mark: char) -> usize {
    text.chars().take_while(|c| *c == mark).count()
}

/// `## title ##`.
fn numbered(text: &str) -> Option<(usize, &str)> {
    let level = marks(text, '#');
    let rest = text.get(level..).filter(|_| (1..=6).contains(&level))?;
    if !(rest.is_empty() || rest.starts_with([' ', '\t'])) {
        return None;
    }
    let title = rest.trim();
    let closed = title.trim_end_matches('#');
    let closes = closed.is_empty() || closed.ends_with([' ', '\t']);
    Some((level, if closes { closed.trim_end() } else { title }))
}

fn underline(text: &str) -> Option<usize> {
    let line = text.trim_end();
    let all = |mark: char| !line.is_empty() && line.chars().all(|c| c == mark);
    if all('=') {
        Some(1)
    } else if all('-') {
        Some(2)
    } else {
        None
    }
}

fn is_rule(text: &str) -> bool {
    ['-', '*', '_'].into_iter().any(|mark| {
        let marks: Vec<char> = text.chars().filter(|c| !c.is_whitespace()).collect();
        marks.len() >= 3 && marks.iter().all(|c| *c == mark)
    })
}

/// Whether it begins something else than a paragraph: a quote, a list, a table, HTML, a rule.
fn is_other(text: &str) -> bool {
    let item = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let ordered = item.len() < text.len() && (item.starts_with(". ") || item.starts_with(") "));
    let list = ["- ", "* ", "+ "].iter().any(|mark| text.starts_with(mark));
    ordered || list || text.starts_with(['>', '|', '<']) || is_rule(text)
}

/// A paragraph ends: its first sentence belongs to the heading before it.
fn end(paragraph: &mut Vec<(u64, &str)>, headings: &mut [Heading]) {
    let text: Vec<&str> = paragraph.drain(..).map(|(_, text)| text.trim()).collect();
    if !text.is_empty() {
        say(headings, &text.join(" "));
    }
}

fn say(headings: &mut [Heading], text: &str) {
    if let Some(last) = headings.last_mut().filter(|last| last.sentence.is_empty()) {
        last.sentence = first_sentence(text);
    }
}

/// The text up to the end of its first sentence.
pub(super) fn first_sentence(text: &str) -> String {
    let mut sentence = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        sentence.push(c);
        let ends = matches!(c, '.' | '!' | '?') && chars.peek().is_none_or(|next| next.is_whitespace());
        let short = ["e.g.", "i.e.", "etc.", "vs.", "cf."].iter().any(|word| sentence.ends_with(word));
        if ends && !short {
            break;
        }
    }
    sentence
}

/// What a Rust file says of itself, and what it makes public.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Source {
    pub(super) docs: String,
    /// With their lines.
    pub(super) items: Vec<(u64, String)>,
}

/// The documentation at the top of a Rust file and the beginnings of its public items.
pub(super) fn source(lines: &[(u64, Line)]) -> Source {
    let docs: Vec<&str> = lines.iter().filter_map(|(_, line)| line.text.trim_start().strip_prefix("//!")).collect();
    let docs: Vec<&str> = docs.iter().map(|line| line.trim()).take_while(|line| !line.is_empty()).collect();
    let items = lines.iter().filter_map(|(number, line)| {
        let text = line.text.trim();
        let public = text.strip_prefix("pub ").or_else(|| text.strip_prefix("pub(crate) "))?;
        let words = [
            "fn ",
            "async fn ",
            "const fn ",
            "struct ",
            "enum ",
            "trait ",
            "type ",
            "const ",
            "static ",
            "mod ",
            "use ",
            "union ",
            "unsafe fn ",
        ];
        words.iter().any(|word| public.starts_with(word)).then(|| {
            let end = text.find(['{', ';', '=']).unwrap_or(text.len());
            (*number, text.get(..end).unwrap_or(text).trim_end().to_owned())
        })
    });
    Source { docs: docs.join(" "), items: items.collect() }
}

/// The beginnings of the parts of another file: tables of TOML, definitions of other languages.
pub(super) fn parts(path: &str, lines: &[(u64, Line)]) -> Vec<(u64, String)> {
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
    let begins = |text: &str| match ending {
        "toml" | "ini" | "cfg" => text.starts_with('['),
        "py" => ["def ", "class ", "async def "].iter().any(|word| text.starts_with(word)),
        "js" | "ts" | "jsx" | "tsx" | "mjs" => {
            ["export ", "function ", "class ", "async function "].iter().any(|word| text.starts_with(word))
        }
        "go" => ["func ", "type "].iter().any(|word| text.starts_with(word)),
        _ => false,
    };
    let found = lines.iter().filter(|(_, line)| begins(&line.text));
    found.map(|(number, line)| (*number, line.text.trim_end_matches(['{', ':', ' ']).to_owned())).collect()
}
