//! Reads a request in free English: what is wanted, and where.

mod object;
mod pattern;
mod read;
mod scope;
mod words;

pub(super) use self::pattern::{Kind as PatternKind, Pattern};
pub(super) use self::scope::is_file_name;

/// A request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Ask {
    /// Lines that match.
    Find(Find),
    /// Files and folders.
    Files(Files),
    /// How many lines files have.
    Lines(Scope, Option<Rank>),
    /// How large files are.
    Sizes(Scope, Rank),
    /// What a file is about, by its headings.
    Outline(String),
    /// What is in a file.
    Show(String),
    /// Something else.
    Other(Other),
}

/// Lines that match are wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Find {
    pub(super) patterns: Vec<Pattern>,
    pub(super) scope: Scope,
    pub(super) rank: Option<Rank>,
    /// Whether it is about folders, not files.
    pub(super) by_folder: bool,
    /// How many files are to be shown.
    pub(super) top: Option<usize>,
    /// Whether several on one line count as several.
    pub(super) occurrences: bool,
    /// Whether something is to be changed, too.
    pub(super) changes: bool,
}

/// Files and folders are wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Files {
    pub(super) scope: Scope,
    /// A glob of their names.
    pub(super) name: Option<String>,
    pub(super) what: What,
    /// Whether folders inside are looked into.
    pub(super) deep: bool,
    pub(super) counts: bool,
}

/// Which entries are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    Files,
    Folders,
    Both,
}

/// Which end of an order is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rank {
    Most,
    Fewest,
}

/// A request that nothing can be looked up for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Other {
    Chat,
    Change,
    Times,
    Missing,
}

/// Where to look.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Scope {
    pub(super) paths: Vec<String>,
    pub(super) globs: Vec<String>,
    /// Paths and globs that are left out.
    pub(super) without: Vec<String>,
    /// Hidden and ignored files, too.
    pub(super) all: bool,
}

impl Scope {
    /// The places to look into.
    pub(super) fn places(&self) -> Vec<&str> {
        if self.paths.is_empty() { vec!["."] } else { self.paths.iter().map(String::as_str).collect() }
    }

    /// One glob for all.
    pub(super) fn glob(&self) -> Option<String> {
        match self.globs.as_slice() {
            [] => None,
            [one] => Some(one.clone()),
            many => Some(format!("{{{}}}", many.join(","))),
        }
    }

    /// Whether a path is not wanted.
    pub(super) fn leaves_out(&self, path: &str) -> bool {
        self.without.iter().any(|out| match out.strip_prefix("*.") {
            Some(ending) => path.rsplit_once('.').is_some_and(|(_, end)| end == ending),
            None => path == out || path.strip_prefix(out.as_str()).is_some_and(|rest| rest.starts_with('/')),
        })
    }

    fn is_empty(&self) -> bool {
        self.paths.is_empty() && self.globs.is_empty() && !self.all
    }
}

impl Ask {
    /// The last request of a conversation; one that goes on from the one before takes from it what it does not say.
    pub(super) fn of(texts: &[String]) -> Self {
        let mut ask = Self::Other(Other::Chat);
        for text in texts {
            ask = read::read(text, &ask);
        }
        ask
    }

    /// The request with what a later one says in other words.
    fn with(&self, scope: Scope, patterns: Vec<Pattern>, rank: Option<Rank>) -> Self {
        let mut ask = self.clone();
        match &mut ask {
            Self::Find(find) if !scope.is_empty() || !patterns.is_empty() => {
                find.scope.replace(scope);
                if !patterns.is_empty() {
                    find.patterns = patterns;
                }
            }
            Self::Files(files) if !scope.is_empty() => files.scope.replace(scope),
            Self::Lines(old, by) if !scope.is_empty() || rank.is_some() => {
                old.replace(scope);
                *by = rank.or(*by);
            }
            Self::Sizes(old, by) if !scope.is_empty() || rank.is_some() => {
                old.replace(scope);
                *by = rank.unwrap_or(*by);
            }
            Self::Outline(path) | Self::Show(path) if !scope.paths.is_empty() => {
                path.clone_from(scope.paths.first().unwrap_or(&String::new()));
            }
            _ => return Self::Other(Other::Missing),
        }
        ask
    }
}

impl Scope {
    fn replace(&mut self, new: Self) {
        if !new.paths.is_empty() {
            self.paths = new.paths;
            // A file of its own is not one of a kind of files.
            self.globs.clear();
        }
        if !new.globs.is_empty() {
            self.globs = new.globs;
        }
        self.without.extend(new.without);
        self.all |= new.all;
    }
}
