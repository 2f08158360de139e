//! Markdown texts and their links.

use super::relative;

#[track_caller]
fn check(text: &str, expected: &[(usize, &str)]) {
    let links = relative(text);
    let links: Vec<_> = links.iter().map(|link| (link.line, link.path.as_str())).collect();
    assert_eq!(links, expected, "{text}");
}

#[test]
fn links_are_found() {
    check("a [b](c.md) d\n\n![e](f/g.png)", &[(1, "c.md"), (3, "f/g.png")]);
    check("[a](b.md#part) [c](../d \"title\") [e](<f g.md>)", &[(1, "b.md"), (1, "../d"), (1, "f g.md")]);
    check("[a][1]\n\n[1]: b.md 'title'", &[(3, "b.md")]);
    check("[![a](b.svg)](c.md)", &[(1, "b.svg"), (1, "c.md")]);
    check("[a](b(c).md) [d](/e%20f)", &[(1, "b(c).md"), (1, "/e f")]);
    check("[`a`](b.md)", &[(1, "b.md")]);
}

#[test]
fn other_targets_are_not() {
    check("[a](https://b.c/d.md) [e](#f) [g](mailto:h@i) <https://j>", &[]);
    check("[a](//b/c) [^1]: note [d]", &[]);
    check("[^1]: note", &[]);
    check("`[a](b.md)` ``[c](`d.md)``", &[]);
    check("```rust\n[a](b.md)\n```\n[c](d.md)", &[(4, "d.md")]);
    check("~~~\n```\n[a](b.md)\n~~~\n", &[]);
    check("a[0](1", &[]);
}
