//! Cases 29 to 45: cancel and lifetime. The numbers are those of `cases.md`.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use agent_core::{
    AgentEvent, Approval, ApprovalAnswer, BlockStart, CallId, CallOptions, CancelToken, Effects, Hook, HookFuture,
    InputVerdict, Message, ModelEvent, ModelVerdict, OnFailure, ProviderError, ProviderErrorKind, RawJson, RunFacts,
    StopReason, StopVerdict, ToolCall, ToolOutcome, ToolOutput, ToolSet, ToolVerdict, TurnVerdict, Usage,
};
use agent_loop::{Agent, ApprovalMode, Concurrency, Conversation, Ending, Queue, ResumeError, RunSettings, StopCause};
use agent_testkit::{FnProvider, Gate, MemoryJournal, PausedTimer, Reply, ScriptedProvider};
use futures_util::FutureExt;

use crate::{
    case_transcript::gated,
    given::{FnTool, agent, block_on, history, options},
    laws::{finish, ran, ran_in_time, until_stuck},
    traces::golden,
};

fn busy() -> ProviderError {
    ProviderError::new(ProviderErrorKind::Overloaded, "busy")
}

/// A tool that listens to nothing.
fn deaf(name: &str) -> FnTool {
    FnTool::new(name, |_, _| std::future::pending())
}

/// A hook that waits at one point, and counts how often it heard of an error.
#[derive(Default)]
struct Waits {
    point: &'static str,
    errors: AtomicUsize,
}

impl Waits {
    fn at(point: &'static str) -> Arc<Self> {
        Arc::new(Self { point, ..Self::default() })
    }

    fn point<'a, T: Send + 'a>(&self, point: &str, fine: T) -> HookFuture<'a, T> {
        if self.point == point {
            return Box::pin(std::future::pending());
        }
        Box::pin(std::future::ready(Ok(fine)))
    }
}

impl Hook for Waits {
    fn on_input<'a>(&'a self, _: &'a RunFacts, _: &'a Message) -> HookFuture<'a, InputVerdict> {
        self.point("on_input", InputVerdict::Pass)
    }

    fn before_turn<'a>(&'a self, run: &'a RunFacts) -> HookFuture<'a, TurnVerdict> {
        self.point(if run.turn == 0 { "before_turn" } else { "between turns" }, TurnVerdict::Go)
    }

    fn before_model<'a>(&'a self, _: &'a RunFacts, _: &'a CallOptions, _: &'a ToolSet) -> HookFuture<'a, ModelVerdict> {
        self.point("before_model", ModelVerdict::Go)
    }

    fn before_tool<'a>(
        &'a self,
        _: &'a RunFacts,
        _: CallId,
        _: &'a ToolCall,
        _: &'a RawJson,
    ) -> HookFuture<'a, ToolVerdict> {
        self.point("before_tool", ToolVerdict::Allow)
    }

    fn after_tool<'a>(
        &'a self,
        _: &'a RunFacts,
        _: CallId,
        _: &'a ToolCall,
        output: ToolOutput,
    ) -> HookFuture<'a, ToolOutput> {
        self.point("after_tool", output)
    }

    fn after_turn<'a>(&'a self, _: &'a RunFacts, _: Option<&'a StopReason>, _: Usage) -> HookFuture<'a, ()> {
        self.point("after_turn", ())
    }

    fn on_error<'a>(&'a self, _: &'a RunFacts, _: ProviderErrorKind, _: &'a str) -> HookFuture<'a, ()> {
        self.errors.fetch_add(1, Ordering::Relaxed);
        self.point("on_error", ())
    }

    fn on_stop<'a>(&'a self, _: &'a RunFacts) -> HookFuture<'a, StopVerdict> {
        self.point("on_stop", StopVerdict::Accept)
    }

    fn finish<'a>(&'a self, _: &'a RunFacts) -> HookFuture<'a, ()> {
        self.point("finish", ())
    }
}

