//! Appending: every error, results in any order, and a checker of its own against random appends.
#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use std::{collections::HashSet, sync::Arc};

use agent_core::{CallId, Message, MessageId, Transcript, TranscriptError, UserMessage};
use proptest::prelude::*;

use crate::given::{answer, call, id, note, result, tool_call, user};

fn of(messages: Vec<Message>) -> Transcript {
    let mut transcript = Transcript::new();
    for message in messages {
        transcript.append(message).unwrap();
    }
    transcript
}

/// The rules of a transcript, written without its code. `None` where they are kept.
pub(crate) fn broken_rule(messages: &[&Message]) -> Option<String> {
    let mut ids = HashSet::new();
    let first_shown = messages.iter().find(|m| m.is_shown());
    if let Some(Message::Assistant(first)) = first_shown {
        return Some(format!("begins with the assistant message {}", first.id));
    }
    let mut waiting: Vec<CallId> = Vec::new();
    for message in messages {
        if !ids.insert(message.id()) {
            return Some(format!("{} stands there twice", message.id()));
        }
        match message {
            Message::ToolResult(result) => {
                if waiting.first() != Some(&result.call) {
                    return Some(format!("the result of {} is out of place", result.call));
                }
                waiting.remove(0);
            }
            _ if !waiting.is_empty() => return Some(format!("no results for {waiting:?}")),
            Message::Assistant(answer) => {
                waiting = answer.tool_calls().map(|(id, _)| id).collect();
            }
            _ => {}
        }
        let has_calls = message.content().iter().any(|b| *b == tool_call("t") || is_call(b));
        if has_calls && !matches!(message, Message::Assistant(_)) {
            return Some(format!("{} holds a call", message.id()));
        }
    }
    (!waiting.is_empty()).then(|| format!("no results for {waiting:?} at the end"))
}

fn is_call(block: &agent_core::ContentBlock) -> bool {
    matches!(block, agent_core::ContentBlock::ToolCall(_))
}

#[test]
fn errors() {
    use TranscriptError as E;
    let check = |before: Vec<Message>, message: Message, expected: TranscriptError| {
        let mut transcript = of(before);
        let copy = transcript.clone();
        assert_eq!(transcript.append(message), Err(expected));
        assert_eq!(transcript, copy);
        assert_eq!(transcript.messages().len(), copy.messages().len());
    };
    let open = || vec![user(1), answer(2, 2)];
    let calls = [call(2, 1), call(2, 2)];
    check(open(), user(3), E::OpenTurn { unanswered: calls.to_vec() });
    check(open(), note(3, &[]), E::OpenTurn { unanswered: calls.to_vec() });
    check(open(), answer(3, 0), E::OpenTurn { unanswered: calls.to_vec() });
    let half = || [open(), vec![result(3, calls[0])]].concat();
    check(half(), user(4), E::OpenTurn { unanswered: vec![calls[1]] });
    check(half(), result(4, calls[0]), E::AlreadyAnswered { call: calls[0] });
    check(half(), result(3, calls[1]), E::DuplicateId { id: id(3) }); // held, not yet entered
    check(half(), user(3), E::DuplicateId { id: id(3) });
    check(vec![], result(1, calls[0]), E::NoSuchCall { call: calls[0] });
    check(open(), result(3, call(2, 0)), E::NoSuchCall { call: call(2, 0) }); // a text block
    check(open(), result(3, call(1, 1)), E::NoSuchCall { call: call(1, 1) });
    let closed = || [half(), vec![result(4, calls[1])]].concat();
    check(closed(), result(5, calls[1]), E::NoSuchCall { call: calls[1] });
    for taken in 1..=4 {
        check(closed(), user(taken), E::DuplicateId { id: id(taken) });
    }
    check(vec![], answer(1, 0), E::AssistantFirst);
    check(vec![], answer(1, 1), E::AssistantFirst);
    check(vec![note(1, &[])], answer(2, 0), E::AssistantFirst);
    let misplaced = |role| E::MisplacedCall { id: id(9), role, block: 1 };
    let content = vec!["x".into(), tool_call("t")];
    check(vec![], UserMessage::new(id(9), content.clone()).into(), misplaced("user"));
    let mut held = agent_core::NoteMessage::new(id(9), "k");
    held.content = content.clone();
    check(vec![], held.into(), misplaced("note"));
    let bad = agent_core::ToolResultMessage::new(id(9), calls[0], "tool", content);
    check(open(), bad.into(), misplaced("toolResult"));
}

#[test]
fn words() {
    let check = |error: TranscriptError, text: &str| assert_eq!(error.to_string(), text);
    let unanswered = vec![call(1, 1), call(1, 2)];
    check(TranscriptError::OpenTurn { unanswered }, "2 tool calls wait for their results; answer them first");
    check(
        TranscriptError::AssistantFirst,
        "a conversation cannot begin with an assistant message; append a user message first",
    );
}

