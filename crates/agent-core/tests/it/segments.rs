//! Requests as segments: bytes, chains, markers, tails, bounds, and what is encoded again.

use std::{cell::Cell, sync::Arc};

use agent_core::{
    Arguments, AssistantMessage, Block, CacheBreak, CacheBreakCause, CacheOrder, CallOptions, Chain, ContentBlock,
    ContextView, IdSource, MarkerSlot, Message, MessagePieces, ModelCall, Money, PieceCache, RawJson, Section,
    Segments, SegmentsBuilder, StopReason, TokenBound, ToolCall, ToolResultMessage, ToolSet, ToolSpec, Transcript,
    UserMessage, ViewEdit, Wire,
};
use bytes::Bytes;
use proptest::prelude::*;

use crate::toy::ToyWire;

/// A history of `turns` turns: a question, a call, its result, an answer.
fn history(turns: usize) -> (Transcript, IdSource) {
    let mut ids = IdSource::seeded(5);
    let mut transcript = Transcript::new();
    for turn in 0..turns {
        for message in turn_of(turn, &mut ids) {
            transcript.append(message).unwrap();
        }
    }
    (transcript, ids)
}

fn turn_of(turn: usize, ids: &mut IdSource) -> Vec<Message> {
    let call = ToolCall::new("add", Arguments::from_text(format!("{{\"a\":{turn}}}")));
    let asked = AssistantMessage::new(
        ids.message(0),
        vec![ContentBlock::text("hm"), ContentBlock::ToolCall(call)],
        StopReason::ToolUse,
    );
    let (id, _) = asked.tool_calls().next().unwrap();
    vec![
        UserMessage::text(ids.message(0), format!("question {turn}")).into(),
        asked.into(),
        ToolResultMessage::new(ids.message(0), id, "add", vec!["3".into()]).into(),
        AssistantMessage::new(ids.message(0), vec!["done".into()], StopReason::EndTurn).into(),
    ]
}

fn view(transcript: &Transcript) -> ContextView {
    ContextView::of(transcript).unwrap()
}

