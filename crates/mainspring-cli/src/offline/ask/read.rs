//! What kind of request it is.

use super::{
    Ask, Files, Find, Other, Pattern, Rank, Scope, What,
    object::{self, has},
    scope,
    words::{Kind, Token, tokens},
};

/// Words that ask for a change.
const CHANGES: &str = "write edit create delete remove rename replace fix change add refactor implement insert append move \
     update rewrite translate commit install build compile run generate improve convert format execute \
     deploy push make clean test debug review resolve";
const POLITE: &str = "please can could would you will i want need to like kindly help me us let";
const ASKS: &str = "find search grep list show count how which where what's summarise summarize locate look give rg outline \
     tell";

/// As many tokens a request has that is read; more are a text about something.
const LONGEST: usize = 80;

/// Reads a request; one that goes on from the one before takes from it what it does not say.
pub(super) fn read(text: &str, before: &Ask) -> Ask {
    let tokens = tokens(text);
    let mut used = vec![false; tokens.len()];
    let ignore_case = object::ignores_case(&tokens, &mut used);
    let scope = scope::read(&tokens, &mut used);
    let goes_on = tokens.first().is_some_and(|t| t.is("and now only same also but or just in"))
        || has(tokens.get(..2).unwrap_or_default(), "what about|how about");
    let asks = tokens.iter().any(|t| t.is(ASKS)) && !has(tokens.get(..2).unwrap_or_default(), "how about");
    if goes_on && !asks {
        return before.with(scope, object::read(&tokens, &used, ignore_case), rank(&tokens));
    }
    // `Which one has the most?` is about what was found.
    if let (Ask::Find(found), Some(rank), []) =
        (before, rank(&tokens), object::read(&tokens, &used, ignore_case).as_slice())
        && scope.is_empty()
        && has(&tokens, "which|what|who")
        && !has(&tokens, "biggest|largest|longest|smallest|shortest")
    {
        return Ask::Find(Find { rank: Some(rank), ..found.clone() });
    }
    let changes = tokens.iter().position(|t| t.is(CHANGES));
    let first = tokens.iter().find(|t| !t.is(POLITE));
    if first.is_some_and(|t| t.is(CHANGES)) {
        return Ask::Other(Other::Change);
    }
    let later =
        changes.is_some_and(|at| at.checked_sub(1).and_then(|at| tokens.get(at)).is_some_and(|t| t.is("and then to")));
    let patterns = object::read(&tokens, &used, ignore_case);
    about_files(&tokens, &used, &scope, &patterns).unwrap_or_else(|| find(&tokens, scope, patterns, later))
}

fn rank(tokens: &[Token]) -> Option<Rank> {
    let any = |words: &str| tokens.iter().any(|token| token.is(words));
    if any("most biggest largest longest maximum highest max top") {
        Some(Rank::Most)
    } else if any("fewest least smallest shortest minimum lowest min") {
        Some(Rank::Fewest)
    } else {
        None
    }
}

/// The number in `top 5` and `the first 3 files`.
fn top(tokens: &[Token]) -> Option<usize> {
    let words = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
    let number = |token: &Token| match words.iter().position(|word| token.is(word)) {
        Some(at) => Some(at + 1),
        None => token.lower.parse().ok().filter(|number| (1..=100).contains(number)),
    };
    tokens.iter().zip(tokens.iter().skip(1)).find_map(|(lead, next)| lead.is("top first").then(|| number(next))?)
}

fn find(tokens: &[Token], scope: Scope, patterns: Vec<Pattern>, changes: bool) -> Ask {
    const NOT: &str = "not contain|not mention|not have|not use|not include|without any|with no|have no|has no|contain no|never use|\
         lack|lacks|lacking|don't|doesn't|without|cannot|missing";
    let negative = has(tokens, NOT) || tokens.len() > LONGEST;
    let question = tokens.iter().any(|t| {
        t.is(ASKS)
            || t.is(
                "what who top is are does do every all number occurrences any most lines uses mentions usages fewest",
            )
    });
    // `Can you find` is no talk.
    let speaks =
        tokens.iter().skip_while(|t| t.is(POLITE)).any(|t| t.is("you yourself your joke hello hi thanks weather why"));
    if negative {
        return Ask::Other(Other::Missing);
    }
    let quoted = tokens.iter().any(|t| t.kind != Kind::Word);
    if patterns.is_empty() || !question || (speaks && !quoted) {
        return Ask::Other(Other::Chat);
    }
    let folders = "folder directory crate package folders directories crates packages";
    let asked = tokens.iter().zip(tokens.iter().skip(1)).any(|(a, b)| a.is("which what per by each") && b.is(folders));
    Ask::Find(Find {
        patterns,
        scope,
        rank: rank(tokens),
        by_folder: asked,
        top: top(tokens),
        occurrences: has(tokens, "times|how often|occurrences|occurrence"),
        changes,
    })
}

