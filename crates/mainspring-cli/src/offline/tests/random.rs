//! On folders that nobody has seen before the numbers are those of an independent count.

use std::collections::BTreeMap;

use super::{
    LOOKING, agent, ask, number, talk, talk_with,
    tree::{Random, Truth, contains, tree, truth},
};

const TREES: u64 = 120;

/// `- `path`: 3 lines` of an answer.
fn ranked(text: &str) -> Vec<(String, usize)> {
    let lines = text.lines().filter_map(|line| line.strip_prefix("- `")?.rsplit_once("`: "));
    let number = |rest: &str| rest.strip_suffix(" lines").or_else(|| rest.strip_suffix(" line"))?.parse().ok();
    lines.filter_map(|(path, rest)| Some((path.to_owned(), number(rest)?))).collect()
}

fn check(seed: u64, prompt: &str, text: &str, truth: &BTreeMap<&str, usize>) {
    let context = format!("seed {seed}, `{prompt}`: {text}");
    let sum: usize = truth.values().sum();
    if sum == 0 {
        assert!(text.starts_with("No line "), "{context}");
        return;
    }
    assert_eq!(number(text, "line"), Some((sum, false)), "{context}");
    assert_eq!(number(text, "file"), Some((truth.len(), false)), "{context}");
    let ranked = ranked(text);
    assert_eq!(ranked.len(), truth.len().min(10), "{context}");
    for (path, lines) in &ranked {
        assert_eq!(truth.get(path.as_str()), Some(lines), "{path}, {context}");
    }
}

/// Which file has most or fewest, as the answer says.
fn check_rank(seed: u64, text: &str, truth: &BTreeMap<&str, usize>, most: bool) {
    let best = if most { truth.values().max() } else { truth.values().min() };
    let Some(best) = best else { return };
    let ties: Vec<&&str> = truth.iter().filter(|(_, lines)| *lines == best).map(|(path, _)| path).collect();
    let unit = if *best == 1 { "line" } else { "lines" };
    let said = match (ties.as_slice(), truth.len()) {
        ([one], 1) => format!("`{one}` is the only file with any: {best} {unit}."),
        ([one], _) if most => format!("`{one}` has the most: {best} {unit}."),
        ([one], _) => format!("`{one}` has the fewest of those that have any: {best} {unit}."),
        (all, _) => format!("{} files share the {}", all.len(), if most { "most" } else { "fewest" }),
    };
    assert!(text.contains(&said), "seed {seed}: `{said}` in {text}");
}

#[test]
fn lines_are_counted_as_they_are() {
    for seed in 0..TREES {
        let folder = tree(seed);
        let truth = truth(folder.path());
        let mut random = Random(seed ^ 0xABCD);
        let within = truth.folders.iter().filter(|name| !name.contains(['\'', '[', ' '])).collect::<Vec<_>>();
        let within = if within.is_empty() { "" } else { within[random.below(within.len())] };
        for (prompt, lines, most) in wordings(&truth, within) {
            let text = ask(folder.path(), &prompt);
            check(seed, &prompt, &text, &lines);
            if let Some(most) = most {
                check_rank(seed, &text, &lines, most);
            }
        }
    }
}

/// Prompts, what is true, and whether the most or the fewest are asked for.
fn wordings<'a>(truth: &'a Truth, within: &str) -> Vec<(String, BTreeMap<&'a str, usize>, Option<bool>)> {
    let has = |text: &'static str| move |line: &[u8]| contains(line, text);
    let any_case = |line: &[u8]| contains(&line.to_ascii_lowercase(), "todo");
    let todo = truth.lines("", has("TODO"), "");
    let mut all = vec![
        ("Find every TODO and say which file has most".to_owned(), todo.clone(), Some(true)),
        ("Which file has the fewest TODOs?".to_owned(), todo.clone(), Some(false)),
        ("how many lines contain \"TODO\"".to_owned(), todo.clone(), None),
        ("Where are the FIXMEs?".to_owned(), truth.lines("", has("FIXME"), ""), None),
        ("grep todo, ignoring case".to_owned(), truth.lines("", any_case, ""), None),
        ("search for a.b in *.rs files".to_owned(), truth.lines("", has("a.b"), ".rs"), None),
        ("which files mention `f(x)`?".to_owned(), truth.lines("", has("f(x)"), ""), None),
        (
            "List all /a.b/ in the markdown files".to_owned(),
            {
                let regex = |line: &[u8]| line.windows(3).any(|w| w[0] == b'a' && w[2] == b'b');
                truth.lines("", regex, ".md")
            },
            None,
        ),
        (
            "find TODO or FIXME".to_owned(),
            { truth.lines("", |line| contains(line, "TODO") || contains(line, "FIXME"), "") },
            None,
        ),
    ];
    if !within.is_empty() {
        let lines = truth.lines(within, has("TODO"), "");
        all.push((format!("Find every TODO in {within}/ and say which file has most"), lines.clone(), Some(true)));
        all.push((format!("how many TODO comments are there in the folder \"{within}\"?"), lines, None));
    }
    all
}

#[test]
fn files_are_counted_as_they_are() {
    for seed in 0..TREES {
        let folder = tree(seed ^ 0x5EED);
        let truth = truth(folder.path());
        let prompts = [
            "How many files are here in total?",
            "how many rust files are there",
            "count all folders",
            "what files are here",
        ];
        for (prompt, answer) in prompts.iter().zip(talk(folder.path(), LOOKING, &prompts)) {
            let text = answer.text;
            let (unit, expected) = match *prompt {
                "How many files are here in total?" => ("file", truth.files.len()),
                "how many rust files are there" => {
                    ("file", truth.files.keys().filter(|path| path.ends_with(".rs")).count())
                }
                "count all folders" => ("folder", truth.folders.len()),
                _ => ("file", truth.files.keys().filter(|path| !path.contains('/')).count()),
            };
            assert_eq!(number(&text, unit), Some((expected, false)), "seed {seed}, {prompt}: {text}");
        }
    }
}

#[test]
fn listings_that_the_run_cuts_are_noticed() {
    let mut less = 0;
    for seed in 0..40 {
        let folder = tree(seed ^ 0x717);
        let files = truth(folder.path()).files.len();
        let agent = agent(folder.path(), LOOKING, Some(40));
        let text = talk_with(&agent, &["How many files are here in total?"]).remove(0).text;
        let (number, at_least) = number(&text, "file").unwrap();
        assert!(number == files || (at_least && number < files), "seed {seed}, {files}: {text}");
        less += usize::from(at_least);
    }
    assert!(less > 5, "the cap has cut too little: {less}");
}

#[test]
fn lengths_are_measured_as_they_are() {
    for seed in 0..40 {
        let folder = tree(seed ^ 0xFACE);
        let truth = truth(folder.path());
        let text = ask(folder.path(), "What is the biggest file?");
        let size: usize = truth.files.values().map(Vec::len).sum();
        if !truth.files.is_empty() {
            assert_eq!(number(&text, "byte"), Some((size, false)), "seed {seed}: {text}");
        }
        for (path, content) in truth.files.iter().take(4).filter(|(path, _)| !path.contains(['\'', '`'])) {
            let text = ask(folder.path(), &format!("How many lines has \"./{path}\"?"));
            if content.contains(&0) {
                assert!(text.contains("and not text"), "seed {seed}: {text}");
                continue;
            }
            let lines = content.split_inclusive(|b| *b == b'\n').count();
            assert_eq!(number(&text, "line"), Some((lines, false)), "seed {seed}, {path}: {text}");
        }
    }
}
