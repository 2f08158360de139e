//! What is shown apart from markdown.

use super::{Progress, Style, Theme, cut, diff, safe, style::Colour, text::width};

/// A text without its looks.
pub(super) fn strip(text: &str) -> String {
    let mut parts = text.split("\x1b[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |mut plain, part| {
        let (codes, rest) = part.split_once('m').expect("only looks are written");
        assert!(codes.chars().all(|c| c.is_ascii_digit() || c == ';'), "{codes:?}");
        plain.push_str(rest);
        plain
    })
}

fn theme(is_terminal: bool, env: &[(&str, &str)]) -> Theme {
    Theme::detect(is_terminal, |name| env.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned()))
}

#[test]
fn colours_are_for_terminals_whose_user_wants_them() {
    assert_eq!(theme(true, &[("TERM", "xterm")]), Theme::Coloured);
    assert_eq!(theme(true, &[("NO_COLOR", "")]), Theme::Coloured);
    assert_eq!(theme(true, &[("NO_COLOR", "1")]), Theme::Plain);
    assert_eq!(theme(true, &[("TERM", "dumb")]), Theme::Plain);
    assert_eq!(theme(false, &[]), Theme::Plain);
}

#[test]
fn a_look_ends_where_it_began() {
    assert_eq!(Theme::Coloured.paint(Style::BOLD.colour(Colour::Red), "x"), "\x1b[1;31mx\x1b[0m");
    assert_eq!(Theme::Coloured.paint(Style::PLAIN, "x"), "x");
    assert_eq!(Theme::Coloured.paint(Style::BOLD, ""), "");
    assert_eq!(Theme::Plain.paint(Style::BOLD, "x"), "x");
}

#[test]
fn text_from_elsewhere_is_harmless() {
    assert_eq!(safe("a\tb\r\nc\rd\x1b[2J"), "a   b\nc␍d␛[2J");
    assert_eq!(safe("pay\u{202e}lad"), "pay<U+202E>lad");
    assert_eq!(safe("héllo 日本 👍\n"), "héllo 日本 👍\n");
}

#[test]
fn a_text_is_cut_at_what_people_see_as_characters() {
    assert_eq!(cut("short", 5), "short");
    assert_eq!(cut("longer", 5), "long…");
    assert_eq!(cut("日本語", 5), "日本…");
    assert_eq!(cut("日本語", 4), "日…");
    assert_eq!(cut("one\ntwo", 20), "one…");
    assert_eq!(cut("one\n\n", 20), "one");
    assert_eq!(cut("👩‍👩‍👧👩‍👩‍👧", 3), "👩‍👩‍👧…");
    assert!(width(&cut("\x1b\x1b\x1b\x1b", 3)) <= 3);
}

#[test]
fn a_diff_shows_what_came_and_went() {
    let text = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n same\n--- old\n+new\x1b[2J\n";
    let lines = diff(text, Theme::Coloured, 40, 10);
    let expected = [
        "\x1b[2m--- a/x\x1b[0m",
        "\x1b[2m+++ b/x\x1b[0m",
        "\x1b[36m@@ -1,2 +1,2 @@\x1b[0m",
        " same",
        "\x1b[31m--- old\x1b[0m",
        "\x1b[32m+new␛[2J\x1b[0m",
    ];
    assert_eq!(lines, expected);
    assert_eq!(diff(text, Theme::Plain, 8, 4), ["--- a/x", "+++ b/x", "@@ -1,2…", "… 3 more lines"]);
}

#[test]
fn progress_is_one_line_and_only_in_a_terminal() {
    let mut progress = Progress::new(Theme::Plain, Some(10));
    assert_eq!(progress.show("working"), "\r\x1b[2Kworking");
    assert_eq!(progress.show("working"), "");
    assert_eq!(progress.show("a longer text\nof two lines"), "\r\x1b[2Ka longer…");
    assert_eq!((progress.clear(), progress.clear()), ("\r\x1b[2K", ""));
    let mut piped = Progress::new(Theme::Plain, None);
    assert_eq!((piped.show("working").as_str(), piped.clear()), ("", ""));
}
