//! Lists files and measures them: all of them, where one listing is cut, folder by folder.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::{
    ask::{Files, Scope, What, is_file_name},
    find::{List, join},
    plan::{Desk, Stuck},
    results::{self, Kind, Listing},
};

/// Deeper than folders are.
const DEEP: usize = 256;
/// As many files are measured for one request.
const MEASURED: usize = 700;

/// The arguments of `read`.
#[derive(Serialize)]
pub(super) struct Read<'a> {
    pub(super) path: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) offset: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) limit: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) from_byte: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) bytes: Option<u64>,
}

impl<'a> Read<'a> {
    /// Lines from one on.
    pub(super) fn lines(path: &'a str, offset: Option<u64>, limit: Option<u64>) -> Self {
        Self { path, offset, limit, from_byte: None, bytes: None }
    }
}

/// The files and folders that there are.
#[derive(Debug, Default)]
pub(super) struct Entries {
    pub(super) files: BTreeSet<String>,
    pub(super) folders: BTreeSet<String>,
    pub(super) links: BTreeSet<String>,
    /// The folders of which not all was listed.
    pub(super) open: Vec<String>,
    pub(super) unread: Vec<String>,
    /// What could not be listed, and what the tool said.
    pub(super) failed: Vec<(String, String)>,
}

/// How much is looked at of the folders.
#[derive(Debug, Clone, Copy)]
struct Look<'a> {
    glob: Option<&'a str>,
    deep: bool,
    all: bool,
}

impl Look<'_> {
    fn list<'b>(&'b self, path: &'b str, depth: Option<usize>) -> List<'b> {
        List { glob: self.glob, depth, ..List::new(path, self.all) }
    }
}

/// What is in a scope.
///
/// # Errors
/// [`Stuck`] while results are wanted, and where the tools are not there.
pub(super) fn entries(files: &Files, desk: &Desk) -> Result<Entries, Stuck> {
    let scope = &files.scope;
    let glob = match (&files.name, files.what) {
        (Some(name), What::Files) => Some(name_glob(name)),
        (None, What::Files) if files.deep => Some(scope.glob().unwrap_or_else(|| "*".to_owned())),
        _ => scope.glob(),
    };
    let look = Look { glob: glob.as_deref(), deep: files.deep, all: scope.all };
    let mut entries = Entries::default();
    let mut stuck = None;
    for path in scope.places() {
        match folder(path, look, desk, &mut entries) {
            Err(Stuck::Waits) => stuck = Some(Stuck::Waits),
            other => other?,
        }
    }
    if let Some(stuck) = stuck {
        return Err(stuck);
    }
    if let (Some(name), What::Folders) = (&files.name, files.what) {
        entries.folders.retain(|path| path.rsplit('/').next() == Some(name.trim_end_matches('/')));
    }
    for paths in [&mut entries.files, &mut entries.folders, &mut entries.links] {
        paths.retain(|path| !scope.leaves_out(path));
    }
    Ok(entries)
}

/// The glob of a name that was asked for.
fn name_glob(name: &str) -> String {
    if name.contains('*') {
        return name.to_owned();
    }
    let mut plain = String::new();
    for c in name.chars() {
        if "[]{}?\\".contains(c) {
            plain.push('\\');
        }
        plain.push(c);
    }
    // Who leaves out the ending means any.
    if name.contains('.') { plain } else { format!("{{{plain},{plain}.*}}") }
}

fn folder(path: &str, look: Look<'_>, desk: &Desk, entries: &mut Entries) -> Result<(), Stuck> {
    let depth = if !look.deep {
        Some(1)
    } else if look.glob.is_none() {
        Some(DEEP)
    } else {
        None
    };
    let Some(listing) = list(path, &look.list(path, depth), desk, entries)? else { return Ok(()) };
    if listing.whole || !look.deep {
        take(path, listing, entries);
        return Ok(());
    }
    // Too much for one listing: what is right here, and then each folder.
    let here = list(path, &look.list(path, Some(1)), desk, entries)?.unwrap_or_default();
    let plain = Look { glob: None, ..look };
    let folders = list(path, &plain.list(path, Some(1)), desk, entries)?.unwrap_or_default();
    take(path, here, entries);
    if !folders.whole {
        entries.open.push(path.to_owned());
    }
    if look.glob.is_some_and(|glob| glob.starts_with('/')) {
        return Ok(());
    }
    let mut stuck = None;
    for entry in folders.entries.iter().filter(|entry| entry.kind == Kind::Folder) {
        match folder(&join(path, &entry.path), look, desk, entries) {
            Err(Stuck::Waits) => stuck = Some(Stuck::Waits),
            other => other?,
        }
    }
    stuck.map_or(Ok(()), Err)
}

