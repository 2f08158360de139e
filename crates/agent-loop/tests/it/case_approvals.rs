//! Approvals fail closed: what nobody agreed to in time, in order, and as it was shown, does not run.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Waker},
    time::Duration,
};

use agent_core::{
    AgentEvent, ApprovalAnswer, BoxFuture, CallId, CallIntent, Effects, Hook, HookFuture, OnFailure, RawJson, RunFacts,
    ToolCall, ToolOutcome, ToolVerdict,
};
use agent_loop::{
    Agent, AgentBuilder, ApprovalMode, Approver, Concurrency, Conversation, Ending, ResumeError, Run, RunReport,
    RunSettings,
};
use agent_testkit::{FnProvider, MemoryJournal, PausedTimer, Reply};
use futures_util::Stream;

use crate::given::{FnTool, Notes, block_on, history, json, options};

/// Says what a function says, after it has waited so many times.
struct Judge {
    say: fn(&str, &RawJson) -> ToolVerdict,
    waits: fn(&str) -> usize,
}

impl Judge {
    fn new(say: fn(&str, &RawJson) -> ToolVerdict) -> Arc<Self> {
        Arc::new(Self { say, waits: |_| 0 })
    }
}

impl Hook for Judge {
    fn before_tool<'a>(
        &'a self,
        _: &'a RunFacts,
        _: CallId,
        call: &'a ToolCall,
        arguments: &'a RawJson,
    ) -> HookFuture<'a, ToolVerdict> {
        Box::pin(async move {
            for _ in 0..(self.waits)(&call.name) {
                tokio::task::yield_now().await;
            }
            Ok((self.say)(&call.name, arguments))
        })
    }
}

fn asks_about_danger(name: &str, _: &RawJson) -> ToolVerdict {
    if name == "danger" { ToolVerdict::Ask("sure?".into()) } else { ToolVerdict::Allow }
}

/// A tool that notes what it was given; it has the world for itself.
fn noting(name: &'static str, notes: &Notes) -> FnTool {
    let notes = notes.clone();
    let tool = FnTool::new(name, move |arguments: RawJson, _| {
        notes.add(format!("{name} {}", arguments.get()));
        std::future::ready(ToolOutcome::Output("ok".into()))
    });
    tool.effects(Effects::exclusive("world"))
}

/// An agent whose model makes these calls and is done then.
fn calls(calls: &'static [(&str, &str)], notes: &Notes, timer: &PausedTimer, settings: RunSettings) -> AgentBuilder {
    let model = FnProvider::new(move |call| match call.view.len() {
        1 => calls.iter().fold(Reply::empty(), |reply, (name, arguments)| reply.then_call(*name, *arguments)),
        _ => Reply::text("Done."),
    });
    Agent::builder(model, options(), timer.clone())
        .tool(noting("danger", notes))
        .tool(noting("next", notes))
        .settings(settings)
}

fn pending(report: &RunReport) -> Vec<CallIntent> {
    match &report.ending {
        Ending::Paused { approvals, .. } => approvals.clone(),
        other => panic!("{other:?}"),
    }
}

fn until_stuck(run: &mut Run) -> Vec<AgentEvent> {
    let mut cx = Context::from_waker(Waker::noop());
    let mut events = Vec::new();
    while let Poll::Ready(Some(event)) = std::pin::Pin::new(&mut *run).poll_next(&mut cx) {
        events.push(event);
    }
    events
}

fn asked(events: &[AgentEvent]) -> Vec<CallId> {
    let asked = events.iter().filter_map(|event| match event {
        AgentEvent::ApprovalAsked { call, .. } => Some(*call),
        _ => None,
    });
    asked.collect()
}

fn waiting() -> RunSettings {
    let mut settings = RunSettings::default();
    settings.approvals = ApprovalMode::Wait;
    settings
}

