//! Cases 1 to 15: the transcript stays whole. The numbers are those of `cases.md`.

use std::{
    collections::BTreeSet,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use agent_core::{
    AgentEvent, BlockStart, CallOptions, Effects, Hook, HookFuture, InputVerdict, Message, ModelEvent, ModelVerdict,
    OnFailure, ProviderError, ProviderErrorKind, RunFacts, StopReason, ToolOutcome, ToolSet, ToolSpecError,
    TurnVerdict, Usage,
};
use agent_loop::{Concurrency, Conversation, Ending, Limit, Queue, RunError, RunSettings, StopCause};
use agent_testkit::{Gate, MemoryJournal, PausedTimer, Reply, ScriptedProvider};

use crate::{
    given::{FnTool, agent, block_on, history, options},
    laws::{Ran, finish, ran, ran_in_time, until_stuck},
    traces::golden,
};

fn busy() -> ProviderError {
    ProviderError::new(ProviderErrorKind::Overloaded, "busy")
}

/// A tool that waits at a gate, or until it is cancelled.
pub(crate) fn gated(name: &str, gate: &Gate) -> FnTool {
    let (gate, said) = (gate.clone(), format!("from {name}"));
    FnTool::new(name, move |_, context| {
        let (gate, said) = (gate.clone(), said.clone());
        async move {
            match context.cancel.race(gate.pass()).await {
                Some(()) => ToolOutcome::Output(said.as_str().into()),
                None => ToolOutcome::Error(agent_core::ToolError::Cancelled),
            }
        }
    })
}

/// Stops a run at one point, the second time that it is asked there.
struct StopsAt {
    point: &'static str,
    asked: AtomicUsize,
}

impl StopsAt {
    fn new(point: &'static str, first: usize) -> Arc<Self> {
        Arc::new(Self { point, asked: AtomicUsize::new(first) })
    }

    fn stops(&self, point: &str) -> bool {
        self.point == point && self.asked.fetch_add(1, Ordering::Relaxed) == 1
    }
}

impl Hook for StopsAt {
    fn on_input<'a>(&'a self, _: &'a RunFacts, _: &'a Message) -> HookFuture<'a, InputVerdict> {
        let stops = self.stops("on_input");
        Box::pin(async move { Ok(if stops { InputVerdict::Reject("no".into()) } else { InputVerdict::Pass }) })
    }

    fn before_turn<'a>(&'a self, _: &'a RunFacts) -> HookFuture<'a, TurnVerdict> {
        let stops = self.stops("before_turn");
        Box::pin(async move { Ok(if stops { TurnVerdict::Stop("enough".into()) } else { TurnVerdict::Go }) })
    }

    fn before_model<'a>(&'a self, _: &'a RunFacts, _: &'a CallOptions, _: &'a ToolSet) -> HookFuture<'a, ModelVerdict> {
        let stops = self.stops("before_model");
        Box::pin(async move { Ok(if stops { ModelVerdict::Stop("enough".into()) } else { ModelVerdict::Go }) })
    }
}

#[test]
fn case_01_the_note_about_a_loop_comes_behind_all_results() {
    block_on(async {
        let again = || Reply::call("a", "{}");
        let replies = [again(), again(), again().then_call("b", "{}"), Reply::text("I stop.")];
        let model = ScriptedProvider::new(replies);
        let built = agent(&model).tool(FnTool::says("a", "A")).tool(FnTool::says("b", "B")).build().unwrap();
        let conversation = Conversation::new(&built);
        let ran = ran(&conversation, "Go").await;
        assert!(matches!(ran.report.ending, Ending::Completed), "{:#?}", ran.trace());
        let history = history(&conversation);
        assert_eq!(history[5..8], ["assistant [a][b]", "toolResult A", "toolResult B"]);
        assert!(history[8].starts_with("note(loop) "), "{history:#?}");
        assert_eq!(history[9], "assistant I stop.");
    });
}

