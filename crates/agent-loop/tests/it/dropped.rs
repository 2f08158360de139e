//! The table of what dropping a run leaves, and of readers that sleep and leave.

use std::{
    sync::Arc,
    task::{Context, Poll, Waker},
    time::Duration,
};

use agent_core::{AgentEvent, Budget, ModelFacts, Money, Price, Rates, RecordBody, RunEnding, StopReason, Usage};
use agent_loop::{Agent, Conversation, Ending, Run};
use agent_testkit::{Gate, MemoryJournal, PausedTimer, Reply, ScriptedProvider};
use futures_util::{FutureExt, Stream};

use crate::given::{FnTool, agent, block_on, history, options, said};

fn poll(run: &mut Run) -> Poll<Option<AgentEvent>> {
    std::pin::Pin::new(run).poll_next(&mut Context::from_waker(Waker::noop()))
}

fn until_stuck(run: &mut Run) -> Vec<AgentEvent> {
    let mut events = Vec::new();
    while let Poll::Ready(Some(event)) = poll(run) {
        events.push(event);
    }
    events
}

fn priced() -> ModelFacts {
    let mut facts = ModelFacts::new("toy", "toy-1");
    facts.price = Some(Price::new(Rates::new(Money::from_micro_dollars(1), Money::from_micro_dollars(1))));
    facts
}

#[test]
fn dropped_before_it_was_polled_nothing_happened() {
    let model = ScriptedProvider::new([Reply::text("Hello!")]);
    let journal = MemoryJournal::new();
    let conversation = Conversation::new(&agent(&model).build().unwrap()).journal(Arc::new(journal.clone()));
    drop(conversation.run("Hi").unwrap());
    assert!(journal.is_empty() && conversation.messages().is_empty() && model.sent().is_empty());
    assert!(conversation.state().is_ok(), "the conversation is free again");
}

#[test]
fn dropped_while_it_is_sent_the_reservation_counts_whole() {
    block_on(async {
        let model = ScriptedProvider::new([Reply::hang(), Reply::text("Hello!")]);
        let budget = Budget::new(Money::from_micro_dollars(1_000_000));
        let journal = MemoryJournal::new();
        let agent = agent(&model).facts(priced()).budget(budget.clone()).build().unwrap();
        let conversation = Conversation::new(&agent).journal(Arc::new(journal.clone()));
        let mut run = conversation.run("Hi").unwrap();
        until_stuck(&mut run);
        let reserved = budget.reserved();
        assert!(reserved > Money::ZERO && budget.spent() == Money::ZERO);
        drop(run);
        assert_eq!((budget.reserved(), budget.spent()), (Money::ZERO, reserved), "at once");
        assert_eq!(conversation.spent(), reserved, "the conversation says the same");
        let report = conversation.resume().unwrap().into_report().await;
        assert!(matches!(report.ending, Ending::Completed));
        assert_eq!(budget.spent(), conversation.spent());
        assert_eq!(history(&conversation), ["user Hi", "assistant Hello!"]);
    });
}

#[test]
fn dropped_while_a_tool_runs_an_intent_is_left_and_the_model_is_told() {
    block_on(async {
        let model = ScriptedProvider::new([Reply::call("write", "{}"), Reply::text("I see.")]);
        let write = FnTool::new("write", |_, _| std::future::pending()).effects(agent_core::Effects::exclusive("disk"));
        let conversation = Conversation::new(&agent(&model).tool(write.clone()).build().unwrap());
        let mut run = conversation.run("Go").unwrap();
        until_stuck(&mut run);
        assert_eq!(write.runs(), 1);
        drop(run);
        let report = conversation.resume().unwrap().into_report().await;
        assert!(matches!(report.ending, Ending::Completed));
        assert_eq!(write.runs(), 1, "it does not run twice");
        assert!(history(&conversation)[2].starts_with("toolResult! Interrupted"), "{:?}", history(&conversation));
    });
}

#[test]
fn cancelled_while_it_streams_everything_is_kept() {
    block_on(async {
        let gate = Gate::new();
        let mut usage = Usage::ZERO;
        usage.input = 7;
        let model = ScriptedProvider::new([Reply::text("Hello, world!").chunks(5).usage(usage).wait_after(4, &gate)]);
        let journal = MemoryJournal::new();
        let conversation = Conversation::new(&agent(&model).build().unwrap()).journal(Arc::new(journal.clone()));
        let mut run = conversation.run("Hi").unwrap();
        until_stuck(&mut run);
        run.handle().cancel();
        let report = run.into_report().await;
        assert!(matches!(report.ending, Ending::Cancelled));
        assert_eq!(report.stop_reason, Some(StopReason::Cancelled));
        assert!("Hello, world!".starts_with(&report.final_text()) && !report.final_text().is_empty());
        let records = journal.records().unwrap();
        assert!(matches!(&records.last().unwrap().body, RecordBody::RunEnded(RunEnding::Cancelled)));
        assert_eq!(conversation.messages().len(), 2);
    });
}

