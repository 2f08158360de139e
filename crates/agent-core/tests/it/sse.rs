//! What the server-sent events decoder promises beyond the grammar, and random streams.

use std::time::Duration;

use agent_core::UnterminatedEvent::{Discard, Dispatch};
use agent_core::{SseDecoder, SseError};
use bytes::Bytes;
use proptest::prelude::{Strategy, any, prop, prop_assert_eq, proptest};

use crate::sse_reference::{Random, decode, decoder, every_cut, reference};

fn lies_in(part: &str, chunk: &Bytes) -> bool {
    let (part, chunk) = (part.as_bytes().as_ptr_range(), chunk.as_ptr_range());
    chunk.start <= part.start && part.end <= chunk.end
}

#[test]
fn whole_events_are_slices_of_the_chunk() -> Result<(), SseError> {
    for text in [
        "event: a\nid: 1\ndata: one\n\nevent: b\nid: 2\ndata: zwölf\n\n",
        "event: a\r\nid: 1\r\ndata: one\r\n\r\n",
        "event: a\nid: 1\ndata: only\n\n",
        "event: a\nid: 1\ndata: one\n\n: the rest is carried\ndata: tw",
    ] {
        let chunk = Bytes::copy_from_slice(text.as_bytes());
        let mut decoder = SseDecoder::new();
        decoder.push(chunk.clone());
        let mut count = 0;
        while let Some(event) = decoder.next_event().transpose()? {
            assert!(lies_in(&event.data, &chunk));
            assert!(lies_in(&event.event, &chunk));
            assert!(event.id.is_none_or(|id| lies_in(&id, &chunk)));
            count += 1;
        }
        assert!(count > 0);
    }
    Ok(())
}

#[test]
fn only_the_cut_line_is_carried() -> Result<(), SseError> {
    let chunks = [Bytes::from("data: one\n\ndata: t"), Bytes::from("wo\n\ndata: three\n\n")];
    let mut decoder = SseDecoder::new();
    let mut found = Vec::new();
    for chunk in &chunks {
        decoder.push(chunk.clone());
        while let Some(event) = decoder.next_event().transpose()? {
            let data = event.data;
            found.push((data.to_string(), chunks.iter().any(|chunk| lies_in(&data, chunk))));
        }
    }
    let expected = [("one", true), ("two", false), ("three", true)];
    assert_eq!(found, expected.map(|(data, slice)| (data.to_owned(), slice)));
    Ok(())
}

#[test]
fn retry_is_digits() {
    for (bytes, expected) in [
        ("data: a\n", None),
        ("retry: 1500\n", Some(1500)),
        ("retry:7\nretry: 8\n", Some(8)),
        ("retry: 7\nretry: 8s\nretry: -1\nretry\nretry:  9\n", Some(7)),
        ("retry: 18446744073709551615\n", Some(u64::MAX)),
        ("retry: 5\nretry: 18446744073709551616\n", Some(5)),
    ] {
        for at in 0..bytes.len() {
            let (a, b) = bytes.split_at(at);
            let mut decoder = SseDecoder::new();
            for piece in [a, b] {
                decoder.push(Bytes::copy_from_slice(piece.as_bytes()));
                assert_eq!(decoder.next_event(), None);
            }
            assert_eq!(decoder.retry(), expected.map(Duration::from_millis), "{bytes:?} at {at}");
        }
    }
}

#[test]
fn comments_move_the_position() {
    let mut decoder = SseDecoder::new();
    for (chunk, position) in [(": keep", 6), ("-alive\n", 13), ("\r", 14), ("\n", 15)] {
        decoder.push(Bytes::from(chunk));
        assert_eq!(decoder.next_event(), None);
        assert_eq!(decoder.position(), position);
    }
}

