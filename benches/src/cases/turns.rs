//! A turn of the loop with one tool call: what it costs must not depend on how long the history is.

use std::{
    hint::black_box,
    pin::pin,
    task::{Context, Poll, Waker},
};

use agent_core::{
    Approval, Arguments, AssistantMessage, CallOptions, IdSource, Message, StopReason, ToolCall, ToolResultMessage,
    UserMessage,
};
use agent_loop::{Agent, Conversation, Limits, RunSettings};
use futures_core::Stream;

use super::{Case, PerUnit, VersusFloor};
use crate::agent::{Caller, Note, Still};

macro_rules! after {
    ($name:ident, $turns:literal, $case:literal, $max:expr, $floor:expr) => {
        pub(super) const $name: Case = Case {
            name: $case,
            unit: concat!("turn with a tool call, after ", $turns, " turns"),
            run: |n| turns($turns, n),
            per_unit: PerUnit { lo: 32, hi: 64, max: $max },
            growth: None,
            floor: $floor,
        };
    };
}

/// At most so many tenths of the turn after 10: far below 200 instructions for each message of the history.
const fn at_most(max_tenths: u64) -> Option<VersusFloor> {
    Some(VersusFloor { name: "turn-after-10", max_tenths, routine: true })
}

after!(AFTER_10, 10, "turn-after-10", Some(110_000), None);
after!(AFTER_100, 100, "turn-after-100", None, at_most(11));
after!(AFTER_300, 300, "turn-after-300", None, at_most(11));
after!(AFTER_1000, 1_000, "turn-after-1000", None, at_most(12));
after!(AFTER_5000, 5_000, "turn-after-5000", None, at_most(15));

fn turns(old: u64, n: u64) {
    let mut settings = RunSettings::default();
    settings.limits = Limits::NONE;
    let options = CallOptions::new("bench-1").max_output(100);
    let builder = Agent::builder(Caller::new(n), options, Still).settings(settings);
    let Some(Ok(agent)) = Note::new(Approval::NotNeeded).map(|tool| builder.tool(tool).build()) else { return };
    let (conversation, repairs) = Conversation::from_messages(&agent, history(old));
    assert!(repairs.is_empty(), "the history is whole: {repairs:?}");
    let Ok(run) = conversation.run("Go on") else { return };
    let mut run = pin!(run);
    let mut cx = Context::from_waker(Waker::noop());
    // Nothing in here waits.
    while let Poll::Ready(Some(event)) = run.as_mut().poll_next(&mut cx) {
        black_box(event);
    }
    let (messages, expected) = (conversation.messages().len(), usize::try_from(2 * (old + n) + 3));
    assert_eq!(Ok(messages), expected, "every turn was made");
}

fn history(turns: u64) -> Vec<Message> {
    let mut ids = IdSource::seeded(1);
    let mut messages = vec![UserMessage::text(ids.message(0), "Note all numbers.").into()];
    for turn in 0..turns {
        let call = ToolCall::new("note", Arguments::from_text(format!("{{\"number\":{turn}}}")));
        let answer = AssistantMessage::new(ids.message(0), vec![call.into()], StopReason::ToolUse);
        let call = answer.tool_calls().next().map(|(id, _)| id);
        messages.push(answer.into());
        let result = call.map(|call| ToolResultMessage::new(ids.message(0), call, "note", vec!["noted".into()]));
        messages.extend(result.map(Message::from));
    }
    messages
}
