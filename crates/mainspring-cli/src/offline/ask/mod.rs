//! Reads a request in free English: what is wanted, and where.

mod object;
mod pattern;
mod scope;
mod words;

pub(super) use self::pattern::{Kind as PatternKind, Pattern};
use self::{
    object::has,
    words::{Kind, Token, tokens},
};

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

/// Words that ask for a change.
const CHANGES: &[&str] = &[
    "write",
    "edit",
    "create",
    "delete",
    "remove",
    "rename",
    "replace",
    "fix",
    "change",
    "add",
    "refactor",
    "implement",
    "insert",
    "append",
    "move",
    "update",
    "rewrite",
    "translate",
    "commit",
    "install",
    "build",
    "compile",
    "run",
    "generate",
    "improve",
    "convert",
    "format",
    "execute",
    "deploy",
    "push",
    "make",
    "clean",
    "test",
    "debug",
    "review",
    "resolve",
];
const POLITE: &[&str] = &[
    "please", "can", "could", "would", "you", "will", "i", "want", "need", "to", "like", "kindly", "help", "me", "us",
    "let",
];
const ASKS: &[&str] = &[
    "find",
    "search",
    "grep",
    "list",
    "show",
    "count",
    "how",
    "which",
    "where",
    "what's",
    "summarise",
    "summarize",
    "locate",
    "look",
    "give",
    "rg",
    "outline",
    "tell",
];

impl Ask {
    /// The last request of a conversation; one that goes on from the one before takes from it what it does not say.
    pub(super) fn of(texts: &[String]) -> Self {
        let mut ask = Self::Other(Other::Chat);
        for text in texts {
            ask = Self::read(text, &ask);
        }
        ask
    }

    fn read(text: &str, before: &Self) -> Self {
        let tokens = tokens(text);
        let mut used = vec![false; tokens.len()];
        let scope = scope::read(&tokens, &mut used);
        let goes_on =
            tokens.first().is_some_and(|t| t.is(&["and", "now", "only", "same", "also", "but", "or", "just", "in"]))
                || has(tokens.get(..2).unwrap_or_default(), &["what about", "how about"]);
        let asks = tokens.iter().any(|t| t.is(ASKS)) && !has(tokens.get(..2).unwrap_or_default(), &["how about"]);
        if goes_on && !asks {
            return before.with(&tokens, &used, scope);
        }
        let changes = tokens.iter().position(|t| t.is(CHANGES));
        let first = tokens.iter().find(|t| !t.is(POLITE));
        if first.is_some_and(|t| t.is(CHANGES)) {
            return Self::Other(Other::Change);
        }
        let later = changes.is_some_and(|at| {
            at.checked_sub(1).and_then(|at| tokens.get(at)).is_some_and(|t| t.is(&["and", "then", "to"]))
        });
        let patterns = object::read(&tokens, &used);
        about_files(&tokens, &used, &scope, &patterns).unwrap_or_else(|| find(&tokens, scope, patterns, later))
    }

