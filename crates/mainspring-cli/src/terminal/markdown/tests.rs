//! What is shown of markdown, however it arrives.

use proptest::prelude::*;

use super::Markdown;
use crate::terminal::{Theme, tests::strip, text::width};

fn whole(text: &str, theme: Theme, width: usize) -> String {
    let mut markdown = Markdown::new(theme, width);
    let mut out = markdown.push(text);
    out.push_str(&markdown.finish());
    out
}

fn check(text: &str, width: usize, expected: &str) {
    assert_eq!(whole(text, Theme::Plain, width), expected, "of {text:?}");
}

/// As [`check`], with `«…»` around what is in another look, named by its codes.
fn check_look(text: &str, expected: &str) {
    let shown = whole(text, Theme::Coloured, 60).replace("\x1b[0m", "»");
    let mut parts = shown.split("\x1b[");
    let mut marked = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (codes, rest) = part.split_once('m').unwrap();
        marked.push_str(&format!("«{codes}:{rest}"));
    }
    assert_eq!(marked, expected, "of {text:?}");
}

#[test]
fn paragraphs_wrap_between_words_and_keep_their_lines() {
    check("one two three four", 9, "one two\nthree\nfour\n");
    check("one\ntwo\n\n\n\nthree", 20, "one\ntwo\n\nthree\n");
    check("abcdefghijklmnop", 8, "abcdefgh\nijklmnop\n");
    check("see https://example.org/long/path now", 10, "see\nhttps://example.org/long/path\nnow\n");
    check("\n\n\n", 20, "");
    check("", 20, "");
    check("a\r\nb\rc", 20, "a\nb\u{240d}c\n");
}

#[test]
fn wide_characters_count_as_two_cells_and_break_between_each_other() {
    check("日本語の文章です。", 8, "日本語の\n文章で\nす。\n");
    check("中文 and words 混合", 10, "中文 and\nwords 混合\n");
    check("👩‍👩‍👧 family 👍🏽 ok", 9, "👩‍👩‍👧 family\n👍🏽 ok\n");
    check(
        "e\u{301}e\u{301}e\u{301}e\u{301} e\u{301}e\u{301}e\u{301}e\u{301}",
        8,
        "éééé\néééé\n".replace('é', "e\u{301}").as_str(),
    );
}

#[test]
fn emphasis_code_and_links() {
    check_look("a **b c** d", "a «1:b» «1:c» d\n");
    check_look("*i* _i_ ***bi*** ~~s~~", "«3:i» «3:i» «1;3:bi» «9:s»\n");
    check_look("**a *b* c**", "«1:a» «1;3:b» «1:c»\n");
    check_look("**bold**, and", "«1:bold», and\n");
    check_look("use `let x = 1;` or ``a ` b``", "use «36:let» «36:x» «36:=» «36:1;» or «36:a» «36:`» «36:b»\n");
    check_look("**`x`**", "«1;36:x»\n");
    check_look("2 * 3 * 4, snake_case_name, a ** b", "2 * 3 * 4, snake_case_name, a ** b\n");
    check_look("open **for ever", "open **for ever\n");
    check_look("open `for ever", "open `for ever\n");
    check_look("\\*not\\* it", "*not* it\n");
    check_look("[text](https://e.org)", "«4;34:text» «2:(https://e.org)»\n");
    check_look("[https://e.org](https://e.org)", "«4;34:https://e.org»\n");
    check_look("<https://e.org>", "«4;34:https://e.org»\n");
    check_look("![alt](a.png \"title\")", "«4;34:alt» «2:(a.png)»\n");
    check_look("v[0] = [1, 2] and [x] (y)", "v[0] = [1, 2] and [x] (y)\n");
    check_look("这是**粗体**。", "这是«1:粗»«1:体»。\n");
}

#[test]
fn headings_stand_apart() {
    check_look("# A `b`", "«2:#» «1;35:A» «1;36:b»\n");
    check("text\n## B\n### C\nmore", 40, "text\n\n## B\n### C\nmore\n");
    check("#nospace\n####### seven", 40, "#nospace\n####### seven\n");
}

