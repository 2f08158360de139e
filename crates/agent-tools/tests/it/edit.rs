//! `edit`: the right place or none, nothing lost, endings and encodings kept.

use agent_core::{RawJson, Tool};
use agent_tools::{Edit, Read, Workspace};
use futures_like::join_all;

use crate::folder::{Folder, call, context, details, output, settled};

/// All futures of one kind together.
mod futures_like {
    pub(crate) async fn join_all<T: Send + 'static>(all: Vec<impl Future<Output = T> + Send + 'static>) -> Vec<T> {
        let tasks: Vec<_> = all.into_iter().map(tokio::spawn).collect();
        let mut done = Vec::new();
        for task in tasks {
            done.push(task.await.unwrap());
        }
        done
    }
}

fn edits(pairs: &[(&str, &str)]) -> String {
    let edits: Vec<_> = pairs.iter().map(|(o, n)| serde_json::json!({"old_text": o, "new_text": n})).collect();
    serde_json::json!({"path": "f", "edits": edits}).to_string()
}

/// Edits a file and compares what it holds then with what it should hold, and the answer's end or error.
async fn check(content: &[u8], pairs: &[(&str, &str)], expected: Result<(&[u8], &str), &str>) {
    let folder = Folder::new();
    let edit = Edit::new(&folder.put("f", content).workspace()).unwrap();
    let answer = call(&edit, &edits(pairs)).await;
    let holds = std::fs::read(folder.path("f")).unwrap();
    match expected {
        Ok((new, said)) => {
            assert_eq!(String::from_utf8_lossy(&holds), String::from_utf8_lossy(new), "{answer:?}");
            assert_eq!(holds, new);
            assert_eq!(answer.as_deref(), Ok(said), "{pairs:?}");
        }
        Err(said) => {
            assert_eq!(answer.unwrap_err(), format!("{said}; `f` was not changed"), "{pairs:?}");
            assert_eq!(holds, content, "nothing changes");
        }
    }
}

#[tokio::test]
async fn exact_text() {
    let text = b"fn a() {\n    one();\n}\n";
    check(text, &[("one", "two")], Ok((b"fn a() {\n    two();\n}\n", "edited `f` in 1 place: line 2"))).await;
    check(text, &[("    one();\n", "")], Ok((b"fn a() {\n}\n", "edited `f` in 1 place: line 2"))).await;
    let said = "edited `f` in 2 places: edit 1: line 1, edit 2: line 1";
    check(b"x", &[("x", "y"), ("y", "z\n")], Ok((b"z\n", said))).await;
}

#[tokio::test]
async fn what_is_not_unique_or_not_there_is_refused() {
    let text = b"one\ntwo\none\n";
    let twice = "old_text stands there 2 times, in lines 1, 3; give more of the text around it, or set all";
    check(text, &[("one", "x")], Err(twice)).await;
    check(b"aaa", &[("aa", "b")], Err("old_text stands there 2 times, in lines 1, 1; they overlap")).await;
    check(text, &[("", "x")], Err("old_text is empty; say what to replace, or use write for a whole file")).await;
    check(text, &[("two", "two")], Err("old_text and new_text are the same")).await;
    // The second fails, so the first isn't made.
    let second = "edit 2: old_text does not stand in `f`";
    check(text, &[("two", "2"), ("qqqq", "x")], Err(second)).await;
    let numbers = "old_text does not stand in `f`; it has the line numbers that read shows: leave them out";
    check(text, &[("     1\tone\n     2\ttwo", "x")], Err(numbers)).await;
    check(text, &[("zwei", "two")], Err("old_text does not stand in `f`; new_text does already")).await;
    let near = "old_text does not stand in `f`; the nearest text is in line 2:\n     2\tlet total = count(items);\n";
    check(b"fn f() {\nlet total = count(items);\n}", &[("let total = count(item);", "x")], Err(near)).await;
}

