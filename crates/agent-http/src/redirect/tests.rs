//! Where locations lead.

use http::Uri;

use super::target::{origin, resolve, same_origin};

#[test]
fn locations_are_resolved_against_the_address() {
    let base: Uri = "http://a.example:81/b/c/d?q=1".parse().unwrap();
    let check = |location: &str, expected: &str| {
        let to = resolve(&base, location.as_bytes()).map(|uri| uri.to_string());
        assert_eq!(to.as_deref().unwrap_or("none"), expected, "{location}");
    };
    check("http://b.example/x", "http://b.example/x");
    check("//b.example/x", "http://b.example/x");
    check("/x?y=2#z", "http://a.example:81/x?y=2");
    check("x", "http://a.example:81/b/c/x");
    check("./x", "http://a.example:81/b/c/x");
    check("../x", "http://a.example:81/b/x");
    check("../../../../x", "http://a.example:81/x");
    check("..", "http://a.example:81/b/");
    check(".", "http://a.example:81/b/c/");
    check("?y=2", "http://a.example:81/b/c/d?y=2");
    check("", "http://a.example:81/b/c/d?q=1");
    check("#z", "http://a.example:81/b/c/d?q=1");
    check("x:y", "none");
    check("mailto:x@y.example", "none");
    check("http://", "none");
    assert_eq!(resolve(&base, b"\xff"), None);
}

#[test]
fn an_origin_is_scheme_host_and_port() {
    let check = |a: &str, b: &str, expected: bool| {
        let (a, b): (Uri, Uri) = (a.parse().unwrap(), b.parse().unwrap());
        assert_eq!(same_origin(&a, &b), expected, "{a} {b}");
        assert_eq!(same_origin(&b, &a), expected, "{b} {a}");
    };
    check("http://a.example/", "http://A.example:80/x", true);
    check("https://a.example/", "https://a.example:443", true);
    check("http://a.example/", "https://a.example/", false);
    check("http://a.example/", "http://a.example:8080/", false);
    check("http://a.example/", "http://b.a.example/", false);
    check("http://a.example/", "http://a.example.evil.example/", false);
    check("http://user@a.example/", "http://a.example/", true);
    assert_eq!(origin(&"https://user:pw@a.example:1/x?key=1".parse().unwrap()), "https://a.example:1");
}