/// A listing; none where it failed or may not be made.
fn list(path: &str, list: &List<'_>, desk: &Desk, entries: &mut Entries) -> Result<Option<Listing>, Stuck> {
    match desk.ask("list", list) {
        Ok(done) if done.failed => {
            entries.failed.push((path.to_owned(), done.text.clone()));
            Ok(None)
        }
        Ok(done) => {
            let listing = results::listing(&done.text);
            for problem in &listing.unread {
                if !entries.unread.contains(problem) {
                    entries.unread.push(problem.clone());
                }
            }
            Ok(Some(listing))
        }
        Err(Stuck::Spent) => {
            entries.open.push(path.to_owned());
            Ok(None)
        }
        Err(e) => Err(e),
    }
}

fn take(path: &str, listing: Listing, entries: &mut Entries) {
    if !listing.whole {
        entries.open.push(path.to_owned());
    }
    for entry in listing.entries {
        let whole = join(path, &entry.path);
        match entry.kind {
            Kind::File => entries.files.insert(whole),
            Kind::Folder => entries.folders.insert(whole),
            Kind::Link => entries.links.insert(whole),
        };
    }
}

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Measure {
    Lines,
    Bytes,
}

/// How long files are.
#[derive(Debug, Default)]
pub(super) struct Measured {
    pub(super) files: BTreeMap<String, u64>,
    /// The files that have more than was counted.
    pub(super) more: BTreeSet<String>,
    /// Whether there are more files.
    pub(super) open: Vec<String>,
    pub(super) unread: Vec<String>,
    /// What could not be measured, and what the tool said.
    pub(super) failed: Vec<(String, String)>,
}

/// Measures the files of a scope.
///
/// # Errors
/// [`Stuck`] while results are wanted, and where the tools are not there.
pub(super) fn measure(scope: &Scope, what: Measure, desk: &Desk) -> Result<Measured, Stuck> {
    let mut measured = Measured::default();
    let named = |path: &&String| path.rsplit('/').next().is_some_and(is_file_name) && scope.globs.is_empty();
    let mut files: BTreeSet<String> = scope.paths.iter().filter(named).cloned().collect();
    let rest: Vec<String> = scope.paths.iter().filter(|path| !files.contains(*path)).cloned().collect();
    if files.is_empty() || !rest.is_empty() {
        let scope = Scope { paths: rest, ..scope.clone() };
        let all = entries(&Files { scope, name: None, what: What::Files, deep: true, counts: true }, desk)?;
        files.extend(all.files);
        measured.open = all.open;
        measured.unread = all.unread;
        for (path, said) in all.failed {
            // A file without an ending.
            if said.contains("` is a file; ") {
                files.insert(path);
            } else {
                measured.failed.push((path, said));
            }
        }
    }
    if files.len() > MEASURED {
        measured.open.push(format!("{} more files", files.len() - MEASURED));
    }
    let mut stuck = None;
    for path in files.into_iter().take(MEASURED) {
        match one(&path, what, desk) {
            Ok(Ok((number, more))) => {
                if more {
                    measured.more.insert(path.clone());
                }
                measured.files.insert(path, number);
            }
            Ok(Err(said)) => measured.failed.push((path, said)),
            Err(Stuck::Waits) => stuck = Some(Stuck::Waits),
            Err(Stuck::Spent) => measured.open.push(path),
            Err(e) => return Err(e),
        }
    }
    stuck.map_or(Ok(measured), Err)
}

/// The length of a file and whether it is longer; or what the tool said instead.
fn one(path: &str, what: Measure, desk: &Desk) -> Result<Result<(u64, bool), String>, Stuck> {
    let read = match what {
        Measure::Lines => Read::lines(path, None, Some(1)),
        Measure::Bytes => Read { from_byte: Some(0), bytes: Some(1), ..Read::lines(path, None, None) },
    };
    let done = desk.ask("read", &read)?;
    let known = match what {
        Measure::Lines if done.failed => None,
        Measure::Lines => results::page(&done.text).map(|page| (page.total, page.more)),
        Measure::Bytes => results::size(&done.text).map(|size| (size, false)),
    };
    Ok(known.ok_or_else(|| done.text.lines().next().unwrap_or_default().to_owned()))
}