#[tokio::test]
async fn all_places_where_that_is_asked_for() {
    let folder = Folder::new();
    let edit = Edit::new(&folder.put("f", "a b a\nc a\n").workspace()).unwrap();
    let said = call(&edit, r#"{"path":"f","edits":[{"old_text":"a","new_text":"xx","all":true}]}"#).await;
    assert_eq!(said.as_deref(), Ok("edited `f` in 3 places: line 1, line 1, line 2"));
    assert_eq!(folder.get("f"), "xx b xx\nc xx\n");
}

#[tokio::test]
async fn spaces_at_line_ends_do_not_matter() {
    let said = "edited `f` in 1 place: line 1 (found but for spaces at line ends)";
    check(b"one  \ntwo\t\nend\n", &[("one\ntwo\n", "1\n2\n")], Ok((b"1\n2\nend\n", said))).await;
    check(b"one\ntwo", &[("one \ntwo \n", "1\n2\n")], Ok((b"1\n2", said))).await;
    let twice = "old_text stands there 2 times, in lines 1, 3; give more of the text around it, or set all";
    check(b"a \nb\na  \nb\n", &[("a\nb", "x")], Err(twice)).await;
}

#[tokio::test]
async fn indentation_is_adapted() {
    let said = "edited `f` in 1 place: line 2 (found but for indentation, which was adapted)";
    let text = b"mod m {\n    if a {\n        b();\n    }\n}\n";
    let pair = ("if a {\n    b();\n}", "if a {\n    b();\n    if c {\n        d();\n    }\n}");
    let new = b"mod m {\n    if a {\n        b();\n        if c {\n            d();\n        }\n    }\n}\n";
    check(text, &[pair], Ok((new, said))).await;
    let tabs = b"x\n\tif a {\n\t\tb();\n\t}\n";
    let pair = ("  if a {\n    b();\n  }\n", "  if a {\n    c();\n  }\n");
    check(tabs, &[pair], Ok((b"x\n\tif a {\n\t\tc();\n\t}\n", said))).await;
    // Two indentations of the file for one of the text: not the same code.
    let folder = Folder::new();
    let edit = Edit::new(&folder.put("f", "if a:\n  b\n    c\n").workspace()).unwrap();
    let error = call(&edit, &edits(&[("  b\n  c", "x")])).await.unwrap_err();
    assert!(error.contains("does not stand in"), "{error}");
}

#[tokio::test]
async fn line_endings_are_kept() {
    let said = "edited `f` in 1 place: line 2";
    check(b"a\r\nb\r\nc\r\n", &[("b\nc", "x\ny\nz")], Ok((b"a\r\nx\r\ny\r\nz\r\n", said))).await;
    check(b"a\r\nb\r\nc\r\n", &[("b\r\nc\r\n", "x\r\n")], Ok((b"a\r\nx\r\n", said))).await;
    // What is not replaced keeps its endings, whatever the others are.
    check(b"a\r\nb\nc\r\nd\n\r", &[("b", "x")], Ok((b"a\r\nx\nc\r\nd\n\r", said))).await;
    check(b"a\nb\nc", &[("b\r\n", "x\r\ny\r\n")], Ok((b"a\nx\ny\nc", said))).await;
    check(b"a\nb\r\nc\nd\ne\n", &[("b\nc\n", "x\ny\n")], Ok((b"a\nx\r\ny\nd\ne\n", said))).await;
}

#[tokio::test]
async fn encodings_are_kept() {
    let said = "edited `f` in 1 place: line 1";
    let wide = |t: &str| t.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    check(&wide("\u{FEFF}één\r\n"), &[("één", "zwölf")], Ok((&wide("\u{FEFF}zwölf\r\n"), said))).await;
    check(b"caf\xe9\n", &[("café", "thé")], Ok((b"th\xe9\n", said))).await;
    check("\u{FEFF}a\n".as_bytes(), &[("a", "b")], Ok(("\u{FEFF}b\n".as_bytes(), said))).await;
    let folder = Folder::new();
    let edit = Edit::new(&folder.put("f", b"caf\xe9\n").workspace()).unwrap();
    let error = call(&edit, &edits(&[("café", "茶")])).await.unwrap_err();
    assert_eq!(error, "`f` is written in Latin-1, which has no `茶`; it was not changed");
    folder.put("f", b"\0\x01\x02");
    assert_eq!(call(&edit, &edits(&[("a", "b")])).await.unwrap_err(), "`f` is not text");
}

#[tokio::test]
async fn an_edit_of_what_was_read_fits_it() {
    let folder = Folder::new();
    let workspace = folder.put("f", "alpha\r\nbeta\r\n").workspace();
    let (read, edit) = (Read::new(&workspace).unwrap(), Edit::new(&workspace).unwrap());
    let shown = call(&read, r#"{"path":"f"}"#).await.unwrap();
    let seen: String = shown.lines().take(2).map(|l| format!("{}\n", l.split_once('\t').unwrap().1)).collect();
    call(&edit, &edits(&[(&seen, "gamma\n")])).await.unwrap();
    assert_eq!(folder.get("f"), "gamma\r\n");
}

#[tokio::test]
async fn a_file_that_changed_since_it_was_read_is_refused() {
    let folder = Folder::new();
    let workspace = folder.put("f", "one\ntwo\n").workspace();
    let (read, edit) = (Read::new(&workspace).unwrap(), Edit::new(&workspace).unwrap());
    call(&read, r#"{"path":"f"}"#).await.unwrap();
    call(&edit, &edits(&[("one", "1")])).await.unwrap();
    call(&edit, &edits(&[("two", "2")])).await.unwrap();
    folder.put("f", "one\ntwo, changed\n");
    let error = call(&edit, &edits(&[("one", "1")])).await.unwrap_err();
    assert_eq!(error, "`f` has changed since it was read; read it again first");
    call(&read, r#"{"path":"f"}"#).await.unwrap();
    call(&edit, &edits(&[("one", "1")])).await.unwrap();
    assert_eq!(folder.get("f"), "1\ntwo, changed\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn edits_of_one_file_at_once_lose_nothing() {
    let folder = Folder::new();
    folder.link("same", "f");
    for round in 0..200 {
        folder.put("f", "a\nb\nc\nd\n");
        let workspace = folder.workspace();
        let one = |workspace: Workspace, path: &'static str, old: &'static str| async move {
            let edit = Edit::new(&workspace).unwrap();
            let arguments = serde_json::json!({"path": path, "edits": [{"old_text": old, "new_text": old.repeat(3)}]});
            settled(edit.call(RawJson::parse(arguments.to_string()).unwrap(), context()).await)
        };
        let all = [("f", "a"), ("same", "b"), ("./f", "c"), ("f", "d")];
        let all = all.into_iter().map(|(path, old)| one(workspace.clone(), path, old)).collect();
        let refused = join_all(all).await.into_iter().filter_map(Result::err).count();
        assert_eq!((refused, folder.get("f").as_str()), (0, "aaa\nbbb\nccc\nddd\n"), "round {round}");
    }
}

#[tokio::test]
async fn details_hold_a_diff() {
    let folder = Folder::new();
    let edit = Edit::new(&folder.put("f", "a\nb\nc\n").workspace()).unwrap();
    let done = output(&edit, &edits(&[("b", "x")])).await.unwrap();
    let diff = "--- f\n+++ f\n@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n";
    assert_eq!(details(&done), serde_json::json!({"path": "f", "replacements": 1, "diff": diff}));
    let error = call(&edit, r#"{"path":"none","edits":[{"old_text":"a","new_text":"b"}]}"#).await.unwrap_err();
    assert_eq!(error, "there is no file or folder `none`");
}