#[test]
fn an_answer_after_the_time_for_it_is_none_whoever_looks_first() {
    // Between runs: nobody has noticed yet that the time is over.
    block_on(async {
        let (notes, timer, mut settings) = (Notes::default(), PausedTimer::at(1_000), RunSettings::default());
        settings.approval_ms = Some(5_000);
        let agent = calls(&[("danger", "{}")], &notes, &timer, settings)
            .hook(Judge::new(asks_about_danger), OnFailure::Deny)
            .build()
            .unwrap();
        let conversation = Conversation::new(&agent);
        let call = pending(&conversation.run("Go").unwrap().into_report().await)[0].call;
        timer.advance(Duration::from_millis(5_000));
        let late = conversation.answer(call, ApprovalAnswer::Allow).await;
        assert!(matches!(late, Err(ResumeError::NotAsked { .. })), "{late:?}");
        conversation.resume().unwrap().into_report().await;
        assert_eq!(history(&conversation)[2], "toolResult! Not run: nobody agreed in time.");
        assert!(notes.take().is_empty());
    });
    // During a run that was not polled meanwhile.
    block_on(async {
        let (notes, timer, mut settings) = (Notes::default(), PausedTimer::at(1_000), waiting());
        settings.approval_ms = Some(5_000);
        let agent = calls(&[("danger", "{}")], &notes, &timer, settings)
            .hook(Judge::new(asks_about_danger), OnFailure::Deny)
            .build()
            .unwrap();
        let conversation = Conversation::new(&agent);
        let mut run = conversation.run("Go").unwrap();
        let call = asked(&until_stuck(&mut run))[0];
        timer.advance(Duration::from_millis(5_000));
        run.handle().answer(call, ApprovalAnswer::Allow).unwrap();
        run.into_report().await;
        assert_eq!(history(&conversation)[2], "toolResult! Not run: nobody agreed in time.");
        assert!(notes.take().is_empty());
    });
}

#[test]
fn a_call_behind_one_that_is_asked_about_keeps_its_place() {
    // Its check may be the faster one, and the question may still be on its way to the journal.
    for concurrency in [Concurrency::Effects { at_most: 16 }, Concurrency::Sequential, Concurrency::Batched(1)] {
        for slow in [0, 3] {
            block_on(async {
                let (notes, timer, mut settings) = (Notes::default(), PausedTimer::at(0), RunSettings::default());
                settings.concurrency = concurrency;
                let waits: fn(&str) -> usize = if slow == 0 { |_| 0 } else { |name| 3 * usize::from(name == "danger") };
                let judge = Arc::new(Judge { say: asks_about_danger, waits });
                let agent = calls(&[("danger", "{}"), ("next", "{}")], &notes, &timer, settings)
                    .hook(judge, OnFailure::Deny)
                    .build()
                    .unwrap();
                let journal = MemoryJournal::new();
                let conversation = Conversation::new(&agent).journal(Arc::new(journal.clone()));
                let report = conversation.run("Go").unwrap().into_report().await;
                assert!(notes.take().is_empty(), "{concurrency:?} {slow}");
                let call = pending(&report)[0].call;

                let other = Conversation::from_journal(&agent, Arc::new(journal)).await.unwrap();
                other.answer(call, ApprovalAnswer::Allow).await.unwrap();
                other.resume().unwrap().into_report().await;
                assert_eq!(notes.take(), ["danger {}", "next {}"], "{concurrency:?} {slow}");
            });
        }
    }
}

