//! Events to messages: every event, every error, every cut.
#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use agent_core::{
    Arguments, Assembler, AssemblyError, AssistantMessage, BlockStart, ByteString, ContentBlock, ImageBlock,
    MediaSource, ModelEvent, Origin, ProviderError, ProviderErrorKind, StopReason, TextBlock, ThinkingBlock, ToolCall,
    Usage,
};
use proptest::prelude::*;

use crate::given::{id, raw};

fn start(block: u32, start: BlockStart) -> ModelEvent {
    ModelEvent::BlockStart { block, start }
}

fn text(block: u32, text: &str) -> ModelEvent {
    ModelEvent::TextDelta { block, text: text.into() }
}

fn thinking(block: u32) -> ModelEvent {
    start(block, BlockStart::Thinking { origin: origin(), encrypted: None })
}

fn thought(block: u32, text: &str) -> ModelEvent {
    ModelEvent::ThinkingDelta { block, text: text.into() }
}

fn signature(block: u32, signature: &str) -> ModelEvent {
    ModelEvent::SignatureDelta { block, signature: signature.into() }
}

fn call(block: u32, name: &str, vendor_id: Option<&str>) -> ModelEvent {
    let vendor_id = vendor_id.map(ByteString::from);
    start(block, BlockStart::ToolCall { name: name.into(), vendor_id })
}

fn arguments(block: u32, json: &str) -> ModelEvent {
    ModelEvent::ArgumentsDelta { block, json: json.into() }
}

fn metadata(block: u32, json: &str) -> ModelEvent {
    ModelEvent::Metadata { block, metadata: raw(json) }
}

fn end(block: u32) -> ModelEvent {
    ModelEvent::BlockEnd { block }
}

fn stop(reason: StopReason) -> ModelEvent {
    ModelEvent::Stop { reason, detail: None }
}

fn origin() -> Origin {
    Origin::new("wire", "vendor", "asked")
}

fn assembler() -> Assembler {
    Assembler::new(id(1)).origin(origin())
}

fn pushed(events: &[ModelEvent]) -> Assembler {
    let mut assembler = assembler();
    for event in events {
        assembler.push(event).unwrap();
    }
    assembler
}

/// A finished message of these blocks.
fn message(content: Vec<ContentBlock>, reason: StopReason) -> AssistantMessage {
    let mut message = AssistantMessage::new(id(1), content, reason);
    message.origin = origin();
    message
}

fn thinking_block(text: &str) -> ThinkingBlock {
    ThinkingBlock::new(text).origin(origin())
}

fn tool(name: &str, arguments: &str) -> ToolCall {
    ToolCall::new(name, Arguments::from_text(arguments))
}

#[test]
fn every_event() {
    let image = ContentBlock::Image(ImageBlock::new(MediaSource::Url("https://a/b.png".into())));
    let encrypted = BlockStart::Thinking { origin: origin(), encrypted: Some("sealed".into()) };
    let assembler = pushed(&[
        ModelEvent::Start { response_id: Some("r1".into()), model: Some("real".into()) },
        thinking(0),
        call(1, "add", Some("v1")),
        thought(0, "hm"),
        arguments(1, "{\"a\""),
        signature(0, "si"),
        start(2, BlockStart::Text),
        arguments(1, ":1e0}"),
        text(2, "x"),
        thought(0, "m"),
        signature(0, "g"),
        start(3, encrypted),
        metadata(1, "[1]"),
        end(0),
        metadata(2, "{\"m\":1}"),
        start(4, BlockStart::Whole(image.clone())),
        ModelEvent::Usage(Usage::new(1, 2)),
        text(2, "y"),
        end(1),
        ModelEvent::Usage(Usage::new(3, 4)),
        ModelEvent::Stop { reason: StopReason::Refusal, detail: Some("why".into()) },
        end(2),
        ModelEvent::Usage(Usage::new(5, 6)),
    ]);
    assert_eq!((assembler.is_stopped(), assembler.usage()), (true, Usage::new(5, 6)));
    let texts: Vec<_> = (0..6).map(|block| assembler.text(block)).collect();
    assert_eq!(texts, [Some("hmm"), None, Some("xy"), Some(""), None, None]);
    assert_eq!(assembler.arguments(1).map(|a| a.json()), Some("{\"a\":1e0}"));
    assert!(assembler.arguments(0).is_none() && assembler.arguments(9).is_none());

    let mut add = tool("add", "{\"a\":1e0}").vendor_id("v1");
    add.metadata = Some(raw("[1]"));
    let mut said = TextBlock::new("xy");
    said.metadata = Some(raw("{\"m\":1}"));
    let mut expected = message(
        vec![
            ContentBlock::Thinking(thinking_block("hmm").signature("sig")),
            ContentBlock::ToolCall(add),
            ContentBlock::Text(said),
            ContentBlock::Thinking(thinking_block("").encrypted("sealed")),
            image,
        ],
        StopReason::Refusal,
    );
    expected.usage = Usage::new(5, 6);
    expected.response_id = Some("r1".to_owned());
    expected.error = Some("why".to_owned());
    expected.origin.model = "real".to_owned();
    assert_eq!(assembler.finish(), expected);
}

