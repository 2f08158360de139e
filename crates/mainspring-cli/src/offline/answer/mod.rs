//! Says what was found, how it was found, and what was not looked at.

mod files;
mod lines;
mod outline;

use std::fmt::Write as _;

pub(super) use self::{
    files::{listing, measures},
    lines::{Report, lines},
    outline::{outline, show},
};
use super::{
    ask::{Other, Scope},
    work::Moved,
};

/// What this is, and how to get more.
pub(super) const FOOTER: &str = "\n_This is demo/offline: fixed rules, not a language model. Every number above comes from the tool \
     calls of this run. For a real model set a key such as ANTHROPIC_API_KEY, or start a local server (Ollama, LM Studio, \
     llama.cpp)._\n";

/// Says which places are not where they were asked for.
fn places_told(text: &mut String, moved: &[Moved]) {
    for Moved { asked, found, there } in moved {
        if let Some(found) = found {
            let _ =
                writeln!(text, "There is no `{asked}` in this folder; I took `{found}`, the only one of that name.");
            continue;
        }
        let names = names(there.iter().map(String::as_str), 20);
        let there = if names.is_empty() { "nothing that is not hidden or ignored" } else { &names };
        let _ = writeln!(text, "There is no file or folder `{asked}`. This folder has {there}.");
    }
}

/// Where was searched, in words.
fn place(scope: &Scope) -> String {
    let paths: Vec<String> = scope.paths.iter().map(|path| format!("`{path}`")).collect();
    let paths = if paths.is_empty() { "in this folder".to_owned() } else { format!("in {}", paths.join(" and ")) };
    match scope.glob() {
        Some(glob) => format!("{paths} (files `{glob}`)"),
        None => paths,
    }
}

fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

/// What could not be read, and what was not looked at to the end.
fn problems(text: &mut String, unread: &[String], open: &[String]) {
    for problem in unread.iter().take(5) {
        let _ = writeln!(text, "Not read: {problem}.");
    }
    if unread.len() > 5 {
        let _ = writeln!(text, "Not read: {} more.", unread.len() - 5);
    }
    if !open.is_empty() {
        let names = names(open.iter().map(String::as_str), 5);
        let _ = writeln!(text, "Not looked at to the end, because there is too much of it: {names}.");
    }
}

/// A text with a capital first letter and the footer.
fn finished(mut text: String) -> String {
    text.push_str(FOOTER);
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

/// Up to `most` names as code, and how many there are more.
fn names<'a>(names: impl ExactSizeIterator<Item = &'a str>, most: usize) -> String {
    let more = names.len().saturating_sub(most);
    let shown: Vec<String> = names.take(most).map(|name| format!("`{name}`")).collect();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

/// The answer where nothing can be looked up.
pub(super) fn other(other: Other) -> String {
    let first = match other {
        Other::Chat => "I can't answer that.",
        Other::Change => "I can't change, write or run anything.",
        Other::Times => "I can't tell which file is newer or older: none of my tools shows when a file was changed.",
        Other::Missing => "I did not understand what to look for, or I can't look for it.",
    };
    format!(
        "{first} I am demo/offline: a small set of fixed rules that ships with this program, not a language model. I can \
         find and count lines, list and count files, and show the headings of a file. For example:\n\n\
         - `Find every TODO and say which file has most`\n\
         - `How many .md files are here?`\n\
         - `Summarise README.md`\n\n\
         For everything else a real model is needed: set a key such as ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, \
         or start a local server (Ollama, LM Studio, llama.cpp), and ask again.\n"
    )
}

/// The answer where a tool is missing.
pub(super) fn lacks(tool: &str) -> String {
    format!(
        "For this I need the tool `{tool}`, which is not switched on in this session, so I have looked at nothing.\n{FOOTER}"
    )
}

/// The answer where it took too many calls to find out anything.
pub(super) fn spent() -> String {
    format!("That took more tool calls than I make for one request; ask about a smaller folder.\n{FOOTER}")
}
