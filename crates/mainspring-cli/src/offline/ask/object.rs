//! What a request wants to be found: the texts, expressions and definitions in it.

use super::{
    Pattern,
    words::{End, Kind, Token},
};

/// Phrases behind which stands what is to be found, the clearest first.
const TRIGGERS: &str = "occurrences of|occurrence of|mentions of|mention of|instances of|uses of|usages of|usage of|\
     references to|calls to|calls of|callers of|what calls|who calls|lines with|lines matching|files with|containing|contains|\
     contain|mentions|mentioning|mention|matching|matches|references|imports|import|search for|searching for|\
     look for|looking for|grep for|grep|say the word|how often does|how often is|how often do|how often are|\
     how many times does|how many times is|how many times do|find|locate|search|rg|where is|where are|\
     where do i use|where do we use|where does|where do|uses|use|using|number of|how many|count|list|show|\
     show me|give me|most|fewest|least|have|has|is there|are there|every|all|any|what about|how about|by|for|and|now";

const LEADS: &str = "every all each any the a an me my our single of some for word string text pattern phrase literal regex \
     regexp keyword identifier name term total number many times most fewest occurrences occurrence mentions \
     instances uses usages expression out up please both remaining existing open exact whole files file \
     symbol macro code through codebase repo repository project sources also is are where only just";
/// Where the object ends.
const STOPS: &str = "which that where how are is do does there exist exists occur occurs appear appears say tell who what \
     used mentioned defined called found per by with have has were was sorted grouped then so please \
     anywhere in most fewest least on referenced imported declared written the come left remain i we you can \
     could anyway overall altogether if whole case together but not from because under within";
/// What may stand behind the thing itself.
const NOUNS: &str = "comment comments marker markers line lines statement statements occurrence occurrences call calls \
     string strings word words text keyword keywords macro macros entry entries note notes tag tags item \
     items use uses usage usages mention mentions instance instances match matches place places reference \
     references thing things file files annotation annotations time times spot spots location locations \
     pattern blocks import imports exactly case folder folders directory directories one ones anything everything contents content";
const AND: &str = "and or & plus nor";

/// Words that say that something is defined, and how that is written in programs.
const DEFINITIONS: &[(&str, &str)] = &[
    ("function functions fn fns method methods", "fn|def|func|function"),
    ("struct structs", "struct"),
    ("enum enums", "enum"),
    ("trait traits", "trait"),
    ("class classes", "class"),
    ("interface interfaces", "interface"),
    ("constant constants const consts", "const"),
    ("macro macros", "macro_rules!"),
];
const ANY_DEFINITION: &str =
    "fn|def|func|function|struct|class|enum|union|trait|type|interface|const|static|mod|macro_rules!";
/// Words that begin a request.
const OPENERS: &str = "find where show locate search count list which what how many public private new async main's";
const NAMED: &str = "named called";

/// What is to be found; nothing where the request does not say.
pub(super) fn read(tokens: &[Token], used: &[bool], ignore_case: bool) -> Vec<Pattern> {
    let whole_word = has(tokens, "whole word") || has(tokens, "whole words") || has(tokens, "exact word");
    let free: Vec<&Token> =
        tokens.iter().zip(used).map(|(token, used)| (token, *used)).filter(|(_, used)| !used).map(|(t, _)| t).collect();
    let mut patterns = definition(tokens, used);
    if patterns.is_empty() {
        let given = free.iter().filter(|token| !token.is_word());
        patterns = given
            .map(|token| {
                let before =
                    tokens.iter().position(|t| std::ptr::eq(t, *token)).and_then(|at| tokens.get(at.checked_sub(1)?));
                let word = before.is_some_and(|before| before.is("word words identifier"));
                match token.kind {
                    Kind::Regex { ignore_case } => Pattern::regex(&token.text).ignoring_case(ignore_case),
                    _ if word => Pattern::word(&token.text),
                    _ => Pattern::text(&token.text),
                }
            })
            .collect();
    }
    if patterns.is_empty() {
        patterns = TRIGGERS.split('|').find_map(|trigger| object(tokens, used, trigger)).unwrap_or_default();
    }
    let mut seen = Vec::new();
    for pattern in patterns {
        let pattern = if whole_word && pattern.literal { Pattern::word(&pattern.shown) } else { pattern };
        let ignores = pattern.ignore_case || ignore_case;
        let pattern = pattern.ignoring_case(ignores);
        if !seen.contains(&pattern) {
            seen.push(pattern);
        }
    }
    seen
}

/// Whether a phrase stands in the request.
pub(super) fn has(tokens: &[Token], phrases: &str) -> bool {
    phrases.split('|').any(|phrase| (0..tokens.len()).any(|at| after(tokens, at, phrase).is_some()))
}

