//! Which tools run when; timeouts, the grace period, and what the model is shown of an output.

use std::{
    sync::{Arc, Mutex},
    task::{Context, Poll, Waker},
    time::Duration,
};

use agent_core::{AgentEvent, Effects, ToolOutcome};
use agent_loop::{Agent, Concurrency, Conversation, Ending, Limit, Run, RunSettings, StopCause};
use agent_testkit::{FnProvider, Gate, PausedTimer, Reply, ScriptedProvider};
use futures_util::Stream;

use crate::given::{FnTool, agent, block_on, history, options, run};

fn until_stuck(run: &mut Run) -> Vec<AgentEvent> {
    let mut cx = Context::from_waker(Waker::noop());
    let mut events = Vec::new();
    while let Poll::Ready(Some(event)) = std::pin::Pin::new(&mut *run).poll_next(&mut cx) {
        events.push(event);
    }
    events
}

/// A tool, and the key that it has for itself.
type Call = (&'static str, Option<&'static str>);

/// The names of the tools that begin whenever nothing else moves; then the oldest of those that run is let through.
fn waves(concurrency: Concurrency, calls: &[Call]) -> Vec<String> {
    let gates: Arc<Mutex<Vec<(String, Gate)>>> = Arc::default();
    let mut settings = RunSettings::default();
    settings.concurrency = concurrency;
    let reply = calls.iter().fold(Reply::empty(), |reply, (name, _)| reply.then_call(*name, "{}"));
    let model = ScriptedProvider::new([reply, Reply::text("Done.")]);
    let mut builder = agent(&model).settings(settings);
    for (name, key) in calls {
        let (gates, own) = (gates.clone(), (*name).to_owned());
        let tool = FnTool::new(name, move |_, _| {
            let gate = Gate::new();
            gates.lock().unwrap().push((own.clone(), gate.clone()));
            async move {
                gate.pass().await;
                ToolOutcome::Output("ok".into())
            }
        });
        let effects = key.map_or_else(Effects::shared, Effects::exclusive);
        builder = builder.tool(tool.effects(effects));
    }
    let mut run = Conversation::new(&builder.build().unwrap()).run("Go").unwrap();
    let (mut waves, mut seen) = (Vec::new(), 0);
    loop {
        until_stuck(&mut run);
        let running: Vec<_> = gates.lock().unwrap().clone();
        let begun: Vec<_> = running[seen..].iter().map(|(name, _)| name.clone()).collect();
        seen = running.len();
        waves.push(begun.join(" "));
        match running.iter().find(|(_, gate)| !gate.is_open()) {
            Some((_, gate)) => gate.open(),
            None => return waves,
        }
    }
}

#[test]
fn calls_run_beside_each_other_as_their_effects_allow() {
    let by_effects = Concurrency::Effects { at_most: 16 };
    let table: [(Concurrency, &[Call], &[&str]); 8] = [
        (by_effects, &[("a", None), ("b", None), ("c", None)], &["a b c", "", "", ""]),
        (by_effects, &[("a", Some("x")), ("b", Some("x")), ("c", Some("x"))], &["a", "b", "c", ""]),
        (by_effects, &[("a", Some("x")), ("b", Some("y")), ("c", Some("x"))], &["a b", "c", "", ""]),
        (by_effects, &[("a", Some("x")), ("b", None), ("c", Some("x")), ("d", None)], &["a b d", "c", "", "", ""]),
        (Concurrency::Effects { at_most: 2 }, &[("a", None), ("b", None), ("c", None)], &["a b", "c", "", ""]),
        (Concurrency::Sequential, &[("a", None), ("b", None), ("c", None)], &["a", "b", "c", ""]),
        (Concurrency::Batched(2), &[("a", None), ("b", None), ("c", None)], &["a b", "", "c", ""]),
        (Concurrency::Batched(0), &[("a", None), ("b", None)], &["a", "b", ""]),
    ];
    for (concurrency, calls, expected) in table {
        assert_eq!(waves(concurrency, calls), expected, "{concurrency:?} {calls:?}");
    }
}

