//! Where a request wants to be looked: folders, files, kinds of files.

use super::{
    Scope,
    object::VERBS,
    words::{End, Kind, Token},
};

const IN: &str = "through in under inside within across throughout below beneath underneath";
const OUT: &str = "except excluding without outside exclude skip skipping ignoring besides";
/// Words behind which a file name is text to be found.
const CONTAIN: &str = "contain contains containing mention mentions mentioning reference references import imports importing \
     include includes including text string word phrase say says";
const FILLERS: &str = "the my this our your all every each any of whole entire both file files";
const FOLDERS: &str = "folder folders directory directories dir dirs crate package";
const HERE: &str = "here repo repository project workspace codebase tree everything everywhere anywhere code sources source \
     root";
/// Words behind `in` that name no folder.
const NO_FOLDERS: &str = "it that them which what total order general english comments comment each detail short one a an \
     particular files file and or how where there these those lines line caps capitals lowercase uppercase \
     use case full terms hidden ignored git top alphabetical descending ascending parallel rust python \
     markdown which common";
/// Words that may stand behind the name of a folder.
const BEHIND: &str = "and or which that how say tell with for but except excluding then ignoring case please without is has \
     have contain contains mention mentions use uses the there";
const ENDINGS: &str = "rs md markdown toml txt json jsonl yaml yml py js mjs cjs jsx ts tsx lock sh html htm css c h cc cpp \
     hpp go java kt swift rb php xml csv tsv log cfg conf ini sql rst adoc tex svg png jpg jpeg gif webp pdf \
     zip gz bin proto lua pl r jl hs ex exs erl cs fs scala dart vue bat ps1 gitignore env golden snap sse \
     bak tmp dat org";
const NAMES: &str = "makefile dockerfile license licence readme changelog justfile procfile codeowners";
const LANGUAGES: &[(&str, &str)] = &[
    ("rust", "*.rs"),
    ("markdown", "*.{md,markdown}"),
    ("python", "*.py"),
    ("toml", "*.toml"),
    ("json", "*.json"),
    ("yaml", "*.{yaml,yml}"),
    ("javascript", "*.{js,mjs,cjs,jsx}"),
    ("typescript", "*.{ts,tsx}"),
    ("go", "*.go"),
    ("golang", "*.go"),
    ("java", "*.java"),
    ("html", "*.{html,htm}"),
    ("css", "*.css"),
    ("shell", "*.sh"),
    ("bash", "*.sh"),
    ("text", "*.txt"),
    ("ruby", "*.rb"),
    ("c++", "*.{cc,cpp,cxx,hpp,h}"),
    ("c", "*.{c,h}"),
    ("csv", "*.csv"),
    ("xml", "*.xml"),
];
const KINDS: &str = "files file sources source code documents manifests scripts modules";

/// What a token is as a place.
#[derive(Debug, PartialEq, Eq)]
enum Place {
    Path(String),
    Glob(String),
}

/// Reads the places out of a request, and marks the tokens that name them.
pub(super) fn read(tokens: &[Token], used: &mut [bool]) -> Scope {
    let mut scope = Scope::default();
    let mut at = if command(tokens, used, &mut scope) { tokens.len() } else { 0 };
    while at < tokens.len() {
        at = step(tokens, at, used, &mut scope).max(at + 1);
    }
    for glob in std::mem::take(&mut scope.globs) {
        let (folder, rest) = part_glob(&glob);
        scope.paths.extend(folder);
        scope.globs.push(rest);
    }
    for list in [&mut scope.paths, &mut scope.globs, &mut scope.without] {
        let mut seen = Vec::new();
        list.retain(|one| {
            !seen.contains(one) && {
                seen.push(one.clone());
                true
            }
        });
    }
    scope
}

/// The folder that a glob begins with, and the rest of it: `src/**/*.rs` is `*.rs` in `src`.
fn part_glob(glob: &str) -> (Option<String>, String) {
    let glob = glob.strip_prefix("./").unwrap_or(glob).trim_end_matches('/');
    if !glob.contains('/') {
        return (None, glob.to_owned());
    }
    let parts: Vec<&str> = glob.split('/').collect();
    let literal = parts.iter().take_while(|part| !part.contains(['*', '?', '[', '{'])).count().min(parts.len() - 1);
    let (folder, rest) = parts.split_at_checked(literal).unwrap_or_default();
    let folder = (literal > 0).then(|| folder.join("/"));
    match rest {
        ["**", name] => (folder, (*name).to_owned()),
        ["**"] => (folder, "*".to_owned()),
        // Without a slash it would mean files at any depth.
        [name] => (folder, format!("/{name}")),
        rest => (folder, rest.join("/")),
    }
}

fn mark(used: &mut [bool], from: usize, to: usize) {
    used.iter_mut().take(to).skip(from).for_each(|used| *used = true);
}