#[test]
fn a_second_start_begins_anew() {
    let begun = |id: &str| ModelEvent::Start { response_id: Some(id.into()), model: None };
    let assembler = pushed(&[
        begun("r1"),
        start(0, BlockStart::Text),
        text(0, "lost"),
        call(1, "t", Some("v")),
        begun("r2"),
        call(0, "t", Some("v")),
        end(0),
        stop(StopReason::ToolUse),
    ]);
    let call = ContentBlock::ToolCall(tool("t", "{}").vendor_id("v"));
    let mut expected = message(vec![call], StopReason::ToolUse);
    expected.response_id = Some("r2".to_owned());
    assert_eq!(assembler.finish(), expected);
}

#[test]
fn errors() {
    use AssemblyError as E;
    let check = |before: &[ModelEvent], event: &ModelEvent, expected: AssemblyError| {
        let mut assembler = pushed(before);
        assert_eq!(assembler.push(event), Err(expected));
        // What came before stays.
        assert_eq!(assembler.finish(), pushed(before).finish());
    };
    let open = [start(0, BlockStart::Text), thinking(1), call(2, "t", None)];
    let whole = start(0, BlockStart::Whole("x".into()));
    check(&[], &thinking(1), E::OutOfOrder { got: 1, expected: 0 });
    check(&open, &thinking(2), E::OutOfOrder { got: 2, expected: 3 });
    check(&open, &thinking(u32::MAX), E::OutOfOrder { got: u32::MAX, expected: 3 });
    let steps: [(ModelEvent, &str, u32); 4] = [
        (text(0, "x"), "text", 0),
        (thought(0, "x"), "thinking", 1),
        (signature(0, "x"), "a signature", 1),
        (arguments(0, "x"), "arguments", 2),
    ];
    for (event, step, fits) in steps {
        for block in 0..5 {
            let event = moved(&event, block);
            let misplaced = E::Misplaced { step, block };
            if block != fits {
                check(&open, &event, misplaced.clone());
                continue;
            }
            assert_eq!(pushed(&open).push(&event), Ok(()));
            let ended = [&open[..], &[end(block)]].concat();
            check(&ended, &event, misplaced);
        }
        check(std::slice::from_ref(&whole), &moved(&event, 0), E::Misplaced { step, block: 0 });
    }
    check(&open, &end(3), E::Misplaced { step: "the end of a block", block: 3 });
    check(&open, &metadata(9, "1"), E::Misplaced { step: "metadata", block: 9 });

    let stopped = [&open[..], &[stop(StopReason::EndTurn)]].concat();
    let after = |event: &ModelEvent, step| check(&stopped, event, E::AfterStop { step });
    after(&ModelEvent::Start { response_id: None, model: None }, "a start");
    after(&start(3, BlockStart::Text), "the start of a block");
    after(&text(0, "x"), "text");
    after(&thought(1, "x"), "thinking");
    after(&signature(1, "x"), "a signature");
    after(&arguments(2, "x"), "arguments");
    after(&metadata(0, "1"), "metadata");
    after(&stop(StopReason::EndTurn), "a stop");
    for fine in [end(0), ModelEvent::Usage(Usage::new(1, 1))] {
        assert_eq!(pushed(&stopped).push(&fine), Ok(()));
    }
}

