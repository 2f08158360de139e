//! The machine driven by hand: every step of a turn in its order, as tables.

use std::sync::Arc;

use agent_core::{
    Arguments, AssistantMessage, CallOptions, ContextPlan, Effects, IdSource, ModelFacts, Money, PieceCache, Price,
    ProviderError, ProviderErrorKind, Rates, StopReason, StopVerdict, TokenBound, ToolCall, ToolOutcome, ToolOutput,
    TurnVerdict, Usage, UserMessage,
};
use agent_loop::{
    Begin, CallOutcome, Command, Effect, EffectId, Ending, FailedCall, HookPoint, Hooked, Input, Judgement, Machine,
    MachineSetup, PreparedFacts, RunReport, State, Step,
};

/// A machine with everything switched on.
fn machine(change: impl FnOnce(&mut MachineSetup)) -> Machine {
    let rates = Rates::new(Money::from_micro_dollars(1), Money::from_micro_dollars(1));
    let mut facts = ModelFacts::new("toy", "toy-1");
    facts.price = Some(Price::new(rates));
    let mut setup = MachineSetup::new(CallOptions::new("toy-1").max_output(100), facts);
    (setup.hooks, setup.policy, setup.counter, setup.budget) = (true, true, true, true);
    change(&mut setup);
    let mut ids = IdSource::seeded(1);
    let begin = Begin::Prompt(vec![UserMessage::text(ids.message(0), "Go").into()]);
    Machine::new(Arc::new(setup), State::default(), begin, ids, PieceCache::new(), None, 0)
}

fn name(effect: &Effect) -> String {
    match effect {
        Effect::Append(records) => {
            let kinds: Vec<_> = records.iter().map(|record| record.body.kind().to_owned()).collect();
            format!("append {}", kinds.join(", "))
        }
        Effect::Hook(_, point) => {
            let text = format!("{point:?}");
            format!("hook {}", text.split(['(', ' ']).next().unwrap_or_default())
        }
        other => {
            let text = format!("{other:?}");
            text.split(['(', ' ']).next().unwrap_or_default().to_lowercase()
        }
    }
}

/// What a host does that does what it is told.
fn obey(effect: Effect, answers: &mut Vec<CallOutcome>) -> Input {
    match effect {
        Effect::Append(_) => Input::Appended(Ok(())),
        Effect::Hook(_, HookPoint::Input(message)) => Input::Hooked(Hooked::Input(message, Vec::new())),
        Effect::Hook(_, HookPoint::BeforeTurn) => Input::Hooked(Hooked::Turn(TurnVerdict::Go)),
        Effect::Hook(_, HookPoint::BeforeModel(..)) => Input::Hooked(Hooked::Model(Vec::new(), None)),
        Effect::Hook(_, HookPoint::AfterTool(_, _, output)) => Input::Hooked(Hooked::Output(output)),
        Effect::Hook(_, HookPoint::OnStop) => Input::Hooked(Hooked::Stop(StopVerdict::Accept)),
        Effect::Hook(..) => Input::Hooked(Hooked::Done),
        Effect::Count(_) => Input::Counted(Ok(10)),
        Effect::Context(_) => Input::Planned(Ok(ContextPlan::Keep)),
        Effect::Prepare { .. } => Input::Prepared(Ok(Box::new(PreparedFacts::new(TokenBound::AtMost(50), Some(100))))),
        Effect::Reserve(_) => Input::Reserved(Ok(())),
        Effect::Send { message, .. } => {
            let mut outcome = answers.remove(0);
            if let Some(answer) = &mut outcome.message {
                answer.id = message;
            }
            Input::CallEnded(Box::new(outcome))
        }
        Effect::Judge(call) => Input::Judged(Box::new(Judgement::Run {
            arguments: call.arguments.clone(),
            coercions: Vec::new(),
            effects: Effects::shared(),
            version: "1".into(),
            modified: false,
            ask: None,
        })),
        Effect::Tool(_) => Input::ToolEnded(ToolOutcome::Output(ToolOutput::text("done"))),
        Effect::Sleep(_) => Input::Slept,
        other => panic!("{other:?} is not expected"),
    }
}

fn answer(content: Vec<agent_core::ContentBlock>, stop: StopReason) -> CallOutcome {
    let mut usage = Usage::ZERO;
    (usage.input, usage.output) = (40, 5);
    CallOutcome::answered(AssistantMessage::new(IdSource::seeded(9).message(0), content, stop), usage)
}

fn call(name: &str) -> CallOutcome {
    answer(vec![ToolCall::new(name, Arguments::empty()).into()], StopReason::ToolUse)
}

fn text() -> CallOutcome {
    answer(vec!["Done.".into()], StopReason::EndTurn)
}

fn failed(kind: ProviderErrorKind) -> CallOutcome {
    CallOutcome::failed(None, Usage::ZERO, FailedCall::new(ProviderError::new(kind, "no"), 0, 5_000))
}

/// Drives a machine, and says which effects it asked for, in order.
fn drive(mut machine: Machine, mut answers: Vec<CallOutcome>) -> (Vec<String>, RunReport) {
    let mut effects = Vec::new();
    loop {
        match machine.next() {
            Step::Start(id, effect) => {
                effects.push(name(&effect));
                machine.handle(1, id, obey(effect, &mut answers));
            }
            Step::Settle(_, cost) => effects.push(format!("settle {}", cost.unwrap_or_default())),
            Step::Done(report) => return (effects, *report),
            Step::Idle | Step::WaitUntil(_) => panic!("it waits for nothing: {effects:?}"),
            _ => {}
        }
    }
}

