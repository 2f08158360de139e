//! Server-sent events: the same events, or the same error, whole and cut in two.
#![no_main]

use agent_core::{SseDecoder, UnterminatedEvent};
use bytes::Bytes;
use libfuzzer_sys::fuzz_target;

fn decode(pieces: &[&[u8]], mode: UnterminatedEvent) -> Vec<String> {
    let mut decoder = SseDecoder::new().with_limit(64).with_unterminated_event(mode);
    let mut seen = Vec::new();
    for piece in pieces {
        decoder.push(Bytes::copy_from_slice(piece));
        seen.extend(std::iter::from_fn(|| decoder.next_event()).map(|event| format!("{event:?}")));
    }
    decoder.finish();
    seen.extend(std::iter::from_fn(|| decoder.next_event()).map(|event| format!("{event:?}")));
    seen
}

fuzz_target!(|data: &[u8]| {
    let Some((&at, stream)) = data.split_first() else { return };
    let (a, b) = stream.split_at(usize::from(at).min(stream.len()));
    for mode in [UnterminatedEvent::Discard, UnterminatedEvent::Dispatch] {
        let whole = decode(&[stream], mode);
        assert_eq!(decode(&[a, b], mode), whole);
        assert_eq!(decode(&stream.chunks(1).collect::<Vec<_>>(), mode), whole);
    }
});