#[test]
fn a_reader_that_leaves_stops_nothing() {
    block_on(async {
        let model = ScriptedProvider::new([Reply::call("a", "{}"), Reply::text("Done.")]);
        let conversation = Conversation::new(&agent(&model).tool(FnTool::says("a", "ok")).build().unwrap());
        let (events, work) = conversation.run("Go").unwrap().split(1);
        drop(events);
        let report = work.await;
        assert!(matches!(report.ending, Ending::Completed));
        assert_eq!(report.final_text(), "Done.");
    });
}

#[test]
fn a_reader_that_sleeps_holds_the_run_and_loses_nothing() {
    block_on(async {
        let replies = || [Reply::call("a", "{}"), Reply::text("A long answer in pieces").chunks(3)];
        let agent = agent(&ScriptedProvider::new(replies())).tool(FnTool::says("a", "ok")).build().unwrap();
        let (whole, _) = Conversation::new(&agent).run("Go").unwrap().collect().await;

        let model = ScriptedProvider::new(replies());
        let agent = crate::given::agent(&model).tool(FnTool::says("a", "ok")).build().unwrap();
        let (mut events, work) = Conversation::new(&agent).run("Go").unwrap().split(2);
        let mut work = Box::pin(work);
        assert!(work.as_mut().now_or_never().is_none(), "it waits for its reader");
        assert!(model.sent().is_empty(), "two events are little");
        let mut read = Vec::new();
        let read_all = async {
            while let Some(event) = events.next().await {
                read.push(event);
            }
        };
        let (report, ()) = tokio::join!(work, read_all);
        assert!(matches!(report.ending, Ending::Completed));
        assert_eq!(crate::given::trace(&read), crate::given::trace(&whole));
        assert_eq!(read.len(), whole.len());
    });
}

#[test]
fn a_cancel_does_not_wait_for_a_reader_that_sleeps() {
    block_on(async {
        let model = ScriptedProvider::new([Reply::text("A long answer in many pieces").chunks(1)]);
        let conversation = Conversation::new(&agent(&model).build().unwrap());
        let run = conversation.run("Go").unwrap();
        let handle = run.handle();
        let (mut events, work) = run.split(8);
        let mut work = Box::pin(work);
        assert!(work.as_mut().now_or_never().is_none());
        assert!(conversation.state().is_err(), "the run has the conversation");
        handle.cancel();
        assert!(work.as_mut().now_or_never().is_none(), "its last events wait for the reader");
        assert_eq!(conversation.last_ending(), Some(RunEnding::Cancelled), "the run itself is over");
        let mut read = Vec::new();
        let read_all = async {
            while let Some(event) = events.next().await {
                read.push(event);
            }
        };
        let (report, ()) = tokio::join!(work, read_all);
        assert!(matches!(report.ending, Ending::Cancelled));
        assert!(matches!(read.last(), Some(AgentEvent::AgentEnd { .. })), "{:?}", read.last());
    });
}

#[test]
fn a_deadline_does_not_wait_for_a_reader_that_sleeps() {
    block_on(async {
        let timer = PausedTimer::at(0);
        let model = ScriptedProvider::new([Reply::text("A long answer in many pieces").chunks(1)]);
        let mut settings = agent_loop::RunSettings::default();
        settings.limits.wall_ms = Some(1_000);
        let agent = Agent::builder(model, options(), timer.clone()).settings(settings).build().unwrap();
        let conversation = Conversation::new(&agent);
        let (events, work) = conversation.run("Go").unwrap().split(8);
        let mut work = Box::pin(work);
        assert!(work.as_mut().now_or_never().is_none());
        timer.advance(Duration::from_secs(2));
        assert!(work.as_mut().now_or_never().is_none(), "its last events wait for the reader");
        assert_eq!(conversation.last_ending(), Some(RunEnding::Stopped("limit of 1000 ms".into())));
        drop(events);
        assert!(matches!(work.await.ending, Ending::Stopped(_)));
    });
}

#[test]
fn messages_can_be_seen_while_a_run_is_on_and_a_second_run_is_refused() {
    block_on(async {
        let gate = Gate::new();
        let model = ScriptedProvider::new([Reply::text("Hello!").wait(&gate)]);
        let conversation = Conversation::new(&agent(&model).build().unwrap());
        let mut run = conversation.run("Hi").unwrap();
        until_stuck(&mut run);
        let shown: Vec<_> = conversation.messages().iter().map(|message| said(message)).collect();
        assert_eq!(shown, ["user Hi"]);
        assert!(conversation.run("Again").is_err());
        assert!(conversation.resume().is_err());
        gate.open();
        assert_eq!(run.final_text().await.unwrap(), "Hello!");
        assert!(conversation.resume().is_err(), "there is nothing to resume");
    });
}
