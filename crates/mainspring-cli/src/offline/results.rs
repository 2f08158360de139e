//! Reads what the tools answered, as it stands in the conversation, and notices what they left out.

use std::collections::BTreeMap;

/// What `search` found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Matches {
    /// In the order of the walk.
    pub(super) files: Vec<FileMatches>,
    /// Whether this is everything, as far as it could be read.
    pub(super) whole: bool,
    /// Whether everything before the last file is whole, where not all is.
    pub(super) ordered: bool,
    /// What was not searched, and why.
    pub(super) unread: Vec<String>,
}

/// The matching lines of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct FileMatches {
    pub(super) path: String,
    /// By their number.
    pub(super) lines: BTreeMap<u64, Line>,
    /// Whether the file turns binary, so that there may be more.
    pub(super) binary: bool,
}

/// A line as it was shown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) text: String,
    /// Whether the end of it was left out.
    pub(super) cut: bool,
}

/// What `list` showed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Listing {
    pub(super) entries: Vec<Entry>,
    pub(super) whole: bool,
    pub(super) unread: Vec<String>,
}

/// A file or folder, by its path from the folder that was listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) path: String,
    pub(super) kind: Kind,
}

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Folder,
    Link,
}

/// What `read` showed of a text file by lines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Page {
    pub(super) lines: Vec<(u64, Line)>,
    /// How many lines the file has.
    pub(super) total: u64,
    /// Whether the file has more lines than `total` says.
    pub(super) more: bool,
    /// Where to read on, where it was not read to its end.
    pub(super) next: Option<u64>,
    pub(super) notes: Vec<String>,
}

const BINARY: &str = ": (binary from here on)";
const CUT: &str = " …";

/// Reads an answer of `search` without context lines.
pub(super) fn matches(text: &str) -> Matches {
    let mut found = Matches::default();
    let mut lines = text.split('\n').peekable();
    let (mut shown, mut ended, mut strange) = (0, false, false);
    while let Some(line) = lines.next() {
        if let Some((path, binary)) = header(line).filter(|_| lines.peek().is_some_and(|next| hit(next).is_some())) {
            let mut file = FileMatches { path: path.to_owned(), binary, ..FileMatches::default() };
            while let Some((number, text)) = lines.peek().and_then(|line| hit(line)) {
                lines.next();
                shown += 1;
                let cut = text.strip_suffix(CUT);
                file.lines.insert(number, Line { text: cut.unwrap_or(text).to_owned(), cut: cut.is_some() });
            }
            // Behind a file there is an empty line; where there is not, something was left out.
            if lines.next() != Some("") {
                break;
            }
            found.files.push(file);
        } else if line == "[no matches]" {
            (found.whole, ended) = (shown == 0, true);
        } else if let Some(rest) = line.strip_prefix('[').filter(|_| !ended) {
            let Some((count, files, rest)) = summary(rest) else { break };
            ended = true;
            // What does not add up was cut, or has names that cannot be told from the text.
            found.ordered = !strange && count == shown && files == found.files.len();
            found.whole = found.ordered && rest == "]";
        } else if let Some(problem) = line.strip_prefix("[not searched: ") {
            found.unread.push(problem.strip_suffix(']').unwrap_or(problem).to_owned());
        } else if !ended && !line.is_empty() {
            // A name of two lines, or what a gap has left.
            strange = true;
        }
    }
    found
}

fn header(line: &str) -> Option<(&str, bool)> {
    let binary = line.strip_suffix(BINARY).map(|path| (path, true));
    binary.or_else(|| line.strip_suffix(':').map(|path| (path, false)))
}

fn hit(line: &str) -> Option<(u64, &str)> {
    let (number, text) = line.split_once(": ")?;
    Some((digits(number)?, text))
}

fn digits(text: &str) -> Option<u64> {
    text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok())?
}

/// `12 lines in 3 files` and what follows.
fn summary(text: &str) -> Option<(usize, usize, &str)> {
    let (count, rest) = text.split_once(' ')?;
    let rest = rest.strip_prefix("lines in ").or_else(|| rest.strip_prefix("line in "))?;
    let (files, rest) = rest.split_once(' ')?;
    let rest = rest.strip_prefix("files").or_else(|| rest.strip_prefix("file"))?;
    Some((count.parse().ok()?, files.parse().ok()?, rest))
}