#[test]
fn lists_nest_by_their_indentation() {
    check("- a\n- b\n  - c\n    - d\n- e", 40, "• a\n• b\n  ◦ c\n    ▪ d\n• e\n");
    check("1. one\n   - two\n2. three\n10) ten", 40, "1. one\n   ◦ two\n2. three\n10) ten\n");
    check("* a long item here\n  and more", 12, "• a long\n  item here\n  and more\n");
    check("- a\n\n  b\n\nc", 40, "• a\n\n  b\n\nc\n");
    check("-no\n-- no\n1.no", 40, "-no\n-- no\n1.no\n");
    check(
        "- a\n  ```rust\n  fn x() {\n      y\n  }\n  ```\n- b",
        40,
        "• a\n  rust\n    fn x() {\n        y\n    }\n• b\n",
    );
    check("- **bold**: x\n-", 40, "• bold: x\n•\n");
}

#[test]
fn code_is_kept_as_it_is() {
    check(
        "```rust\nfn main() {\n\tlet a = \"**x**\";\n}\n```\ndone",
        20,
        "rust\n  fn main() {\n      let a = \"**x**\";\n  }\ndone\n",
    );
    check("````\n```\n````\n", 20, "  ```\n");
    check("~~~\nopen", 20, "  open\n");
    check(
        "a line of code that is far longer than the terminal:\n\n    let x = 1;\n",
        80,
        "a line of code that is far longer than the terminal:\n\nlet x = 1;\n",
    );
    check(
        "```\na line that is longer than the terminal is wide\n```",
        20,
        "  a line that is longer than the terminal is wide\n",
    );
    check("```x``` inline", 20, "x inline\n");
    check_look("```\na\n\nb\n```", "  «36:a»\n\n  «36:b»\n");
}

#[test]
fn quotes_have_a_bar() {
    check("> a b c d e f\n>\n> > in\n\nout", 10, "│ a b c d\n│ e f\n│\n│ │ in\n\nout\n");
    check("> ```\n> x\n> ```\n> y", 20, "│   x\n│ y\n");
    check("> ```\n> x\nout", 20, "│   x\n\nout\n");
    check("> - a\n> - b", 20, "│ • a\n│ • b\n");
}

#[test]
fn tables_are_laid_out_where_they_fit() {
    let table = "| name | size |\n|:--|--:|\n| `a` | 1 |\n| **long name** | 1,000 |\n\nafter";
    check(table, 40, "name      │  size\n──────────┼──────\na         │     1\nlong name │ 1,000\n\nafter\n");
    check(table, 16, "| name | size |\n|:--|--:|\n| `a` | 1 |\n| **long name** | 1,000 |\n\nafter\n");
    check("| no table", 40, "| no table\n");
    check("| 中文 | b |\n|---|:-:|\n| a \\| b | ccc |", 40, "中文  │  b\n──────┼────\na | b │ ccc\n");
}

#[test]
fn rules() {
    check("a\n\n---\n\n* * *\nb", 12, "a\n\n────────────\n\n────────────\nb\n");
}

#[test]
fn nothing_reaches_the_terminal_that_it_would_act_on() {
    let hostile = "\x1b[31mred\x1b]0;title\x07 \x08\x08 \u{9b}2J \u{202e}txt.exe \u{e0041}\x00\n```\n\x1b[2J\t|\n```\n| \x1b[1m |\n|---|\n";
    let shown = whole(hostile, Theme::Plain, 80);
    assert!(shown.chars().all(|c| c == '\n' || !c.is_control()), "{shown:?}");
    assert!(shown.starts_with("␛[31mred␛]0;title␇ ␈␈ <U+009B>2J <U+202E>txt.exe <U+E0041>␀\n"), "{shown:?}");
    assert_eq!(strip(&whole(hostile, Theme::Coloured, 80)), shown);
}