#[test]
fn case_29_a_cancel_during_a_backoff_ends_at_once_as_a_cancel() {
    block_on(async {
        let timer = PausedTimer::at(1_000);
        let model = ScriptedProvider::new([Reply::error(busy()), Reply::text("Too late.")]);
        let built = Agent::builder(model.clone(), options(), timer.clone()).build().unwrap();
        let conversation = Conversation::new(&built);
        let mut run = conversation.run("Go").unwrap();
        let events = until_stuck(&mut run);
        assert_eq!(timer.sleeping(), 1, "it waits before the next attempt");
        run.handle().cancel();
        let ran = finish(&conversation, run, events).await;
        assert!(matches!(ran.report.ending, Ending::Cancelled), "{:?}", ran.report.ending);
        assert_eq!((ran.count("retry"), timer.sleeping()), (1, 0));
        timer.advance(Duration::from_secs(3_600));
        assert_eq!(model.sent().len(), 1);
    });
}

#[test]
fn case_30_a_cancel_during_a_wait_between_turns_ends_at_once() {
    // There is no turn delay; who wants one waits in `before_turn`.
    block_on(async {
        let model = ScriptedProvider::new([Reply::call("a", "{}"), Reply::text("Too late.")]);
        let builder = agent(&model).tool(FnTool::says("a", "A")).hook(Waits::at("between turns"), OnFailure::Deny);
        let conversation = Conversation::new(&builder.build().unwrap());
        let mut run = conversation.run("Go").unwrap();
        let events = until_stuck(&mut run);
        run.handle().cancel();
        // The clock stands still.
        let ran = finish(&conversation, run, events).await;
        assert!(matches!(ran.report.ending, Ending::Cancelled));
        assert_eq!((model.sent().len(), ran.count("turnStart")), (1, 2));
    });
}

#[test]
fn case_31_a_cancel_that_comes_as_an_error_of_the_provider_is_a_cancel() {
    block_on(async {
        let cancelled = ProviderError::cancelled;
        let table = [
            (Reply::error(cancelled()), None, vec!["user Go"]),
            (
                Reply::text("Hel").error_after(3, cancelled()),
                Some(StopReason::Cancelled),
                vec!["user Go", "assistant Hel"],
            ),
            (
                Reply::call("a", "{}").error_after(4, cancelled()),
                Some(StopReason::Cancelled),
                vec!["user Go", "assistant [a]", "toolResult! Not run: the user cancelled the run."],
            ),
        ];
        for (reply, stop_reason, expected) in table {
            let model = ScriptedProvider::new([reply, Reply::text("Too late.")]);
            let hook = Waits::at("");
            let a = FnTool::says("a", "A");
            let builder = agent(&model).tool(a.clone()).hook(hook.clone(), OnFailure::Deny);
            let conversation = Conversation::new(&builder.build().unwrap());
            let ran = ran(&conversation, "Go").await;
            assert!(matches!(ran.report.ending, Ending::Cancelled));
            assert_eq!((ran.report.stop_reason.clone(), ran.count("retry"), a.runs()), (stop_reason, 0, 0));
            assert_eq!(history(&conversation), expected);
            assert_eq!(hook.errors.load(Ordering::Relaxed), 0, "a cancel is no error");
        }
    });
}

#[test]
fn case_32_a_cancel_leaves_a_note_where_tools_ran_and_none_where_nothing_did() {
    block_on(async {
        let note = "note(cancelled) The user cancelled while tools were running.";
        let table: [(Reply, &[&str]); 3] = [
            (Reply::hang(), &["user Go"]),
            (Reply::text("Hello").chunks(3).hang_after(3), &["user Go", "assistant Hel"]),
            (
                Reply::call("a", "{}"),
                &["user Go", "assistant [a]", "toolResult! Not finished: the user cancelled the run.", note],
            ),
        ];
        for (reply, expected) in table {
            let model = ScriptedProvider::new([reply]);
            let builder = agent(&model).tool(gated("a", &Gate::new()));
            let conversation = Conversation::new(&builder.build().unwrap());
            let mut run = conversation.run("Go").unwrap();
            let events = until_stuck(&mut run);
            run.handle().cancel();
            let ran = finish(&conversation, run, events).await;
            assert!(matches!(ran.report.ending, Ending::Cancelled));
            assert_eq!(history(&conversation), expected);
        }
    });
}