#[test]
fn a_note_that_is_shown_may_begin() {
    assert_eq!(of(vec![note(1, &["x"]), answer(2, 0)]).messages().len(), 2);
}

#[test]
fn results_come_in_any_order_and_enter_in_call_order() {
    let calls: Vec<CallId> = (1..=3).map(|block| call(2, block)).collect();
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let mut transcript = of(vec![user(1), answer(2, 3)]);
        let mut entered = Vec::new();
        for (n, at) in order.into_iter().enumerate() {
            let turn = transcript.open_turn().unwrap();
            assert_eq!(turn.unanswered().count(), 3 - n);
            assert_eq!(turn.results().count(), n);
            assert!(turn.call(calls[at]).is_some());
            assert_eq!(turn.assistant().map(|m| m.id), Some(id(2)));
            assert!(entered.is_empty(), "results entered before the last one was there");
            entered = transcript.append(result(10 + at as u128, calls[at])).unwrap();
        }
        let ids: Vec<MessageId> = entered.iter().map(|m| m.id()).collect();
        assert_eq!(ids, [id(10), id(11), id(12)]);
        assert!(transcript.open_turn().is_none());
        let all: Vec<MessageId> = transcript.messages().iter().map(|m| m.id()).collect();
        assert_eq!(all, [id(1), id(2), id(10), id(11), id(12)]);
        let stored = transcript.message(id(11));
        assert_eq!(stored.map(|m| (**m).clone()), Some(result(11, calls[1])));
    }
}

#[test]
fn clones_part() {
    let base = of(vec![user(1), answer(2, 1)]);
    let (mut a, mut b) = (base.clone(), base.clone());
    assert_eq!(a, b);
    a.append(result(3, call(2, 1))).unwrap();
    b.append(result(4, call(2, 1))).unwrap();
    assert_ne!(a, b);
    a.append(user(5)).unwrap();
    assert_eq!((a.messages().len(), b.messages().len(), base.messages().len()), (4, 3, 2));
    assert!(base.open_turn().is_some() && a.open_turn().is_none());
    assert_eq!((a.message(id(4)), b.message(id(3)), base.message(id(3))), (None, None, None));
    // Messages are shared, not copied.
    let (x, y) = (a.message(id(1)).unwrap(), b.message(id(1)).unwrap());
    assert!(Arc::ptr_eq(x, y));
}

/// A message that may or may not fit.
fn any_message() -> impl Strategy<Value = Message> {
    let n = 1..12u128;
    prop_oneof![
        3 => n.clone().prop_map(user),
        3 => (n.clone(), 0..3u32).prop_map(|(n, calls)| answer(n, calls)),
        6 => (n.clone(), n.clone(), 0..3u32).prop_map(|(n, m, b)| result(n, call(m, b))),
        1 => n.clone().prop_map(|n| note(n, &[])),
        1 => n.clone().prop_map(|n| note(n, &["note"])),
        1 => n.prop_map(|n| UserMessage::new(id(n), vec![tool_call("t")]).into()),
    ]
}

/// A step of the random test: an answer to the open turn makes long valid histories likely.
#[derive(Debug, Clone)]
enum Step {
    Any(Box<Message>),
    Answer(prop::sample::Index),
}

proptest! {
    #[test]
    fn stays_valid(steps in prop::collection::vec(
        prop_oneof![any_message().prop_map(Box::new).prop_map(Step::Any), any::<prop::sample::Index>().prop_map(Step::Answer)],
        1..40,
    )) {
        let mut transcript = Transcript::new();
        let mut entered_all: Vec<Arc<Message>> = Vec::new();
        for (n, step) in (100u128..).zip(steps) {
            let message = match step {
                Step::Any(message) => *message,
                Step::Answer(at) => {
                    let Some(turn) = transcript.open_turn() else { continue };
                    let waiting: Vec<CallId> = turn.unanswered().collect();
                    result(n, waiting[at.index(waiting.len())])
                }
            };
            let before = transcript.clone();
            match transcript.append(message) {
                Ok(entered) => entered_all.extend(entered),
                Err(_) => prop_assert!(transcript == before),
            }
            prop_assert!(transcript.messages().iter().eq(entered_all.iter()));
            let messages: Vec<&Message> = entered_all.iter().map(|m| &**m).collect();
            // While a turn is open its answer is the last message; before it all is whole.
            let whole = match transcript.open_turn() {
                Some(_) => &messages[..messages.len() - 1],
                None => &messages[..],
            };
            prop_assert_eq!(broken_rule(whole), None);
            for message in &messages {
                let found = transcript.message(message.id()).map(|m| &**m);
                prop_assert_eq!(found, Some(*message));
            }
        }
    }
}
