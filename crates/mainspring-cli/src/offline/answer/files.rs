//! The answer about files and folders.

use std::{collections::BTreeSet, fmt::Write as _};

use super::{count, finished, place, places_told, problems};
use crate::offline::{
    ask::{Files, Rank, Scope, What},
    files::{Entries, Measure, Measured},
    work::Moved,
};

/// As many names are shown.
const SHOWN: usize = 60;
/// As many measured files are shown.
const RANKED: usize = 10;

/// What there is.
pub(in crate::offline) fn listing(files: &Files, entries: &Entries, moved: &[Moved]) -> String {
    let mut text = String::new();
    places_told(&mut text, moved);
    if moved.iter().any(|one| one.found.is_none()) && entries.files.is_empty() && entries.folders.is_empty() {
        return finished(text);
    }
    let whole = entries.open.is_empty();
    let least = if whole { "" } else { "at least " };
    let mut numbers = Vec::new();
    if files.what != What::Folders {
        numbers.push(format!("{least}{}", count(entries.files.len(), "file")));
    }
    if files.what != What::Files {
        numbers.push(format!("{least}{}", count(entries.folders.len(), "folder")));
    }
    if !entries.links.is_empty() && files.what != What::Folders {
        numbers.push(format!("{least}{}", count(entries.links.len(), "link")));
    }
    let named = files.name.as_ref().map(|name| format!(" named `{name}`")).unwrap_or_default();
    let deep = if files.deep { ", folders inside counted in" } else { ", not counting what is inside of folders" };
    let place = place(&files.scope);
    let _ = writeln!(text, "**{}**{named} {place}{deep}.\n", numbers.join(" and "));
    let none = BTreeSet::new();
    let folders = if files.what == What::Files { &none } else { &entries.folders };
    let (plain, links) = if files.what == What::Folders { (&none, &none) } else { (&entries.files, &entries.links) };
    let all = folders.iter().map(|path| format!("`{path}/`")).chain(plain.iter().map(|path| format!("`{path}`")));
    let all: Vec<String> = all.chain(links.iter().map(|path| format!("`{path}` (a link)"))).collect();
    let most = if files.counts { 20 } else { SHOWN };
    for name in all.iter().take(most) {
        let _ = writeln!(text, "- {name}");
    }
    if let Some(more) = all.len().checked_sub(most).filter(|more| *more > 0) {
        let _ = writeln!(text, "- {more} more");
    }
    text.push('\n');
    skipped(&mut text, &files.scope);
    failures(&mut text, &entries.failed, moved);
    problems(&mut text, &entries.unread, &entries.open);
    finished(text)
}

/// How long files are.
pub(in crate::offline) fn measures(
    (scope, rank, what): (&Scope, Option<Rank>, Measure),
    measured: &Measured,
    moved: &[Moved],
) -> String {
    let mut text = String::new();
    places_told(&mut text, moved);
    if measured.files.is_empty() {
        if moved.iter().all(|one| one.found.is_some()) {
            let _ = writeln!(text, "There is nothing {} that I could measure.", place(scope));
        }
        failures(&mut text, &measured.failed, moved);
        problems(&mut text, &measured.unread, &measured.open);
        return finished(text);
    }
    let unit = if what == Measure::Lines { "line" } else { "byte" };
    let counted = |number: u64| count(usize::try_from(number).unwrap_or(usize::MAX), unit);
    let least = |more: bool| if more { "at least " } else { "" };
    let mut files: Vec<(&String, u64)> = measured.files.iter().map(|(path, number)| (path, *number)).collect();
    let total: u64 = files.iter().map(|(_, number)| number).sum();
    let partial = !measured.more.is_empty() || !measured.open.is_empty();
    if let [(path, number)] = files.as_slice() {
        let _ = writeln!(text, "**`{path}` has {}{}.**", least(partial), counted(*number));
    } else {
        match rank {
            Some(Rank::Fewest) => files.sort_by_key(|(_, number)| *number),
            _ => files.sort_by_key(|(_, number)| std::cmp::Reverse(*number)),
        }
        let number = count(files.len(), "file");
        let _ = writeln!(text, "**{}{} in {number}** {}.", least(partial), counted(total), place(scope));
        if let (Some(rank), Some((first, most))) = (rank, files.first()) {
            let ties = files.iter().filter(|(_, number)| number == most).count();
            let which = match (rank, what) {
                (Rank::Most, Measure::Lines) => "longest",
                (Rank::Fewest, Measure::Lines) => "shortest",
                (Rank::Most, Measure::Bytes) => "largest",
                (Rank::Fewest, Measure::Bytes) => "smallest",
            };
            let the = if partial { "As far as was counted, the" } else { "The" };
            let also = if ties > 1 { format!(", as {} have", count(ties - 1, "other file")) } else { String::new() };
            let _ = writeln!(text, "{the} {which} is `{first}` with {}{also}.", counted(*most));
        }
        text.push('\n');
        for (path, number) in files.iter().take(RANKED) {
            let _ = writeln!(text, "- `{path}`: {}{}", least(measured.more.contains(*path)), counted(*number));
        }
        if let Some(more) = files.len().checked_sub(RANKED).filter(|more| *more > 0) {
            let _ = writeln!(text, "- {}", count(more, "more file"));
        }
        text.push('\n');
        skipped(&mut text, scope);
    }
    if what == Measure::Lines {
        text.push_str("A last line counts although no line end stands behind it.\n");
    }
    failures(&mut text, &measured.failed, moved);
    problems(&mut text, &measured.unread, &measured.open);
    finished(text)
}

fn skipped(text: &mut String, scope: &Scope) {
    text.push_str(match scope.all {
        true => "Hidden and ignored files are counted in.\n",
        false => "Hidden files and what .gitignore names are left out.\n",
    });
    if !scope.without.is_empty() {
        let _ = writeln!(text, "Left out as you asked: `{}`.", scope.without.join("`, `"));
    }
}

fn failures(text: &mut String, failed: &[(String, String)], moved: &[Moved]) {
    let told = |path: &str| moved.iter().any(|one| one.asked == path);
    let failed: Vec<_> = failed.iter().filter(|(path, _)| !told(path)).collect();
    for (path, said) in failed.iter().take(5) {
        let _ = writeln!(text, "Not counted, `{path}`: {said}.");
    }
    if failed.len() > 5 {
        let _ = writeln!(text, "Not counted: {} more.", failed.len() - 5);
    }
}