/// Reads what begins at a token; where to go on.
fn step(tokens: &[Token], at: usize, used: &mut [bool], scope: &mut Scope) -> usize {
    let Some(token) = tokens.get(at) else { return at };
    let next = |n: usize| tokens.get(at + n);
    let out = token.is(OUT) || (token.is("but not") && next(1).is_some_and(|t| t.is("not in")));
    let inside = token.is(IN) || (token.is("not") && next(1).is_some_and(|t| t.is(IN)));
    if used.get(at) == Some(&true) {
        return at + 1;
    }
    if out && next(1).is_some_and(|t| t.is("hidden ignored gitignored")) {
        return at + 2;
    }
    if out || inside {
        let mut from = at + 1;
        while tokens.get(from).is_some_and(|t| t.is(FILLERS) || (out && t.is("not in for from inside"))) {
            from += 1;
        }
        // What is left out may be a pattern, so that a bare word behind `without` is no folder.
        let bare = inside || !token.is("without ignoring");
        let to = places(tokens, from, bare, |place| match place {
            place if out => scope.without.push(match place {
                Place::Path(text) | Place::Glob(text) => text,
            }),
            Place::Path(path) => scope.paths.push(path),
            Place::Glob(glob) => scope.globs.push(glob),
        });
        if to > from {
            mark(used, at, to);
            return to;
        }
        if inside && tokens.get(from).is_some_and(|t| t.is(HERE)) {
            mark(used, at, from + 1);
            return from + 1;
        }
        if inside && let Some(glob) = tokens.get(from).and_then(|t| language(t, tokens.get(from + 1), true)) {
            scope.globs.push(glob.to_owned());
            let kind = tokens.get(from + 1).is_some_and(|t| t.is(KINDS));
            mark(used, at, from + 1 + usize::from(kind));
            return from + 1;
        }
        return at + 1;
    }
    // `search docs for text`.
    if token.is("search grep scan check")
        && next(2).is_some_and(|t| t.is("for"))
        && next(1).is_some_and(|t| is_bare(t, next(2)))
    {
        scope.paths.extend(next(1).map(|t| clean(&t.text)));
        mark(used, at + 1, at + 2);
        return at + 2;
    }
    if token.is("hidden ignored gitignored") && !next(1).is_some_and(|t| t.is("case")) {
        scope.all = true;
        mark(used, at, at + 1);
        return at + 1;
    }
    if let Some(glob) = language(token, next(1), false) {
        scope.globs.push(glob.to_owned());
        mark(used, at, at + 1);
        return at + 1;
    }
    // A path or a glob is one wherever it stands, but for what is asked to be found in files.
    if at.checked_sub(1).and_then(|before| tokens.get(before)).is_some_and(|t| t.is(CONTAIN)) {
        return at + 1;
    }
    let to = places(tokens, at, false, |place| match place {
        Place::Path(path) => scope.paths.push(path),
        Place::Glob(glob) => scope.globs.push(glob),
    });
    mark(used, at, to);
    to
}

/// `grep -i text folder` and `ls folder`, as typed at a prompt: the words behind the text are places.
fn command(tokens: &[Token], used: &mut [bool], scope: &mut Scope) -> bool {
    let Some(first) = tokens.first().filter(|first| first.is("grep egrep rg ls tree dir")) else { return false };
    let flags = tokens.iter().skip(1).take_while(|token| token.is_word() && token.text.starts_with('-')).count();
    let from = 1 + flags + usize::from(first.is("grep egrep rg"));
    let rest = tokens.get(from..).unwrap_or_default();
    let is_place =
        |token: &Token| token.is_word() && !token.is(NO_FOLDERS) && !token.is(IN) && !token.is("for all every");
    if rest.len() > 4 || !rest.iter().all(is_place) || tokens.iter().any(|token| token.end == End::Comma) {
        return false;
    }
    // What stands in the place of the text is no place, whatever it looks like.
    for token in rest {
        match as_place(token, true).unwrap_or_else(|| Place::Path(clean(&token.text))) {
            Place::Path(path) => scope.paths.push(path),
            Place::Glob(glob) => scope.globs.push(glob),
        }
    }
    mark(used, 1, 1 + flags);
    mark(used, from, tokens.len());
    true
}

/// The glob of a kind of files that is called by its language.
fn language(token: &Token, next: Option<&Token>, ends: bool) -> Option<&'static str> {
    let (_, glob) = LANGUAGES.iter().find(|(name, _)| token.is(name))?;
    let kind = next.is_some_and(|next| next.is(KINDS)) && token.end == End::Nothing;
    (kind || (ends && token.end == End::Part && token.lower.len() > 3)).then_some(*glob)
}