#[test]
fn case_33_what_waits_in_queues_when_a_run_is_cancelled_is_heard_next() {
    block_on(async {
        // Put before the cancel, with it, and behind it, while a tool has its grace.
        let timer = PausedTimer::at(1_000);
        let answers = ["One.", "Two.", "Three."].map(Reply::text);
        let model = ScriptedProvider::new([Reply::call("deaf", "{}")].into_iter().chain(answers));
        let built = Agent::builder(model, options(), timer.clone()).tool(deaf("deaf")).build().unwrap();
        let conversation = Conversation::new(&built);
        let mut run = conversation.run("Go").unwrap();
        let mut events = until_stuck(&mut run);
        let handle = run.handle();
        handle.follow_up("Later").unwrap();
        events.extend(until_stuck(&mut run));
        handle.steer("With it").unwrap();
        handle.cancel();
        events.extend(until_stuck(&mut run));
        handle.steer("Behind it").unwrap();
        events.extend(until_stuck(&mut run));
        timer.advance(Duration::from_secs(2));
        let cancelled = finish(&conversation, run, events).await;
        assert!(matches!(cancelled.report.ending, Ending::Cancelled));
        let queued = |of: Queue| conversation.queued().iter().filter(|one| one.queue == of).count();
        assert_eq!((queued(Queue::FollowUp), queued(Queue::Steer)), (1, 2));
        ran(&conversation, "Again").await;
        let said = history(&conversation);
        let heard = ["user Again", "user With it", "assistant One.", "user Behind it", "assistant Two.", "user Later"];
        assert_eq!(said[4..10], heard, "{said:#?}");
        assert!(conversation.queued().is_empty());
    });
}

#[test]
fn case_34_the_work_of_a_split_run_that_is_dropped_leaves_a_conversation_that_works() {
    block_on(async {
        let gate = Gate::new();
        let replies = [Reply::call("a", "{}"), Reply::call("b", "{}"), Reply::text("Done.")];
        let model = ScriptedProvider::new(replies);
        let b = FnTool::says("b", "B");
        let built = agent(&model).tool(gated("a", &gate)).tool(b.clone()).build().unwrap();
        let conversation = Conversation::new(&built);
        let (mut events, work) = conversation.run("Go").unwrap().split(64);
        let mut work = Box::pin(work);
        assert!(work.as_mut().now_or_never().is_none());
        drop(work);
        let mut seen = Vec::new();
        while let Some(event) = events.next().await {
            seen.push(event);
        }
        assert!(matches!(seen.last(), Some(AgentEvent::ToolStart { .. })), "what had happened is told, and ends");
        gate.open();
        let ran = ran(&conversation, "Go on").await;
        assert!(matches!(ran.report.ending, Ending::Completed));
        assert_eq!((b.runs(), ran.report.final_text().as_str()), (1, "Done."), "the tools are still there");
    });
}

#[test]
fn case_35_a_run_that_is_dropped_tells_its_tools_and_its_model_to_end() {
    block_on(async {
        // What a tool has begun elsewhere, a task or a process, ends by the token.
        let told = Arc::new(std::sync::Mutex::new(Vec::<CancelToken>::new()));
        let tokens = told.clone();
        let spawns = FnTool::new("spawns", move |_, context| {
            tokens.lock().unwrap().push(context.cancel.clone());
            std::future::pending()
        });
        let model = ScriptedProvider::new([Reply::call("spawns", "{}").then_call("spawns", "{}")]);
        let conversation = Conversation::new(&agent(&model).tool(spawns).build().unwrap());
        let mut run = conversation.run("Go").unwrap();
        until_stuck(&mut run);
        let tokens = told.lock().unwrap().clone();
        assert_eq!((tokens.len(), tokens.iter().filter(|token| token.is_cancelled()).count()), (2, 0));
        drop(run);
        assert!(tokens.iter().all(CancelToken::is_cancelled));
        drop(conversation);

        // So it is where the journal fails, and nothing is waited for.
        let journal = MemoryJournal::new();
        let gate = Gate::new();
        let tokens = told.clone();
        let opens = gate.clone();
        let spawns = FnTool::new("spawns", move |_, context| {
            tokens.lock().unwrap().push(context.cancel.clone());
            opens.open();
            std::future::pending()
        });
        told.lock().unwrap().clear();
        let model = ScriptedProvider::new([Reply::call("spawns", "{}").then_call("a", "{}")]);
        let fails = journal.clone();
        let a = FnTool::new("a", move |_, _| {
            fails.fail_append(agent_core::JournalError::Closed);
            std::future::ready(ToolOutcome::Output("A".into()))
        });
        let built = agent(&model).tool(spawns).tool(a).build().unwrap();
        let report = Conversation::new(&built).journal(Arc::new(journal)).run("Go").unwrap().into_report().await;
        assert!(matches!(report.ending, Ending::Failed(_)) && gate.is_open());
        assert!(told.lock().unwrap().iter().all(CancelToken::is_cancelled));
    });
}

