//! Cases 1 to 45 of the specification's list: histories, arguments, cancel and lifetime.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Waker},
};

use agent_core::{
    AgentEvent, BlockStart, CallOptions, Effects, Hook, HookFuture, ModelEvent, ModelVerdict, OnFailure, ProviderError,
    ProviderErrorKind, RawJson, RunFacts, StopReason, ToolCall, ToolOutcome, ToolSet, ToolVerdict,
};
use agent_loop::{Concurrency, Conversation, Ending, Queue, Run, RunSettings, StopCause};
use agent_testkit::{Gate, MemoryJournal, Reply, ScriptedProvider};
use futures_util::Stream;

use crate::given::{FnTool, agent, block_on, history, json, run};

fn until_stuck(run: &mut Run) -> Vec<AgentEvent> {
    let mut cx = Context::from_waker(Waker::noop());
    let mut events = Vec::new();
    while let Poll::Ready(Some(event)) = std::pin::Pin::new(&mut *run).poll_next(&mut cx) {
        events.push(event);
    }
    events
}

fn gated(name: &str, gate: &Gate) -> FnTool {
    let gate = gate.clone();
    FnTool::new(name, move |_, _| {
        let gate = gate.clone();
        async move {
            gate.pass().await;
            ToolOutcome::Output("ok".into())
        }
    })
}

#[test]
fn case_03_and_04_a_steer_in_a_batch_skips_exactly_the_unstarted_calls_once() {
    for (size, begun) in [(0, 1), (2, 2), (9, 3)] {
        block_on(async {
            let gate = Gate::new();
            let a = gated("a", &gate);
            let calls = Reply::call("a", r#"{"n":1}"#).then_call("a", r#"{"n":2}"#).then_call("a", r#"{"n":3}"#);
            let model = ScriptedProvider::new([calls, Reply::text("Done.")]);
            let mut settings = RunSettings::default();
            settings.concurrency = Concurrency::Batched(size);
            let conversation = Conversation::new(&agent(&model).tool(a.clone()).settings(settings).build().unwrap());
            let mut run = conversation.run("Go").unwrap();
            until_stuck(&mut run);
            run.handle().steer("Stop").unwrap();
            until_stuck(&mut run);
            gate.open();
            run.into_report().await;
            assert_eq!(a.runs(), begun, "size {size}");
            let said = history(&conversation);
            let skipped = said.iter().filter(|line| line.contains("sent a new message first")).count();
            assert_eq!(skipped, 3 - begun, "{said:?}");
            assert_eq!(said.iter().filter(|line| line.starts_with("toolResult")).count(), 3, "{said:?}");
        });
    }
}

#[test]
fn case_05_a_cancel_while_calls_arrive_answers_them_and_runs_none() {
    block_on(async {
        let gate = Gate::new();
        let a = FnTool::says("a", "ok");
        let model = ScriptedProvider::new([Reply::call("a", "{}").then_call("a", "{}").wait_after(5, &gate)]);
        let conversation = Conversation::new(&agent(&model).tool(a.clone()).build().unwrap());
        let mut run = conversation.run("Go").unwrap();
        until_stuck(&mut run);
        run.handle().cancel();
        let report = run.into_report().await;
        assert!(matches!(report.ending, Ending::Cancelled));
        assert_eq!(a.runs(), 0);
        let said = history(&conversation);
        assert!(said[2..].iter().all(|line| line == "toolResult! Not run: the user cancelled the run."), "{said:?}");
        assert!(said.len() > 2, "{said:?}");
    });
}

#[test]
fn case_07_and_21_a_cut_off_answer_runs_its_whole_calls_and_no_half_ones() {
    block_on(async {
        let a = FnTool::says("a", "ok");
        let cut = Reply::call("a", r#"{"n":1}"#).then_call("a", r#"{"n":"#).stop(StopReason::MaxTokens);
        let model = ScriptedProvider::new([cut, Reply::text("Done.")]);
        let conversation = Conversation::new(&agent(&model).tool(a.clone()).build().unwrap());
        let (_, report) = run(&conversation, "Go").await;
        assert!(matches!(report.ending, Ending::Completed), "the loop goes on");
        assert_eq!(a.runs(), 1);
        let said = history(&conversation);
        assert_eq!(said[2], "toolResult ok");
        assert!(said[3].contains("cut off; send smaller ones"), "{said:?}");
    });
}

#[test]
fn case_07_a_call_that_was_cut_before_its_arguments_does_not_run_without_any() {
    block_on(async {
        let a = FnTool::says("a", "ok");
        let events = [
            ModelEvent::BlockStart { block: 0, start: BlockStart::ToolCall { name: "a".into(), vendor_id: None } },
            ModelEvent::Stop { reason: StopReason::MaxTokens, detail: None },
        ];
        let model = ScriptedProvider::new([Reply::events(events), Reply::text("Done.")]);
        let conversation = Conversation::new(&agent(&model).tool(a.clone()).build().unwrap());
        run(&conversation, "Go").await;
        assert_eq!(a.runs(), 0);
        assert!(history(&conversation)[2].contains("cut off"), "{:?}", history(&conversation));
    });
}

/// Stops the run before its second model call.
struct StopsSecond;

impl Hook for StopsSecond {
    fn before_model<'a>(
        &'a self,
        run: &'a RunFacts,
        _: &'a CallOptions,
        _: &'a ToolSet,
    ) -> HookFuture<'a, ModelVerdict> {
        let verdict = if run.turn == 1 { ModelVerdict::Stop("enough".into()) } else { ModelVerdict::Go };
        Box::pin(std::future::ready(Ok(verdict)))
    }
}