/// A request that is about files themselves, not about lines in them.
fn about_files(tokens: &[Token], used: &[bool], scope: &Scope, patterns: &[Pattern]) -> Option<Ask> {
    let any = |words: &str| tokens.iter().any(|token| token.is(words));
    let path = scope.paths.first().cloned();
    let file = path.clone().filter(|path| path.rsplit('/').next().is_some_and(scope::is_file_name));
    if any("newest oldest latest recent recently modified yesterday today") && any("file files newest oldest") {
        return Some(Ask::Other(Other::Times));
    }
    let contents = any("contain contains containing mention mentions mentioning matching occurrences with")
        || tokens.iter().any(|t| {
            t.kind != Kind::Word
                && !t.lower.is_empty()
                && !patterns.is_empty()
                && patterns.iter().any(|p| p.shown == t.text)
        });
    let outlines =
        any("summarise summarize summary outline headings heading sections overview toc explain describe gist")
            || has(tokens, "table of contents|what's in|what is in")
            || (any("about do does") && any("what what's") && file.is_some());
    if outlines
        && !any("find search count")
        && let Some(path) = file.clone().or_else(|| path.clone().filter(|_| any("file headings outline heading")))
    {
        return Some(Ask::Outline(path));
    }
    if contents {
        return None;
    }
    let counts = any("count many number total");
    let long = has(tokens, "how long is|how long are");
    if (long && !scope.is_empty())
        || any("lines line loc longest shortest")
            && (counts || any("loc longest shortest length"))
            && lines_only(patterns)
    {
        return Some(Ask::Lines(scope.clone(), rank(tokens)));
    }
    if any("show read print cat open display view")
        && let (Some(path), true) = (file.clone(), lines_only(patterns))
    {
        return Some(Ask::Show(path));
    }
    let sizes = any("biggest largest smallest heaviest") && any("file files");
    if sizes {
        return Some(Ask::Sizes(scope.clone(), rank(tokens).unwrap_or(Rank::Most)));
    }
    listing(tokens, used, scope, patterns)
}

/// Whether there is no pattern but the words of a question about files.
fn lines_only(patterns: &[Pattern]) -> bool {
    const WORDS: &str = "line lines file files code loc long length of in how";
    patterns.iter().all(|p| p.shown.split(' ').all(|word| WORDS.split(' ').any(|known| known == word.to_lowercase())))
}

fn listing(tokens: &[Token], used: &[bool], scope: &Scope, patterns: &[Pattern]) -> Option<Ask> {
    let any = |words: &str| tokens.iter().any(|token| token.is(words));
    let files = any("files file documents scripts sources");
    let folders = any("folders folder directories directory subfolders subdirectories dirs");
    let counts = any("count many number");
    // `files named x`, `find main.rs`, `where is main.rs`.
    let called =
        object::named(tokens).and_then(|at| tokens.get(at)).filter(|_| files || folders).map(|t| t.text.clone());
    let file = || scope.paths.iter().find(|path| scope::is_file_name(path) && !path.contains('/'));
    let sought = (any("find where where's locate") || has(tokens, "is there|are there|do we have|does it have"))
        .then(file)
        .flatten()
        .filter(|_| patterns.is_empty());
    if let Some(name) = called.or_else(|| sought.cloned()) {
        let mut scope = scope.clone();
        scope.paths.retain(|path| *path != name);
        scope.globs.retain(|glob| *glob != name);
        let what = if files || !folders { What::Files } else { What::Folders };
        return Some(Ask::Files(Files { scope, name: Some(name), what, deep: true, counts }));
    }
    let here =
        has(
            tokens,
            "what is here|what's here|what is in|what's in|ls|tree|what do we have|what is there|\
         list everything|show everything|list the contents|show the contents",
        ) || (patterns.is_empty() && !scope.paths.is_empty() && tokens.first().is_some_and(|t| t.is("list show")));
    let asks = any("list show what which count how find give number see tell all every print");
    let globs = !scope.globs.is_empty() && patterns.iter().all(|p| lines_only(std::slice::from_ref(p)));
    if !(here || ((files || folders || globs) && asks)) {
        return None;
    }
    // Of what else is asked, the names of files say nothing.
    const PLAIN: &str = "are there here exist do does we have is it this hold holds";
    let free = tokens.iter().zip(used).filter(|(token, used)| !**used && token.is_word());
    let other =
        free.filter(|(token, _)| !(token.is(PLAIN) || object::is_plain(token) || token.is(ASKS) || token.is(POLITE)));
    if other.count() > 0 && !here {
        return None;
    }
    let what = match (files || globs, folders) {
        (true, false) => What::Files,
        (false, true) => What::Folders,
        _ => What::Both,
    };
    let deep = counts || !scope.globs.is_empty() || any("tree all every recursively recursive everything total");
    Some(Ask::Files(Files { scope: scope.clone(), name: None, what, deep, counts }))
}
