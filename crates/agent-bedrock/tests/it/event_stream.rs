//! Messages of the event stream, under every cut, and what is no message.

use agent_bedrock::{
    EventHeaderValue as Value, EventMessage, EventStreamDecoder, EventStreamError as Error, MAX_HEADERS, MAX_MESSAGE,
};

use crate::frames::{crc, header, message};

fn read(pieces: &[&[u8]]) -> Result<Vec<EventMessage>, Error> {
    let (mut decoder, mut all) = (EventStreamDecoder::new(), Vec::new());
    for piece in pieces {
        decoder.push(piece);
        while let Some(message) = decoder.next_message()? {
            all.push(message);
        }
    }
    Ok(all)
}

#[test]
fn the_checksum_is_the_known_one() {
    // The check value of CRC-32; the decoder has to agree with a second way to compute it.
    assert_eq!(crc(b"123456789"), 0xcbf4_3926);
    assert_eq!(read(&[&message(b"", b"123456789")]).unwrap()[0].payload, &b"123456789"[..]);
}

#[test]
fn messages_are_the_same_under_every_cut() {
    let bytes =
        [message(&header("a", "grüße"), b"one"), message(b"", b""), message(&header("b", ""), &[7; 300])].concat();
    let whole = read(&[&bytes]).unwrap();
    assert_eq!(whole.len(), 3);
    assert_eq!(whole[0].text("a").map(|text| &**text), Some("grüße"));
    assert_eq!((whole[1].headers.len(), whole[2].payload.len()), (0, 300));
    for cut in 0..=bytes.len() {
        assert_eq!(read(&[&bytes[..cut], &bytes[cut..]]).unwrap(), whole, "cut at {cut}");
    }
    let single: Vec<&[u8]> = bytes.chunks(1).collect();
    assert_eq!(read(&single).unwrap(), whole);
}

#[test]
fn a_message_that_is_not_whole_is_waited_for() {
    let bytes = message(&header("a", "b"), b"payload");
    for cut in 1..bytes.len() {
        let mut decoder = EventStreamDecoder::new();
        decoder.push(&bytes[..cut]);
        assert_eq!((decoder.next_message(), decoder.is_between_messages()), (Ok(None), false), "cut at {cut}");
    }
}

#[test]
fn one_flipped_bit_is_found_wherever_it_is() {
    let bytes = message(&header("a", "b"), b"payload");
    for at in 0..bytes.len() * 8 {
        let mut damaged = bytes.clone();
        damaged[at / 8] ^= 1 << (at % 8);
        let error = read(&[&damaged]).unwrap_err();
        let is_prelude = matches!(error, Error::PreludeChecksum { .. });
        assert_eq!(is_prelude, at / 8 < 12, "bit {at} gave {error}");
        assert!(is_prelude || matches!(error, Error::MessageChecksum { .. }), "bit {at} gave {error}");
    }
}

#[test]
fn an_error_comes_again_whatever_follows() {
    let mut decoder = EventStreamDecoder::new();
    decoder.push(&[1; 12]);
    let error = decoder.next_message().unwrap_err();
    decoder.push(&message(b"", b"fine"));
    assert_eq!(decoder.next_message(), Err(error));
    assert!(!decoder.is_between_messages());
}

fn prelude(total: u32, headers: u32) -> Vec<u8> {
    let mut out = [total.to_be_bytes(), headers.to_be_bytes()].concat();
    out.extend(crc(&out).to_be_bytes());
    out
}

#[test]
fn sizes_are_limited_before_anything_is_kept() {
    let most = u32::try_from(MAX_MESSAGE).unwrap();
    let headers = u32::try_from(MAX_HEADERS).unwrap();
    let size = |bytes| Some(Error::MessageSize { bytes });
    let of_headers = |bytes, message| Some(Error::HeadersSize { bytes, message });
    let rows = [
        (0, 0, size(0)),
        (15, 0, size(15)),
        (16, 0, None),
        (16, 1, of_headers(1, 16)),
        (most, headers, None),
        (most, headers + 1, of_headers(headers + 1, most)),
        (most + 1, 0, size(most + 1)),
        (u32::MAX, 0, size(u32::MAX)),
        (100, u32::MAX, of_headers(u32::MAX, 100)),
    ];
    for (total, headers, expected) in rows {
        assert_eq!(read(&[&prelude(total, headers)]).err(), expected, "{total} {headers}");
    }
}

#[test]
fn every_type_of_header_is_read() {
    let rows: [(u8, &[u8], Value); 10] = [
        (0, &[], Value::Bool(true)),
        (1, &[], Value::Bool(false)),
        (2, &[0xcf], Value::Byte(-49)),
        (3, &[0, 42], Value::Int16(42)),
        (4, &[0, 0, 0xa0, 0x0c], Value::Int32(40_972)),
        (5, &[0xff; 8], Value::Int64(-1)),
        (6, &[0, 2, 1, 255], Value::Bytes(vec![1, 255].into())),
        (7, &[0, 1, b'x'], Value::Text("x".into())),
        (8, &[0, 0, 0, 0, 0, 0x84, 0x5f, 0xed], Value::Timestamp(8_675_309)),
        (9, &[3; 16], Value::Uuid([3; 16])),
    ];
    for (kind, bytes, expected) in rows {
        let headers = [&[1, b'n', kind], bytes].concat();
        let read_headers = read(&[&message(&headers, b"")]).unwrap().remove(0).headers;
        assert_eq!(read_headers, [("n".into(), expected)]);
        // Without its last byte it is none.
        let result = read(&[&message(&headers[..headers.len() - 1], b"")]);
        assert_eq!(result, Err(Error::Header("it ends in the middle")), "type {kind}");
    }
}

#[test]
fn what_is_no_header_is_an_error() {
    let rows: [(&[u8], &str); 5] = [
        (&[0, 0], "it has no name"),
        (&[1, b'n', 10], "its type does not exist"),
        (&[1, 0xff, 0], "a text in it is not UTF-8"),
        (&[1, b'n', 7, 0, 1, 0xff], "a text in it is not UTF-8"),
        (&[9, b'n', 0], "it ends in the middle"),
    ];
    for (headers, expected) in rows {
        assert_eq!(read(&[&message(headers, b"")]), Err(Error::Header(expected)));
    }
}