fn moved(event: &ModelEvent, to: u32) -> ModelEvent {
    let mut event = event.clone();
    match &mut event {
        ModelEvent::TextDelta { block, .. }
        | ModelEvent::ThinkingDelta { block, .. }
        | ModelEvent::SignatureDelta { block, .. }
        | ModelEvent::ArgumentsDelta { block, .. } => *block = to,
        _ => {}
    }
    event
}

#[test]
fn errors_are_of_the_protocol() {
    let error = AssemblyError::Misplaced { step: "text", block: 3 };
    let error = ProviderError::from(error);
    assert_eq!(error.kind(), ProviderErrorKind::Protocol);
    assert_eq!(error.message(), "text for block 3, which cannot take it");
}

#[test]
fn limits() {
    let mut assembler = assembler();
    for block in 0..10_000 {
        assembler.push(&start(block, BlockStart::Text)).unwrap();
    }
    let too_many = AssemblyError::TooLarge { limit: 10_000, unit: "blocks" };
    assert_eq!(assembler.push(&start(10_000, BlockStart::Text)), Err(too_many));

    let limit = 256 << 20;
    let mut assembler = pushed(&[start(0, BlockStart::Text), text(0, "x")]);
    let huge = ModelEvent::TextDelta { block: 0, text: " ".repeat(limit).into() };
    let too_large = AssemblyError::TooLarge { limit, unit: "bytes" };
    assert_eq!(assembler.push(&huge), Err(too_large));
    assert_eq!(assembler.finish().content, ["x".into()]);
}

#[test]
fn vendor_ids_are_kept_once() {
    let events: Vec<ModelEvent> = [Some("a"), Some("b"), Some("a"), None, Some(""), Some("")]
        .into_iter()
        .zip(0..)
        .map(|(id, block)| call(block, "t", id))
        .collect();
    let message = pushed(&events).finish();
    let ids: Vec<Option<&str>> = message.tool_calls().map(|(_, call)| call.vendor_id.as_deref()).collect();
    assert_eq!(ids, [Some("a"), Some("b"), None, None, None, None]);
}

#[test]
fn without_a_stop_it_failed() {
    assert_eq!(pushed(&[]).finish(), message(vec![], StopReason::Error));
    let cut = pushed(&[start(0, BlockStart::Text), text(0, "x"), end(0)]);
    assert!(!cut.is_stopped());
    assert_eq!(cut.finish(), message(vec!["x".into()], StopReason::Error));
}