#[test]
fn case_36_a_tool_that_panics_while_it_is_built_or_polled_is_an_error_and_its_siblings_end_well() {
    block_on(async {
        let gate = Gate::new();
        let opens = gate.clone();
        let built = FnTool::new("built", |_, _| -> std::future::Ready<ToolOutcome> { panic!("built") });
        let polled = FnTool::new("polled", |_, _| async { panic!("polled") });
        let later = FnTool::new("later", move |_, _| {
            opens.open();
            async {
                tokio::task::yield_now().await;
                panic!("later")
            }
        });
        let reply = ["built", "polled", "later"]
            .into_iter()
            .fold(Reply::call("a", "{}"), |reply, name| reply.then_call(name, "{}"));
        let model = ScriptedProvider::new([reply, Reply::text("Done.")]);
        let builder = agent(&model).tool(gated("a", &gate)).tool(built).tool(polled).tool(later);
        let conversation = Conversation::new(&builder.build().unwrap());
        let ran = ran(&conversation, "Go").await;
        assert!(matches!(ran.report.ending, Ending::Completed));
        let panicked = |what: &str| format!("toolResult! panicked: {what}");
        let expected = ["toolResult from a".to_owned(), panicked("built"), panicked("polled"), panicked("later")];
        assert_eq!(history(&conversation)[2..6], expected);
    });
}

#[test]
fn case_39_a_tool_that_does_not_listen_is_abandoned_after_its_grace_and_answered() {
    block_on(async {
        // By a cancel, by its own timeout, by the wall clock.
        for how in ["cancel", "timeout", "wall clock"] {
            let timer = PausedTimer::at(1_000);
            let mut settings = RunSettings::default();
            settings.grace_ms = 300;
            settings.tool_ms = if how == "timeout" { 5_000 } else { 0 };
            settings.limits.wall_ms = (how == "wall clock").then_some(5_000);
            let replies = [Reply::call("deaf", "{}").then_call("a", "{}"), Reply::text("Then not.")];
            let model = ScriptedProvider::new(replies);
            let builder = Agent::builder(model, options(), timer.clone());
            let built = builder.tool(deaf("deaf")).tool(FnTool::says("a", "A")).settings(settings).build().unwrap();
            let conversation = Conversation::new(&built);
            let mut run = conversation.run("Go").unwrap();
            let mut events = until_stuck(&mut run);
            if how == "cancel" {
                run.handle().cancel();
            } else {
                timer.advance(Duration::from_millis(5_000));
            }
            events.extend(until_stuck(&mut run));
            let ended =
                |events: &[AgentEvent]| events.iter().filter(|e| matches!(e, AgentEvent::ToolEnd { .. })).count();
            timer.advance(Duration::from_millis(299));
            events.extend(until_stuck(&mut run));
            assert_eq!(ended(&events), 1, "{how}: it has its grace");
            timer.advance(Duration::from_millis(1));
            let ran = finish(&conversation, run, events).await;
            let abandoned =
                "toolResult! Abandoned: it did not end within 300 ms of being told to. It may still take effect.";
            assert_eq!(history(&conversation)[2..4], [abandoned, "toolResult A"], "{how}");
            match (how, &ran.report.ending) {
                ("cancel", Ending::Cancelled) | ("timeout", Ending::Completed) => {}
                ("wall clock", Ending::Stopped(StopCause::Limit(_))) => {}
                (how, ending) => panic!("{how}: {ending:?}"),
            }
        }
    });
}