#[test]
fn four_edits_of_one_file_in_one_answer_lose_nothing() {
    block_on(async {
        for _ in 0..50 {
            let file = Arc::new(Mutex::new(String::new()));
            let shared = file.clone();
            let edit = FnTool::new("edit", move |arguments, _| {
                let file = shared.clone();
                async move {
                    // Reads, waits, writes: two beside each other lose one.
                    let before = file.lock().unwrap().clone();
                    tokio::task::yield_now().await;
                    *file.lock().unwrap() = format!("{before}{}", arguments.get());
                    ToolOutcome::Output("edited".into())
                }
            });
            let calls = (0..4).fold(Reply::empty(), |reply, n| reply.then_call("edit", format!("{{\"n\":{n}}}")));
            let model = ScriptedProvider::new([calls, Reply::text("Done.")]);
            let edit = edit.effects(Effects::exclusive("a.txt"));
            let conversation = Conversation::new(&agent(&model).tool(edit).build().unwrap());
            run(&conversation, "Go").await;
            assert_eq!(*file.lock().unwrap(), r#"{"n":0}{"n":1}{"n":2}{"n":3}"#);
        }
    });
}

fn timed(tool: FnTool, change: impl FnOnce(&mut RunSettings)) -> (Conversation, Run, PausedTimer) {
    let timer = PausedTimer::at(1_000);
    let model =
        FnProvider::new(|call| if call.view.len() == 1 { Reply::call("a", "{}") } else { Reply::text("Done.") });
    let mut settings = RunSettings::default();
    (settings.tool_ms, settings.grace_ms) = (5_000, 1_000);
    change(&mut settings);
    let agent = Agent::builder(model, options(), timer.clone()).tool(tool).settings(settings).build().unwrap();
    let conversation = Conversation::new(&agent);
    let run = conversation.run("Go").unwrap();
    (conversation, run, timer)
}

fn polite() -> FnTool {
    FnTool::new("a", |_, context| async move {
        context.cancel.cancelled().await;
        ToolOutcome::Output("half of it".into())
    })
}

fn deaf() -> FnTool {
    FnTool::new("a", |_, _| std::future::pending())
}

#[test]
fn a_tool_that_takes_too_long_is_told_and_then_abandoned() {
    block_on(async {
        let (conversation, mut run, timer) = timed(polite(), |_| {});
        until_stuck(&mut run);
        timer.advance(Duration::from_secs(5));
        let report = run.into_report().await;
        assert!(matches!(report.ending, Ending::Completed));
        assert_eq!(history(&conversation)[2], "toolResult! half of it\nStopped: it did not finish within 5000 ms.");

        let (conversation, mut run, timer) = timed(deaf(), |_| {});
        until_stuck(&mut run);
        timer.advance(Duration::from_secs(5));
        until_stuck(&mut run);
        timer.advance(Duration::from_secs(1));
        let report = run.into_report().await;
        assert!(matches!(report.ending, Ending::Completed), "the run goes on");
        assert!(history(&conversation)[2].starts_with("toolResult! Abandoned"), "{:?}", history(&conversation));
    });
}

#[test]
fn a_tool_without_a_limit_is_left_alone_and_one_with_its_own_is_not() {
    block_on(async {
        for (effects, over) in [(Effects::shared().timeout_ms(0), false), (Effects::shared().timeout_ms(10), true)] {
            let (_, mut run, timer) = timed(polite().effects(effects), |_| {});
            until_stuck(&mut run);
            timer.advance(Duration::from_secs(3_600));
            let events = until_stuck(&mut run);
            assert_eq!(events.iter().any(|event| matches!(event, AgentEvent::AgentEnd { .. })), over);
        }
    });
}

#[test]
fn cancel_and_the_wall_clock_do_not_wait_for_a_tool_that_does_not_listen() {
    block_on(async {
        let (conversation, mut run, timer) = timed(deaf(), |_| {});
        until_stuck(&mut run);
        run.handle().cancel();
        until_stuck(&mut run);
        timer.advance(Duration::from_secs(1));
        let report = run.into_report().await;
        assert!(matches!(report.ending, Ending::Cancelled));
        let said = history(&conversation);
        assert!(said[2].starts_with("toolResult! Abandoned") && said[3].starts_with("note(cancelled)"), "{said:?}");

        let (conversation, mut run, timer) = timed(deaf(), |settings| settings.limits.wall_ms = Some(2_000));
        until_stuck(&mut run);
        timer.advance(Duration::from_secs(2));
        until_stuck(&mut run);
        timer.advance(Duration::from_secs(1));
        let report = run.into_report().await;
        assert!(
            matches!(report.ending, Ending::Stopped(StopCause::Limit(Limit::WallClock(2_000)))),
            "{:?}",
            report.ending
        );
        assert!(history(&conversation)[3].starts_with("note(limit)"), "{:?}", history(&conversation));
    });
}

#[test]
fn of_a_long_output_the_model_is_shown_head_and_tail_and_the_event_has_the_whole() {
    block_on(async {
        let text = format!("first line\n{}\nlast line: error", "é".repeat(50_000));
        let whole = text.clone();
        let a = FnTool::new("a", move |_, _| std::future::ready(ToolOutcome::Output(whole.as_str().into())));
        let model = ScriptedProvider::new([Reply::call("a", "{}"), Reply::text("Done.")]);
        let a = a.effects(Effects::shared().output_cap(1_001));
        let conversation = Conversation::new(&agent(&model).tool(a).build().unwrap());
        let (events, _) = conversation.run("Go").unwrap().collect().await;
        let ended = events.iter().find_map(|event| match event {
            AgentEvent::ToolEnd { output, .. } => output.content[0].as_text().map(str::to_owned),
            _ => None,
        });
        assert_eq!(ended.as_deref(), Some(text.as_str()));
        let shown = conversation.messages().get(2).unwrap().text();
        assert!(shown.starts_with("first line\n") && shown.ends_with("last line: error"), "{shown}");
        assert!(shown.len() < 1_100 && shown.contains("bytes left out"), "{} bytes", shown.len());
    });
}

#[test]
fn a_tool_that_ends_the_turn_ends_the_run_unless_it_failed() {
    block_on(async {
        for (tool, turns) in [(FnTool::says("a", "sent"), 1), (FnTool::fails("a", "no"), 2)] {
            let model = ScriptedProvider::new([Reply::call("a", "{}"), Reply::text("Done.")]);
            let tool = tool.effects(Effects::shared().ends_turn());
            let conversation = Conversation::new(&agent(&model).tool(tool).build().unwrap());
            let (_, report) = run(&conversation, "Go").await;
            assert!(matches!(report.ending, Ending::Completed));
            assert_eq!(report.turns, turns);
        }
    });
}

#[test]
fn progress_and_partial_output_reach_the_consumer_in_order() {
    block_on(async {
        let a = FnTool::new("a", |_, context| async move {
            context.progress("half");
            tokio::task::yield_now().await;
            context.partial("so far".into());
            ToolOutcome::Output("all".into())
        });
        let model = ScriptedProvider::new([Reply::call("a", "{}"), Reply::text("Done.")]);
        let (lines, _) = run(&Conversation::new(&agent(&model).tool(a).build().unwrap()), "Go").await;
        let from = lines.iter().position(|line| line.starts_with("toolStart")).unwrap();
        assert_eq!(lines[from + 1..from + 4], ["toolProgress half", "toolPartial", "toolEnd all"]);
    });
}

#[test]
fn an_output_of_just_the_cap_is_shown_whole() {
    block_on(async {
        for (length, whole) in [(1_000, true), (1_001, false)] {
            let text = "x".repeat(length);
            let a = FnTool::new("a", move |_, _| std::future::ready(ToolOutcome::Output(text.as_str().into())));
            let model = ScriptedProvider::new([Reply::call("a", "{}"), Reply::text("Done.")]);
            let a = a.effects(Effects::shared().output_cap(1_000));
            let conversation = Conversation::new(&agent(&model).tool(a).build().unwrap());
            run(&conversation, "Go").await;
            let shown = conversation.messages().get(2).unwrap().text();
            assert_eq!(shown == "x".repeat(length), whole, "{length}");
        }
    });
}

#[test]
fn a_cancel_is_a_cancel_also_where_there_is_a_wall_clock() {
    block_on(async {
        let (conversation, mut run, timer) = timed(deaf(), |settings| settings.limits.wall_ms = Some(60_000));
        until_stuck(&mut run);
        run.handle().cancel();
        until_stuck(&mut run);
        timer.advance(Duration::from_secs(1));
        let report = run.into_report().await;
        assert!(matches!(report.ending, Ending::Cancelled), "{:?}", report.ending);
        let said = history(&conversation);
        assert!(said[2].starts_with("toolResult! Abandoned") && said[3].starts_with("note(cancelled)"), "{said:?}");
        // What never began says so in the same words.
        let model = ScriptedProvider::new([Reply::call("a", "{}").then_call("a", r#"{"n":2}"#)]);
        let mut settings = RunSettings::default();
        (settings.concurrency, settings.grace_ms) = (Concurrency::Sequential, 0);
        settings.limits.wall_ms = Some(60_000);
        let agent = agent(&model).tool(deaf()).settings(settings).build().unwrap();
        let conversation = Conversation::new(&agent);
        let mut run = conversation.run("Go").unwrap();
        until_stuck(&mut run);
        run.handle().cancel();
        run.into_report().await;
        assert_eq!(history(&conversation)[3], "toolResult! Not run: the user cancelled the run.");
    });
}