    /// The request with what a later one says in other words.
    fn with(&self, tokens: &[Token], used: &[bool], scope: Scope) -> Self {
        let mut ask = self.clone();
        let patterns = object::read(tokens, used);
        match &mut ask {
            Self::Find(find) if !scope.is_empty() || !patterns.is_empty() => {
                find.scope.replace(scope);
                if !patterns.is_empty() {
                    find.patterns = patterns;
                }
            }
            Self::Files(files) if !scope.is_empty() => files.scope.replace(scope),
            Self::Lines(old, _) | Self::Sizes(old, _) if !scope.is_empty() => old.replace(scope),
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

fn rank(tokens: &[Token]) -> Option<Rank> {
    let any = |words: &[&str]| tokens.iter().any(|token| token.is(words));
    if any(&["most", "biggest", "largest", "longest", "maximum", "highest", "max", "top"]) {
        Some(Rank::Most)
    } else if any(&["fewest", "least", "smallest", "shortest", "minimum", "lowest", "min"]) {
        Some(Rank::Fewest)
    } else {
        None
    }
}

/// The number in `top 5` and `the first 3 files`.
fn top(tokens: &[Token]) -> Option<usize> {
    let words = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
    let number = |token: &Token| match words.iter().position(|word| token.is(&[word])) {
        Some(at) => Some(at + 1),
        None => token.lower.parse().ok().filter(|number| (1..=100).contains(number)),
    };
    tokens
        .iter()
        .zip(tokens.iter().skip(1))
        .find_map(|(lead, next)| lead.is(&["top", "first"]).then(|| number(next))?)
}

fn find(tokens: &[Token], scope: Scope, patterns: Vec<Pattern>, changes: bool) -> Ask {
    let negative = has(
        tokens,
        &[
            "don't contain",
            "not contain",
            "without any",
            "don't mention",
            "not mention",
            "don't have",
            "lack",
            "lacking",
        ],
    ) || tokens.iter().any(|t| t.is(&["don't", "doesn't", "lacks", "without"]));
    let question = tokens.iter().any(|t| {
        t.is(ASKS)
            || t.is(&[
                "is",
                "are",
                "does",
                "do",
                "every",
                "all",
                "number",
                "occurrences",
                "any",
                "most",
                "lines",
                "uses",
                "mentions",
                "usages",
                "fewest",
            ])
    });
    let speaks =
        tokens.iter().any(|t| t.is(&["you", "yourself", "your", "joke", "hello", "hi", "thanks", "weather", "why"]));
    if negative {
        return Ask::Other(Other::Missing);
    }
    let quoted = tokens.iter().any(|t| t.kind != Kind::Word);
    if patterns.is_empty() || !question || (speaks && !quoted) {
        return Ask::Other(Other::Chat);
    }
    let folders = ["folder", "directory", "crate", "package", "folders", "directories", "crates", "packages"];
    let asked = tokens
        .iter()
        .zip(tokens.iter().skip(1))
        .any(|(a, b)| a.is(&["which", "what", "per", "by", "each"]) && b.is(&folders));
    Ask::Find(Find {
        patterns,
        scope,
        rank: rank(tokens),
        by_folder: asked,
        top: top(tokens),
        occurrences: has(tokens, &["times", "how often", "occurrences", "occurrence"]),
        changes,
    })
}

/// A request that is about files themselves, not about lines in them.
fn about_files(tokens: &[Token], used: &[bool], scope: &Scope, patterns: &[Pattern]) -> Option<Ask> {
    let any = |words: &[&str]| tokens.iter().any(|token| token.is(words));
    let path = scope.paths.first().cloned();
    let file = path.clone().filter(|path| path.rsplit('/').next().is_some_and(scope::is_file_name));
    if any(&["newest", "oldest", "latest", "recent", "recently", "modified", "yesterday", "today"])
        && any(&["file", "files", "newest", "oldest"])
    {
        return Some(Ask::Other(Other::Times));
    }
    let contents = any(&[
        "contain",
        "contains",
        "containing",
        "mention",
        "mentions",
        "mentioning",
        "matching",
        "occurrences",
        "with",
    ]) || tokens.iter().any(|t| {
        t.kind != Kind::Word
            && !t.lower.is_empty()
            && !patterns.is_empty()
            && patterns.iter().any(|p| p.shown == t.text)
    });
    let outlines = any(&[
        "summarise",
        "summarize",
        "summary",
        "outline",
        "headings",
        "heading",
        "sections",
        "overview",
        "toc",
        "explain",
        "describe",
        "gist",
    ]) || has(tokens, &["table of contents", "what's in", "what is in"])
        || (any(&["about"]) && any(&["what", "what's"]));
    if outlines
        && !any(&["find", "search", "count"])
        && let Some(path) =
            file.clone().or_else(|| path.clone().filter(|_| any(&["file", "headings", "outline", "heading"])))
    {
        return Some(Ask::Outline(path));
    }
    if contents {
        return None;
    }
    let counts = any(&["count", "many", "number", "total"]);
    if any(&["lines", "line", "loc", "longest", "shortest"])
        && (counts || any(&["loc", "longest", "shortest", "length"]))
        && lines_only(patterns)
    {
        return Some(Ask::Lines(scope.clone(), rank(tokens)));
    }
    if any(&["show", "read", "print", "cat", "open", "display", "view"])
        && let (Some(path), true) = (file.clone(), lines_only(patterns))
    {
        return Some(Ask::Show(path));
    }
    let sizes = any(&["biggest", "largest", "smallest", "heaviest"]) && any(&["file", "files"]);
    if sizes {
        return Some(Ask::Sizes(scope.clone(), rank(tokens).unwrap_or(Rank::Most)));
    }
    listing(tokens, used, scope, patterns)
}

/// Whether there is no pattern but the words of a question about files.
fn lines_only(patterns: &[Pattern]) -> bool {
    const WORDS: &[&str] = &["line", "lines", "file", "files", "code", "loc", "long", "length"];
    patterns.iter().all(|p| p.shown.split(' ').all(|word| WORDS.contains(&word.to_lowercase().as_str())))
}

fn listing(tokens: &[Token], used: &[bool], scope: &Scope, patterns: &[Pattern]) -> Option<Ask> {
    let any = |words: &[&str]| tokens.iter().any(|token| token.is(words));
    let files = any(&["files", "file", "documents", "scripts", "sources"]);
    let folders = any(&["folders", "folder", "directories", "directory", "subfolders", "subdirectories", "dirs"]);
    let counts = any(&["count", "many", "number"]);
    // `files named x`, `find main.rs`, `where is main.rs`.
    let called =
        object::named(tokens).and_then(|at| tokens.get(at)).filter(|_| files || folders).map(|t| t.text.clone());
    let file = || scope.paths.iter().find(|path| scope::is_file_name(path) && !path.contains('/'));
    let sought = any(&["find", "where", "where's", "locate"]).then(file).flatten().filter(|_| patterns.is_empty());
    if let Some(name) = called.or_else(|| sought.cloned()) {
        let mut scope = scope.clone();
        scope.paths.retain(|path| *path != name);
        scope.globs.retain(|glob| *glob != name);
        let what = if files || !folders { What::Files } else { What::Folders };
        return Some(Ask::Files(Files { scope, name: Some(name), what, deep: true, counts }));
    }
    let here = has(
        tokens,
        &["what is here", "what's here", "what is in", "what's in", "ls", "tree", "what do we have", "what is there"],
    );
    let asks = any(&[
        "list", "show", "what", "which", "count", "how", "find", "give", "number", "see", "tell", "all", "every",
        "print",
    ]);
    let globs = !scope.globs.is_empty() && patterns.iter().all(|p| lines_only(std::slice::from_ref(p)));
    if !(here || ((files || folders || globs) && asks)) {
        return None;
    }
    // Of what else is asked, the names of files say nothing.
    const PLAIN: &[&str] =
        &["are", "there", "here", "exist", "do", "does", "we", "have", "is", "it", "this", "hold", "holds"];
    let free = tokens.iter().zip(used).filter(|(token, used)| !**used && token.is_word());
    let other = free.filter(|(token, _)| {
        let text = token.lower.as_str();
        !(PLAIN.contains(&text) || object::is_plain(token) || ASKS.contains(&text) || POLITE.contains(&text))
    });
    if other.count() > 0 && !here {
        return None;
    }
    let what = match (files || globs, folders) {
        (true, false) => What::Files,
        (false, true) => What::Folders,
        _ => What::Both,
    };
    let deep = counts
        || !scope.globs.is_empty()
        || any(&["tree", "all", "every", "recursively", "recursive", "everything", "total"]);
    Some(Ask::Files(Files { scope: scope.clone(), name: None, what, deep, counts }))
}