#[test]
fn case_40_a_hook_that_waits_at_a_cancel_does_not_keep_the_run() {
    block_on(async {
        let points = [
            "on_input",
            "before_turn",
            "before_model",
            "before_tool",
            "after_tool",
            "between turns",
            "on_error",
            "on_stop",
            "after_turn",
            "finish",
        ];
        for point in points {
            let timer = PausedTimer::at(1_000);
            let first = if point == "on_error" { Reply::error(busy()) } else { Reply::call("a", "{}") };
            let model = ScriptedProvider::new([first, Reply::text("Done.")]);
            let a = FnTool::says("a", "secret").effects(Effects::exclusive("x"));
            let builder = Agent::builder(model, options(), timer.clone()).tool(a.clone());
            let built = builder.hook(Waits::at(point), OnFailure::Deny).build().unwrap();
            let conversation = Conversation::new(&built);
            let mut run = conversation.run("Go").unwrap();
            let mut events = until_stuck(&mut run);
            run.handle().cancel();
            events.extend(until_stuck(&mut run));
            // The last word of a turn and of a run is waited for, in bounds: it may be what saves something.
            let waits = matches!(point, "after_turn" | "finish");
            let done = events.iter().any(|event| matches!(event, AgentEvent::AgentEnd { .. }));
            assert_eq!(done, !waits, "{point}: {:#?}", crate::given::trace(&events));
            timer.advance(Duration::from_secs(30));
            let ran = finish(&conversation, run, events).await;
            match (point, &ran.report.ending) {
                // It had ended before.
                ("finish", Ending::Completed) | (_, Ending::Cancelled) => {}
                // Nothing was left to be cancelled.
                ("on_stop", Ending::Completed) => {}
                (_, ending) => panic!("{point}: {ending:?}"),
            }
            let ran_the_tool =
                !matches!(point, "on_input" | "before_turn" | "before_model" | "before_tool" | "on_error");
            assert_eq!(a.runs(), usize::from(ran_the_tool), "{point}");
            let withheld = history(&conversation).iter().all(|line| !line.contains("secret"));
            assert_eq!(withheld, point == "after_tool" || !ran_the_tool, "{point}");
        }
    });
}

#[test]
fn case_41_a_provider_that_does_not_close_its_answer_is_not_waited_for_for_ever() {
    block_on(async {
        let timer = PausedTimer::at(1_000);
        // Behind the stop, and behind the usage that follows it.
        let events = || {
            let start = ModelEvent::BlockStart { block: 0, start: BlockStart::Text };
            let delta = ModelEvent::TextDelta { block: 0, text: "Hello!".into() };
            let stop = ModelEvent::Stop { reason: StopReason::EndTurn, detail: None };
            [start, delta, stop, ModelEvent::Usage(Usage::new(10, 5))]
        };
        for (after, used) in [(3, 0), (4, 15)] {
            let model = ScriptedProvider::new([Reply::events(events()).hang_after(after), Reply::text("Again.")]);
            let built = Agent::builder(model, options(), timer.clone()).build().unwrap();
            let conversation = Conversation::new(&built);
            let ran = ran_in_time(&conversation, &timer, "Hi").await;
            assert!(matches!(ran.report.ending, Ending::Completed), "{:#?}", ran.trace());
            assert_eq!(history(&conversation), ["user Hi", "assistant Hello!"]);
            assert_eq!(ran.report.usage.total(), used);
            assert_eq!(ran_in_time(&conversation, &timer, "Hi").await.report.final_text(), "Again.");
        }
    });
}

#[test]
fn case_41_a_reader_that_leaves_does_not_end_the_run() {
    block_on(async {
        let model = ScriptedProvider::new([Reply::call("a", "{}"), Reply::text("A long answer").chunks(1)]);
        let conversation = Conversation::new(&agent(&model).tool(FnTool::says("a", "A")).build().unwrap());
        let (mut events, work) = conversation.run("Go").unwrap().split(1);
        let mut work = Box::pin(work);
        assert!(work.as_mut().now_or_never().is_none(), "it waits for its reader");
        events.next().await;
        drop(events);
        assert!(matches!(work.await.ending, Ending::Completed));
        assert_eq!(history(&conversation).last().map(String::as_str), Some("assistant A long answer"));
    });
}