#[test]
fn interrupted() {
    let check = |events: &[ModelEvent], expected: Vec<ContentBlock>| {
        let got = pushed(events).interrupt(StopReason::Cancelled, Some("user".into()));
        let mut expected = message(expected, StopReason::Cancelled);
        expected.error = Some("user".to_owned());
        assert_eq!(got, expected);
    };
    let signed = [thinking(0), thought(0, "hm"), signature(0, "sig")];
    check(&[], vec![]);
    check(&signed, vec![ContentBlock::Thinking(thinking_block("hm"))]);
    let finished = [&signed[..], &[end(0), start(1, BlockStart::Text), text(1, "x")]].concat();
    let kept = ContentBlock::Thinking(thinking_block("hm").signature("sig"));
    check(&finished, vec![kept, "x".into()]);
    let cut = pushed(&[call(0, "t", Some("v")), arguments(0, r#"{"a":"#)]).interrupt(StopReason::Error, None);
    let (_, made) = cut.tool_calls().next().unwrap();
    assert_eq!(*made, tool("t", r#"{"a":"#).vendor_id("v"));
    assert_eq!(made.arguments.fault(), Some(agent_core::ArgumentFault::CutOff));
    // A call whose arguments had not begun is no call without arguments, unless it had ended.
    let begun = pushed(&[call(0, "t", None)]).interrupt(StopReason::Cancelled, None);
    assert_eq!(begun.tool_calls().next().unwrap().1.arguments.fault(), Some(agent_core::ArgumentFault::CutOff));
    let ended = pushed(&[call(0, "t", None), end(0)]).interrupt(StopReason::Cancelled, None);
    assert_eq!(ended.tool_calls().next().unwrap().1.arguments.text(), "{}");
}

#[test]
fn metadata_has_its_place() {
    let metadata = |block| ModelEvent::Metadata { block, metadata: agent_core::RawJson::parse("{}").unwrap() };
    let push = |start: ModelEvent| {
        let mut assembler = pushed(&[start]);
        assembler.push(&metadata(0))
    };
    let misplaced = Err(agent_core::AssemblyError::Misplaced { step: "metadata", block: 0 });
    assert_eq!(push(thinking(0)), misplaced);
    assert_eq!(push(start(0, BlockStart::Whole("x".into()))), misplaced);
    assert_eq!(push(call(0, "t", None)), Ok(()));
    assert_eq!(push(start(0, BlockStart::Text)), Ok(()));
}

#[test]
fn a_stopped_answer_cannot_be_interrupted() {
    let events = [thinking(0), thought(0, "hm"), signature(0, "sig"), stop(StopReason::EndTurn)];
    let whole = pushed(&events).finish();
    assert_eq!(pushed(&events).interrupt(StopReason::Cancelled, Some("late".into())), whole);
    let block = thinking_block("hm").signature("sig");
    assert_eq!(whole, message(vec![ContentBlock::Thinking(block)], StopReason::EndTurn));
}

/// A block as a whole: what begins it, its deltas, and what they make.
fn block() -> impl Strategy<Value = (u8, String)> {
    (0..3u8, any::<String>())
}

proptest! {
    #[test]
    fn any_cut_and_order_of_deltas_makes_the_same(
        blocks in prop::collection::vec(block(), 1..5),
        cuts in prop::collection::vec((any::<prop::sample::Index>(), 1..6usize), 0..40),
    ) {
        let mut whole = Vec::new();
        for (n, (kind, content)) in (0u32..).zip(&blocks) {
            whole.push(begin(n, *kind));
            whole.push(delta(n, *kind, content));
        }
        whole.push(stop(StopReason::EndTurn));

        // The same in small pieces, the blocks by turns.
        let mut mixed: Vec<ModelEvent> =
            (0u32..).zip(&blocks).map(|(n, (kind, _))| begin(n, *kind)).collect();
        let mut left: Vec<(u32, u8, Vec<char>)> = (0u32..)
            .zip(&blocks)
            .map(|(n, (kind, content))| (n, *kind, content.chars().collect()))
            .collect();
        for (at, count) in cuts {
            let at = at.index(left.len());
            let (n, kind, chars) = &mut left[at];
            let piece: String = chars.drain(..count.min(chars.len())).collect();
            mixed.push(delta(*n, *kind, &piece));
        }
        for (n, kind, chars) in left {
            mixed.push(delta(n, kind, &chars.into_iter().collect::<String>()));
            mixed.push(end(n));
        }
        mixed.push(stop(StopReason::EndTurn));
        prop_assert_eq!(pushed(&mixed).finish(), pushed(&whole).finish());
    }
}

fn begin(n: u32, kind: u8) -> ModelEvent {
    match kind {
        0 => start(n, BlockStart::Text),
        1 => thinking(n),
        _ => call(n, "t", None),
    }
}

fn delta(n: u32, kind: u8, content: &str) -> ModelEvent {
    match kind {
        0 => text(n, content),
        1 => thought(n, content),
        _ => arguments(n, content),
    }
}
