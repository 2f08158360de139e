//! Finds the lines that match, all of them: where a search was cut, its folders and files are searched one by one.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{
    ask::{Pattern, Scope},
    outline::{self, Text},
    plan::{Desk, Stuck},
    results::{self, FileMatches, Kind, Line, Listing, Matches},
};

/// As many lines as one search gives.
const LINES: usize = 1000;
/// As many entries as one listing gives and a result still shows whole.
const ENTRIES: usize = 1000;

/// As many pages are read of a file with more matches than a search shows.
const PAGES: usize = 60;

#[derive(Serialize)]
struct Search<'a> {
    pattern: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    literal: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ignore_case: Option<bool>,
    path: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    glob: Option<&'a str>,
    limit: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    all: Option<bool>,
}

/// The arguments of `list`.
#[derive(Serialize)]
pub(super) struct List<'a> {
    pub(super) path: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) glob: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) depth: Option<usize>,
    pub(super) limit: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) all: Option<bool>,
}

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) files: BTreeMap<String, Hits>,
    /// The places of which more was not found out, and what is known of them is not all.
    pub(super) open: Vec<String>,
    /// What the tools could not read.
    pub(super) unread: Vec<String>,
    /// The places that could not be searched at all, with what the tool said.
    pub(super) failed: Vec<(String, String)>,
}

/// What was found in one file.
#[derive(Debug, Clone, Default)]
pub(super) struct Hits {
    pub(super) lines: BTreeMap<u64, Line>,
    /// Whether there may be more.
    pub(super) partial: bool,
    pub(super) binary: bool,
}

impl Found {
    /// How many lines there are, at least.
    pub(super) fn lines(&self) -> usize {
        self.files.values().map(|hits| hits.lines.len()).sum()
    }

    /// Whether it is all there is.
    pub(super) fn is_whole(&self) -> bool {
        self.open.is_empty() && self.files.values().all(|hits| !hits.partial)
    }

    /// Adds what was found of another pattern.
    pub(super) fn add(&mut self, other: &Self) {
        for (path, hits) in &other.files {
            let mine = self.files.entry(path.clone()).or_default();
            mine.lines.extend(hits.lines.iter().map(|(number, line)| (*number, line.clone())));
            mine.partial |= hits.partial;
            mine.binary |= hits.binary;
        }
        let add = |mine: &mut Vec<String>, other: &[String]| {
            mine.extend(other.iter().filter(|one| !mine.contains(one)).cloned().collect::<Vec<_>>());
        };
        add(&mut self.open, &other.open);
        add(&mut self.unread, &other.unread);
        self.failed.extend(other.failed.iter().filter(|one| !self.failed.contains(one)).cloned().collect::<Vec<_>>());
    }

    fn take(&mut self, file: FileMatches, whole: bool) {
        let new = !self.files.contains_key(&file.path);
        let hits = self.files.entry(file.path).or_default();
        hits.lines.extend(file.lines);
        hits.binary |= file.binary;
        hits.partial = !whole && (new || hits.partial);
    }
}

/// Everything that matches in a scope.
///
/// # Errors
/// [`Stuck`] while results are wanted, and where the tools are not there.
pub(super) fn find(desk: &Desk, pattern: &Pattern, scope: &Scope) -> Result<Found, Stuck> {
    let mut found = Found::default();
    let glob = scope.glob();
    let seek = Seek { desk, pattern, glob: glob.as_deref(), all: scope.all };
    let mut stuck = None;
    for path in scope.places() {
        match seek.place(path, Place::Unknown, &mut found) {
            Err(Stuck::Waits) => stuck = Some(Stuck::Waits),
            other => other?,
        }
    }
    if let Some(stuck) = stuck {
        return Err(stuck);
    }
    found.files.retain(|path, _| !scope.leaves_out(path));
    Ok(found)
}

/// What a path is known to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Unknown,
    Folder,
    File,
}

struct Seek<'a> {
    desk: &'a Desk,
    pattern: &'a Pattern,
    glob: Option<&'a str>,
    all: bool,
}