#[test]
fn case_02_calls_that_were_left_are_answered_before_any_other_message() {
    block_on(async {
        // Cancelled: within the run. Dropped: by the next prompt, before it.
        for dropped in [false, true] {
            let gate = Gate::new();
            let replies = [Reply::call("a", "{}").then_call("b", "{}").then_call("a", "{}"), Reply::text("Hello.")];
            let model = ScriptedProvider::new(replies);
            let mut settings = RunSettings::default();
            settings.concurrency = Concurrency::Sequential;
            let tools = agent(&model).tool(gated("a", &gate)).tool(FnTool::says("b", "B")).settings(settings);
            let conversation = Conversation::new(&tools.build().unwrap());
            let mut run = conversation.run("Go").unwrap();
            let mut events = Vec::new();
            while !matches!(events.last(), Some(AgentEvent::ToolStart { .. })) {
                events.push(run.next().await.unwrap());
            }
            if dropped {
                drop(run);
                // A shared tool runs again.
                gate.open();
            } else {
                run.handle().cancel();
                let ran = finish(&conversation, run, events).await;
                assert!(matches!(ran.report.ending, Ending::Cancelled));
            }
            ran(&conversation, "Hello?").await;
            let roles: Vec<_> = conversation.messages().iter().map(|message| message.role()).collect();
            assert_eq!(roles[1..5], ["assistant", "toolResult", "toolResult", "toolResult"], "dropped: {dropped}");
            assert_eq!(roles.iter().filter(|role| **role == "toolResult").count(), 3);
            let prompt = roles.iter().rposition(|role| *role == "user").unwrap();
            assert_eq!(prompt, if dropped { 5 } else { 6 }, "{roles:?}");
        }
    });
}

/// Steers while the first calls of an answer with five run; says how often each tool ran.
async fn steered(concurrency: Concurrency) -> (Vec<usize>, Vec<String>) {
    let names = ["a", "b", "c", "d", "e"];
    let gate = Gate::new();
    let tools: Vec<_> = names.iter().map(|name| gated(name, &gate)).collect();
    let reply = names[1..].iter().fold(Reply::call("a", "{}"), |reply, name| reply.then_call(*name, "{}"));
    let model = ScriptedProvider::new([reply, Reply::text("As you like.")]);
    let mut settings = RunSettings::default();
    settings.concurrency = concurrency;
    let builder = tools.iter().fold(agent(&model).settings(settings), |builder, tool| builder.tool(tool.clone()));
    let conversation = Conversation::new(&builder.build().unwrap());
    let mut run = conversation.run("Go").unwrap();
    let (mut events, mut steered) = (Vec::new(), false);
    while let Some(event) = run.next().await {
        match &event {
            AgentEvent::ToolStart { .. } if !std::mem::replace(&mut steered, true) => {
                run.handle().steer("Stop that").unwrap();
            }
            AgentEvent::Queued { .. } => gate.open(),
            _ => {}
        }
        events.push(event);
    }
    let ran = finish(&conversation, run, events).await;
    assert!(matches!(ran.report.ending, Ending::Completed), "{:#?}", ran.trace());
    assert_eq!((ran.count("toolStart"), ran.count("toolEnd")), (5, 5));
    (tools.iter().map(FnTool::runs).collect(), history(&conversation))
}

#[test]
fn case_03_a_batch_of_size_0_that_is_steered_answers_no_call_twice() {
    block_on(async {
        let (runs, history) = steered(Concurrency::Batched(0)).await;
        assert_eq!(runs, [1, 0, 0, 0, 0]);
        assert_eq!(history.iter().filter(|line| line.starts_with("toolResult")).count(), 5, "{history:#?}");
        assert_eq!(history[7..], ["user Stop that", "assistant As you like."]);
    });
}

#[test]
fn case_04_a_steer_in_a_batch_skips_exactly_the_unstarted_calls_once() {
    block_on(async {
        let table = [
            (Concurrency::Sequential, 1),
            (Concurrency::Batched(2), 2),
            (Concurrency::Batched(4), 4),
            (Concurrency::Effects { at_most: 3 }, 3),
            (Concurrency::Effects { at_most: 16 }, 5),
        ];
        for (concurrency, started) in table {
            let (runs, history) = steered(concurrency).await;
            for (at, name) in ["a", "b", "c", "d", "e"].into_iter().enumerate() {
                let ran = at < started;
                assert_eq!(runs[at], usize::from(ran), "{concurrency:?} {name}");
                let said = format!("toolResult from {name}");
                let skipped = "toolResult! Not run: the user sent a new message first.".to_owned();
                assert_eq!(history[2 + at], if ran { said } else { skipped }, "{concurrency:?} {name}");
            }
            assert_eq!(history[7..], ["user Stop that", "assistant As you like."], "{concurrency:?}");
        }
    });
}