#[test]
fn id_is_known_when_its_event_is_taken() -> Result<(), SseError> {
    let mut decoder = SseDecoder::new();
    decoder.push(Bytes::from("id: 1\ndata: a\n\nid: 2\ndata: b\n\nid: 3\n"));
    assert_eq!(decoder.last_event_id(), "");
    let mut ids = Vec::new();
    while let Some(event) = decoder.next_event().transpose()? {
        ids.push((event.id.unwrap_or_default().to_string(), decoder.last_event_id().to_string()));
    }
    assert_eq!(ids, [("1".into(), "1".into()), ("2".into(), "2".into())]);
    Ok(())
}

#[test]
fn chunks_wait_in_order() -> Result<(), SseError> {
    let mut decoder = decoder(Dispatch);
    for chunk in ["data: a\n\nda", "ta: b\n", "", "\ndata: c"] {
        decoder.push(Bytes::from(chunk));
    }
    decoder.finish();
    decoder.push(Bytes::from("data: late\n\n"));
    let mut data = Vec::new();
    while let Some(event) = decoder.next_event().transpose()? {
        data.push(event.data.to_string());
    }
    assert_eq!(data, ["a", "b", "c"]);
    Ok(())
}

#[test]
fn nothing_comes_after_an_error() {
    let mut decoder = SseDecoder::new();
    decoder.push(Bytes::from_static(b"data: \xff\n\ndata: a\n\n"));
    decoder.push(Bytes::from_static(b"data: b\n\n"));
    let error = SseError::InvalidUtf8 { field: "data", offset: 6 };
    assert_eq!(decoder.next_event(), Some(Err(error)));
    decoder.push(Bytes::from_static(b"data: c\n\n"));
    decoder.finish();
    assert_eq!(decoder.next_event(), None);
}

#[test]
fn a_large_event_in_small_reads() {
    let value = "wörter ".repeat(100_000);
    let stream = format!(": c\nevent: big\ndata: {value}\n\ndata: next\n\n");
    let pieces = Random(7).pieces(stream.as_bytes(), 16 * 1024);
    let expected =
        [("big", value.as_str()), ("", "next")].map(|(kind, data)| (kind.to_owned(), data.to_owned(), String::new()));
    let (found, error) = decode(SseDecoder::new(), pieces);
    assert!(found == expected && error.is_none());
}

fn streams() -> impl Strategy<Value = String> {
    let token = prop::sample::select(vec![
        "\r",
        "\n",
        "\n\n",
        "\r\n",
        ":",
        ": ",
        " ",
        "d",
        "data",
        "data:",
        "data: ",
        "event:",
        "event",
        "id:",
        "id",
        "retry: 1",
        "\u{feff}",
        "é",
        "東",
        "😀",
        "\0",
        "x",
        "{\"a\":1}",
    ]);
    prop::collection::vec(token, 0..40).prop_map(|tokens| tokens.concat())
}

proptest! {
    #[test]
    fn random_streams_agree_with_the_reference(stream in streams(), seed in any::<u64>()) {
        let mut random = Random(seed | 1);
        for mode in [Discard, Dispatch] {
            let expected = (reference(stream.as_bytes(), mode), None);
            prop_assert_eq!(&decode(decoder(mode), [stream.as_bytes()]), &expected);
            for most in [1, 3, 9] {
                let pieces = random.pieces(stream.as_bytes(), most);
                prop_assert_eq!(&decode(decoder(mode), pieces), &expected);
            }
        }
    }

    #[test]
    fn hostile_bytes_give_the_same_under_every_cut(
        bytes in prop::collection::vec(
            prop::sample::select(b"\r\n: dataeventidretry\xef\xbb\xbf\xc3\xa9\xff\0".to_vec()),
            0..60,
        ),
        limit in 0_usize..20,
    ) {
        let lines = bytes.split(|byte| *byte == b'v').collect::<Vec<_>>().join(&b"\ndata:"[..]);
        every_cut(&lines, || decoder(Dispatch).with_limit(limit));
    }
}