fn tools(names: &[&str]) -> ToolSet {
    let schema = || RawJson::parse(r#"{"type":"object"}"#).unwrap();
    ToolSet::new(names.iter().map(|name| ToolSpec::new(*name, "A tool.", schema()).unwrap()).collect()).unwrap()
}

fn encode(call: &ModelCall) -> Segments {
    ToyWire { markers: false }.encode(call).unwrap().segments
}

fn text(segments: &Segments) -> String {
    String::from_utf8(segments.to_bytes().to_vec()).unwrap()
}

#[test]
fn a_body_is_its_pieces_in_order_with_its_exact_length() {
    let (transcript, _) = history(1);
    let call = ModelCall::new(CallOptions::new("toy-1").system("Be brief."), view(&transcript)).tools(tools(&["add"]));
    let segments = encode(&call);
    let json: serde_json::Value = serde_json::from_slice(&segments.to_bytes()).unwrap();
    assert_eq!(json["tools"][0]["name"], "add");
    assert_eq!(json["system"], serde_json::json!(["Be brief."]));
    let roles: Vec<_> = json["messages"].as_array().unwrap().iter().map(|m| m["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "user", "assistant"]);
    assert_eq!(segments.content_length(), segments.to_bytes().len() as u64);
}

#[test]
fn results_of_one_turn_share_a_message() {
    let (mut transcript, mut ids) = history(0);
    transcript.append(Message::from(UserMessage::text(ids.message(0), "go"))).unwrap();
    let calls = (0..3).map(|i| ContentBlock::ToolCall(ToolCall::new(format!("t{i}"), Arguments::empty())));
    let answer = AssistantMessage::new(ids.message(0), calls.collect(), StopReason::ToolUse);
    let asked: Vec<_> = answer.tool_calls().map(|(id, call)| (id, call.name.clone())).collect();
    transcript.append(Message::from(answer)).unwrap();
    for (id, name) in asked {
        transcript.append(Message::from(ToolResultMessage::new(ids.message(0), id, name, vec!["x".into()]))).unwrap();
    }
    let json: serde_json::Value =
        serde_json::from_slice(&encode(&ModelCall::new(CallOptions::new("toy-1"), view(&transcript))).to_bytes())
            .unwrap();
    assert_eq!(json["messages"][2]["content"].as_array().unwrap().len(), 3);
}

#[test]
fn large_pieces_are_sent_without_a_copy_and_small_ones_together() {
    let large = Bytes::from(vec![b'x'; 100_000]);
    let segments = SegmentsBuilder::new(CacheOrder::ToolsFirst)
        .push(Section::Irrelevant, "[", Block::new("1"))
        .push(Section::System, ",\"", Block::new(large.clone()).close("\""))
        .push(Section::Irrelevant, ",", Block::new("2"))
        .end("]")
        .finish();
    let frames: Vec<_> = segments.frames().collect();
    assert_eq!(frames.len(), 3);
    assert_eq!(frames[0], "[1,\"");
    assert_eq!(frames[1].as_ptr(), large.as_ptr());
    assert_eq!(frames[2], "\",2]");
    assert_eq!(frames.concat(), segments.to_bytes());
    assert_eq!(segments.content_length(), segments.to_bytes().len() as u64);
}

#[test]
fn markers_and_tails_stand_outside_the_chain() {
    let (transcript, _) = history(2);
    let call = ModelCall::new(CallOptions::new("toy-1"), view(&transcript));
    let plain = ToyWire { markers: false }.encode(&call).unwrap().segments;
    let marked = ToyWire { markers: true }.encode(&call).unwrap().segments;
    let noted = encode(&call.clone().note("Two turns left."));
    assert!(text(&marked).contains(",\"cache\":true}") && text(&noted).contains("Two turns left."));
    for other in [&marked, &noted] {
        assert_eq!(plain.chain(), other.chain());
        assert_eq!(other.content_length(), other.to_bytes().len() as u64);
        assert_eq!(other.diverges_from(plain.chain(), Some(&plain)), None);
    }
    // A marker without a piece is not written, and not counted.
    let odd = SegmentsBuilder::new(CacheOrder::ToolsFirst).marker(MarkerSlot::Message(9), "lost").end("{}").finish();
    assert_eq!((odd.to_bytes(), odd.content_length()), (Bytes::from("{}"), 2));
}

#[test]
fn a_view_that_grew_keeps_the_bytes_of_the_last_request_and_encodes_only_what_is_new() {
    let (mut transcript, mut ids) = history(3);
    let cache = PieceCache::new();
    let options = Arc::new(CallOptions::new("toy-1"));
    let first = encode(&ModelCall::new(options.clone(), view(&transcript)).cache(cache.clone()));
    for message in turn_of(9, &mut ids) {
        transcript.append(message).unwrap();
    }
    let second = encode(&ModelCall::new(options.clone(), view(&transcript)).cache(cache));
    assert_eq!(second.diverges_from(first.chain(), Some(&first)), None);
    assert!(text(&second).starts_with(text(&first).strip_suffix("]}]}").unwrap()));
    for (old, new) in first.messages().iter().zip(second.messages().iter()) {
        assert_eq!(old.body().as_ptr(), new.body().as_ptr(), "the same bytes, not equal ones");
    }
    // What a fresh cache makes is the same.
    let fresh = encode(&ModelCall::new(options, view(&transcript)));
    assert_eq!((fresh.chain(), text(&fresh)), (second.chain(), text(&second)));
}

#[test]
fn every_block_is_encoded_once() {
    let (mut transcript, mut ids) = history(2);
    let cache = PieceCache::new();
    let encoded = Cell::new(0);
    let pieces = |transcript: &Transcript, edits: &[ViewEdit], generation: u64| -> MessagePieces {
        let mut view = view(transcript);
        edits.iter().for_each(|edit| view.apply(edit).unwrap());
        cache
            .messages(generation, &view, |walk, entry| {
                for (index, _) in (0..).zip(entry.message().content()) {
                    walk.block(index, 0, ",", || {
                        encoded.set(encoded.get() + 1);
                        Ok::<_, ()>(Block::new(format!("{:?}", entry.message().content())))
                    })?;
                }
                Ok::<_, ()>(())
            })
            .unwrap()
    };
    let blocks_of_a_turn = 5;
    pieces(&transcript, &[], 0);
    assert_eq!(encoded.take(), 2 * blocks_of_a_turn);
    pieces(&transcript, &[], 0);
    assert_eq!(encoded.take(), 0, "nothing is new");
    turn_of(2, &mut ids).into_iter().for_each(|m| drop(transcript.append(m).unwrap()));
    pieces(&transcript, &[], 0);
    assert_eq!(encoded.take(), blocks_of_a_turn, "one new turn");
    let result = transcript.messages().get(2).unwrap().id();
    let cut = ViewEdit::CutOutput { result, content: vec!["…".into()] };
    assert_eq!(pieces(&transcript, &[cut], 0).pieces().len(), 15);
    assert_eq!(encoded.take(), 1, "the cut output");
    pieces(&transcript, &[], 0);
    assert_eq!(encoded.take(), 1, "the whole output again: only what is shown is kept");
    pieces(&transcript, &[], 1);
    assert_eq!(encoded.take(), 15, "another generation");
    pieces(&transcript, &[], 0);
    assert_eq!(encoded.take(), 0, "and back");
}

#[test]
fn a_wire_that_fails_leaves_a_cache_that_works() {
    let (transcript, _) = history(1);
    let cache = PieceCache::new();
    let failed = cache.messages(0, &view(&transcript), |_, _| Err("no"));
    assert_eq!(failed.map(|_| ()), Err("no"));
    let whole = cache.messages(0, &view(&transcript), |walk, _| walk.block(0, 0, "", || Ok::<_, ()>(Block::new("x"))));
    assert_eq!(whole.unwrap().pieces().len(), 4);
}

fn request(options: CallOptions, names: &[&str], transcript: &Transcript) -> Segments {
    encode(&ModelCall::new(options, view(transcript)).tools(tools(names)))
}

#[test]
fn each_cause_is_named_with_its_segment_and_byte() {
    let (transcript, _) = history(1);
    let (longer, _) = history(2);
    let base = || CallOptions::new("toy-1").system("one").system("two").temperature(0.5);
    let last = request(base(), &["add", "sub"], &transcript);
    let mut model = base();
    model.model = "toy-2".into();
    let mut system = base();
    system.system[1] = "tWo".into();
    let check = |options: CallOptions, names: &[&str], cause, segment: &str, byte: &str| {
        let now = request(options, names, &longer);
        let found = now.diverges_from(last.chain(), Some(&last)).unwrap();
        assert_eq!(found.cause, cause);
        let (_, piece) = &now.prelude()[found.segment];
        assert!(String::from_utf8_lossy(piece.body()).contains(segment), "{:?}", piece.body());
        if cause != CacheBreakCause::Identity {
            assert!(text(&now)[usize::try_from(found.byte.unwrap()).unwrap()..].starts_with(byte));
        }
        // Without the pieces of the last request the cause is known all the same.
        let blind = now.diverges_from(last.chain(), None).unwrap();
        assert_eq!((blind.cause, blind.byte), (cause, None));
        (found.kept_bytes, blind.kept_bytes)
    };
    use CacheBreakCause as Cause;
    assert_eq!(check(model, &["add", "sub"], Cause::Identity, "", ""), (0, 0));
    let (kept, blind) = check(base(), &["add", "Sub"], Cause::Tools, "Sub", "Sub");
    assert!(kept > 0 && blind == 0, "the first tool is kept: {kept}, {blind}");
    let (kept, blind) = check(system, &["add", "sub"], Cause::System, "tWo", "Wo\"");
    assert!(kept > blind && blind > 0, "the tools are kept: {kept}, {blind}");
    let (kept, blind) = check(base().temperature(0.75), &["add", "sub"], Cause::MessageOptions, "0.75", "75");
    assert!(kept == blind && kept > 0, "tools and system are kept");
    let (kept, _) = check(base(), &["add"], Cause::Tools, "", "");
    assert!(kept > 0, "a tool that is gone");
    assert_eq!(request(base().max_output(7), &["add", "sub"], &longer).diverges_from(last.chain(), None), None);
}

#[test]
fn an_added_or_reordered_tool_breaks_the_chain() {
    let (transcript, _) = history(1);
    let last = request(CallOptions::new("toy-1"), &["a", "b"], &transcript);
    for names in [&["b", "a"][..], &["a", "b", "c"], &[]] {
        let now = request(CallOptions::new("toy-1"), names, &transcript);
        let found = now.diverges_from(last.chain(), Some(&last)).unwrap();
        assert_eq!(found.cause, CacheBreakCause::Tools, "{names:?}");
    }
}

#[test]
fn the_order_of_the_vendors_cache_decides_what_is_lost() {
    let make = |order, system: &'static str| {
        SegmentsBuilder::new(order)
            .push(Section::Tools, "{\"tools\":[", Block::new("0123456789"))
            .push(Section::System, "],\"system\":", Block::new(system))
            .end("}")
            .finish()
    };
    let kept = |order| {
        let (old, new) = (make(order, "\"a\""), make(order, "\"b\""));
        new.diverges_from(old.chain(), None).unwrap().kept_bytes
    };
    assert_eq!(kept(CacheOrder::ToolsFirst), 20);
    assert_eq!(kept(CacheOrder::SystemFirst), 0);
    assert_ne!(make(CacheOrder::ToolsFirst, "1").chain().head(), make(CacheOrder::SystemFirst, "1").chain().head());
}

#[test]
fn a_break_is_priced_by_the_share_that_is_lost() {
    let (transcript, _) = history(4);
    let mut edited = view(&transcript);
    let (first, last) = (transcript.messages().get(12).unwrap().id(), transcript.messages().get(15).unwrap().id());
    edited.apply(&ViewEdit::Hide { first, last }).unwrap();
    let old = encode(&ModelCall::new(CallOptions::new("toy-1"), view(&transcript)));
    let new = encode(&ModelCall::new(CallOptions::new("toy-1"), edited));
    let at = new.diverges_from(old.chain(), Some(&old)).unwrap();
    let lost = CacheBreak::new(&at, old.chain(), 1_000, Some(Money::from_micro_dollars(2)));
    assert_eq!(lost.cause, CacheBreakCause::Messages);
    assert!((200..300).contains(&lost.tokens_lost), "a quarter: {}", lost.tokens_lost);
    assert_eq!(lost.cost, Some(Money::from_micro_dollars(2).times(lost.tokens_lost)));
    assert_eq!(CacheBreak::new(&at, &Chain::default(), 1_000, None).tokens_lost, 0, "an empty chain loses nothing");
}

#[test]
fn bounds_add_up_and_the_unknown_stays_unknown() {
    let text = SegmentsBuilder::new(CacheOrder::ToolsFirst).push(Section::System, "[", Block::new("abc").close("]"));
    assert_eq!(text.finish().bound(), TokenBound::AtMost(5));
    let image = Block::new(vec![b'i'; 9_000]).bound(TokenBound::AtMost(1_600));
    let body = SegmentsBuilder::new(CacheOrder::ToolsFirst)
        .push(Section::System, "", image)
        .tail("", &Block::new("12"))
        .end("]");
    assert_eq!(body.finish().bound(), TokenBound::AtMost(1_603));
    let url = Block::new("u").bound(TokenBound::Unknown);
    let body = SegmentsBuilder::new(CacheOrder::ToolsFirst).push(Section::System, "", url).push(
        Section::System,
        "",
        Block::new("x"),
    );
    assert_eq!(body.finish().bound(), TokenBound::Unknown);
    let (transcript, _) = history(3);
    let call = ModelCall::new(CallOptions::new("toy-1"), view(&transcript));
    let segments = encode(&call);
    let TokenBound::AtMost(bound) = segments.bound() else { panic!("text is bounded") };
    assert_eq!(bound, segments.content_length(), "a byte is at least a token");
}

#[test]
fn a_chain_survives_its_file_format() {
    let (transcript, _) = history(1);
    let segments = encode(&ModelCall::new(CallOptions::new("toy-1"), view(&transcript)));
    let json = serde_json::to_string(segments.chain()).unwrap();
    assert_eq!(serde_json::from_str::<Chain>(&json).unwrap(), *segments.chain());
}

proptest! {
    /// Whatever was shown before stays the prefix of what is shown later, and a cache that was used
    /// for anything before makes the same bytes as a fresh one.
    #[test]
    fn growth_never_breaks_the_chain_and_the_cache_never_changes_a_byte(
        steps in prop::collection::vec((1usize..4, prop::option::of(0usize..40)), 1..8)
    ) {
        let (mut transcript, mut ids) = history(1);
        let cache = PieceCache::new();
        let options = Arc::new(CallOptions::new("toy-1").system("s"));
        let mut shown = view(&transcript);
        let mut last = encode(&ModelCall::new(options.clone(), shown.clone()).cache(cache.clone()));
        for (turns, cut) in steps {
            let before = shown.clone();
            for turn in 0..turns {
                turn_of(turn, &mut ids).into_iter().for_each(|m| drop(transcript.append(m).unwrap()));
            }
            shown.catch_up(&transcript).unwrap();
            let edit = cut.and_then(|at| shown.entries().get(at * 4 + 2)).map(|entry| entry.message().id());
            let edited = edit.is_some_and(|result| {
                shown.apply(&ViewEdit::CutOutput { result, content: vec!["…".into()] }).is_ok()
            });
            let now = encode(&ModelCall::new(options.clone(), shown.clone()).cache(cache.clone()));
            let fresh = encode(&ModelCall::new(options.clone(), shown.clone()));
            prop_assert_eq!(now.to_bytes(), fresh.to_bytes());
            prop_assert_eq!(now.chain(), fresh.chain());
            prop_assert_eq!(now.content_length(), now.to_bytes().len() as u64);
            let same = before.messages().zip(shown.messages()).all(|(a, b)| a == b);
            let found = now.diverges_from(last.chain(), Some(&last));
            prop_assert_eq!(found.is_none(), same, "edited: {}", edited);
            last = now;
        }
    }
}

proptest! {
    /// However many pieces there are and wherever markers stand: the frames are the parts in their order.
    #[test]
    fn frames_are_the_parts_in_their_order(
        sizes in prop::collection::vec(prop_oneof![9 => 0..40usize, 1 => 4_000..5_000usize], 0..150),
        prelude in 0..4usize,
        slots in prop::collection::vec((any::<bool>(), 0..160usize), 0..5),
    ) {
        let mut ids = IdSource::seeded(5);
        let mut transcript = Transcript::new();
        for (i, size) in sizes.iter().enumerate() {
            let text = format!("{i}:{}", "x".repeat(*size));
            transcript.append(Message::from(UserMessage::text(ids.message(0), text))).unwrap();
        }
        let messages = PieceCache::new().messages(0, &view(&transcript), |walk, entry| {
            let text = entry.message().text().to_owned();
            walk.block(0, 0, "<", || Ok::<_, ()>(Block::new(text).close(">")))
        }).unwrap();
        let mut body = SegmentsBuilder::new(CacheOrder::ToolsFirst);
        let mut parts: Vec<(String, &str)> = Vec::new();
        for i in 0..prelude {
            body = body.push(Section::System, "(", Block::new(i.to_string()).close(")"));
            parts.push((format!("({i}"), ")"));
        }
        for entry in view(&transcript).entries().iter() {
            parts.push((format!("<{}", entry.message().text()), ">"));
        }
        let mut markers = vec![String::new(); parts.len() + 200];
        let mut sorted: Vec<_> = slots.iter().filter(|(in_prelude, at)| !in_prelude || *at < prelude).collect();
        sorted.sort_by_key(|(in_prelude, at)| (!in_prelude, *at));
        for (in_prelude, at) in sorted {
            let slot = if *in_prelude { MarkerSlot::Prelude(*at) } else { MarkerSlot::Message(*at) };
            body = body.marker(slot, "!");
            markers[if *in_prelude { *at } else { prelude + at }].push('!');
        }
        let segments = body.messages(messages).end("]").finish();
        let expected: String =
            parts.iter().zip(&markers).map(|((open, close), marker)| format!("{open}{marker}{close}")).collect();
        prop_assert_eq!(text(&segments), expected + "]");
        prop_assert_eq!(segments.content_length(), segments.to_bytes().len() as u64);
    }
}