#[test]
fn every_step_of_a_tool_turn_in_its_order() {
    let (effects, report) = drive(machine(|_| {}), vec![call("a"), text()]);
    assert!(matches!(report.ending, Ending::Completed));
    let turn = [
        "hook BeforeTurn",
        "count",
        "context",
        "hook BeforeModel",
        "prepare",
        "reserve",
        "append callStarted",
        "send",
        "append callSettled",
        "settle $0.000045",
    ];
    let begin = ["append conversationStarted", "append runStarted", "hook Input", "append messageAppended"];
    let tools = ["judge", "append toolIntents", "tool", "hook AfterTool", "append toolSettled", "hook AfterTurn"];
    let end = ["hook AfterTurn", "hook OnStop", "append runEnded", "hook Finish"];
    let expected: Vec<&str> = [&begin[..], &turn, &tools, &turn, &end].concat();
    assert_eq!(effects, expected);
}

#[test]
fn what_is_not_there_is_not_asked() {
    let bare = machine(|setup| {
        (setup.hooks, setup.policy, setup.counter, setup.budget) = (false, false, false, false);
    });
    let (effects, _) = drive(bare, vec![text()]);
    let expected = [
        "append conversationStarted",
        "append runStarted",
        "append messageAppended",
        "prepare",
        "append callStarted",
        "send",
        "append callSettled",
        "append runEnded",
    ];
    assert_eq!(effects, expected);
}

#[test]
fn a_retry_is_a_new_reserve_and_a_new_start_of_the_same_request() {
    let bare = machine(|setup| (setup.hooks, setup.policy, setup.counter) = (false, false, false));
    let (effects, report) = drive(bare, vec![failed(ProviderErrorKind::Overloaded), text()]);
    assert!(matches!(report.ending, Ending::Completed));
    let from = effects.iter().position(|effect| effect == "prepare").unwrap();
    let expected = [
        "prepare",
        "reserve",
        "append callStarted",
        "send",
        "append callSettled",
        // Nobody knows whether it was billed: what was reserved counts.
        "settle $0.00015",
        "sleep",
        "reserve",
        "append callStarted",
        "send",
        "append callSettled",
        "settle $0.000045",
        "append runEnded",
    ];
    assert_eq!(effects[from..], expected);
}

/// What each kind of failure comes to when it is the only answer.
#[test]
fn which_failures_are_tried_again() {
    let cases = [
        (ProviderErrorKind::RateLimited, true),
        (ProviderErrorKind::Overloaded, true),
        (ProviderErrorKind::Server, true),
        (ProviderErrorKind::Network, true),
        (ProviderErrorKind::Timeout, true),
        (ProviderErrorKind::Auth, false),
        (ProviderErrorKind::Permission, false),
        (ProviderErrorKind::InvalidRequest, false),
        (ProviderErrorKind::ContextOverflow, false),
        (ProviderErrorKind::Quota, false),
        (ProviderErrorKind::Protocol, false),
    ];
    for (kind, again) in cases {
        let bare = machine(|setup| (setup.hooks, setup.policy, setup.counter) = (false, false, false));
        let (effects, report) = drive(bare, vec![failed(kind), text()]);
        assert_eq!(effects.iter().filter(|effect| *effect == "send").count(), if again { 2 } else { 1 }, "{kind}");
        assert_eq!(matches!(report.ending, Ending::Completed), again, "{kind}");
    }
}

/// A cancel in front of each effect of a whole run: it ends at once, cancelled, with nothing left open.
#[test]
fn a_cancel_at_every_step_ends_the_run() {
    let (effects, _) = drive(machine(|_| {}), vec![call("a"), text()]);
    let whole = effects.iter().filter(|effect| !effect.starts_with("settle")).count();
    let mut endings = Vec::new();
    for at in 0..whole {
        let mut machine = machine(|_| {});
        let mut answers = vec![call("a"), text()];
        let mut seen = 0;
        let report = loop {
            match machine.next() {
                Step::Start(id, effect) => {
                    if seen == at {
                        machine.handle(1, EffectId::NONE, Input::Command(Command::Cancel));
                    }
                    seen += 1;
                    let tool = matches!(effect, Effect::Tool(_));
                    let outcome = match effect {
                        Effect::Send { .. } if seen > at => {
                            let cancelled = FailedCall::new(ProviderError::cancelled(), 1, 0);
                            Input::CallEnded(Box::new(CallOutcome::failed(None, Usage::ZERO, cancelled)))
                        }
                        effect => obey(effect, &mut answers),
                    };
                    assert!(!tool || seen <= at + 1, "a tool began after the cancel at {at}");
                    machine.handle(1, id, outcome);
                }
                Step::Done(report) => break report,
                Step::Idle | Step::WaitUntil(_) => panic!("it waits, cancelled at {at}, in {:?}", machine.phase()),
                _ => {}
            }
        };
        endings.push(match report.ending {
            Ending::Cancelled => "cancelled",
            Ending::Completed => "completed",
            other => panic!("{other:?}, cancelled at {at}"),
        });
        assert!(machine.state().transcript().open_turn().is_none(), "cancelled at {at}");
    }
    let last = endings.iter().rposition(|ending| *ending == "cancelled").unwrap();
    assert!(endings[..=last].iter().all(|ending| *ending == "cancelled"), "{endings:?}");
    assert_eq!(
        endings.len() - last,
        3,
        "only the end of the run, its record and its hooks, is beyond a cancel: {endings:?}"
    );
}
