//! The answer about lines.

use std::{collections::BTreeMap, fmt::Write as _};

use super::{count, finished, names, place, places_told, problems};
use crate::offline::{
    ask::{Find, Pattern, PatternKind, Rank, Scope},
    find::{Found, Hits, below, join},
    work::Moved,
};

/// As many files are shown, where not more are asked for.
const FILES: usize = 10;
/// As many lines are shown of them in all.
const LINES: usize = 40;
/// The longest piece of a line that is shown, in characters.
const WIDTH: usize = 120;

/// What was found for a request.
pub(in crate::offline) struct Report<'a> {
    pub(in crate::offline) find: &'a Find,
    pub(in crate::offline) scope: &'a Scope,
    /// By pattern.
    pub(in crate::offline) each: &'a [Found],
    pub(in crate::offline) found: &'a Found,
    pub(in crate::offline) moved: &'a [Moved],
    /// How many lines match with another case, where none matches as asked.
    pub(in crate::offline) others: usize,
}

/// The answer about lines.
pub(in crate::offline) fn lines(report: &Report<'_>) -> String {
    let Report { find, scope, found, moved, .. } = report;
    let mut text = String::new();
    places_told(&mut text, moved);
    if scope.paths.is_empty() && !find.scope.paths.is_empty() {
        return finished(text);
    }
    let what = either(&find.patterns);
    let place = place(scope);
    let (lines, files) = (found.lines(), found.files.len());
    let least = if found.is_whole() { "" } else { "at least " };
    let least_files = if found.open.is_empty() { "" } else { "at least " };
    if lines == 0 {
        let _ = match found.is_whole() && found.failed.is_empty() {
            true => writeln!(text, "No line {place} has {what}."),
            false => writeln!(text, "I found no line {place} with {what}, but not everything could be searched."),
        };
        if report.others > 0 {
            let _ = writeln!(text, "With other capitals there are {}.", count(report.others, "line"));
        }
    } else {
        let verb = if lines == 1 { "has" } else { "have" };
        let _ = writeln!(
            text,
            "**{least}{} in {least_files}{}** {place} {verb} {what}.",
            count(lines, "matching line"),
            count(files, "file")
        );
        each(&mut text, report);
        occurrences(&mut text, report);
        ranked(&mut text, report);
        shown(&mut text, report);
    }
    how(&mut text, report);
    if find.changes {
        text.push_str("Nothing was changed: this model only looks.\n");
    }
    finished(text)
}

/// The patterns in words.
fn either(patterns: &[Pattern]) -> String {
    let all: Vec<String> = patterns.iter().map(Pattern::describe).collect();
    all.join(" or ")
}

impl Pattern {
    /// In words.
    fn describe(&self) -> String {
        let shown = &self.shown;
        match &self.kind {
            PatternKind::Text => format!("`{shown}`"),
            PatternKind::Word => format!("the word `{shown}`"),
            PatternKind::Regex => format!("a match of `/{shown}/`"),
            PatternKind::Definition(what) if shown.is_empty() => format!("what looks like {what}"),
            PatternKind::Definition(what) if what == "definitions" => {
                format!("what looks like a definition of `{shown}`")
            }
            PatternKind::Definition(what) => format!("what looks like a definition of `{shown}` ({what})"),
        }
    }
}

/// The numbers of each pattern, where there are several.
fn each(text: &mut String, report: &Report<'_>) {
    if report.each.len() < 2 {
        return;
    }
    for (pattern, found) in report.find.patterns.iter().zip(report.each) {
        let least = if found.is_whole() { "" } else { "at least " };
        let (lines, files) = (count(found.lines(), "line"), count(found.files.len(), "file"));
        let _ = writeln!(text, "- {}: {least}{lines} in {files}", pattern.describe());
    }
    text.push('\n');
    // Who asks for two things often wants the files that have both.
    if report.found.is_whole() {
        let all = |path: &&String| report.each.iter().all(|one| one.files.contains_key(*path));
        let all: Vec<&str> = report.found.files.keys().filter(all).map(String::as_str).collect();
        let each = if report.each.len() == 2 { "both" } else { "all of them" };
        let _ = match all.as_slice() {
            [] => writeln!(text, "No file has {each}."),
            some => writeln!(
                text,
                "{} {} {each}: {}.",
                count(some.len(), "file"),
                if some.len() == 1 { "has" } else { "have" },
                names(some.iter().copied(), 5)
            ),
        };
    }
}

/// How often it occurs, which can be more than once on a line.
fn occurrences(text: &mut String, report: &Report<'_>) {
    let [pattern] = report.find.patterns.as_slice() else { return };
    if !report.find.occurrences || !pattern.literal || pattern.ignore_case {
        return;
    }
    let lines = || report.found.files.values().flat_map(|hits| hits.lines.values());
    let times: usize = lines().map(|line| line.text.matches(&pattern.text).count().max(1)).sum();
    let whole = report.found.is_whole() && lines().all(|line| !line.cut);
    let least = if whole { "" } else { "at least " };
    let _ = writeln!(text, "It occurs {least}{} on these lines.", count(times, "time"));
}

/// Files or folders with how many lines they have, the most first.
fn ranking(report: &Report<'_>) -> Vec<(String, usize, bool)> {
    let mut sums: BTreeMap<String, (usize, bool)> = BTreeMap::new();
    for (path, hits) in &report.found.files {
        let key = if report.find.by_folder { folder(report.scope, path) } else { path.clone() };
        let sum = sums.entry(key).or_default();
        sum.0 += hits.lines.len();
        sum.1 |= hits.partial;
    }
    let mut ranking: Vec<_> = sums.into_iter().map(|(path, (lines, partial))| (path, lines, partial)).collect();
    ranking.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    if report.find.rank == Some(Rank::Fewest) {
        ranking.sort_by(|a, b| a.1.cmp(&b.1).then_with(|| a.0.cmp(&b.0)));
    }
    ranking
}