/// Where a phrase ends that begins at a token.
fn after(tokens: &[Token], at: usize, phrase: &str) -> Option<usize> {
    let mut at = at;
    for word in phrase.split(' ') {
        tokens.get(at).filter(|token| token.is(word))?;
        at += 1;
    }
    Some(at)
}

/// Whether capitals and small letters are the same; marks the words that say so.
pub(super) fn ignores_case(tokens: &[Token], used: &mut [bool]) -> bool {
    const PHRASES: &str = "case insensitive|case insensitively|case-insensitive|case-insensitively|ignoring case|\
     ignore case|ignoring the case|any case|regardless of case|upper or lower case|either case|whatever the case|\
     case does not matter|no matter the case|upper and lower case|-i|-ri|-rni|-rin|-ni";
    let mut ignores = false;
    for at in 0..tokens.len() {
        if let Some(end) = PHRASES.split('|').find_map(|phrase| after(tokens, at, phrase)) {
            ignores = true;
            used.iter_mut().take(end).skip(at).for_each(|used| *used = true);
        }
    }
    ignores
}

/// `functions named x`, `struct X`, `where is X defined`.
fn definition(tokens: &[Token], used: &[bool]) -> Vec<Pattern> {
    let free = |at: usize| used.get(at) == Some(&false);
    let name = |at: usize| tokens.get(at).filter(|token| free(at) && (!token.is_word() || is_name(&token.text)));
    let wanted = |at: usize| {
        tokens
            .get(at)
            .filter(|_| free(at))
            .and_then(|token| DEFINITIONS.iter().find(|(words, _)| token.is(words)).map(|(_, keywords)| *keywords))
    };
    let tests = ["how many", "number of", "count"].iter().any(|lead| {
        ["tests", "test functions", "test cases"]
            .iter()
            .any(|what| has(tokens, &format!("{lead} {what}|{lead} the {what}")))
    });
    if tests {
        return vec![Pattern::tests()];
    }
    for at in 0..tokens.len() {
        let Some(keywords) = wanted(at) else { continue };
        let what = tokens.get(at).map(|token| token.lower.clone()).unwrap_or_default();
        let items =
            usize::from(tokens.get(at + 1).is_some_and(|next| next.is("definition definitions declarations items")));
        for (phrase, begins) in [
            ("named", false),
            ("called", false),
            ("starting with", true),
            ("beginning with", true),
            ("whose name starts with", true),
            ("whose names start with", true),
            ("whose name begins with", true),
        ] {
            if let Some(next) = after(tokens, at + 1 + items, phrase)
                && let Some(token) = name(next)
            {
                return vec![Pattern::definition(keywords, Some((&token.text, begins)), &what)];
            }
        }
        // `the parse function`, `struct Agent`.
        let one = !what.ends_with('s') || what == "class";
        let around = [at.checked_sub(1), Some(at + 1)].into_iter().flatten().filter_map(name);
        let mut around = around.filter(|token| !(is_plain(token) || token.is(OPENERS)));
        if let Some(token) =
            around.next().filter(|_| one && has(tokens, "find|where is|where's|show|locate|search|show me"))
        {
            return vec![Pattern::definition(keywords, Some((&token.text, false)), &what)];
        }
        let plural = what.ends_with('s') && what != "class";
        let counted = has(tokens, "how many|count|number of|list all|find all|find every|list the|show all");
        let alone = tokens.get(at).is_some_and(|token| token.end != End::Nothing)
            || tokens.get(at + 1).is_none_or(|next| next.is(STOPS) || !free(at + 1));
        let before = at.checked_sub(1).and_then(|at| tokens.get(at));
        let qualified =
            before.is_some_and(|before| before.is_code() || !(before.is(LEADS) || before.is("count list find")));
        if counted && plural && alone && !qualified {
            return vec![Pattern::definition(keywords, None, &what)];
        }
    }
    for at in 0..tokens.len() {
        if !tokens.get(at).is_some_and(|token| token.is("defined declared implemented")) {
            continue;
        }
        let subject = (0..at)
            .rev()
            .find(|at| name(*at).is_some_and(|token| !token.is(LEADS) && !token.is(STOPS) && !token.is(NOUNS)));
        if let Some(token) = subject.and_then(name) {
            return vec![Pattern::definition(ANY_DEFINITION, Some((&token.text, false)), "definitions")];
        }
    }
    Vec::new()
}

