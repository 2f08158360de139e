//! The hash of a body: that of its bytes, and no more of them read than need be.

use agent_bedrock::{PayloadHash, PayloadHasher};
use agent_core::{
    Block, CacheOrder, ContextView, IdSource, MarkerSlot, Message, MessagePieces, PieceCache, Section, Segments,
    SegmentsBuilder, Transcript, UserMessage,
};

const MARKER: &str = r#",{"cachePoint":{"type":"default"}}"#;

struct Talk {
    cache: PieceCache,
    transcript: Transcript,
    ids: IdSource,
}

impl Talk {
    fn new() -> Self {
        Self { cache: PieceCache::new(), transcript: Transcript::new(), ids: IdSource::seeded(1) }
    }

    fn say(&mut self, text: &str) {
        let count = u64::try_from(self.transcript.messages().len()).unwrap();
        let message = Message::User(UserMessage::text(self.ids.message(count), text));
        self.transcript.append(message).unwrap();
    }

    fn pieces(&self) -> MessagePieces {
        let view = ContextView::of(&self.transcript).unwrap();
        let encode = |walk: &mut agent_core::MessageWalk, entry: &agent_core::ViewEntry| {
            let text = entry.message().text();
            let lead = if walk.state() == 0 { "" } else { "," };
            walk.set_state(1);
            walk.block(0, 0, lead, || Ok::<_, ()>(Block::new(format!("{{\"text\":\"{text}\"}}"))))
        };
        self.cache.messages(1, &view, encode).unwrap()
    }

    fn segments(&self, tools: &str, markers: &[usize]) -> Segments {
        let mut body = SegmentsBuilder::new(CacheOrder::ToolsFirst)
            .push(Section::Irrelevant, "{", Block::new("\"inferenceConfig\":{}"))
            .push(Section::Tools, ",\"tools\":[", Block::new(tools.to_owned()))
            .marker(MarkerSlot::Prelude(1), MARKER)
            .push(Section::Irrelevant, "],\"messages\":[", Block::new(""))
            .messages(self.pieces());
        for at in markers {
            body = body.marker(MarkerSlot::Message(*at), MARKER);
        }
        body.end("]}").finish()
    }
}

/// Hashes, holds the hash against that of the bytes, and says how many were read.
fn check(hasher: &PayloadHasher, segments: &Segments) -> u64 {
    let hash = hasher.hash(segments);
    assert_eq!(hash.hex(), PayloadHash::of(&segments.to_bytes()).hex());
    hash.hashed_bytes()
}

#[test]
fn the_bytes_from_the_oldest_moved_marker_on_are_read() {
    let (hasher, mut talk) = (PayloadHasher::new(), Talk::new());
    let block = "x".repeat(1000);
    for _ in 0..100 {
        talk.say(&block);
    }
    let first = talk.segments("{}", &[89, 99]);
    assert_eq!(check(&hasher, &first), first.content_length());
    // A retry reads what stands behind the messages.
    assert!(check(&hasher, &first) < 50);

    // The marker at 99 stays, the one at 89 goes: everything behind it is read again, and no more.
    talk.say(&block);
    let (from, to) = (10 * 1000, 13 * 1000);
    let read = check(&hasher, &talk.segments("{}", &[99, 100]));
    assert!((from..to).contains(&read), "{read} bytes were read");
    // Both stay and one is new.
    talk.say(&block);
    let read = check(&hasher, &talk.segments("{}", &[99, 100, 101]));
    assert!((1000..2000).contains(&read), "{read} bytes were read");
}

#[test]
fn other_bytes_are_another_hash() {
    let (hasher, mut talk) = (PayloadHasher::new(), Talk::new());
    for at in 0..40 {
        talk.say(&format!("message {at}"));
    }
    for tools in ["{}", "{\"name\":1}"] {
        for markers in [&[][..], &[0], &[39], &[5, 39], &[5, 38, 39], &[4, 5, 6]] {
            check(&hasher, &talk.segments(tools, markers));
        }
    }
    // Another conversation with the same beginning, and one that has nothing of it.
    let mut other = Talk::new();
    for at in 0..40 {
        other.say(&format!("message {}", if at < 30 { at } else { at + 100 }));
        check(&hasher, &other.segments("{}", &[at]));
    }
    check(&hasher, &Talk::new().segments("{}", &[]));
}

#[test]
fn many_conversations_do_not_grow_it_without_end() {
    let hasher = PayloadHasher::new();
    let talks: Vec<Segments> = (0..1200)
        .map(|at| {
            let mut talk = Talk::new();
            talk.say(&format!("talk {at}"));
            talk.segments(&format!("{{\"name\":{at}}}"), &[0])
        })
        .collect();
    let all: Vec<u64> = talks.iter().map(|talk| check(&hasher, talk)).collect();
    // The newest are known, the oldest no longer.
    assert!(check(&hasher, &talks[1199]) < all[1199]);
    assert_eq!(check(&hasher, &talks[0]), all[0]);
}
