//! Our own cases of the server-sent events grammar, each under every cut.

use agent_core::SseError;
use agent_core::UnterminatedEvent::{Discard, Dispatch};

use crate::sse_reference::{decoder, every_cut, reference};

/// Checks type, data and last event id of each event, and that the reference agrees.
#[track_caller]
fn check(bytes: impl AsRef<[u8]>, expected: &[(&str, &str, &str)]) {
    let bytes = bytes.as_ref();
    let expected: Vec<_> =
        expected.iter().map(|(kind, data, id)| ((*kind).to_owned(), (*data).to_owned(), (*id).to_owned())).collect();
    assert_eq!(every_cut(bytes, || decoder(Discard)), (expected.clone(), None));
    assert_eq!(reference(bytes, Discard), expected);
}

#[track_caller]
fn check_error(bytes: &[u8], limit: usize, events: usize, expected: &SseError) {
    let (found, error) = every_cut(bytes, || decoder(Discard).with_limit(limit));
    assert_eq!((found.len(), error.as_ref()), (events, Some(expected)));
}

#[test]
fn line_ends() {
    check("data: a\r\rdata: b\r\n\r\ndata: c\n\n", &[("", "a", ""), ("", "b", ""), ("", "c", "")]);
    check("data: a\r\ndata: b\rdata: c\n\r\n", &[("", "a\nb\nc", "")]);
    check("data: a\n\r", &[("", "a", "")]);
    check("\r\n\n\r\rdata: a\n\n\n\n", &[("", "a", "")]);
}

#[test]
fn byte_order_mark() {
    check("\u{feff}data: a\n\ndata: b\n\n", &[("", "a", ""), ("", "b", "")]);
    check("\u{feff}\n\ndata: b\n\n", &[("", "b", "")]);
    check("\u{feff}\u{feff}data: a\n\ndata: b\n\n", &[("", "b", "")]);
    check("data: a\n\n\u{feff}data: b\n\n", &[("", "a", "")]);
    check(b"\xef\xbbdata: a\n\ndata: b\n\n", &[("", "b", "")]);
    check(b"\xef\n\ndata: b\n\n", &[("", "b", "")]);
    check("\u{feff}", &[]);
}

#[test]
fn data() {
    check("data\n\n", &[("", "", "")]);
    check("data:\n\n", &[("", "", "")]);
    check("data: \n\n", &[("", "", "")]);
    check("data:  a \n\n", &[("", " a ", "")]);
    check("data\ndata:\ndata: a\ndata\n\n", &[("", "\n\na\n", "")]);
    check("data: \0\u{2028}東京😀\n\n", &[("", "\0\u{2028}東京😀", "")]);
    check("data: a\ndata: é\n: c\ndata:東\n\n", &[("", "a\né\n東", "")]);
}

#[test]
fn names_are_exact() {
    check("dat: a\nDATA: a\ndata : a\ndatax: a\ndataa\n data: a\ndat\nd\n\n", &[]);
    check("ev: a\nevents: a\nids: 1\nid : 1\nretryy: 5\ndata: x\n\n", &[("", "x", "")]);
    check(": data: a\n:data: b\n:\n::\n\n", &[]);
}

#[test]
fn event_type_resets() {
    check("event: a\nevent: b\ndata: 1\n\ndata: 2\n\n", &[("b", "1", ""), ("", "2", "")]);
    check("event: a\n\ndata: 1\n\n", &[("", "1", "")]);
    check("event: a\nevent\ndata: 1\n\n", &[("", "1", "")]);
    check("data: 1\nevent: a\n\n", &[("a", "1", "")]);
    check("event: a\ndata: 1\n\nevent: b\ndata: 2\n\n", &[("a", "1", ""), ("b", "2", "")]);
}

#[test]
fn id_persists() {
    check("id: 1\ndata: a\n\ndata: b\n\n", &[("", "a", "1"), ("", "b", "1")]);
    check("id: 1\n\ndata: b\n\n", &[("", "b", "1")]);
    check("id: 1\ndata: a\n\nid\ndata: b\n\n", &[("", "a", "1"), ("", "b", "")]);
    check("id: 1\ndata: a\n\nid: 2\0\ndata: b\n\n", &[("", "a", "1"), ("", "b", "1")]);
    check("id: 1\nid: 2\ndata: a\n\n", &[("", "a", "2")]);
    check("data: a\nid: 1\n\n", &[("", "a", "1")]);
}

