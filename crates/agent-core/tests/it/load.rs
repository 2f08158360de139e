//! Loading damaged histories: each repair, and random damage.
#![expect(clippy::indexing_slicing, reason = "what fails here fails the test")]

use std::collections::HashSet;

use agent_core::{
    CallId, ContentBlock, IdSource, Message, MessageId, Repair, ToolResultMessage, Transcript, UserMessage,
};
use proptest::prelude::*;

use crate::{
    given::{answer, call, id, note, result, tool_call, user},
    transcript::broken_rule,
};

fn load(messages: Vec<Message>) -> (Vec<Message>, Vec<Repair>) {
    let (transcript, repairs) = Transcript::load(messages, &mut IdSource::seeded(7), 1_000);
    (list(&transcript), repairs)
}

fn list(transcript: &Transcript) -> Vec<Message> {
    transcript.messages().iter().map(|m| (**m).clone()).collect()
}

/// The ids that `load` draws here.
fn drawn(count: usize) -> Vec<MessageId> {
    let mut ids = IdSource::seeded(7);
    (0..count).map(|_| ids.message(1_000)).collect()
}

fn no_result(id: MessageId, of: CallId, tool: &str) -> Message {
    let text = "No result was recorded for this call. It may have run: check before you call again.";
    ToolResultMessage::error(id, of, tool, text).into()
}

#[test]
fn repairs() {
    let check = |damaged: Vec<Message>, expected: Vec<Message>, repairs: Vec<Repair>| {
        assert_eq!(load(damaged), (expected, repairs));
    };
    let (a, b) = (call(2, 1), call(2, 2));
    let new = drawn(2);
    check(vec![], vec![], vec![]);
    check(
        vec![user(1), answer(2, 1)],
        vec![user(1), answer(2, 1), no_result(new[0], a, "tool0")],
        vec![Repair::AnsweredCall { call: a }],
    );
    check(
        vec![user(1), answer(2, 2), result(3, b), user(4)],
        vec![user(1), answer(2, 2), no_result(new[0], a, "tool0"), result(3, b), user(4)],
        vec![Repair::AnsweredCall { call: a }],
    );
    check(
        vec![user(1), answer(2, 1), user(4), result(3, a)],
        vec![user(1), answer(2, 1), result(3, a), user(4)],
        vec![Repair::MovedResult { id: id(3), call: a }],
    );
    check(
        vec![result(3, a), user(1), answer(2, 1)],
        vec![user(1), answer(2, 1), result(3, a)],
        vec![Repair::MovedResult { id: id(3), call: a }],
    );
    check(
        vec![user(1), answer(2, 2), result(4, b), result(3, a)],
        vec![user(1), answer(2, 2), result(3, a), result(4, b)],
        vec![Repair::MovedResult { id: id(3), call: a }],
    );
    check(
        vec![user(1), result(3, call(9, 0)), answer(2, 1), result(4, a), result(5, a)],
        vec![user(1), answer(2, 1), result(4, a)],
        vec![Repair::DroppedResult { id: id(3), call: call(9, 0) }, Repair::DroppedResult { id: id(5), call: a }],
    );
    check(
        vec![user(1), user(1), answer(2, 0), answer(2, 0)],
        vec![user(1), answer(2, 0)],
        vec![Repair::DroppedDuplicate { id: id(1) }, Repair::DroppedDuplicate { id: id(2) }],
    );
    let (other, renamed) = (UserMessage::text(id(1), "x"), UserMessage::text(new[0], "x"));
    check(
        vec![user(1), other.into()],
        vec![user(1), renamed.into()],
        vec![Repair::RenamedMessage { from: id(1), to: new[0] }],
    );
    let odd = |with: ContentBlock| UserMessage::new(id(1), vec!["x".into(), with]).into();
    check(
        vec![odd(tool_call("read"))],
        vec![odd("read {}".into())],
        vec![Repair::MisplacedCall { id: id(1), block: 1 }],
    );
    let opening = agent_core::NoteMessage::new(new[0], "repair")
        .content(vec!["(The beginning of this conversation is missing.)".into()]);
    check(
        vec![note(1, &[]), answer(2, 0), user(3)],
        vec![note(1, &[]), opening.into(), answer(2, 0), user(3)],
        vec![Repair::InsertedOpening { id: new[0] }],
    );
}