/// Reads an answer of `list`.
pub(super) fn listing(text: &str) -> Listing {
    let mut listing = Listing { whole: true, ..Listing::default() };
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(problem) = line.strip_prefix("[not looked into: ") {
            listing.unread.push(problem.strip_suffix(']').unwrap_or(problem).to_owned());
        } else if line.starts_with('[') && line.contains(" shown, there is more: ") {
            listing.whole = false;
        } else if is_gap(line) {
            // The names at both ends of the gap are not whole either.
            listing.whole = false;
            listing.entries.pop();
            lines.next();
        } else if !line.is_empty() && line != "[nothing]" {
            let (path, kind) = match (line.strip_suffix('/'), line.strip_suffix(" (link)")) {
                (Some(folder), _) => (folder, Kind::Folder),
                (_, Some(link)) => (link, Kind::Link),
                _ => (line, Kind::File),
            };
            listing.entries.push(Entry { path: path.to_owned(), kind });
        }
    }
    listing
}

/// What stands in the middle of a result that was too long for the run.
fn is_gap(line: &str) -> bool {
    line.starts_with("[… ") && line.ends_with(" bytes left out …]")
}

/// Reads an answer of `read` by lines; `None` where it is none.
pub(super) fn page(text: &str) -> Option<Page> {
    let mut page = Page::default();
    let mut behind = false;
    for line in text.split('\n') {
        let numbered = line.split_once('\t').and_then(|(number, text)| Some((digits(number.trim_start())?, text)));
        let follows = |number| page.lines.last().is_none_or(|(last, _)| number == last + 1);
        match numbered.filter(|(number, _)| !behind && follows(*number)) {
            Some((number, text)) => {
                let cut = long(text);
                page.lines.push((number, Line { text: cut.unwrap_or(text).to_owned(), cut: cut.is_some() }));
            }
            None if line.starts_with('[') && !is_gap(line) => {
                behind = true;
                page.notes.push(line.trim_start_matches('[').trim_end_matches(']').to_owned());
            }
            None if line.is_empty() => {}
            // Neither a line of the file nor a note: a part was left out.
            None => return None,
        }
    }
    page.total = page.lines.last().map_or(0, |(number, _)| *number);
    if page.lines.is_empty() && !page.notes.iter().any(|note| note.ends_with("` is empty")) {
        return None;
    }
    for note in &page.notes {
        // `lines 1 to 1000 of 5000; offset 1001 reads on`
        let Some((_, rest)) = note.strip_prefix("lines ").and_then(|rest| rest.split_once(" of ")) else { continue };
        let Some((total, rest)) = rest.split_once("; offset ") else { continue };
        page.more = total.starts_with("more than ");
        page.total = total.trim_start_matches("more than ").parse().ok()?;
        page.next = rest.split(' ').next().and_then(digits);
    }
    Some(page)
}

/// A long line without what `read` says behind it.
fn long(line: &str) -> Option<&str> {
    let (text, note) = line.rsplit_once(" …[")?;
    (note.contains(" bytes in this line; from_byte ") && note.ends_with(" shows it]")).then_some(text)
}

/// The size of a file in bytes by what `read` says of its first byte.
pub(super) fn size(text: &str) -> Option<u64> {
    // `[bytes 0 to 0 of 12…`, `has 0 bytes; there is no byte 0`, `is a binary file of 12 bytes and not text`,
    // `[…: image/png, 12 bytes]`.
    let last = text.lines().last()?;
    let behind = |before: &str| {
        let (_, rest) = last.rsplit_once(before)?;
        rest.split(|c: char| !c.is_ascii_digit()).next().and_then(digits)
    };
    if last.starts_with("[bytes 0 to 0 of ") {
        return behind("[bytes 0 to 0 of ");
    }
    if last.ends_with("` has 0 bytes; there is no byte 0") {
        return Some(0);
    }
    if last.ends_with(" bytes and not text; it is not shown") {
        return behind(" of ");
    }
    if last.ends_with(" bytes]") { behind(", ") } else { None }
}