#[test]
fn case_42_to_go_on_after_an_answer_is_an_error_with_a_type_and_breaks_nothing() {
    block_on(async {
        let model = FnProvider::new(|_| Reply::text("Hello."));
        let built = Agent::builder(model.clone(), options(), PausedTimer::at(1_000)).build().unwrap();
        let conversation = Conversation::new(&built);
        assert!(matches!(conversation.resume(), Err(ResumeError::NothingToResume)), "nothing was begun");
        ran(&conversation, "Hi").await;
        assert!(matches!(conversation.resume(), Err(ResumeError::NothingToResume)), "the last one has ended");
        let busy = conversation.run("Hi").unwrap();
        assert!(matches!(conversation.resume(), Err(ResumeError::Busy(_))));
        drop(busy);
        assert_eq!(ran(&conversation, "Hi again").await.report.final_text(), "Hello.");
        assert_eq!(model.sent().len(), 2);
    });
}

#[test]
fn case_43_an_approval_that_is_given_after_a_cancel_runs_nothing() {
    block_on(async {
        for mode in [ApprovalMode::Wait, ApprovalMode::Pause] {
            let mut settings = RunSettings::default();
            settings.approvals = mode;
            let model = ScriptedProvider::new([Reply::call("a", "{}"), Reply::text("Then not.")]);
            let a = FnTool::says("a", "A").effects(Effects::shared().approval(Approval::Needed));
            let conversation = Conversation::new(&agent(&model).tool(a.clone()).settings(settings).build().unwrap());
            let mut run = conversation.run("Go").unwrap();
            let events = until_stuck(&mut run);
            let asked = events.iter().find_map(|event| match event {
                AgentEvent::ApprovalAsked { call, .. } => Some(*call),
                _ => None,
            });
            let (call, handle) = (asked.unwrap(), run.handle());
            if mode == ApprovalMode::Wait {
                // At once with the cancel, and behind it.
                handle.cancel();
                let first = finish(&conversation, run, events).await;
                assert!(matches!(first.report.ending, Ending::Cancelled));
                handle.answer(call, ApprovalAnswer::Allow).unwrap();
            } else {
                let first = finish(&conversation, run, events).await;
                assert!(matches!(first.report.ending, Ending::Paused { .. }));
                handle.cancel();
            }
            ran(&conversation, "Go on").await;
            let late = conversation.answer(call, ApprovalAnswer::Allow).await;
            assert!(matches!(late, Err(ResumeError::NotAsked { call: asked }) if asked == call), "{mode:?}");
            assert_eq!(a.runs(), 0, "{mode:?}");
            assert!(history(&conversation)[2].starts_with("toolResult! Not run: "), "{mode:?}");
        }
    });
}

#[test]
fn case_44_a_cancel_reaches_a_run_within_a_tool() {
    block_on(async {
        // What `agent-agents` does for its users, by hand: a run below this one hangs in a tool of its own.
        let below = ScriptedProvider::new([Reply::call("deaf", "{}")]);
        let mut settings = RunSettings::default();
        settings.grace_ms = 0;
        let child = agent(&below).tool(deaf("deaf")).settings(settings).build().unwrap();
        let ended = Arc::new(AtomicBool::new(false));
        let flag = ended.clone();
        let delegate = FnTool::new("delegate", move |_, context| {
            let (conversation, flag) = (Conversation::new(&child), flag.clone());
            async move {
                let run = conversation.run("Do it").unwrap();
                let handle = run.handle();
                let report = tokio::join!(run.into_report(), async {
                    context.cancel.cancelled().await;
                    handle.cancel();
                });
                flag.store(matches!(report.0.ending, Ending::Cancelled), Ordering::Relaxed);
                ToolOutcome::Error(agent_core::ToolError::Cancelled)
            }
        });
        let model = ScriptedProvider::new([Reply::call("delegate", "{}")]);
        let conversation = Conversation::new(&agent(&model).tool(delegate).build().unwrap());
        let mut run = conversation.run("Go").unwrap();
        let events = until_stuck(&mut run);
        run.handle().cancel();
        let ran = finish(&conversation, run, events).await;
        assert!(matches!(ran.report.ending, Ending::Cancelled));
        assert!(ended.load(Ordering::Relaxed), "the run below has ended as one");
    });
}