#[test]
fn a_renamed_answer_keeps_its_calls() {
    let new = drawn(2);
    let first = answer(2, 0);
    let (messages, repairs) = load(vec![user(1), first, answer(2, 1), result(3, call(2, 1))]);
    let of = CallId::new(new[0], 1);
    assert_eq!(messages.len(), 4);
    assert_eq!(messages[2].id(), new[0]);
    assert_eq!(messages[3], no_result(new[1], of, "tool0"));
    assert_eq!(
        repairs,
        [
            Repair::RenamedMessage { from: id(2), to: new[0] },
            Repair::DroppedResult { id: id(3), call: call(2, 1) },
            Repair::AnsweredCall { call: of },
        ]
    );
}

/// The same seed may have made the ids of the history: a replay, a test, a forged file.
#[test]
fn new_ids_meet_no_old_ones() {
    let old = drawn(3);
    let text = |id, text| Message::from(UserMessage::text(id, text));
    let history = vec![
        text(old[0], "a"),
        text(old[1], "b"),
        answer(2, 2),
        text(old[2], "c"),
        text(old[0], "d"),
        answer(3, 1),
        user(4),
    ];
    let (messages, repairs) = load(history);
    assert_eq!(broken_rule(&messages.iter().collect::<Vec<_>>()), None);
    assert_eq!((messages.len(), repairs.len()), (10, 4));
}

#[derive(Debug, Clone)]
enum Damage {
    Drop(prop::sample::Index),
    Repeat(prop::sample::Index, prop::sample::Index),
    Swap(prop::sample::Index, prop::sample::Index),
    Reverse,
    Truncate(prop::sample::Index),
    Behead(prop::sample::Index),
    Rename(prop::sample::Index, u128),
    Misplace(prop::sample::Index),
    Point(prop::sample::Index, u128, u32),
}

fn damage() -> impl Strategy<Value = Damage> {
    let at = any::<prop::sample::Index>;
    prop_oneof![
        at().prop_map(Damage::Drop),
        (at(), at()).prop_map(|(a, b)| Damage::Repeat(a, b)),
        (at(), at()).prop_map(|(a, b)| Damage::Swap(a, b)),
        Just(Damage::Reverse),
        at().prop_map(Damage::Truncate),
        at().prop_map(Damage::Behead),
        (at(), 1..30u128).prop_map(|(a, n)| Damage::Rename(a, n)),
        at().prop_map(Damage::Misplace),
        (at(), 1..30u128, 0..4u32).prop_map(|(a, n, b)| Damage::Point(a, n, b)),
    ]
}

fn apply(messages: &mut Vec<Message>, damage: &Damage) {
    let len = messages.len();
    if len == 0 {
        return;
    }
    match damage {
        Damage::Drop(at) => drop(messages.remove(at.index(len))),
        Damage::Repeat(from, to) => {
            messages.insert(to.index(len), messages[from.index(len)].clone());
        }
        Damage::Swap(a, b) => messages.swap(a.index(len), b.index(len)),
        Damage::Reverse => messages.reverse(),
        Damage::Truncate(at) => messages.truncate(at.index(len)),
        Damage::Behead(at) => drop(messages.drain(..at.index(len))),
        Damage::Rename(at, n) => match &mut messages[at.index(len)] {
            Message::User(m) => m.id = id(*n),
            Message::Assistant(m) => m.id = id(*n),
            Message::ToolResult(m) => m.id = id(*n),
            Message::Note(m) => m.id = id(*n),
            _ => {}
        },
        Damage::Misplace(at) => match &mut messages[at.index(len)] {
            Message::User(m) => m.content.push(tool_call("t")),
            Message::ToolResult(m) => m.content.push(tool_call("t")),
            Message::Note(m) => m.content.push(tool_call("t")),
            _ => {}
        },
        Damage::Point(at, n, block) => {
            if let Message::ToolResult(m) = &mut messages[at.index(len)] {
                m.call = call(*n, *block);
            }
        }
    }
}