/// The folder right below the place that was searched.
fn folder(scope: &Scope, path: &str) -> String {
    let places = scope.places();
    let within = places.iter().find_map(|place| below(place, path).map(|rest| (*place, rest)));
    match within.and_then(|(place, rest)| rest.split_once('/').map(|(first, _)| (place, first))) {
        Some((place, first)) => format!("{}/", join(place, first)),
        None => format!("{}/", path.rsplit_once('/').map_or(".", |(folder, _)| folder)),
    }
}

/// Says which file has the most, as far as that is known.
fn ranked(text: &mut String, report: &Report<'_>) {
    let ranking = ranking(report);
    let most = report.find.rank != Some(Rank::Fewest);
    let Some((first, lines, partial)) = ranking.first() else { return };
    let ties: Vec<&String> = ranking.iter().filter(|one| one.1 == *lines).map(|one| &one.0).collect();
    if report.find.rank.is_none() && ties.len() > 1 {
        return;
    }
    let what = if report.find.by_folder { "folder" } else { "file" };
    if ranking.len() == 1 {
        if report.find.rank.is_some() {
            let _ = writeln!(text, "`{first}` is the only {what} with any: {}.", count(*lines, "line"));
        }
        return;
    }
    let which = if most { "the most" } else { "the fewest of those that have any" };
    // What was not counted to the end may have more.
    let unsure = !report.found.open.is_empty() || ranking.iter().any(|one| one.2 && (one.0 != *first || !most));
    let least = if *partial { "at least " } else { "" };
    let so_far = if unsure { "As far as was counted, " } else { "" };
    let _ = match ties.as_slice() {
        [_] => writeln!(text, "{so_far}`{first}` has {which}: {least}{}.", count(*lines, "line")),
        all => {
            let (number, each, names) =
                (all.len(), count(*lines, "line"), names(all.iter().map(|name| name.as_str()), 5));
            writeln!(text, "{so_far}{number} {what}s share {which}, {each} each: {names}.")
        }
    };
}

/// The files with their lines.
fn shown(text: &mut String, report: &Report<'_>) {
    let ranking = ranking(report);
    let files = report.find.top.unwrap_or(FILES);
    // A few lines are shown whole, of many there are examples.
    let all = report.found.lines() <= LINES;
    text.push('\n');
    for (path, lines, partial) in ranking.iter().take(files) {
        let least = if *partial { "at least " } else { "" };
        let _ = writeln!(text, "- `{path}`: {least}{}", count(*lines, "line"));
        let hits = report.found.files.get(path);
        examples(text, hits, if all { LINES } else { 3 });
    }
    if let Some(more) = ranking.len().checked_sub(files).filter(|more| *more > 0) {
        let rest: usize = ranking.iter().skip(files).map(|one| one.1).sum();
        let what = if report.find.by_folder { "folder" } else { "file" };
        let _ = writeln!(text, "- {more} more {}: {} together", plural(more, what), count(rest, "line"));
    }
    text.push('\n');
}

fn plural(number: usize, what: &str) -> String {
    format!("{what}{}", if number == 1 { "" } else { "s" })
}

fn examples(text: &mut String, hits: Option<&Hits>, most: usize) {
    let Some(hits) = hits else { return };
    for (number, line) in hits.lines.iter().take(most) {
        let trimmed = line.text.trim();
        let short: String = trimmed.chars().take(WIDTH).collect();
        let more = if line.cut || short.len() < trimmed.len() { " …" } else { "" };
        // The longest run of backticks in a line must not close the code.
        let _ = match short.contains('`') {
            true => writeln!(text, "  - line {number}: ``` {short}{more} ```"),
            false => writeln!(text, "  - line {number}: `{short}{more}`"),
        };
    }
}

/// How it was searched, and what was not.
fn how(text: &mut String, report: &Report<'_>) {
    let found = report.found;
    let case = if report.find.patterns.iter().all(|p| p.ignore_case) { "any case" } else { "case as written" };
    let skipped = match report.scope.all {
        true => "Hidden and ignored files are counted in",
        false => "Hidden files, binary files and what .gitignore names are left out",
    };
    let _ = writeln!(text, "Lines are counted, as grep does ({case}). {skipped}.");
    for pattern in &report.find.patterns {
        if let PatternKind::Definition(_) = pattern.kind {
            let _ = writeln!(
                text,
                "Definitions are told by the expression `{}`; it can be wrong in comments.",
                pattern.text
            );
        }
    }
    if report.find.patterns.iter().any(|pattern| pattern.guessed) {
        text.push_str("I looked for these words as they stand, because I don't know what words mean.\n");
    }
    if !report.scope.without.is_empty() {
        let out: Vec<String> = report.scope.without.iter().map(|one| format!("`{one}`")).collect();
        let _ = writeln!(text, "Left out as you asked: {}.", out.join(", "));
    }
    let binary: Vec<&str> = found.files.iter().filter(|(_, hits)| hits.binary).map(|(path, _)| path.as_str()).collect();
    if !binary.is_empty() {
        let _ = writeln!(text, "Counted only up to where they turn binary: {}.", names(binary.into_iter(), 5));
    }
    for (path, problem) in &found.failed {
        let _ = writeln!(text, "`{path}` was not searched: {problem}");
    }
    problems(text, &found.unread, &found.open);
}