#[test]
fn what_somebody_agrees_to_is_what_they_were_shown_and_what_runs() {
    block_on(async {
        let (notes, timer) = (Notes::default(), PausedTimer::at(0));
        let narrows = Judge::new(|_, arguments| match arguments.get().contains("all") {
            true => ToolVerdict::Modify(json(r#"{"target":"one"}"#)),
            false => ToolVerdict::Allow,
        });
        let builder = |with_hooks: bool| {
            let builder = calls(&[("danger", r#"{"target":"all"}"#)], &notes, &timer, RunSettings::default());
            let asks = Judge::new(asks_about_danger);
            // In the other process a hook would say something else; it is not asked any more.
            let changes = Judge::new(|_, _| ToolVerdict::Modify(json(r#"{"target":"other"}"#)));
            match with_hooks {
                true => builder.hook(asks, OnFailure::Deny).hook(narrows.clone(), OnFailure::Deny),
                false => builder.hook(changes, OnFailure::Deny),
            }
        };
        let journal = MemoryJournal::new();
        let conversation = Conversation::new(&builder(true).build().unwrap()).journal(Arc::new(journal.clone()));
        let intents = pending(&conversation.run("Go").unwrap().into_report().await);
        assert_eq!(intents[0].arguments.get(), r#"{"target":"one"}"#);

        let agent = builder(false).build().unwrap();
        let other = Conversation::from_journal(&agent, Arc::new(journal)).await.unwrap();
        other.answer(intents[0].call, ApprovalAnswer::Allow).await.unwrap();
        let (events, _) = other.resume().unwrap().collect().await;
        assert_eq!(notes.take(), [r#"danger {"target":"one"}"#]);
        let shown = events.iter().find_map(|event| match event {
            AgentEvent::ToolStart { arguments, .. } => Some(arguments.get()),
            _ => None,
        });
        assert_eq!(shown, Some(r#"{"target":"one"}"#));
    });
}

#[test]
fn of_two_that_are_asked_about_each_has_its_own_answer() {
    block_on(async {
        let (notes, timer) = (Notes::default(), PausedTimer::at(0));
        let asks = Judge::new(|name, _| ToolVerdict::Ask(format!("{name}?")));
        let agent = calls(&[("danger", "{}"), ("next", "{}")], &notes, &timer, RunSettings::default())
            .hook(asks, OnFailure::Deny)
            .build()
            .unwrap();
        let conversation = Conversation::new(&agent);
        let intents = pending(&conversation.run("Go").unwrap().into_report().await);
        let reasons: Vec<_> = intents.iter().map(|intent| intent.reason.clone().unwrap()).collect();
        assert_eq!(reasons, ["danger?", "next?"]);
        conversation.answer(intents[1].call, ApprovalAnswer::Allow).await.unwrap();
        // The one behind is agreed to, and waits for its turn.
        let report = conversation.resume().unwrap().into_report().await;
        let left: Vec<_> = pending(&report).iter().map(|intent| intent.call).collect();
        assert_eq!(left, [intents[0].call]);
        assert!(notes.take().is_empty());
        conversation.answer(intents[0].call, ApprovalAnswer::Deny("no".into())).await.unwrap();
        let report = conversation.resume().unwrap().into_report().await;
        assert!(matches!(report.ending, Ending::Completed), "{:?}", report.ending);
        assert_eq!(notes.take(), ["next {}"]);
        assert_eq!(history(&conversation)[2..4], ["toolResult! Not run, denied: no", "toolResult ok"]);
    });
}

/// Never answers, and says when nobody waits for it any more.
struct Undecided(Arc<AtomicBool>);

impl Approver for Undecided {
    fn answer(&self, _: CallIntent) -> BoxFuture<'static, ApprovalAnswer> {
        struct Guard(Arc<AtomicBool>);
        impl Drop for Guard {
            fn drop(&mut self) {
                self.0.store(true, Ordering::SeqCst);
            }
        }
        let guard = Guard(self.0.clone());
        Box::pin(async move {
            std::future::pending::<()>().await;
            drop(guard);
            ApprovalAnswer::Allow
        })
    }
}

#[test]
fn the_first_answer_counts_and_takes_the_question_back() {
    for (first, ran, result) in [
        (ApprovalAnswer::Allow, vec!["danger {}"], "toolResult ok"),
        (ApprovalAnswer::Deny("no".into()), vec![], "toolResult! Not run, denied: no"),
    ] {
        block_on(async {
            let (notes, timer, gone) = (Notes::default(), PausedTimer::at(0), Arc::new(AtomicBool::new(false)));
            let agent = calls(&[("danger", "{}")], &notes, &timer, waiting())
                .hook(Judge::new(asks_about_danger), OnFailure::Deny)
                .approver(Undecided(gone.clone()))
                .build()
                .unwrap();
            let conversation = Conversation::new(&agent);
            let mut run = conversation.run("Go").unwrap();
            let call = asked(&until_stuck(&mut run))[0];
            let handle = run.handle();
            handle.answer(call, first).unwrap();
            handle.answer(call, ApprovalAnswer::AllowWith(json(r#"{"target":"all"}"#))).unwrap();
            assert!(!gone.load(Ordering::SeqCst));
            let report = run.into_report().await;
            assert!(matches!(report.ending, Ending::Completed));
            assert!(gone.load(Ordering::SeqCst), "the approver is not left waiting");
            assert_eq!(
                (notes.take(), history(&conversation)[2].as_str()),
                (ran.into_iter().map(str::to_owned).collect(), result)
            );
        });
    }
}

#[test]
fn an_answer_for_a_call_that_is_not_asked_about_is_refused() {
    block_on(async {
        let (notes, timer) = (Notes::default(), PausedTimer::at(0));
        let agent = calls(&[("next", "{}")], &notes, &timer, RunSettings::default()).build().unwrap();
        let conversation = Conversation::new(&agent);
        let foreign = CallId::new(agent_core::MessageId::from_bits(7), 0);
        let refused = conversation.answer(foreign, ApprovalAnswer::Allow).await;
        assert!(matches!(refused, Err(ResumeError::NotAsked { call }) if call == foreign), "{refused:?}");
        conversation.run("Go").unwrap().into_report().await;
        assert!(matches!(conversation.resume(), Err(ResumeError::NothingToResume)));
    });
}

#[test]
fn a_loop_that_was_found_is_told_although_the_run_paused_meanwhile() {
    block_on(async {
        let (notes, timer) = (Notes::default(), PausedTimer::at(0));
        let same = &[("next", "{}"), ("next", "{}"), ("next", "{}"), ("danger", "{}")];
        let agent = calls(same, &notes, &timer, RunSettings::default())
            .hook(Judge::new(asks_about_danger), OnFailure::Deny)
            .build()
            .unwrap();
        let journal = MemoryJournal::new();
        let conversation = Conversation::new(&agent).journal(Arc::new(journal.clone()));
        let call = pending(&conversation.run("Go").unwrap().into_report().await)[0].call;
        let other = Conversation::from_journal(&agent, Arc::new(journal)).await.unwrap();
        other.answer(call, ApprovalAnswer::Allow).await.unwrap();
        let report = other.resume().unwrap().into_report().await;
        assert!(matches!(report.ending, Ending::Completed), "{:?}", report.ending);
        let told = history(&other).iter().filter(|line| line.starts_with("note(loop)")).count();
        assert_eq!(told, 1, "{:?}", history(&other));
    });
}

#[test]
fn a_tool_whose_effects_cannot_be_said_does_not_run() {
    struct Unsure(FnTool);
    impl agent_core::Tool for Unsure {
        fn spec(&self) -> &agent_core::ToolSpec {
            self.0.spec()
        }

        fn effects(&self, _: &RawJson) -> Effects {
            panic!("what do I know")
        }

        fn call(&self, arguments: RawJson, context: agent_core::ToolContext) -> BoxFuture<'_, ToolOutcome> {
            self.0.call(arguments, context)
        }
    }
    block_on(async {
        let model =
            FnProvider::new(|call| if call.view.len() == 1 { Reply::call("a", "{}") } else { Reply::text("Done.") });
        let a = FnTool::says("a", "ok");
        let agent = Agent::builder(model, options(), PausedTimer::at(0)).tool(Unsure(a.clone())).build().unwrap();
        let conversation = Conversation::new(&agent);
        conversation.run("Go").unwrap().into_report().await;
        assert_eq!((a.runs(), history(&conversation)[2].contains("panicked: what do I know")), (0, true));
    });
}