/// Reads a list of places; where it ends.
fn places(tokens: &[Token], from: usize, bare: bool, mut found: impl FnMut(Place)) -> usize {
    let mut at = from;
    let mut end = from;
    while let Some(token) = tokens.get(at) {
        let next = tokens.get(at + 1);
        let named = next.is_some_and(|next| next.is(FOLDERS)) && token.end == End::Nothing && token.is_word();
        let after = token.is(FOLDERS) && next.is_some_and(|next| !next.is(NO_FOLDERS)) && token.end == End::Nothing;
        let (place, width) = match next {
            Some(name) if after && bare && (is_bare(name, tokens.get(at + 2)) || name.kind == Kind::Quoted) => {
                (Some(Place::Path(clean(&name.text))), 2)
            }
            _ if named && bare && !token.is(NO_FOLDERS) && !token.is(FILLERS) && !token.is(HERE) => {
                (Some(as_place(token, true).unwrap_or_else(|| Place::Path(clean(&token.text)))), 2)
            }
            _ => match as_place(token, bare) {
                Some(place) => (Some(place), 1 + usize::from(named)),
                None if bare && is_bare(token, next) => (Some(Place::Path(clean(&token.text))), 1),
                None => (None, 0),
            },
        };
        let Some(place) = place else { break };
        found(place);
        at += width;
        end = at;
        let stop = tokens.get(at - 1).is_none_or(|last| last.end == End::Part);
        let joined = tokens.get(at).is_some_and(|next| next.is("and or plus &"));
        let comma = tokens.get(at - 1).is_some_and(|last| last.end == End::Comma);
        if stop || !(joined || comma) {
            break;
        }
        at += usize::from(joined);
        while tokens.get(at).is_some_and(|t| t.is(IN) || t.is("the also")) {
            at += 1;
        }
    }
    end
}

/// A path or glob by its look.
fn as_place(token: &Token, behind_in: bool) -> Option<Place> {
    let text = token.text.as_str();
    match token.kind {
        Kind::Regex { .. } => None,
        Kind::Quoted if behind_in || looks_like_path(text) => Some(place(text)),
        Kind::Quoted => None,
        Kind::Word if looks_like_path(text) => Some(place(text)),
        Kind::Word => {
            let ending = token.lower.strip_prefix('.')?;
            let known = is_ending(ending) && ending != "gitignore" && ending != "env";
            known.then(|| Place::Glob(format!("*.{ending}")))
        }
    }
}

fn place(text: &str) -> Place {
    if is_glob(text) { Place::Glob(text.to_owned()) } else { Place::Path(clean(text)) }
}

fn is_glob(text: &str) -> bool {
    // Brackets alone are part of names such as `[id].tsx`.
    text.contains('*')
}

fn looks_like_path(text: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || "._-/+@~ *?[]{},".contains(c);
    if text.starts_with("./") {
        return true;
    }
    if text.contains("://") || !text.chars().all(plain) || text.contains("  ") {
        return false;
    }
    if matches!(text, "." | "..") || text.starts_with("*.") || text.starts_with("**/") {
        return true;
    }
    if text.contains('*') && text.rsplit_once('.').is_some_and(|(_, ending)| is_ending(ending)) {
        return true;
    }
    if text.contains('/') {
        // `TODO/FIXME` and `and/or` are two words.
        let capitals = text.split('/').all(|part| part.len() > 2 && part.chars().all(char::is_uppercase));
        return !capitals && !matches!(text, "and/or" | "either/or" | "/") && !text.contains(' ');
    }
    is_file_name(text)
}

/// Whether a word is a file name by its look.
pub(in crate::offline) fn is_file_name(text: &str) -> bool {
    if text.contains('*') {
        return false;
    }
    let lower = text.to_lowercase();
    if NAMES.split(' ').any(|name| name == lower) {
        return text.chars().next().is_some_and(char::is_uppercase);
    }
    match lower.rsplit_once('.') {
        Some(("", ending)) => matches!(ending, "gitignore" | "env" | "ignore" | "gitattributes" | "editorconfig"),
        Some((stem, ending)) => is_ending(ending) && !stem.is_empty() && !stem.ends_with('.'),
        None => false,
    }
}

/// Whether a word behind `in` is a folder although it has no slash.
fn is_bare(token: &Token, next: Option<&Token>) -> bool {
    let ends = token.end != End::Nothing || next.is_none_or(|next| next.is(BEHIND));
    let name = token.text.chars().all(|c| c.is_alphanumeric() || "._-".contains(c));
    // At the end of a sentence it is no article.
    let letter = token.end == End::Part && token.is("a");
    token.is_word()
        && name
        && ends
        && (letter || !token.is(NO_FOLDERS))
        && !token.is(HERE)
        && !token.is(FILLERS)
        && !token.is(FOLDERS)
        && !token.is(VERBS)
}

fn clean(path: &str) -> String {
    let path = path.strip_prefix("./").unwrap_or(path);
    let trimmed = path.trim_end_matches('/');
    match (trimmed, path) {
        ("", "") => ".".to_owned(),
        ("", _) => "/".to_owned(),
        _ => trimmed.to_owned(),
    }
}

fn is_ending(text: &str) -> bool {
    ENDINGS.split(' ').any(|ending| ending == text)
}