#[test]
fn unterminated_event() {
    for (bytes, discarded, dispatched) in [
        ("data: a\n\ndata: b", 1, 2),
        ("data: a\n\ndata: b\n", 1, 2),
        ("data: a\n\ndata: b\r", 1, 2),
        ("data: a\n\ndata: b\ndata", 1, 2),
        ("data: a\n\ndata: b\n: c", 1, 2),
        ("data: a\n\nevent: b", 1, 1),
        ("data: a\n\n", 1, 1),
        ("\u{feff}", 0, 0),
        ("", 0, 0),
    ] {
        for (mode, count) in [(Discard, discarded), (Dispatch, dispatched)] {
            let found = every_cut(bytes.as_bytes(), || decoder(mode));
            assert_eq!(found, (reference(bytes.as_bytes(), mode), None), "{bytes:?}");
            assert_eq!(found.0.len(), count, "{bytes:?}, {mode:?}");
        }
    }
    let (found, error) = every_cut(b"data: a\xe6\x9d", || decoder(Dispatch));
    assert_eq!((found.len(), error), (0, Some(SseError::InvalidUtf8 { field: "data", offset: 7 })));
    assert_eq!(every_cut(b"data: a\xe6\x9d", || decoder(Discard)), (vec![], None));
}

#[test]
fn invalid_utf8() {
    let error = |field, offset| SseError::InvalidUtf8 { field, offset };
    let limit = 1000;
    check_error(b"data: a\n\ndata: b\xffc\n\ndata: d\n\n", limit, 1, &error("data", 16));
    check_error(b"\xef\xbb\xbfdata: b\xe6\x9d\n\n", limit, 0, &error("data", 10));
    check_error(b"data: a\ndata:\xc3\n\n", limit, 0, &error("data", 13));
    check_error(b"event: \x80\ndata: a\n\n", limit, 0, &error("event", 7));
    check_error(b"data: a\n\nid: 1\xc0\x80\n\n", limit, 1, &error("id", 14));
    // Text that is not looked at need not be UTF-8.
    check(b": \xff\nfoo: \xff\n\xff\ndata: a\n\n: \xe6\ndata: \xc3\xa9\n\n", &[("", "a", ""), ("", "é", "")]);
    check(b"retry: \xff\ndata: a\n\n", &[("", "a", "")]);
}

#[test]
fn limits() {
    let error = |limit, offset| SseError::TooLarge { limit, offset };
    // The lines of an event count together: 7 + 7 bytes.
    let fits = b"data: a\ndata: b\n\ndata: a\ndata: b\n\ndata: a\n\n";
    let (found, none) = every_cut(fits, || decoder(Discard).with_limit(14));
    assert_eq!((found.len(), none), (3, None));
    check_error(b"data: a\ndata: b\n\n", 13, 0, &error(13, 8));
    check_error(b"data: a\n\ndata: aaaaaaaaaaa", 8, 1, &error(8, 9));
    check_error(b"data: a\n\n: a long comment", 8, 1, &error(8, 9));
    check_error(b"data: a\n\nunknown: value\n", 8, 1, &error(8, 9));
    check_error(b"\xef\xbbunknown\n", 8, 0, &error(8, 0));
    check_error(b"event: aaaa\ndata: a\n\n", 15, 0, &error(15, 12));
    // Lines that are ignored count alone, whatever their name begins with.
    let ignored = b"data: a\n: comment\n: comment\ndatum\nda\nretr\n\n";
    let found = every_cut(ignored, || decoder(Discard).with_limit(9));
    assert_eq!((found.0.len(), found.1), (1, None));
}

#[test]
fn errors_read_well() {
    assert_eq!(
        SseError::TooLarge { limit: 8, offset: 9 }.to_string(),
        "server-sent event: over the limit of 8 bytes in the line that begins at byte 9 of the \
         stream; raise it with `SseDecoder::with_limit`"
    );
    assert_eq!(
        SseError::InvalidUtf8 { field: "data", offset: 16 }.to_string(),
        "server-sent event: the `data` line has invalid UTF-8 at byte 16 of the stream; the \
         standard allows UTF-8 only, check the response's charset and content encoding"
    );
}