/// A valid history; `turns` says for each turn how many calls its answer makes.
fn history(turns: &[Option<u32>]) -> Vec<Message> {
    let mut messages = vec![user(1)];
    for turn in turns {
        let n = messages.len() as u128 + 1;
        match turn {
            None if n.is_multiple_of(2) => messages.push(user(n)),
            None => messages.push(note(n, &[])),
            Some(calls) => {
                messages.push(answer(n, *calls));
                let results = (1..=*calls).map(|block| result(n + u128::from(block), call(n, block)));
                messages.extend(results);
            }
        }
    }
    messages
}

/// What says whether a message survived: its role and content, since its id may have been renamed
/// and misplaced calls turned into text.
fn essence(message: &Message) -> Option<(&'static str, String)> {
    let text = message.content().iter().map(|block| match block {
        ContentBlock::ToolCall(call) if message.role() != "assistant" => call.name.clone() + " {}",
        ContentBlock::ToolCall(call) => format!("call {}", call.name),
        other => other.as_text().unwrap_or_default().to_owned(),
    });
    (message.role() != "toolResult").then(|| (message.role(), text.collect()))
}

fn turns() -> impl Strategy<Value = Vec<Option<u32>>> {
    prop::collection::vec(prop::option::weighted(0.7, 0..4u32), 0..8)
}

proptest! {
    #[test]
    fn a_valid_history_is_left_alone(turns in turns()) {
        let messages = history(&turns);
        prop_assert_eq!(broken_rule(&messages.iter().collect::<Vec<_>>()), None);
        prop_assert_eq!(load(messages.clone()), (messages, vec![]));
    }

    #[test]
    fn any_damage_is_repaired(turns in turns(), damages in prop::collection::vec(damage(), 1..8)) {
        let mut messages = history(&turns);
        damages.iter().for_each(|damage| apply(&mut messages, damage));

        let mut ids = IdSource::seeded(7);
        let (transcript, repairs) = Transcript::load(messages.clone(), &mut ids, 1_000);
        let loaded = list(&transcript);
        prop_assert_eq!(broken_rule(&loaded.iter().collect::<Vec<_>>()), None);
        prop_assert!(transcript.open_turn().is_none());

        // Loading it again changes nothing.
        let (again, none) = Transcript::load(loaded.clone(), &mut ids, 1_000);
        prop_assert_eq!(none, vec![]);
        prop_assert!(again == transcript);

        // Without repairs nothing was changed, and the other way round.
        prop_assert_eq!(repairs.is_empty(), loaded == messages);

        // Nothing but results and exact duplicates is lost, and what stays keeps its order.
        let mut kept = Vec::new();
        let mut first: Vec<&Message> = Vec::new();
        for message in &messages {
            let repeated = first.iter().find(|m| m.id() == message.id());
            if repeated.is_some_and(|m| *m == message) {
                continue;
            }
            if repeated.is_none() {
                first.push(message);
            }
            kept.extend(essence(message));
        }
        let opened: HashSet<MessageId> = repairs
            .iter()
            .filter_map(|repair| match repair {
                Repair::InsertedOpening { id } => Some(*id),
                _ => None,
            })
            .collect();
        let found = loaded.iter().filter(|m| !opened.contains(&m.id())).filter_map(essence);
        prop_assert_eq!(found.collect::<Vec<_>>(), kept);
    }
}
