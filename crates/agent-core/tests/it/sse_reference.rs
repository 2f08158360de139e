//! A naive parser straight from the WHATWG text, and how to run the decoder beside it.

use agent_core::{SseDecoder, SseError, UnterminatedEvent};
use bytes::Bytes;

/// What an event says: type, data, and the last event id as of it.
pub(crate) type Event = (String, String, String);

/// "Interpreting an event stream", on the whole text at once.
pub(crate) fn reference(bytes: &[u8], unterminated: UnterminatedEvent) -> Vec<Event> {
    let text = String::from_utf8_lossy(bytes);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let mut lines: Vec<&str> = text.split('\n').collect();
    let rest = lines.pop().unwrap_or_default();
    if unterminated == UnterminatedEvent::Dispatch {
        lines.extend([rest, ""]);
    }
    let (mut data, mut kind) = (String::new(), String::new());
    let (mut id_buffer, mut last_id) = (String::new(), String::new());
    let mut events = Vec::new();
    for line in lines {
        if line.is_empty() {
            last_id.clone_from(&id_buffer);
            if data.is_empty() {
                kind.clear();
                continue;
            }
            data.pop();
            let data = std::mem::take(&mut data);
            events.push((std::mem::take(&mut kind), data, last_id.clone()));
            continue;
        }
        let (field, value) = match line.split_once(':') {
            Some(("", _)) => continue,
            Some((field, value)) => (field, value.strip_prefix(' ').unwrap_or(value)),
            None => (line, ""),
        };
        match field {
            "event" => value.clone_into(&mut kind),
            "data" => {
                data.push_str(value);
                data.push('\n');
            }
            "id" if !value.contains('\0') => value.clone_into(&mut id_buffer),
            _ => {}
        }
    }
    events
}

/// Decodes the pieces, taking events after each.
pub(crate) fn decode<'a>(
    mut decoder: SseDecoder,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> (Vec<Event>, Option<SseError>) {
    let mut events = Vec::new();
    let mut take = |decoder: &mut SseDecoder| {
        while let Some(event) = decoder.next_event() {
            match event {
                Ok(event) => {
                    let id = decoder.last_event_id().to_string();
                    assert!(event.id.as_deref().is_none_or(|own| own == id));
                    events.push((event.event.to_string(), event.data.to_string(), id));
                }
                Err(error) => return Some(error),
            }
        }
        None
    };
    let mut failed = None;
    for piece in pieces {
        decoder.push(Bytes::copy_from_slice(piece));
        failed = failed.or(take(&mut decoder));
    }
    decoder.finish();
    failed = failed.or(take(&mut decoder));
    assert!(decoder.next_event().is_none(), "it goes on after its end");
    (events, failed)
}

pub(crate) fn decoder(unterminated: UnterminatedEvent) -> SseDecoder {
    SseDecoder::new().with_unterminated_event(unterminated)
}

/// Decodes whole, in every two pieces and byte by byte: always the same.
pub(crate) fn every_cut(bytes: &[u8], make: impl Fn() -> SseDecoder) -> (Vec<Event>, Option<SseError>) {
    let whole = decode(make(), [bytes]);
    for at in 0..=bytes.len() {
        let (a, b) = bytes.split_at(at);
        assert_eq!(decode(make(), [a, b]), whole, "cut at {at} of {}", bytes.escape_ascii());
    }
    assert_eq!(decode(make(), bytes.chunks(1)), whole, "one by one: {}", bytes.escape_ascii());
    whole
}

/// A generator with a seed, so that a failure can be repeated.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap_or_default() % limit.max(1)
    }

    /// Cuts bytes into pieces of up to `most`.
    pub(crate) fn pieces<'a>(&mut self, mut bytes: &'a [u8], most: usize) -> Vec<&'a [u8]> {
        let mut pieces = Vec::new();
        while !bytes.is_empty() {
            let (piece, rest) = bytes.split_at((1 + self.below(most)).min(bytes.len()));
            pieces.push(piece);
            bytes = rest;
        }
        pieces
    }
}
