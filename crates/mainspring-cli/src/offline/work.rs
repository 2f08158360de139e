//! Does what is asked, with the results that are there.

use super::{
    answer::{self, Report},
    ask::{Ask, Files, Find, Pattern, Rank, Scope, What},
    files::{self, Measure},
    find::{self, Found, List},
    outline::{self, Text},
    plan::{self, Desk, Stuck},
    results::{self, Kind, Listing},
};

/// The answer to a request; `None` while results are wanted.
pub(super) fn run(ask: &Ask, desk: &Desk) -> Option<String> {
    let answer = match ask {
        Ask::Find(find) => lines(find, desk),
        Ask::Other(other) => Ok(answer::other(*other)),
        Ask::Files(files) => listing(files, desk),
        Ask::Lines(scope, rank) => measures(scope, *rank, Measure::Lines, desk),
        Ask::Sizes(scope, rank) => measures(scope, Some(*rank), Measure::Bytes, desk),
        Ask::Outline(path) => one(path, desk, outline::whole, answer::outline),
        Ask::Show(path) => one(path, desk, |path, desk| outline::text(path, 1, desk), answer::show),
    };
    match answer {
        Ok(text) => Some(text),
        Err(Stuck::Waits) => None,
        Err(Stuck::Lacks(tool)) => Some(answer::lacks(tool)),
        Err(Stuck::Spent) => Some(answer::spent()),
    }
}

/// Finds lines.
fn lines(find: &Find, desk: &Desk) -> Result<String, Stuck> {
    let first = plan::all(find.patterns.iter().map(|pattern| find::find(desk, pattern, &find.scope)))?;
    let mut failed = Found::default();
    first.iter().for_each(|one| failed.add(one));
    let (scope, moved) = whereabouts(&find.scope, &failed.failed, desk)?;
    let nowhere = scope.paths.is_empty() && !moved.is_empty();
    let each = match moved.as_slice() {
        [] => first,
        _ if nowhere => Vec::new(),
        _ => plan::all(find.patterns.iter().map(|pattern| find::find(desk, pattern, &scope)))?,
    };
    let mut found = Found::default();
    each.iter().for_each(|one| found.add(one));
    let mut others = 0;
    // Another spelling is worth a word where there is nothing.
    if !nowhere && found.lines() == 0 && found.failed.is_empty() && find.patterns.iter().all(|one| !one.ignore_case) {
        let loose: Vec<Pattern> = find.patterns.iter().map(|one| one.clone().ignoring_case(true)).collect();
        let loose = plan::all(loose.iter().map(|pattern| find::find(desk, pattern, &scope)))?;
        others = loose.iter().map(Found::lines).sum();
    }
    Ok(answer::lines(&Report { find, scope: &scope, each: &each, found: &found, moved: &moved, others }))
}

/// Lists files and folders.
fn listing(files: &Files, desk: &Desk) -> Result<String, Stuck> {
    let entries = files::entries(files, desk)?;
    let (scope, moved) = whereabouts(&files.scope, &entries.failed, desk)?;
    if moved.is_empty() || scope.paths.is_empty() {
        return Ok(answer::listing(files, &entries, &moved));
    }
    let files = Files { scope, ..files.clone() };
    Ok(answer::listing(&files, &files::entries(&files, desk)?, &moved))
}

/// Measures files.
fn measures(scope: &Scope, rank: Option<Rank>, what: Measure, desk: &Desk) -> Result<String, Stuck> {
    let measured = files::measure(scope, what, desk)?;
    let (there, moved) = whereabouts(scope, &measured.failed, desk)?;
    if moved.is_empty() || there.paths.is_empty() {
        return Ok(answer::measures((scope, rank, what), &measured, &moved));
    }
    Ok(answer::measures((&there, rank, what), &files::measure(&there, what, desk)?, &moved))
}

/// Answers about one file.
fn one(
    path: &str,
    desk: &Desk,
    read: impl Fn(&str, &Desk) -> Result<Result<Text, String>, Stuck>,
    answer: fn(&str, &Result<Text, String>, &[Moved]) -> String,
) -> Result<String, Stuck> {
    let text = read(path, desk)?;
    let Err(said) = &text else { return Ok(answer(path, &text, &[])) };
    if said.contains("is a folder") {
        let scope = Scope { paths: vec![path.to_owned()], ..Scope::default() };
        return listing(&Files { scope, name: None, what: What::Both, deep: false, counts: false }, desk);
    }
    let scope = Scope { paths: vec![path.to_owned()], ..Scope::default() };
    let (there, moved) = whereabouts(&scope, &[(path.to_owned(), said.clone())], desk)?;
    match there.paths.first() {
        Some(other) if !moved.is_empty() => Ok(answer(other, &read(other, desk)?, &moved)),
        _ => Ok(answer(path, &text, &moved)),
    }
}

/// A place that is not where the request has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Moved {
    pub(super) asked: String,
    /// Where it is, when that is clear.
    pub(super) found: Option<String>,
    /// What the working folder has instead.
    pub(super) there: Vec<String>,
}

/// What a tool says of a path that leads nowhere.
const MISSING: &str = "there is no file or folder";

/// The scope without the places that are not there, and with those that are found elsewhere by their names.
pub(super) fn whereabouts(
    scope: &Scope,
    failed: &[(String, String)],
    desk: &Desk,
) -> Result<(Scope, Vec<Moved>), Stuck> {
    let missing = failed.iter().filter(|(path, said)| said.contains(MISSING) && scope.paths.contains(path));
    let missing = missing.map(|(path, _)| path);
    let moved = plan::all(missing.map(|path| locate(path, scope.all, desk)))?;
    let mut scope = scope.clone();
    scope.paths.retain(|path| moved.iter().all(|one| one.asked != *path));
    scope.paths.extend(moved.iter().filter_map(|one| one.found.clone()));
    Ok((scope, moved))
}

/// Looks for a place that is not there.
fn locate(path: &str, all: bool, desk: &Desk) -> Result<Moved, Stuck> {
    let list = |depth| desk.ask("list", &List { depth: Some(depth), ..List::new(".", all) });
    let both = plan::all([list(1), list(4)])?;
    let mut both = both.iter().map(|done| if done.failed { Listing::default() } else { results::listing(&done.text) });
    let (here, below) = (both.next().unwrap_or_default(), both.next().unwrap_or_default());
    let named = |entry: &&results::Entry| {
        entry.kind != Kind::Link
            && entry.path.strip_suffix(path).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
    };
    let mut hits = below.entries.iter().filter(named);
    // Only where there is one, and every place was looked at.
    let found = match (hits.next(), hits.next(), below.whole) {
        (Some(one), None, true) => Some(one.path.clone()),
        _ => None,
    };
    let there =
        here.entries.iter().map(|e| if e.kind == Kind::Folder { format!("{}/", e.path) } else { e.path.clone() });
    Ok(Moved { asked: path.to_owned(), found, there: there.collect() })
}
