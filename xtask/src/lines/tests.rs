//! Texts and their counts.

use super::{Lines, count};

#[track_caller]
fn check(text: &str, length: usize, code: usize) {
    assert_eq!(count(text), Lines { length, code }, "{text}");
}

#[test]
fn code_comments_and_blank_lines() {
    check("", 0, 0);
    check("//! doc\n\n/// doc\nfn f() {} // why\n", 4, 1);
    check("fn f() {\n\n    // a\n    g(); /* b */\n}\n", 5, 3);
    check("/* a\n b\n*/ fn f() {}\n", 3, 1);
    check("/* a /* nested */\n still */\nfn f() {}", 3, 1);
    check("/* never closed\n fn f() {}\n", 2, 0);
    check("/*/ not closed by its own slash\n*/\nfn f() {}\n", 3, 1);
}

#[test]
fn literals_hide_comments_and_braces() {
    check("let a = \"// no\";\nlet b = \"/*\";\nf();\n", 3, 3);
    check("let a = \"\\\"/*\";\nf(); // c\n// d\n", 3, 2);
    check("let a = r#\"\" /* \"#;\n// d\n", 2, 1);
    check("let a = br##\"\"# // \"##;\nf();\n", 2, 2);
    check("let a = \"one\n// two\n\nthree\";\n", 4, 3);
    check("let a = '\"'; // c\n// d\nlet b = '\\'';\n// e\n", 4, 2);
    check("fn f<'a>(x: &'a str) {} // '\n// c\n", 2, 1);
    check("let r#type = 1; // \"\n// c\n", 2, 1);
    check("let a = '/'; let b = '/'; // c\n// c\n", 2, 1);
}

#[test]
fn test_modules_are_left_out() {
    let tests = "fn f() {}\n#[cfg(test)]\nmod tests {\n    fn g() { \"}\"; '}'; }\n    // }\n}\nfn h() {}\n";
    check(tests, 2, 2);
    check("mod a;\n#[cfg(test)]\nmod tests;\nmod b;\n", 2, 2);
    check("#[cfg(test)] mod tests { }\n", 0, 0);
    check("fn f() {} #[cfg(test)] mod tests {\n}\n", 1, 1);
    check("#[cfg(test)]\n#[expect(a, reason = \"]\")]\nmod tests {\n}\nfn f() {}\n", 1, 1);
    check("#[cfg(all(test, unix))]\nmod tests {\n}\nfn f() {}\n", 1, 1);
    check("//! doc\n#![cfg(test)]\nfn f() {}\n", 0, 0);
    check("#[cfg(test)]\nmod tests {\n  fn f() {\n", 0, 0);
}

#[test]
fn other_attributes_are_code() {
    check("#[cfg(not(test))]\nfn f() {}\n", 2, 2);
    check("#[cfg(feature = \"test\")]\nfn f() {}\n", 2, 2);
    check("#![expect(a)]\n#[derive(Debug)]\nstruct A;\n", 3, 3);
    check("// #[cfg(test)]\nmod a {\n}\n", 3, 2);
    check("let a = \"#[cfg(test)]\";\nf();\n", 2, 2);
}

#[test]
fn single_test_items_are_left_out_and_no_more() {
    check("#[cfg(test)]\nuse a::{b, c};\nfn f() {}\n", 1, 1);
    check("#[cfg(test)]\nfn f<A, B>(a: [u8; 2])\nwhere A: X, B: Y {\n}\nfn g() {}\n", 1, 1);
    check("struct A {\n    #[cfg(test)]\n    a: u8,\n    b: u8,\n}\n", 3, 3);
    check("struct A {\n    #[cfg(test)]\n    pub(crate) a: u8\n}\n", 2, 2);
    check("#[cfg(test)]\nconst A: B = B { c: 1 };\nfn f() {}\n", 1, 1);
}