#[test]
fn case_05_a_cancel_while_the_answer_arrives_runs_none_of_its_calls_and_answers_each() {
    block_on(async {
        // Start, three events for each call, usage, stop.
        for events in 0..=8 {
            let reply = Reply::call("a", r#"{"x":1}"#).then_call("a", r#"{"x":2}"#).hang_after(events);
            let model = ScriptedProvider::new([reply, Reply::text("Hello.")]);
            let a = FnTool::says("a", "A");
            let conversation = Conversation::new(&agent(&model).tool(a.clone()).build().unwrap());
            let mut run = conversation.run("Go").unwrap();
            let seen = until_stuck(&mut run);
            // What came before the first content is shown with it.
            let shown = seen.iter().filter(|event| matches!(event, AgentEvent::Model(_))).count();
            assert_eq!(shown, if events < 2 { 0 } else { events });
            run.handle().cancel();
            let first = finish(&conversation, run, seen).await;
            assert!(matches!(first.report.ending, Ending::Cancelled), "after {events}: {:?}", first.report.ending);
            assert_eq!(a.runs(), 0, "after {events}");
            let answers = history(&conversation).into_iter().filter(|line| line.starts_with("toolResult"));
            let answers: Vec<_> = answers.collect();
            assert!(answers.iter().all(|line| line == "toolResult! Not run: the user cancelled the run."));
            let begun = events.saturating_sub(1).div_ceil(3).min(2);
            assert_eq!(answers.len(), begun, "after {events}: {:#?}", first.trace());
            assert_eq!(ran(&conversation, "Hello?").await.report.final_text(), "Hello.", "after {events}");
        }
    });
}

#[test]
fn case_06_a_complete_call_beside_a_refusal_is_answered_and_not_run() {
    block_on(async {
        let refused = Reply::text("No.").then_call("a", "{}").then_call("a", "{}").stop(StopReason::Refusal);
        let model = ScriptedProvider::new([refused, Reply::text("Hello."), Reply::text("Later.")]);
        let a = FnTool::says("a", "A");
        let conversation = Conversation::new(&agent(&model).tool(a.clone()).build().unwrap());
        conversation.handle().follow_up("And then?").unwrap();
        let first = ran(&conversation, "Go").await;
        assert!(matches!(first.report.ending, Ending::Refused));
        assert_eq!((a.runs(), first.count("toolEnd error Not run: the answer was refused.")), (0, 2));
        assert_eq!(conversation.queued().len(), 1, "queues are left alone");
        assert_eq!(ran(&conversation, "Hello?").await.report.final_text(), "Later.");
    });
}

#[test]
fn case_07_a_complete_call_of_a_cut_answer_runs_and_a_cut_call_is_answered() {
    block_on(async {
        let cut = Reply::call("a", "{}").then_call("b", r#"{"text":"long, lo"#).stop(StopReason::MaxTokens);
        let nothing_yet = Reply::events([
            ModelEvent::BlockStart {
                block: 0,
                start: BlockStart::ToolCall { name: "b".into(), vendor_id: Some("1".into()) },
            },
            ModelEvent::Stop { reason: StopReason::MaxTokens, detail: None },
        ]);
        let model = ScriptedProvider::new([cut, nothing_yet, Reply::text("Done.")]);
        let (a, b) = (FnTool::says("a", "A"), FnTool::says("b", "B"));
        let conversation = Conversation::new(&agent(&model).tool(a.clone()).tool(b.clone()).build().unwrap());
        let ran = ran(&conversation, "Go").await;
        assert!(matches!(ran.report.ending, Ending::Completed), "the loop goes on");
        assert_eq!((a.runs(), b.runs()), (1, 0));
        let cut = "toolResult! Not run: the arguments were cut off; send smaller ones instead of the same again.";
        let expected = ["user Go", "assistant [a][b]", "toolResult A", cut, "assistant [b]", cut, "assistant Done."];
        assert_eq!(history(&conversation), expected);
    });
}

#[test]
fn case_08_a_stop_before_the_model_leaves_a_history_for_the_next_prompt() {
    block_on(async {
        for point in ["before_model", "before_turn"] {
            let model = ScriptedProvider::new([Reply::call("a", "{}"), Reply::text("Hello.")]);
            let hook = StopsAt::new(point, 0);
            let builder = agent(&model).tool(FnTool::says("a", "A")).hook(hook, OnFailure::Deny);
            let conversation = Conversation::new(&builder.build().unwrap());
            let first = ran(&conversation, "Go").await;
            assert!(matches!(&first.report.ending, Ending::Stopped(StopCause::Hook(why)) if why == "enough"));
            assert_eq!(history(&conversation), ["user Go", "assistant [a]", "toolResult A"]);
            let second = ran(&conversation, "Hello?").await;
            assert_eq!(second.report.final_text(), "Hello.", "{point}");
        }
    });
}

#[test]
fn case_09_the_text_of_an_attempt_that_was_tried_again_is_nowhere_in_the_history() {
    block_on(async {
        let broken = || Reply::text("Hel").error_after(3, busy());
        let model = ScriptedProvider::new([broken(), broken(), Reply::text("Good day.")]);
        let mut settings = RunSettings::default();
        (settings.retry.after_output, settings.retry.base_ms) = (true, 0);
        let journal = MemoryJournal::new();
        let built = agent(&model).settings(settings).build().unwrap();
        let conversation = Conversation::new(&built).journal(Arc::new(journal.clone()));
        let again = ran(&conversation, "Hi").await;
        assert_eq!(again.count("messageDropped assistant Hel"), 2);
        assert_eq!(history(&conversation), ["user Hi", "assistant Good day."]);
        assert!(!journal.lines().iter().any(|line| line.contains("Hel")), "{journal:?}");
        assert!(model.sent().iter().all(|sent| sent.call.view.len() == 1), "a retry sends the same");

        // Not tried again, it is the answer as far as it came, and says so.
        let model = ScriptedProvider::new([broken(), Reply::text("Good day.")]);
        let conversation = Conversation::new(&agent(&model).build().unwrap());
        let kept = ran(&conversation, "Hi").await;
        assert!(matches!(kept.report.ending, Ending::Failed(RunError::Provider(_))));
        assert_eq!((kept.count("messageDropped"), kept.report.stop_reason.clone()), (0, Some(StopReason::Error)));
        assert_eq!(history(&conversation), ["user Hi", "assistant Hel"]);
    });
}

/// Runs that end in every way there is; each is held against the laws by `ran`.
async fn every_ending() -> Vec<(&'static str, Ran)> {
    let call = || Reply::call("a", "{}");
    let default = RunSettings::default;
    let turns = |most| {
        let mut settings = default();
        settings.limits.turns = Some(most);
        settings
    };
    let tokens = |most| {
        let mut settings = default();
        settings.limits.tokens = Some(most);
        settings
    };
    let once = || {
        let mut settings = default();
        settings.retry = agent_loop::RetryPolicy::NEVER;
        settings
    };
    type Row = (&'static str, Vec<Reply>, RunSettings, Option<Arc<StopsAt>>);
    let table: Vec<Row> = vec![
        ("completed", vec![Reply::text("Hi")], default(), None),
        ("tools", vec![call(), Reply::text("Hi")], default(), None),
        ("truncated", vec![Reply::text("Hi").stop(StopReason::MaxTokens)], default(), None),
        ("refused", vec![call().stop(StopReason::Refusal)], default(), None),
        ("refused and nothing said", vec![Reply::empty().stop(StopReason::Refusal)], default(), None),
        ("failed", vec![Reply::error(busy())], once(), None),
        ("failed after output", vec![Reply::text("Hi").error_after(3, busy())], once(), None),
        ("failed within a call", vec![call().error_after(2, busy())], once(), None),
        ("turn limit", vec![call(), call()], turns(2), None),
        ("no turn at all", vec![], turns(0), None),
        ("token limit", vec![call()], tokens(12), None),
        ("no token at all", vec![], tokens(0), None),
        ("loop", (0..6).map(|_| call()).collect(), default(), None),
        ("empty", vec![Reply::empty(), Reply::empty()], default(), None),
        ("input rejected", vec![], default(), Some(StopsAt::new("on_input", 1))),
        ("stopped before the first turn", vec![], default(), Some(StopsAt::new("before_turn", 1))),
        ("stopped before the first call", vec![], default(), Some(StopsAt::new("before_model", 1))),
        ("stopped after tools", vec![call()], default(), Some(StopsAt::new("before_model", 0))),
        ("cancelled by the provider", vec![Reply::error(ProviderError::cancelled())], default(), None),
    ];
    let mut all = Vec::new();
    for (name, replies, settings, hook) in table {
        let model = ScriptedProvider::new(replies);
        let mut builder = agent(&model).tool(FnTool::says("a", "A")).settings(settings);
        if let Some(hook) = hook {
            builder = builder.hook(hook, OnFailure::Deny);
        }
        let conversation = Conversation::new(&builder.build().unwrap());
        all.push((name, ran(&conversation, "Go").await));
        assert_eq!(model.remaining(), 0, "{name}");
    }

    let model = ScriptedProvider::new([Reply::hang()]);
    let conversation = Conversation::new(&agent(&model).build().unwrap());
    let run = conversation.run("Go").unwrap();
    run.handle().cancel();
    all.push(("cancelled before it began", finish(&conversation, run, Vec::new()).await));
    assert!(model.sent().is_empty());

    let timer = PausedTimer::at(1_000);
    let mut settings = default();
    settings.limits.wall_ms = Some(500);
    let model = ScriptedProvider::new([Reply::hang()]);
    let built = agent_loop::Agent::builder(model, options(), timer.clone()).settings(settings).build().unwrap();
    let conversation = Conversation::new(&built);
    all.push(("wall clock", ran_in_time(&conversation, &timer, "Go").await));
    all
}

#[test]
fn case_10_every_message_that_enters_the_history_has_its_start_and_its_end() {
    block_on(async {
        for (name, ran) in every_ending().await {
            let added = ran.report.new_messages.len();
            let dropped = ran.count("messageDropped");
            assert_eq!((ran.count("messageStart"), ran.count("messageEnd")), (added + dropped, added), "{name}");
            // The limits say so in the history, and a loop that was stopped answers its calls there.
            let last = ran.report.new_messages.last().map(|message| message.role());
            let expected = match name {
                "turn limit" | "no turn at all" | "no token at all" | "wall clock" => Some("note"),
                "loop" | "token limit" | "refused" | "stopped after tools" | "failed within a call" => {
                    Some("toolResult")
                }
                "input rejected" => None,
                "empty" => Some("note"),
                "failed" | "cancelled by the provider" | "refused and nothing said" => Some("user"),
                name if name.starts_with("stopped") => Some("user"),
                "cancelled before it began" => last.filter(|role| *role == "user"),
                _ => Some("assistant"),
            };
            assert_eq!(last, expected, "{name}: {:#?}", ran.trace());
        }
    });
}

#[test]
fn case_11_every_turn_that_starts_ends_exactly_once() {
    block_on(async {
        for (name, ran) in every_ending().await {
            assert_eq!(ran.count("turnStart"), ran.count("turnEnd"), "{name}");
            assert_eq!(name.starts_with("refused"), matches!(ran.report.ending, Ending::Refused), "{name}");
            let turns = match name {
                "cancelled before it began" => ran.count("turnStart"),
                "tools" | "empty" | "stopped after tools" => 2,
                "turn limit" => 3,
                "loop" => 6,
                _ => 1,
            };
            assert_eq!(ran.count("turnStart"), turns, "{name}: {:#?}", ran.trace());
        }
    });
}

fn text(block: u32, text: &'static str) -> [ModelEvent; 2] {
    let start = ModelEvent::BlockStart { block, start: BlockStart::Text };
    [start, ModelEvent::TextDelta { block, text: text.into() }]
}

fn stop(reason: StopReason) -> ModelEvent {
    ModelEvent::Stop { reason, detail: None }
}

#[test]
fn case_12_an_answer_without_its_start_or_its_end_is_opened_and_closed_once() {
    block_on(async {
        let whole = || text(0, "Hi").into_iter().chain([stop(StopReason::EndTurn)]);
        let model = ScriptedProvider::new([Reply::events(whole()), Reply::events(text(0, "Hi"))]);
        let conversation = Conversation::new(&agent(&model).build().unwrap());
        let without_start = ran(&conversation, "Go").await;
        assert!(matches!(without_start.report.ending, Ending::Completed));
        let assistant = |ran: &Ran| (ran.count("messageStart assistant"), ran.count("messageEnd assistant Hi"));
        assert_eq!(assistant(&without_start), (1, 1));

        let without_end = ran(&conversation, "Go").await;
        let Ending::Failed(RunError::Provider(error)) = &without_end.report.ending else { panic!("not failed") };
        assert_eq!(error.kind(), ProviderErrorKind::Network, "never a cut answer as a success");
        assert_eq!(assistant(&without_end), (1, 1));
    });
}

#[test]
fn case_13_an_answer_that_is_closed_already_is_not_closed_again() {
    block_on(async {
        let end = || text(0, "Hi").into_iter().chain([stop(StopReason::EndTurn)]);
        let more = [
            vec![ModelEvent::BlockEnd { block: 0 }],
            vec![ModelEvent::Usage(Usage::new(3, 4))],
            vec![stop(StopReason::EndTurn)],
            text(1, "more").to_vec(),
        ];
        for more in more {
            let what = format!("{more:?}");
            let model = ScriptedProvider::new([Reply::events(end().chain(more)), Reply::text("Hello.")]);
            let conversation = Conversation::new(&agent(&model).build().unwrap());
            let first = ran(&conversation, "Go").await;
            assert_eq!(first.count("messageEnd assistant Hi"), 1, "{what}: {:#?}", first.trace());
            assert_eq!((first.count("messageDropped"), first.count("messageStart assistant")), (0, 1), "{what}");
            assert_eq!(ran(&conversation, "Go on").await.report.final_text(), "Hello.", "{what}");
        }
    });
}

#[test]
fn case_14_calls_with_one_vendor_id_are_two_calls_with_two_ids() {
    block_on(async {
        let call = |block| {
            let start = BlockStart::ToolCall { name: "a".into(), vendor_id: Some("call_1".into()) };
            [
                ModelEvent::BlockStart { block, start },
                ModelEvent::ArgumentsDelta { block, json: format!("{{\"n\":{block}}}").into() },
                ModelEvent::BlockEnd { block },
            ]
        };
        let twice = call(0).into_iter().chain(call(1)).chain([stop(StopReason::ToolUse)]);
        let again = call(0).into_iter().chain([stop(StopReason::ToolUse)]);
        let model = ScriptedProvider::new([Reply::events(twice), Reply::events(again), Reply::text("Done.")]);
        let a = FnTool::says("a", "A");
        let conversation = Conversation::new(&agent(&model).tool(a.clone()).build().unwrap());
        let ran = ran(&conversation, "Go").await;
        assert!(matches!(ran.report.ending, Ending::Completed), "{:#?}", ran.trace());
        assert_eq!(a.runs(), 3);
        let (mut calls, mut results, mut vendors) = (BTreeSet::new(), Vec::new(), Vec::new());
        for message in conversation.messages().iter() {
            match &**message {
                Message::Assistant(answer) => {
                    calls.extend(answer.tool_calls().map(|(id, _)| id));
                    let ids: Vec<_> = answer.tool_calls().filter_map(|(_, call)| call.vendor_id.clone()).collect();
                    vendors.push(ids.len());
                }
                Message::ToolResult(result) => results.push(result.call),
                _ => {}
            }
        }
        assert_eq!(calls.len(), 3, "the ids of calls are our own");
        assert_eq!(results, calls.into_iter().collect::<Vec<_>>());
        assert_eq!(vendors, [1, 0, 0], "only the first keeps the vendor's id, within an answer and over answers");
    });
}

#[test]
fn case_15_results_enter_in_call_order_whatever_order_tools_end_in() {
    block_on(async {
        let names = ["a", "b", "c"];
        let gates: Vec<_> = names.iter().map(|_| Gate::new()).collect();
        let reply = Reply::call("a", "{}").then_call("b", "{}").then_call("c", "{}");
        let model = ScriptedProvider::new([reply, Reply::text("Done.")]);
        let tools = names.iter().zip(&gates).map(|(name, gate)| gated(name, gate));
        let builder = tools.fold(agent(&model), |builder, tool| builder.tool(tool));
        let conversation = Conversation::new(&builder.build().unwrap());
        let mut run = conversation.run("Go").unwrap();
        let mut events = Vec::new();
        while let Some(event) = run.next().await {
            match &event {
                AgentEvent::ToolStart { name, .. } if name == "c" => gates[2].open(),
                AgentEvent::ToolEnd { .. } if gates[1].is_open() => gates[0].open(),
                AgentEvent::ToolEnd { .. } => gates[1].open(),
                _ => {}
            }
            events.push(event);
        }
        let ran = finish(&conversation, run, events).await;
        let lines = |start: &str| -> Vec<_> {
            let trace = ran.trace();
            trace.iter().filter_map(|line| line.strip_prefix(start).map(str::to_owned)).collect()
        };
        assert_eq!(lines("toolEnd from "), ["c", "b", "a"]);
        assert_eq!(lines("messageEnd toolResult from "), ["a", "b", "c"]);
    });
}

#[test]
fn trace_4_a_steer_during_parallel_tools_and_a_follow_up_after_the_answer() {
    block_on(async {
        let gate = Gate::new();
        let replies = [Reply::call("a", "{}").then_call("b", "{}"), Reply::text("So it is."), Reply::text("Later.")];
        let model = ScriptedProvider::new(replies);
        let builder = agent(&model).tool(gated("a", &gate)).tool(gated("b", &gate));
        let conversation = Conversation::new(&builder.build().unwrap());
        let mut run = conversation.run("Go").unwrap();
        let mut events = Vec::new();
        while let Some(event) = run.next().await {
            match &event {
                AgentEvent::ToolStart { name, .. } if name == "b" => {
                    run.handle().steer("Mind the gap").unwrap();
                    run.handle().follow_up("And then?").unwrap();
                }
                AgentEvent::Queued { queue: "followUp", .. } => gate.open(),
                _ => {}
            }
            events.push(event);
        }
        let ran = finish(&conversation, run, events).await;
        assert_eq!(conversation.queued().len(), 0);
        golden("trace_4_steered_in_parallel", &ran.trace());
    });
}

#[test]
fn trace_5_unknown_denied_panicking_failing_and_empty_calls_in_one_batch() {
    struct NoShell;
    impl Hook for NoShell {
        fn before_tool<'a>(
            &'a self,
            _: &'a RunFacts,
            _: agent_core::CallId,
            call: &'a agent_core::ToolCall,
            _: &'a agent_core::RawJson,
        ) -> HookFuture<'a, agent_core::ToolVerdict> {
            let denied = agent_core::ToolVerdict::Deny("no shell here".into());
            let verdict = if call.name == "shell" { denied } else { agent_core::ToolVerdict::Allow };
            Box::pin(std::future::ready(Ok(verdict)))
        }
    }
    block_on(async {
        let reply = ["shell", "panics", "fails", "empty"]
            .into_iter()
            .fold(Reply::call("unknown", "{}"), |reply, name| reply.then_call(name, "{}"));
        let model = ScriptedProvider::new([reply, Reply::text("Done.")]);
        let empty = FnTool::new("empty", |_, _| std::future::ready(ToolOutcome::Output(Default::default())));
        let builder = agent(&model)
            .tool(FnTool::says("shell", "never"))
            .tool(FnTool::new("panics", |_, _| async { panic!("oops") }))
            .tool(FnTool::fails("fails", "no such file"))
            .tool(empty)
            .hook(Arc::new(NoShell), OnFailure::Deny);
        let conversation = Conversation::new(&builder.build().unwrap());
        let ran = ran(&conversation, "Go").await;
        golden("trace_5_failing_batch", &ran.trace());
    });
}

/// The list of what was proven wrong in another library, section 28.1 of the specification: 2 is
/// `faults::a_hook_that_fails_denies_or_is_skipped_at_every_point`, 3 to 5, 7 and 9 are cases.
#[test]
fn proven_01_a_loop_that_is_stopped_tells_of_the_results_it_made() {
    block_on(async {
        let model = ScriptedProvider::new((0..6).map(|_| Reply::call("a", "{}")));
        let a = FnTool::says("a", "A");
        let conversation = Conversation::new(&agent(&model).tool(a.clone()).build().unwrap());
        let ran = ran(&conversation, "Go").await;
        assert!(matches!(&ran.report.ending, Ending::Stopped(StopCause::Loop(tool)) if tool == "a"));
        assert_eq!(a.runs(), 5, "the sixth does not run");
        assert_eq!((ran.count("toolEnd"), ran.count("messageEnd toolResult")), (6, 6), "and has all its events");
        assert!(ran.at("loopDetected a 3 stopped") < ran.at("toolEnd error Not run: the same call"));
    });
}

/// Reads, waits, writes: what an edit of a file is.
fn edit(file: &Arc<Mutex<Vec<String>>>, effects: Effects) -> FnTool {
    let file = file.clone();
    let edit = FnTool::new("edit", move |arguments, _| {
        let file = file.clone();
        async move {
            let mut lines = file.lock().unwrap().clone();
            for _ in 0..3 {
                tokio::task::yield_now().await;
            }
            lines.push(arguments.get().to_owned());
            *file.lock().unwrap() = lines;
            ToolOutcome::Output("edited".into())
        }
    });
    edit.effects(effects)
}

#[test]
fn proven_06_four_edits_of_one_file_in_one_answer_lose_nothing() {
    block_on(async {
        // With and without a key, to see that the tool would lose updates.
        for (effects, kept) in [(Effects::exclusive("a.txt"), 4), (Effects::shared(), 1)] {
            let file = Arc::new(Mutex::new(Vec::new()));
            let arguments = |n: u32| format!(r#"{{"n":{n}}}"#);
            let reply =
                (1..4).fold(Reply::call("edit", arguments(0)), |reply, n| reply.then_call("edit", arguments(n)));
            let model = ScriptedProvider::new([reply, Reply::text("Done.")]);
            let conversation = Conversation::new(&agent(&model).tool(edit(&file, effects)).build().unwrap());
            ran(&conversation, "Go").await;
            let lines = file.lock().unwrap().clone();
            assert_eq!(lines.len(), kept);
            let all: Vec<_> = (0..4).map(arguments).collect();
            assert!(kept == 1 || lines == all, "in call order: {lines:?}");
        }
    });
}

#[test]
fn proven_08_two_tools_with_one_name_are_refused_when_the_agent_is_built() {
    let model = ScriptedProvider::new([Reply::text("Hi")]);
    let built = agent(&model).tool(FnTool::says("a", "first")).tool(FnTool::says("a", "second")).build();
    assert!(matches!(built, Err(ToolSpecError::Duplicate { .. })), "{built:?}");
}

#[test]
fn proven_10_an_empty_answer_is_asked_for_again_and_is_never_a_success() {
    block_on(async {
        let empty =
            [Reply::empty as fn() -> Reply, || Reply::thinking("Hm."), || Reply::empty().stop(StopReason::ToolUse)];
        for (at, empty) in empty.into_iter().enumerate() {
            let model = ScriptedProvider::new([empty(), Reply::text("Hello."), empty(), empty()]);
            let conversation = Conversation::new(&agent(&model).build().unwrap());
            let asked = ran(&conversation, "Hi").await;
            assert!(matches!(asked.report.ending, Ending::Completed), "{at} {:#?}", asked.trace());
            assert_eq!((asked.report.final_text().as_str(), asked.count("messageEnd note(empty)")), ("Hello.", 1));
            let given_up = ran(&conversation, "Hi again").await;
            assert!(
                matches!(given_up.report.ending, Ending::Stopped(StopCause::EmptyAnswer)),
                "{at} {:#?}",
                given_up.trace()
            );
        }
    });
}

#[test]
fn a_queue_is_kept_over_a_limit() {
    block_on(async {
        let model = ScriptedProvider::new([Reply::call("a", "{}"), Reply::text("Hi"), Reply::text("Later.")]);
        let mut settings = RunSettings::default();
        settings.limits.turns = Some(1);
        let built = agent(&model).tool(FnTool::says("a", "A")).settings(settings).build().unwrap();
        let conversation = Conversation::new(&built);
        conversation.handle().follow_up("And then?").unwrap();
        let first = ran(&conversation, "Go").await;
        assert!(matches!(first.report.ending, Ending::Stopped(StopCause::Limit(Limit::Turns(1)))));
        let queued = conversation.queued();
        assert_eq!((queued.len(), queued[0].queue), (1, Queue::FollowUp));
    });
}
