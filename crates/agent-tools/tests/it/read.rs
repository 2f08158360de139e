//! `read`: pages, encodings, images, and what it refuses.

use std::fmt::Write as _;

use agent_core::{Access, ContentBlock, RawJson, Tool};
use agent_tools::Read;

use crate::folder::{Folder, call, details, output};

fn utf16(text: &str, big: bool) -> Vec<u8> {
    text.encode_utf16().flat_map(|u| if big { u.to_be_bytes() } else { u.to_le_bytes() }).collect()
}

async fn check(content: impl AsRef<[u8]>, arguments: &str, expected: Result<&str, &str>) {
    let folder = Folder::new();
    folder.put("f", content);
    let read = Read::new(&folder.workspace()).unwrap();
    let found = call(&read, &format!(r#"{{"path":"f"{arguments}}}"#)).await;
    assert_eq!(found.as_deref().map_err(String::as_str), expected, "{arguments}");
}

#[tokio::test]
async fn pages_and_their_notes() {
    let four = "a\nb\nc\nd\n";
    check(four, "", Ok("     1\ta\n     2\tb\n     3\tc\n     4\td\n")).await;
    check(four, r#","offset":2,"limit":2"#, Ok("     2\tb\n     3\tc\n[lines 2 to 3 of 4; offset 4 reads on]\n")).await;
    check(four, r#","offset":"4","limit":"9""#, Ok("     4\td\n")).await;
    check("no end", "", Ok("     1\tno end\n")).await;
    check("a\n\nb", "", Ok("     1\ta\n     2\t\n     3\tb\n")).await;
    check("", "", Ok("[`f` is empty]")).await;
    check(four, r#","offset":5"#, Err("`f` has 4 lines; there is no line 5")).await;
    check("a", r#","offset":500"#, Err("`f` has 1 line; there is no line 500")).await;
    check(four, r#","from_byte":2,"bytes":3"#, Ok("b\nc\n[bytes 2 to 4 of 8; from_byte 5 reads on]")).await;
    check(four, r#","from_byte":6"#, Ok("d\n\n[bytes 6 to 7 of 8]")).await;
    check(four, r#","from_byte":8"#, Err("`f` has 8 bytes; there is no byte 8")).await;
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_explained() {
    let at_least = "invalid arguments: /offset: is 0, and has to be at least 1";
    let folder = Folder::new();
    let read = Read::new(&folder.put("f", "x").workspace()).unwrap();
    let error = call(&read, r#"{"path":"f","offset":0}"#).await.unwrap_err();
    assert!(error.starts_with("invalid arguments: /offset"), "{error} is not like {at_least}");
    let error = call(&read, r#"{"offset":1}"#).await.unwrap_err();
    assert!(error.starts_with("invalid arguments") && error.contains("path"), "{error}");
}

#[tokio::test]
async fn encodings_are_told_apart() {
    let text = "Grüße, мир 🦀\r\nzweite\r\n";
    let shown = |encoding: &str| format!("     1\tGrüße, мир 🦀\n     2\tzweite\n{encoding}[lines end in CRLF]\n");
    check(text, "", Ok(&shown(""))).await;
    check(format!("\u{FEFF}{text}"), "", Ok(&shown("[encoding: UTF-8]\n"))).await;
    for (big, name) in [(false, "LE"), (true, "BE")] {
        let marked = utf16(&format!("\u{FEFF}{text}"), big);
        check(marked, "", Ok(&shown(&format!("[encoding: UTF-16 {name}]\n")))).await;
        let plain = utf16("plain text\nand more\n", big);
        let expected = format!("     1\tplain text\n     2\tand more\n[encoding: UTF-16 {name}]\n");
        check(plain, "", Ok(&expected)).await;
    }
    check(b"caf\xe9\nna\xefve\n", "", Ok("     1\tcafé\n     2\tnaïve\n[encoding: Latin-1]\n")).await;
    // Beyond the part by which the encoding is told.
    let mut late = vec![b'x'; 70_000];
    late.extend_from_slice(b"\ncaf\xe9\n");
    let expected = "     2\tcafé\n[not UTF-8 from line 2 on: such lines are shown as Latin-1]\n";
    check(late, r#","offset":2"#, Ok(expected)).await;
}

#[tokio::test]
async fn utf16_pairs_across_reads_stay_whole() {
    // Every second character is a pair of units, so that a read ends within one at some length.
    for pad in 0..4 {
        let line = "x".repeat(pad) + &"🦀".repeat(300);
        let text = format!("{line}\n").repeat(60);
        let folder = Folder::new();
        folder.put("f", utf16(&format!("\u{FEFF}{text}"), false));
        let read = Read::new(&folder.workspace()).unwrap();
        let shown = call(&read, r#"{"path":"f","limit":30,"offset":25}"#).await.unwrap();
        assert_eq!(shown.lines().filter(|l| l.ends_with(&line)).count(), 30, "pad {pad}");
        assert!(!shown.contains('\u{FFFD}'));
    }
}

#[tokio::test]
async fn long_lines_are_shortened_with_a_handle() {
    let folder = Folder::new();
    folder.put("f", format!("short\n{}END\nlast\n", "ü".repeat(5_000)));
    let read = Read::new(&folder.workspace()).unwrap();
    let shown = call(&read, r#"{"path":"f"}"#).await.unwrap();
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!(lines[1], format!("     2\t{} …[10004 bytes in this line; from_byte 6 shows it]", "ü".repeat(1_000)));
    assert_eq!(lines[2], "     3\tlast");
    let handle = call(&read, r#"{"path":"f","from_byte":10000}"#).await.unwrap();
    assert!(handle.contains("üEND\nlast\n"), "{handle}");
}

#[tokio::test]
async fn big_files_are_read_by_range() {
    let mut text = String::new();
    for i in 1..=400_000 {
        let _ = writeln!(text, "line number {i}");
    }
    assert!(text.len() > 5 * 1024 * 1024);
    let folder = Folder::new();
    folder.put("f", &text);
    let read = Read::new(&folder.workspace()).unwrap();
    let shown = call(&read, r#"{"path":"f","offset":399999,"limit":10}"#).await.unwrap();
    assert_eq!(shown, "399999\tline number 399999\n400000\tline number 400000\n");
    let first = call(&read, r#"{"path":"f","limit":100000}"#).await.unwrap();
    assert!(first.len() < 50 * 1024, "{} bytes", first.len());
    let last = first.lines().rev().nth(1).unwrap().split('\t').next().unwrap().trim().parse::<u32>().unwrap();
    let note = format!("[lines 1 to {last} of 400000; offset {} reads on]", last + 1);
    assert_eq!(first.lines().last(), Some(note.as_str()));
}

#[tokio::test]
async fn images_are_told_by_content() {
    let folder = Folder::new();
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
    folder.put("picture.txt", png).put("text.png", "not a picture\n");
    let read = Read::new(&folder.workspace()).unwrap();
    let shown = output(&read, r#"{"path":"picture.txt"}"#).await.unwrap();
    let [ContentBlock::Text(_), ContentBlock::Image(image)] = shown.content.as_slice() else { panic!("{shown:?}") };
    assert_eq!(image.media_type.as_deref(), Some("image/png"));
    assert_eq!(image.source, agent_core::MediaSource::Base64("iVBORw0KGgoAAAANSUhEUg==".to_owned()));
    assert_eq!(call(&read, r#"{"path":"text.png"}"#).await.as_deref(), Ok("     1\tnot a picture\n"));
    let mut big = png.to_vec();
    big.resize(20 * 1024 * 1024 + 1, 0);
    folder.put("big", big);
    let error = call(&read, r#"{"path":"big"}"#).await.unwrap_err();
    assert_eq!(error, "the image `big` has 20971521 bytes; at most 20971520 can be shown");
}

#[tokio::test]
async fn binary_files_are_refused_by_name() {
    let of = |what: &str, n: usize| format!("`f` is {what} of {n} bytes and not text; it is not shown");
    check(b"%PDF-1.7\0\x01\x02", "", Err(&of("a PDF document", 11))).await;
    check(b"\x7fELF\x02\x01\x01\0\0\0", "", Err(&of("a program (ELF)", 10))).await;
    check(b"\0\x01\x02\x03\x04", "", Err(&of("a binary file", 5))).await;
}

#[tokio::test]
async fn details_and_effects() {
    let folder = Folder::new();
    let read = Read::new(&folder.put("sub/f", "a\nb\n").workspace()).unwrap();
    let shown = output(&read, r#"{"path":"sub/../sub/f"}"#).await.unwrap();
    let expected = serde_json::json!({"path": "sub/f", "bytes": 4, "encoding": "UTF-8", "lines": 2});
    assert_eq!(details(&shown), expected);
    assert_eq!(read.effects(&RawJson::parse("{}").unwrap()).access, Access::Shared);
}

#[tokio::test]
async fn a_long_line_of_any_encoding_can_be_read_on() {
    let folder = Folder::new();
    let text = format!("𝄞 first\n{}\nlast\n", "ü€𝄞x".repeat(1_000));
    let wide = |text: &str| text.encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<u8>>();
    folder.put("utf8", &text).put("utf16", wide(&format!("\u{FEFF}{text}")));
    let read = Read::new(&folder.workspace()).unwrap();
    for name in ["utf8", "utf16"] {
        let shown = call(&read, &format!(r#"{{"path":"{name}","offset":2,"limit":1}}"#)).await.unwrap();
        let (_, note) = shown.split_once(" …[").unwrap();
        let at: usize = note.split_once("from_byte ").unwrap().1.split_once(' ').unwrap().0.parse().unwrap();
        let bytes: usize = note.split_once(' ').unwrap().0.parse().unwrap();
        let arguments = format!(r#"{{"path":"{name}","from_byte":{at},"bytes":{bytes}}}"#);
        let whole = call(&read, &arguments).await.unwrap();
        let line = whole.split_once("\n").unwrap().0;
        assert!(line == "ü€𝄞x".repeat(1_000), "{name}: {note}: {} characters", line.chars().count());
    }
}
