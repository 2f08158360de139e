//! What a model is shown: each edit and error, marks, and the fold under random edits.
#![expect(clippy::indexing_slicing, reason = "what fails here fails the test")]
#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use agent_core::{ContextView, Message, MessageId, NoteMessage, Transcript, ViewEdit, ViewError};
use proptest::prelude::*;

use crate::{
    given::{answer, call, id, note, result, tool_call, user},
    transcript::broken_rule,
};

fn of(messages: Vec<Message>) -> Transcript {
    let mut transcript = Transcript::new();
    for message in messages {
        transcript.append(message).unwrap();
    }
    transcript
}

/// 1 user, 2 answer, 3 user, 4 answer with two calls, 5 and 6 their results, 7 answer.
fn conversation() -> Transcript {
    of(vec![user(1), answer(2, 0), user(3), answer(4, 2), result(5, call(4, 1)), result(6, call(4, 2)), answer(7, 0)])
}

fn hide(first: u128, last: u128) -> ViewEdit {
    ViewEdit::Hide { first: id(first), last: id(last) }
}

fn summarise(first: u128, last: u128, summary: NoteMessage) -> ViewEdit {
    ViewEdit::Summarise { first: id(first), last: id(last), summary }
}

fn summary(n: u128, text: &str) -> NoteMessage {
    NoteMessage::new(id(n), "summary").content(vec![text.into()])
}

fn cut(result: u128, text: &str) -> ViewEdit {
    ViewEdit::CutOutput { result: id(result), content: vec![text.into()] }
}

fn ids(view: &ContextView) -> Vec<u128> {
    view.messages().map(|m| m.id().bits()).collect()
}

fn marks(view: &ContextView) -> Vec<u128> {
    view.entries().iter().map(|entry| entry.mark()).collect()
}