#[test]
fn case_08_a_stop_after_a_tool_turn_leaves_a_history_that_goes_on() {
    block_on(async {
        let model = ScriptedProvider::new([Reply::call("a", "{}"), Reply::text("Later.")]);
        let agent = agent(&model).tool(FnTool::says("a", "ok")).hook(Arc::new(StopsSecond), OnFailure::Deny);
        let conversation = Conversation::new(&agent.build().unwrap());
        let (_, report) = run(&conversation, "Go").await;
        assert!(matches!(&report.ending, Ending::Stopped(StopCause::Hook(why)) if why == "enough"));
        let (_, report) = run(&conversation, "Go on").await;
        assert_eq!(report.final_text(), "Later.", "the strict model took the history");
    });
}

#[test]
fn case_12_events_without_a_start_are_a_message_and_without_a_stop_an_error() {
    block_on(async {
        let text = |stop: bool| {
            let mut events = vec![
                ModelEvent::BlockStart { block: 0, start: BlockStart::Text },
                ModelEvent::TextDelta { block: 0, text: "Hi".into() },
            ];
            if stop {
                events.push(ModelEvent::Stop { reason: StopReason::EndTurn, detail: None });
            }
            Reply::events(events)
        };
        let model = ScriptedProvider::new([text(true), text(false)]);
        let conversation = Conversation::new(&agent(&model).build().unwrap());
        let (lines, _) = run(&conversation, "Go").await;
        assert_eq!(lines.iter().filter(|line| *line == "messageStart assistant").count(), 1);
        let (lines, report) = run(&conversation, "Again").await;
        assert!(matches!(&report.ending, Ending::Failed(_)), "half a text is no answer: {lines:#?}");
        assert_eq!(history(&conversation)[3], "assistant Hi", "what was shown is kept");
    });
}