impl Seek<'_> {
    fn place(&self, path: &str, kind: Place, found: &mut Found) -> Result<(), Stuck> {
        let search = Search {
            pattern: &self.pattern.text,
            literal: self.pattern.literal.then_some(true),
            ignore_case: self.pattern.ignore_case.then_some(true),
            path,
            glob: self.glob.filter(|_| kind != Place::File),
            limit: LINES,
            all: self.all.then_some(true),
        };
        let done = match self.desk.ask("search", &search) {
            Err(Stuck::Spent) => {
                found.open.push(path.to_owned());
                return Ok(());
            }
            other => other?,
        };
        if done.failed {
            if kind != Place::Unknown {
                found.open.push(path.to_owned());
            }
            found.failed.push((path.to_owned(), done.text.clone()));
            return Ok(());
        }
        let matches = results::matches(&done.text);
        found.unread.extend(matches.unread.iter().cloned());
        if matches.whole {
            matches.files.into_iter().for_each(|file| found.take(file, true));
            return Ok(());
        }
        match kind {
            Place::File => self.rest_of_file(path, matches, found),
            _ => self.split(path, matches, found),
        }
    }

    /// Searches what is in a folder one by one.
    fn split(&self, path: &str, mut matches: Matches, found: &mut Found) -> Result<(), Stuck> {
        let list = List { path, glob: None, depth: Some(1), limit: ENTRIES, all: self.all.then_some(true) };
        let whole = match self.desk.ask("list", &list) {
            Ok(done) if done.failed => return self.rest_of_file(path, matches, found),
            Ok(done) => results::listing(&done.text),
            Err(Stuck::Spent) => Listing::default(),
            Err(e) => return Err(e),
        };
        let files = match self.glob {
            None => whole.clone(),
            // The glob says which of the files are meant.
            glob => match self.desk.ask("list", &List { glob, ..list }) {
                Ok(done) => results::listing(&done.text),
                Err(Stuck::Spent) => Listing::default(),
                Err(e) => return Err(e),
            },
        };
        // The walk is in order: what stands before the last file that it shows is all there.
        let last = matches.files.pop().filter(|_| matches.ordered);
        let first = last.as_ref().and_then(|file| below(path, &file.path)).and_then(|rest| rest.split('/').next());
        let first = first.unwrap_or_default().to_owned();
        // What does not add up is not to be trusted at all.
        for file in matches.files.into_iter().filter(|_| matches.ordered) {
            found.take(file, true);
        }
        if let Some(last) = last {
            found.take(last, false);
        }
        if !(whole.whole && files.whole) {
            found.open.push(path.to_owned());
        }
        let anchored = self.glob.is_some_and(|glob| glob.trim_end_matches('/').contains('/'));
        let only_here = self.glob.is_some_and(|glob| glob.starts_with('/'));
        let mut stuck = None;
        let folders = whole.entries.iter().filter(|entry| entry.kind == Kind::Folder && !only_here);
        let folders = folders.map(|entry| (entry, Place::Folder));
        let files = files.entries.iter().filter(|entry| entry.kind == Kind::File).map(|entry| (entry, Place::File));
        for (entry, kind) in folders.chain(files).filter(|(entry, _)| entry.path >= first) {
            if kind == Place::Folder && anchored {
                // The glob begins at the folder that was searched, and means something else in another.
                found.open.push(join(path, &entry.path));
                continue;
            }
            match self.place(&join(path, &entry.path), kind, found) {
                Err(Stuck::Waits) => stuck = Some(Stuck::Waits),
                other => other?,
            }
        }
        stuck.map_or(Ok(()), Err)
    }

    /// A single file with more matches than a search shows: it is read, where its lines can be judged here.
    fn rest_of_file(&self, path: &str, matches: Matches, found: &mut Found) -> Result<(), Stuck> {
        // The path as the search shows it, which is without links and dots.
        let Some(file) = matches.files.into_iter().next_back().filter(|_| matches.ordered) else {
            found.open.push(path.to_owned());
            return Ok(());
        };
        let shown = file.path.clone();
        let read = if self.pattern.judges("").is_some() {
            outline::text(path, PAGES, self.desk)?
        } else {
            Ok(Text::default())
        };
        let text = read.unwrap_or_default();
        let mut whole = text.whole;
        let mut lines = BTreeMap::new();
        for (number, line) in text.lines {
            match self.pattern.judges(&line.text) {
                Some(true) => drop(lines.insert(number, line)),
                Some(false) if file.lines.contains_key(&number) && line.cut => drop(lines.insert(number, line)),
                // In the part that is left out there may be one.
                Some(false) if line.cut => whole = false,
                Some(false) => {}
                None => whole = false,
            }
        }
        // What was found by both has to be the same, or the reading is not to be trusted.
        let trusted = file.lines.keys().all(|number| lines.contains_key(number));
        found.take(file, whole && trusted);
        if trusted {
            found.take(FileMatches { path: shown, lines, binary: false }, whole);
        }
        Ok(())
    }
}

/// The path of something in a folder.
pub(super) fn join(folder: &str, name: &str) -> String {
    match folder {
        "." => name.to_owned(),
        _ => format!("{}/{name}", folder.trim_end_matches('/')),
    }
}

/// The rest of a path that lies in a folder.
pub(super) fn below<'a>(folder: &str, path: &'a str) -> Option<&'a str> {
    match folder {
        "." => Some(path),
        _ => path.strip_prefix(folder.trim_end_matches('/'))?.strip_prefix('/'),
    }
}

impl<'a> List<'a> {
    /// Everything in a folder, as deep as it is.
    pub(super) fn new(path: &'a str, all: bool) -> Self {
        Self { path, glob: None, depth: None, limit: ENTRIES, all: all.then_some(true) }
    }
}