fn is_name(text: &str) -> bool {
    text.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// The object behind a phrase, as one pattern or several; `None` where there is none.
fn object(tokens: &[Token], used: &[bool], trigger: &str) -> Option<Vec<Pattern>> {
    (0..tokens.len()).find_map(|at| {
        let from = after(tokens, at, trigger)?;
        if used.get(at) == Some(&true) || tokens.get(from - 1).is_some_and(|last| last.end == End::Part) {
            return None;
        }
        let (mut words, mut from, mut word) = (Vec::new(), from, false);
        // The flags of `grep -i text`.
        while tokens.get(from).is_some_and(|token| token.is_word() && token.text.starts_with('-')) {
            from += 1;
        }
        while let Some(token) = tokens.get(from).filter(|token| used.get(from) == Some(&false) && is_lead(token)) {
            // `the word X` asks for a word.
            word = token.is("word identifier");
            from += 1;
            if token.end == End::Part {
                return None;
            }
        }
        for at in from..tokens.len() {
            let Some(token) = tokens.get(at).filter(|_| used.get(at) == Some(&false)) else { break };
            let verb = tokens.get(at + 1).is_some_and(|next| next.is(STOPS) || next.is(VERBS));
            if (token.is(STOPS) || token.is(VERBS) && !words.is_empty()) || (token.is(AND) && verb) {
                break;
            }
            words.push(token);
            if token.end == End::Part {
                break;
            }
        }
        while words.last().is_some_and(|token| token.is(NOUNS) || token.is(AND)) {
            words.pop();
        }
        while words.first().is_some_and(|token| token.is(NOUNS) && words.len() > 1) {
            words.remove(0);
        }
        let patterns = patterns(&words, word);
        (!patterns.is_empty()).then_some(patterns)
    })
}

fn is_lead(token: &Token) -> bool {
    token.is(LEADS) || token.is("top first") || (token.is_word() && token.text.chars().all(|c| c.is_ascii_digit()))
}

/// Words that go on with another request.
pub(super) const VERBS: &str = "say tell show count give report list name print sort rank group summarise summarize explain fix replace \
     remove delete rename change edit";

fn patterns(words: &[&Token], word: bool) -> Vec<Pattern> {
    let pattern = |text: &str| if word { Pattern::word(text) } else { Pattern::text(text) };
    // `TODO, FIXME and HACK`, `TODO/FIXME`: each is one word.
    let mut parts: Vec<Vec<&Token>> = vec![Vec::new()];
    for token in words {
        if token.is(AND) {
            parts.push(Vec::new());
            continue;
        }
        if let Some(part) = parts.last_mut() {
            part.push(token);
        }
        if token.end == End::Comma {
            parts.push(Vec::new());
        }
    }
    parts.retain(|part| !part.iter().all(|token| token.is(LEADS)));
    if parts.is_empty() {
        return Vec::new();
    }
    if let Some(part) = parts.iter().find(|part| part.len() > 1) {
        let code: Vec<&&Token> = words.iter().filter(|token| token.is_code()).collect();
        return match (code.as_slice(), parts.len()) {
            ([one], _) => vec![pattern(&singular(&one.text))],
            (_, 1) => {
                let phrase: Vec<&str> = part.iter().map(|token| token.text.as_str()).collect();
                vec![Pattern { guessed: true, ..pattern(&phrase.join(" ")) }]
            }
            (many, _) => many.iter().map(|token| pattern(&singular(&token.text))).collect(),
        };
    }
    let each = parts.iter().flatten().flat_map(|token| match token.text.split_once('/') {
        Some(_) if token.text.chars().all(|c| c.is_uppercase() || c == '/') => token.text.split('/').collect(),
        _ => vec![token.text.as_str()],
    });
    let guessed = |text: &str| text.chars().all(|c| c.is_lowercase() || c == '-') && !word;
    let each = each.filter(|text| !text.is_empty());
    each.map(|text| Pattern { guessed: guessed(text), ..pattern(&singular(text)) }).collect()
}

/// `TODOs` and `TODO's` are of `TODO`.
fn singular(text: &str) -> String {
    let stem = text.strip_suffix("'s").or_else(|| text.strip_suffix("’s")).unwrap_or(text);
    match stem.strip_suffix('s') {
        Some(stem) if stem.len() > 2 && stem.chars().all(|c| c.is_uppercase() || c == '_') => stem.to_owned(),
        _ => stem.to_owned(),
    }
}

/// Whether a request speaks of things by a name that follows.
pub(super) fn named(tokens: &[Token]) -> Option<usize> {
    tokens.iter().position(|token| token.is(NAMED)).map(|at| at + 1)
}

/// Whether a word says nothing about what files have to be.
pub(super) fn is_plain(token: &Token) -> bool {
    token.is(LEADS) || token.is(STOPS) || token.is(NOUNS) || token.is(AND) || token.is(VERBS)
}