#[test]
fn case_22_to_27_arguments_are_checked_and_the_model_is_told_what_is_wrong() {
    let table = [
        ("", true, "ok"),
        ("null", true, "ok"),
        (r#"{"n":1}"#, true, "ok"),
        (r#"{"n":"2"}"#, true, "ok"),
        (r#"{"n":"#, false, "cut off"),
        (r#""{\"n\":1}""#, false, "a JSON string, not a JSON object"),
        ("[1]", false, "a JSON array, not a JSON object"),
        (r#"{"n":1,}"#, false, "not valid JSON"),
        (r#"{"n":"many"}"#, false, "/n: is a string, and has to be integer"),
        (r#"{"m":1}"#, false, "`m`, which does not exist"),
    ];
    for (arguments, runs, told) in table {
        block_on(async {
            let schema = r#"{"type":"object","properties":{"n":{"type":"integer"}},"additionalProperties":false}"#;
            let a = FnTool::says("a", "ok").schema(schema);
            let model = ScriptedProvider::new([Reply::call("a", arguments), Reply::text("Done.")]);
            let conversation = Conversation::new(&agent(&model).tool(a.clone()).build().unwrap());
            let (lines, report) = run(&conversation, "Go").await;
            assert!(matches!(report.ending, Ending::Completed));
            assert_eq!(a.runs(), usize::from(runs), "{arguments}");
            assert!(history(&conversation)[2].contains(told), "{arguments}: {:?}", history(&conversation));
            // Every call has all four events, whether it ran or not.
            let count = |what: &str| lines.iter().filter(|line| line.starts_with(what)).count();
            assert_eq!((count("toolStart"), count("toolEnd"), count("messageEnd toolResult")), (1, 1, 1), "{lines:#?}");
        });
    }
}

#[test]
fn case_27_a_missing_field_is_named() {
    block_on(async {
        let a = FnTool::says("a", "ok").schema(r#"{"type":"object","required":["path"]}"#);
        let model = ScriptedProvider::new([Reply::call("a", "{}"), Reply::text("Done.")]);
        let conversation = Conversation::new(&agent(&model).tool(a.clone()).build().unwrap());
        run(&conversation, "Go").await;
        assert_eq!(a.runs(), 0);
        assert!(history(&conversation)[2].contains("no field `path`"), "{:?}", history(&conversation));
    });
}

#[test]
fn an_unknown_tool_is_answered_and_coercions_are_told() {
    block_on(async {
        let a = FnTool::says("a", "ok").schema(r#"{"type":"object","properties":{"n":{"type":"integer"}}}"#);
        let model =
            ScriptedProvider::new([Reply::call("b", "{}").then_call("a", r#"{"n":"5"}"#), Reply::text("Done.")]);
        let conversation = Conversation::new(&agent(&model).tool(a).build().unwrap());
        let (events, _) = conversation.run("Go").unwrap().collect().await;
        assert_eq!(history(&conversation)[2], "toolResult! there is no tool `b`");
        let mended = events.iter().find_map(|event| match event {
            AgentEvent::ToolStart { name, coercions, arguments, .. } if name == "a" => {
                Some((coercions.len(), arguments.get().to_owned()))
            }
            _ => None,
        });
        assert_eq!(mended, Some((1, r#"{"n":5}"#.to_owned())));
    });
}

/// Rewrites the arguments of every call.
struct Rewrites;

impl Hook for Rewrites {
    fn before_tool<'a>(
        &'a self,
        _: &'a RunFacts,
        _: agent_core::CallId,
        _: &'a ToolCall,
        _: &'a RawJson,
    ) -> HookFuture<'a, ToolVerdict> {
        Box::pin(std::future::ready(Ok(ToolVerdict::Modify(json(r#"{"n":2}"#)))))
    }
}

#[test]
fn case_28_the_start_shows_the_arguments_that_the_tool_gets() {
    block_on(async {
        let model = ScriptedProvider::new([Reply::call("a", r#"{"n":1}"#), Reply::text("Done.")]);
        let a = FnTool::new("a", |arguments, _| std::future::ready(ToolOutcome::Output(arguments.get().into())));
        let agent = agent(&model).tool(a).hook(Arc::new(Rewrites), OnFailure::Deny).build().unwrap();
        let conversation = Conversation::new(&agent);
        let (lines, _) = run(&conversation, "Go").await;
        assert!(lines.contains(&r#"toolStart a {"n":2}"#.to_owned()), "{lines:#?}");
        assert_eq!(history(&conversation)[2], r#"toolResult {"n":2}"#);
    });
}

#[test]
fn case_29_a_cancel_during_a_backoff_ends_at_once_and_nothing_is_tried_again() {
    block_on(async {
        let busy = Reply::error(ProviderError::new(ProviderErrorKind::Overloaded, "busy"));
        let model = ScriptedProvider::new([busy, Reply::text("Too late")]);
        let conversation = Conversation::new(&agent(&model).build().unwrap());
        let mut run = conversation.run("Go").unwrap();
        let events = until_stuck(&mut run);
        assert!(events.iter().any(|event| matches!(event, AgentEvent::Retry { .. })));
        run.handle().cancel();
        let (events, report) = run.collect().await;
        assert!(matches!(report.ending, Ending::Cancelled));
        assert!(!events.iter().any(|event| matches!(event, AgentEvent::Retry { .. })));
        assert_eq!(model.sent().len(), 1);
    });
}

#[test]
fn case_31_a_cancel_that_a_provider_reports_as_an_error_is_a_cancel() {
    block_on(async {
        let model = ScriptedProvider::new([Reply::text("Hel").error_after(3, ProviderError::cancelled())]);
        let conversation = Conversation::new(&agent(&model).build().unwrap());
        let (_, report) = run(&conversation, "Go").await;
        assert!(matches!(report.ending, Ending::Cancelled));
        assert_eq!(report.stop_reason, Some(StopReason::Cancelled));
    });
}

#[test]
fn case_32_a_cancel_before_any_output_leaves_no_marker() {
    block_on(async {
        let model = ScriptedProvider::new([Reply::hang()]);
        let conversation = Conversation::new(&agent(&model).build().unwrap());
        let mut run = conversation.run("Go").unwrap();
        until_stuck(&mut run);
        run.handle().cancel();
        assert!(matches!(run.into_report().await.ending, Ending::Cancelled));
        assert_eq!(history(&conversation), ["user Go"]);
    });
}

#[test]
fn case_33_what_is_queued_survives_a_cancel_and_a_restart_and_is_heard_next() {
    block_on(async {
        let journal = MemoryJournal::new();
        let model = ScriptedProvider::new([Reply::hang(), Reply::text("One."), Reply::text("Two.")]);
        let agent = agent(&model).build().unwrap();
        let conversation = Conversation::new(&agent).journal(Arc::new(journal.clone()));
        let mut run = conversation.run("Go").unwrap();
        until_stuck(&mut run);
        let handle = run.handle();
        handle.steer("Hurry").unwrap();
        let taken_back = handle.follow_up("Never mind").unwrap();
        let edited = handle.follow_up("And than?").unwrap();
        until_stuck(&mut run);
        handle.withdraw(taken_back).unwrap();
        handle.edit(Queue::FollowUp, edited, "And then?").unwrap();
        handle.cancel();
        assert!(matches!(run.into_report().await.ending, Ending::Cancelled));
        let queued: Vec<_> = conversation.queued().iter().map(|one| (one.queue, one.message.text())).collect();
        assert_eq!(queued, [(Queue::Steer, "Hurry".to_owned()), (Queue::FollowUp, "And then?".to_owned())]);

        let conversation = Conversation::from_journal(&agent, Arc::new(journal)).await.unwrap();
        assert_eq!(conversation.queued().len(), 2);
        let report = conversation.run("Again").unwrap().into_report().await;
        assert!(matches!(report.ending, Ending::Completed));
        let expected = ["user Go", "user Again", "user Hurry", "assistant One.", "user And then?", "assistant Two."];
        assert_eq!(history(&conversation), expected);
        assert!(conversation.queued().is_empty());
    });
}

#[test]
fn case_35_a_dropped_run_drops_its_tools() {
    struct Guard(Arc<AtomicBool>);
    impl Drop for Guard {
        fn drop(&mut self) {
            self.0.store(true, Ordering::SeqCst);
        }
    }
    let dropped = Arc::new(AtomicBool::new(false));
    let flag = dropped.clone();
    let a = FnTool::new("a", move |_, _| {
        let guard = Guard(flag.clone());
        async move {
            std::future::pending::<()>().await;
            drop(guard);
            ToolOutcome::Output("never".into())
        }
    });
    let model = ScriptedProvider::new([Reply::call("a", "{}")]);
    let conversation = Conversation::new(&agent(&model).tool(a).build().unwrap());
    let mut run = conversation.run("Go").unwrap();
    until_stuck(&mut run);
    assert!(!dropped.load(Ordering::SeqCst));
    drop(run);
    assert!(dropped.load(Ordering::SeqCst));
}

/// Never answers at one point.
struct Waits(&'static str);

impl Waits {
    fn at<'a, T: Send + 'a>(&self, point: &str, fine: T) -> HookFuture<'a, T> {
        if self.0 == point { Box::pin(std::future::pending()) } else { Box::pin(std::future::ready(Ok(fine))) }
    }
}

impl Hook for Waits {
    fn before_model<'a>(&'a self, _: &'a RunFacts, _: &'a CallOptions, _: &'a ToolSet) -> HookFuture<'a, ModelVerdict> {
        self.at("before_model", ModelVerdict::Go)
    }

    fn before_tool<'a>(
        &'a self,
        _: &'a RunFacts,
        _: agent_core::CallId,
        _: &'a ToolCall,
        _: &'a RawJson,
    ) -> HookFuture<'a, ToolVerdict> {
        self.at("before_tool", ToolVerdict::Allow)
    }

    fn after_tool<'a>(
        &'a self,
        _: &'a RunFacts,
        _: agent_core::CallId,
        _: &'a ToolCall,
        output: agent_core::ToolOutput,
    ) -> HookFuture<'a, agent_core::ToolOutput> {
        self.at("after_tool", output)
    }
}

#[test]
fn case_40_a_hook_that_still_waits_at_a_cancel_denies_or_withholds() {
    for (point, expected) in [
        ("before_model", None),
        ("before_tool", Some("toolResult! Not run: the user cancelled the run.")),
        ("after_tool", Some("toolResult! The output is withheld: a check of it failed.")),
    ] {
        block_on(async {
            let model = ScriptedProvider::new([Reply::call("a", "{}")]);
            let a = FnTool::says("a", "secret").effects(Effects::exclusive("x"));
            let agent = agent(&model).tool(a).hook(Arc::new(Waits(point)), OnFailure::Deny).build().unwrap();
            let conversation = Conversation::new(&agent);
            let mut run = conversation.run("Go").unwrap();
            until_stuck(&mut run);
            run.handle().cancel();
            let report = run.into_report().await;
            assert!(matches!(report.ending, Ending::Cancelled), "{point}");
            assert_eq!(history(&conversation).get(2).map(String::as_str), expected, "{point}");
        });
    }
}