#[test]
fn edits() {
    let check = |edits: &[ViewEdit], expected: &[u128]| {
        let mut view = ContextView::of(&conversation()).unwrap();
        edits.iter().for_each(|edit| view.apply(edit).unwrap());
        assert_eq!(ids(&view), expected);
        assert_eq!((view.len(), view.is_empty()), (expected.len(), expected.is_empty()));
    };
    check(&[], &[1, 2, 3, 4, 5, 6, 7]);
    check(&[hide(1, 2)], &[3, 4, 5, 6, 7]);
    check(&[hide(4, 6)], &[1, 2, 3, 7]);
    check(&[hide(7, 7)], &[1, 2, 3, 4, 5, 6]);
    check(&[hide(1, 7)], &[]);
    check(&[hide(3, 6), hide(2, 2)], &[1, 7]);
    check(&[summarise(1, 3, summary(9, "s"))], &[9, 4, 5, 6, 7]);
    check(&[summarise(1, 7, summary(9, "s"))], &[9]);
    check(&[summarise(1, 2, summary(9, "s")), hide(3, 6)], &[9, 7]);
    check(&[summarise(1, 3, summary(9, "s")), summarise(9, 6, summary(10, "t"))], &[10, 7]);
    check(&[cut(5, "less")], &[1, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn a_cut_shows_other_content_and_leaves_the_transcript() {
    let transcript = conversation();
    let mut view = ContextView::of(&transcript).unwrap();
    view.apply(&cut(5, "less")).unwrap();
    let shown: Vec<String> = view.messages().map(|m| m.text()).collect();
    assert_eq!(shown[4..6], ["less", "result 6"]);
    assert_eq!(transcript.message(id(5)).map(|m| m.text()), Some("result 5".to_owned()));
    let versions: Vec<bool> = view.entries().iter().map(|entry| entry.version() != 0).collect();
    assert_eq!(versions, [false, false, false, false, true, false, false]);
    // Everything but the content stays.
    let Message::ToolResult(cut) = &**view.messages().nth(4).unwrap() else { panic!("no result") };
    assert_eq!((cut.call, cut.tool_name.as_str()), (call(4, 1), "tool"));
}

#[test]
fn errors() {
    use ViewError as E;
    let check = |edit: &ViewEdit, expected: ViewError| {
        let mut view = ContextView::of(&conversation()).unwrap();
        let (before, old_marks) = (view.clone(), marks(&view));
        assert_eq!(view.apply(edit), Err(expected));
        assert_eq!((&view, marks(&view)), (&before, old_marks));
    };
    check(&hide(1, 99), E::NotShown { id: id(99) });
    check(&hide(99, 1), E::NotShown { id: id(99) });
    check(&cut(99, "x"), E::NotShown { id: id(99) });
    check(&hide(3, 2), E::Reversed { first: id(3), last: id(2) });
    check(&hide(3, 4), E::SplitsTurn { id: id(5) });
    check(&hide(4, 5), E::SplitsTurn { id: id(6) });
    check(&hide(5, 7), E::SplitsTurn { id: id(5) });
    check(&hide(6, 7), E::SplitsTurn { id: id(6) });
    check(&hide(5, 5), E::SplitsTurn { id: id(5) });
    check(&hide(1, 1), E::StartsWithAssistant { id: id(2) });
    check(&hide(1, 3), E::StartsWithAssistant { id: id(4) });
    check(&cut(1, "x"), E::NoOutput { id: id(1) });
    check(&cut(4, "x"), E::NoOutput { id: id(4) });
    let bad = |reason| E::BadReplacement { reason };
    let calls = vec!["x".into(), tool_call("t")];
    let holds_call = ViewEdit::CutOutput { result: id(5), content: calls.clone() };
    check(&holds_call, bad("an output holds a tool call"));
    let empty = NoteMessage::new(id(9), "summary");
    check(&summarise(1, 2, empty.clone()), bad("a summary needs content"));
    check(&summarise(1, 2, empty.content(calls)), bad("a summary holds a tool call"));
    let taken = bad("a summary has the id of a message that is shown");
    check(&summarise(1, 2, summary(7, "s")), taken.clone());
    check(&summarise(1, 2, summary(1, "s")), taken);
    check(&summarise(3, 4, summary(9, "s")), E::SplitsTurn { id: id(5) });
}

#[test]
fn catching_up() {
    let mut transcript = of(vec![note(1, &[]), user(2)]);
    let mut view = ContextView::of(&transcript).unwrap();
    assert_eq!(ids(&view), [2]); // a note without content is not shown
    transcript.append(answer(3, 1)).unwrap();
    let before = view.clone();
    assert_eq!(view.catch_up(&transcript), Err(ViewError::OpenTurn));
    assert_eq!(ContextView::of(&transcript), Err(ViewError::OpenTurn));
    assert_eq!(view, before);
    transcript.append(result(4, call(3, 1))).unwrap();
    view.catch_up(&transcript).unwrap();
    view.catch_up(&transcript).unwrap();
    assert_eq!(ids(&view), [2, 3, 4]);
    assert_eq!((ids(&before), before.len()), (vec![2], 1));

    let other = of(vec![user(7), user(8), user(9), user(10), user(11)]);
    let shorter = of(vec![user(2)]);
    for wrong in [&other, &shorter, &Transcript::new()] {
        assert_eq!(view.catch_up(wrong), Err(ViewError::OtherTranscript));
        assert_eq!(ids(&view), [2, 3, 4]);
    }
}

/// An answer may follow an answer in a transcript, so hiding everything before it is no reason to
/// show it first.
#[test]
fn an_empty_view_does_not_go_on_with_an_answer() {
    let mut transcript = of(vec![user(1), answer(2, 0)]);
    let mut view = ContextView::of(&transcript).unwrap();
    view.apply(&hide(1, 2)).unwrap();
    transcript.append(note(3, &[])).unwrap();
    transcript.append(answer(4, 0)).unwrap();
    let refused = Err(ViewError::StartsWithAssistant { id: id(4) });
    assert_eq!(view.catch_up(&transcript), refused);
    assert_eq!(view.catch_up(&transcript), refused);
    assert!(view.is_empty());
}

#[test]
fn marks_change_from_the_cut_on() {
    let view = ContextView::of(&conversation()).unwrap();
    let mut edited = view.clone();
    edited.apply(&cut(5, "less")).unwrap();
    let (a, b) = (marks(&view), marks(&edited));
    assert_eq!(a[..4], b[..4]);
    assert!(a[4..].iter().zip(&b[4..]).all(|(a, b)| a != b));
    // The same cut in another way gives the same marks, another cut others.
    let mut again = edited.clone();
    again.apply(&cut(5, "less")).unwrap();
    assert_eq!(marks(&again), b);
    again.apply(&cut(5, "other")).unwrap();
    assert!(marks(&again)[4..].iter().zip(&b[4..]).all(|(a, b)| a != b));
    // Cutting an output to what it was is still a change of what is encoded.
    assert_eq!(view, view.clone());
    assert_ne!(view, edited);
}

#[test]
fn marks_tell_summaries_with_one_id_apart() {
    let of_summary = |text: &str| {
        let mut view = ContextView::of(&conversation()).unwrap();
        view.apply(&summarise(1, 3, summary(9, text))).unwrap();
        view
    };
    let (a, b) = (of_summary("one"), of_summary("two"));
    assert_eq!(marks(&a), marks(&of_summary("one")));
    assert!(marks(&a).iter().zip(marks(&b)).all(|(a, b)| *a != b));
    assert_ne!(a.entries().get(0).map(|entry| entry.version()), Some(0));
}

#[test]
fn words() {
    let check = |error: ViewError, text: &str| assert_eq!(error.to_string(), text);
    let bits = id(5);
    check(ViewError::NotShown { id: bits }, &format!("the view shows no message {bits}"));
    check(
        ViewError::SplitsTurn { id: bits },
        &format!("the span would part the tool result {bits} from its call; take whole turns"),
    );
    check(
        ViewError::BadReplacement { reason: "a summary needs content" },
        "the edit puts in a message that cannot stand there: a summary needs content",
    );
}

#[derive(Debug, Clone)]
enum Step {
    User,
    Turn(u32),
    HiddenNote,
    Edit(prop::sample::Index, prop::sample::Index, u8),
}

fn step() -> impl Strategy<Value = Step> {
    let at = any::<prop::sample::Index>;
    prop_oneof![
        2 => Just(Step::User),
        3 => (0..3u32).prop_map(Step::Turn),
        1 => Just(Step::HiddenNote),
        5 => (at(), at(), 0..4u8).prop_map(|(a, b, kind)| Step::Edit(a, b, kind)),
    ]
}

/// An edit over messages that are or were there; it may be wrong.
fn edit(known: &[MessageId], a: usize, b: usize, kind: u8, new: u128) -> ViewEdit {
    let (first, last) = (known[a.min(b)], known[a.max(b)]);
    match kind {
        0 => ViewEdit::Hide { first, last },
        1 => ViewEdit::Hide { first: last, last: first },
        2 => ViewEdit::Summarise { first, last, summary: summary(new, "s") },
        _ => ViewEdit::CutOutput { result: first, content: vec![format!("cut {new}").into()] },
    }
}

proptest! {
    #[test]
    fn stays_valid_and_is_a_fold(steps in prop::collection::vec(step(), 1..40)) {
        let mut transcript = of(vec![user(1)]);
        let mut live = ContextView::of(&transcript).unwrap();
        let mut known = vec![id(1)];
        // The same done later, from the transcript as it was at each point.
        let mut later: Vec<(Transcript, Option<ViewEdit>)> = vec![(transcript.clone(), None)];
        let mut next = 1u128;
        for step in steps {
            next += 10;
            let mut added = Vec::new();
            match step {
                Step::User => added.push(user(next)),
                Step::HiddenNote => added.push(note(next, &[])),
                Step::Turn(calls) => {
                    added.push(answer(next, calls));
                    for block in 1..=calls {
                        added.push(result(next + u128::from(block), call(next, block)));
                    }
                }
                Step::Edit(a, b, kind) => {
                    let (a, b) = (a.index(known.len()), b.index(known.len()));
                    let edit = edit(&known, a, b, kind, next);
                    let before = (live.clone(), marks(&live));
                    match live.apply(&edit) {
                        Ok(()) => {
                            if let ViewEdit::Summarise { summary, .. } = &edit {
                                known.push(summary.id);
                            }
                            later.push((transcript.clone(), Some(edit)));
                        }
                        Err(_) => prop_assert_eq!((live.clone(), marks(&live)), before),
                    }
                }
            }
            if !added.is_empty() {
                let mut grown = transcript.clone();
                for message in added {
                    known.push(message.id());
                    grown.append(message).unwrap();
                }
                let before = (live.clone(), marks(&live));
                match live.catch_up(&grown) {
                    Ok(()) => {
                        transcript = grown;
                        later.push((transcript.clone(), None));
                    }
                    // Only an empty view refuses; nothing has changed then.
                    Err(_) => {
                        prop_assert!(live.is_empty());
                        prop_assert_eq!((live.clone(), marks(&live)), before);
                    }
                }
            }
            let shown: Vec<&Message> = live.messages().map(|m| &**m).collect();
            prop_assert_eq!(broken_rule(&shown), None);
            prop_assert!(shown.iter().all(|m| m.is_shown()));
        }

        let mut rebuilt = ContextView::default();
        for (transcript, edit) in &later {
            rebuilt.catch_up(transcript).unwrap();
            if let Some(edit) = edit {
                rebuilt.apply(edit).unwrap();
            }
        }
        prop_assert_eq!(marks(&rebuilt), marks(&live));
        prop_assert_eq!(&rebuilt, &live);

        // The same mark at a place is the same messages up to it, and the other way round.
        let plain = ContextView::of(&transcript).unwrap();
        let mut same = true;
        for (a, b) in plain.entries().iter().zip(live.entries().iter()) {
            same &= a.message() == b.message() && a.version() == b.version();
            prop_assert_eq!(a.mark() == b.mark(), same);
        }
    }
}