#[test]
fn case_45_the_last_events_arrive_however_late_they_are_read() {
    block_on(async {
        // Of a tool that says a lot and ends at once.
        let chatty = FnTool::new("chatty", |_, context| {
            for n in 0..100 {
                context.progress(n.to_string());
            }
            std::future::ready(ToolOutcome::Output("said".into()))
        });
        for room in [1, 7, 1_000] {
            let model = ScriptedProvider::new([Reply::call("chatty", "{}"), Reply::text("Hello").chunks(1)]);
            let conversation = Conversation::new(&agent(&model).tool(chatty.clone()).build().unwrap());
            let (mut events, work) = conversation.run("Go").unwrap().split(room);
            let mut read = Vec::new();
            let read_all = async {
                // With room for everything it is read only when the work is over.
                while let Some(event) = events.next().await {
                    read.push(event);
                }
            };
            if room == 1_000 {
                work.await;
                read_all.await;
            } else {
                tokio::join!(work, read_all);
            }
            let progress: Vec<_> = (read.iter())
                .filter_map(|event| match event {
                    AgentEvent::ToolProgress { text, .. } => text.parse::<u32>().ok(),
                    _ => None,
                })
                .collect();
            assert_eq!(progress, (0..100).collect::<Vec<_>>(), "{room}");
            let trace = crate::given::trace(&read);
            let end = trace.iter().position(|line| line == "toolEnd said").unwrap();
            assert!(!trace[end..].iter().any(|line| line.starts_with("toolProgress")), "{room}: {trace:#?}");
            assert_eq!(trace.last().map(String::as_str), Some("agentEnd Completed"), "{room}");
        }
    });
}

#[test]
fn proven_05_a_batch_that_is_cancelled_says_so_also_where_a_steer_waits() {
    block_on(async {
        for steer_first in [true, false] {
            let model = ScriptedProvider::new([Reply::call("a", "{}").then_call("b", "{}")]);
            let mut settings = RunSettings::default();
            settings.concurrency = Concurrency::Sequential;
            let builder = agent(&model).tool(gated("a", &Gate::new())).tool(FnTool::says("b", "B"));
            let conversation = Conversation::new(&builder.settings(settings).build().unwrap());
            let mut run = conversation.run("Go").unwrap();
            let events = until_stuck(&mut run);
            let handle = run.handle();
            if steer_first {
                handle.steer("Stop that").unwrap();
            }
            handle.cancel();
            if !steer_first {
                handle.steer("Stop that").unwrap();
            }
            let ran = finish(&conversation, run, events).await;
            assert!(matches!(ran.report.ending, Ending::Cancelled));
            let expected = [
                "toolResult! Not finished: the user cancelled the run.",
                "toolResult! Not run: the user cancelled the run.",
            ];
            assert_eq!(history(&conversation)[2..4], expected, "the steer came first: {steer_first}");
            assert_eq!(conversation.queued().len(), 1);
        }
    });
}

#[test]
fn trace_6_a_cancel_while_a_tool_listens_and_a_steer_waits() {
    block_on(async {
        let model = ScriptedProvider::new([Reply::call("a", "{}").then_call("b", "{}"), Reply::text("As you like.")]);
        let mut settings = RunSettings::default();
        settings.concurrency = Concurrency::Sequential;
        let builder = agent(&model).tool(gated("a", &Gate::new())).tool(FnTool::says("b", "B"));
        let conversation = Conversation::new(&builder.settings(settings).build().unwrap());
        let mut run = conversation.run("Go").unwrap();
        let events = until_stuck(&mut run);
        run.handle().steer("Never mind").unwrap();
        run.handle().cancel();
        let cancelled = finish(&conversation, run, events).await;
        let next = ran(&conversation, "Sorry").await;
        let mut lines = cancelled.trace();
        lines.push("--- the next prompt".into());
        lines.extend(next.trace());
        golden("trace_6_cancelled", &lines);
    });
}