#[test]
fn what_opens_and_never_closes_is_let_go_in_time() {
    let mut markdown = Markdown::new(Theme::Plain, 80);
    let shown = markdown.push(&format!("**{}", "word ".repeat(200)));
    assert!(shown.starts_with("**word word"), "{shown:?}");
    assert!(shown.len() > 300, "{} bytes of 1002 are shown", shown.len());
}

#[test]
fn words_are_shown_as_they_come() {
    let mut markdown = Markdown::new(Theme::Plain, 80);
    assert_eq!(markdown.push("Hello wor"), "Hello");
    assert_eq!(markdown.push("ld, **bo"), " world,");
    assert_eq!(markdown.push("ld** x"), " bold");
    assert_eq!(markdown.finish(), " x\n");
}

/// Markdown that is likely to be of interest.
fn source() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("**"),
        Just("*"),
        Just("_"),
        Just("`"),
        Just("```"),
        Just("```rust\n"),
        Just("\n"),
        Just("\n\n"),
        Just("- "),
        Just("  - "),
        Just("1. "),
        Just("> "),
        Just("# "),
        Just("| a | b |\n"),
        Just("|---|---|\n"),
        Just("---\n"),
        Just("["),
        Just("](https://e.org)"),
        Just("word"),
        Just(" "),
        Just("a longer run of words "),
        Just("日本語"),
        Just("👩‍👩‍👧"),
        Just("\t"),
        Just("\r"),
        Just("\x1b[31m"),
        Just("    "),
        Just("~~"),
        Just("\\"),
        Just("<http://x>"),
        Just("e\u{301}"),
        Just("。"),
        Just("abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz"),
        Just("!"),
        Just("\u{202e}"),
    ];
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_cut_shows_the_same(text in source(), cuts in proptest::collection::vec(0usize..200, 0..12), columns in 8usize..90) {
        let expected = whole(&text, Theme::Coloured, columns);
        let mut places: Vec<usize> = cuts.into_iter().filter(|at| text.is_char_boundary(*at) && *at < text.len()).collect();
        places.sort_unstable();
        let (mut markdown, mut out, mut from) = (Markdown::new(Theme::Coloured, columns), String::new(), 0);
        for at in places {
            out.push_str(&markdown.push(text.get(from..at).unwrap()));
            // Whatever was written so far leaves the terminal plain.
            prop_assert_eq!(out.matches("\x1b[0m").count() * 2, out.matches("\x1b[").count());
            from = at;
        }
        out.push_str(&markdown.push(text.get(from..).unwrap()));
        out.push_str(&markdown.finish());
        prop_assert_eq!(&out, &expected);
        let mut markdown = Markdown::new(Theme::Coloured, columns);
        let mut out: String = text.chars().map(|c| markdown.push(c.encode_utf8(&mut [0; 4]))).collect();
        out.push_str(&markdown.finish());
        prop_assert_eq!(&out, &expected);
    }

    #[test]
    fn colours_change_nothing_but_the_look(text in source(), columns in 8usize..90) {
        let coloured = whole(&text, Theme::Coloured, columns);
        let plain = whole(&text, Theme::Plain, columns);
        prop_assert_eq!(strip(&coloured), plain.clone());
        prop_assert!(plain.chars().all(|c| c == '\n' || !c.is_control()));
        prop_assert!(plain.is_empty() || plain.ends_with('\n'));
    }

    #[test]
    fn lines_fit(text in source(), columns in 24usize..90) {
        // Code, rows of tables and addresses are never broken.
        let text = text.replace(['|', '`', '~'], "").replace("://", "");
        for line in whole(&text, Theme::Plain, columns).lines() {
            prop_assert!(width(line) <= columns, "{} cells: {:?}", width(line), line);
        }
    }

    #[test]
    fn any_text_is_taken(text in "\\PC*|[\\x00-\\x7f]*") {
        let shown = whole(&text, Theme::Plain, 40);
        prop_assert!(shown.chars().all(|c| c == '\n' || !c.is_control()));
    }
}
