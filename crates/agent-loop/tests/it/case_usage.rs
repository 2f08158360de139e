//! What is shown and what is counted: outputs of several parts, limits by the clock, spend that fails, child spend.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use agent_core::{
    AgentEvent, Budget, CacheBreakCause, CallOptions, ContentBlock, ContextFacts, ContextPlan, ContextPolicy, Effects,
    ModelCall, ModelFacts, Money, OnFailure, Price, ProviderError, ProviderErrorKind, Rates, ToolOutcome, ToolOutput,
    Usage,
};
use agent_loop::{
    Agent, CachePolicy, Concurrency, Conversation, Ending, Limits, RetrySafeEvents, RunSettings, StopCause,
};
use agent_testkit::{FnProvider, PausedTimer, Reply, ScriptedProvider};

use crate::given::{FnTool, agent, block_on, history, json, options, run, trace};

fn micro(dollars: u64) -> Money {
    Money::from_micro_dollars(dollars)
}

fn facts(per_token: u64) -> ModelFacts {
    let mut facts = ModelFacts::new("toy", "toy-1");
    facts.price = Some(Price::new(Rates::new(micro(per_token), micro(per_token))));
    facts
}

fn used(input: u64, output: u64) -> Usage {
    let mut usage = Usage::ZERO;
    (usage.input, usage.output) = (input, output);
    usage
}

#[test]
fn case_104_the_cap_is_for_the_whole_output_and_not_for_each_part() {
    block_on(async {
        let parts: Vec<_> = (0..10).map(|n| format!("{n}").repeat(400)).collect();
        let texts = parts.clone();
        let a = FnTool::new("a", move |_, _| {
            let mut output = ToolOutput::default();
            output.content = texts.iter().map(ContentBlock::text).collect();
            std::future::ready(ToolOutcome::Output(output))
        });
        let model = ScriptedProvider::new([Reply::call("a", "{}"), Reply::text("Done.")]);
        let a = a.effects(Effects::shared().output_cap(1_000));
        let conversation = Conversation::new(&agent(&model).tool(a).build().unwrap());
        let (lines, _) = run(&conversation, "Go").await;
        let result = conversation.messages().get(2).unwrap().clone();
        let shown: Vec<_> = result.content().iter().filter_map(|block| block.as_text()).collect();
        let bytes: usize = shown.iter().map(|text| text.len()).sum();
        assert!(bytes < 1_100, "{bytes} bytes");
        assert_eq!(shown[0], parts[0], "the beginning");
        assert_eq!(*shown.last().unwrap(), parts[9], "and the end");
        assert_eq!(shown.iter().filter(|text| text.contains("3000 bytes left out")).count(), 1, "{shown:?}");
        assert!(lines.iter().any(|line| line.contains(&parts[5])), "the event has the whole");
    });
}

#[test]
fn case_54_what_the_clock_stops_is_not_said_to_be_cancelled_by_the_user() {
    block_on(async {
        let timer = PausedTimer::at(0);
        let model = FnProvider::new(|_| Reply::call("polite", "{}").then_call("behind", "{}"));
        let polite = FnTool::new("polite", |_, context| async move {
            context.cancel.cancelled().await;
            ToolOutcome::Output("half of it".into())
        });
        let mut settings = RunSettings::default();
        (settings.limits, settings.concurrency) = (Limits::NONE, Concurrency::Sequential);
        settings.limits.wall_ms = Some(2_000);
        let agent = Agent::builder(model, options(), timer.clone())
            .tool(polite)
            .tool(FnTool::says("behind", "ok"))
            .settings(settings)
            .build()
            .unwrap();
        let conversation = Conversation::new(&agent);
        let mut run = conversation.run("Go").unwrap();
        loop {
            if let Some(AgentEvent::ToolStart { .. }) = run.next().await {
                break;
            }
        }
        timer.advance(Duration::from_secs(2));
        let report = run.into_report().await;
        assert!(matches!(report.ending, Ending::Stopped(StopCause::Limit(_))), "{:?}", report.ending);
        let said = history(&conversation);
        assert!(said[2].starts_with("toolResult! half of it\nNot finished: the run reached its limit of "), "{said:?}");
        assert!(said[3].starts_with("toolResult! Not run: the run reached its limit of "), "{said:?}");
        assert!(said[4].starts_with("note(limit)"), "{said:?}");
    });
}

#[test]
fn case_69_free_is_nothing_unknown_is_unknown_and_unused_is_nothing_too() {
    for (facts, usage, expected) in [
        (Some(facts(0)), used(10, 1), Some(Money::ZERO)),
        (Some(facts(2)), used(10, 1), Some(micro(22))),
        (None, used(10, 1), None),
        (None, Usage::ZERO, Some(Money::ZERO)),
    ] {
        block_on(async {
            let model = ScriptedProvider::new([Reply::text("Done.").usage(usage)]);
            let builder = agent(&model);
            let builder = match facts {
                Some(facts) => builder.facts(facts),
                None => builder,
            };
            let (_, report) = run(&Conversation::new(&builder.build().unwrap()), "Go").await;
            assert_eq!(report.cost, expected, "{usage:?}");
        });
    }
    // One call without a price makes the sum unknown.
    block_on(async {
        let busy = Reply::error(ProviderError::new(ProviderErrorKind::Overloaded, "busy"));
        let first = ScriptedProvider::new([Reply::call("a", "{}").usage(used(10, 1)), busy]);
        let second = ScriptedProvider::new([Reply::text("Done.").usage(used(20, 2))]);
        let mut settings = RunSettings::default();
        settings.retry.attempts = 1;
        let agent = agent(&first)
            .facts(facts(1))
            .fallback(Arc::new(second), CallOptions::new("toy-2").max_output(100), ModelFacts::new("toy", "toy-2"))
            .tool(FnTool::says("a", "ok"))
            .settings(settings)
            .build()
            .unwrap();
        let (_, report) = run(&Conversation::new(&agent), "Go").await;
        assert_eq!((report.cost, report.usage), (None, used(30, 3)));
    });
}

/// Has everything before the last user message summarised once the vendor says that it is too long.
struct OnOverflow(Arc<Mutex<Vec<bool>>>);

impl ContextPolicy for OnOverflow {
    fn plan(&self, facts: &ContextFacts<'_>) -> ContextPlan {
        self.0.lock().unwrap().push(facts.overflowed);
        if !facts.overflowed {
            return ContextPlan::Keep;
        }
        let ids: Vec<_> = facts.view.messages().map(|message| (message.role(), message.id())).collect();
        let last_user = ids.iter().rposition(|(role, _)| *role == "user").unwrap();
        let mut call = ModelCall::new(CallOptions::new("toy-1").max_output(50), facts.view.clone());
        call.note = Some("Summarise.".into());
        ContextPlan::Summarise { call: Box::new(call), first: ids[0].1, last: ids[last_user - 1].1 }
    }
}

#[test]
fn case_68_a_summary_after_an_overflow_is_in_the_totals_once_whether_it_works_or_not() {
    let overflow = || Reply::error(ProviderError::new(ProviderErrorKind::ContextOverflow, "too long"));
    let broken = ProviderError::new(ProviderErrorKind::InvalidRequest, "no");
    let works = Reply::text("They greeted.").usage(used(20, 2));
    let fails = Reply::text("They").usage(used(20, 2)).error_after(5, broken);
    for (summary, completes) in [(works, true), (fails, false)] {
        block_on(async {
            let last = if completes { Reply::text("Two.").usage(used(30, 3)) } else { overflow() };
            let model = ScriptedProvider::new([Reply::text("One.").usage(used(10, 1)), overflow(), summary, last]);
            let asked = Arc::new(Mutex::new(Vec::new()));
            let agent = agent(&model).facts(facts(1)).context_policy(OnOverflow(asked.clone())).build().unwrap();
            let conversation = Conversation::new(&agent);
            run(&conversation, "First").await;
            let (lines, report) = run(&conversation, "Second").await;
            assert_eq!(*asked.lock().unwrap(), [false, false, true], "asked once for each reason");
            let summed = report.usage;
            if completes {
                assert_eq!(report.final_text(), "Two.", "{lines:#?}");
                assert_eq!(summed, used(50, 5));
                let shown: Vec<_> =
                    model.calls().last().unwrap().view.messages().map(|message| crate::given::said(message)).collect();
                assert_eq!(shown, ["note(summary) They greeted.", "user Second"]);
            } else {
                assert!(matches!(report.ending, Ending::Failed(_)), "{lines:#?}");
                assert!(summed.input >= 20, "{summed:?}");
            }
            assert_eq!(report.cost, Some(micro(summed.input + summed.output)));
            assert_eq!(conversation.usage(), summed.plus(used(10, 1)));
            assert!(!lines.iter().any(|line| line.contains("They")), "a summary is not shown: {lines:#?}");
            assert_eq!(model.remaining(), 0);
        });
    }
}

#[test]
fn what_a_tool_spends_and_what_its_child_runs_spend_is_not_there_for_the_next_call() {
    for (spent, completes) in [(micro(9_800), false), (micro(1), true)] {
        block_on(async {
            let model = ScriptedProvider::new([
                Reply::call("child", "{}").usage(used(10, 1)),
                Reply::text("Done.").usage(used(20, 2)),
            ]);
            let child = FnTool::new("child", move |_, context| async move {
                let budget = context.budget.unwrap();
                // A run of its own, under the same budget, and a price that a vendor asks.
                let model = ScriptedProvider::new([Reply::text("Ok.").usage(used(3, 1))]);
                let agent = agent(&model).facts(facts(1)).budget(budget.child(micro(5_000))).build().unwrap();
                let report = Conversation::new(&agent).run("Do it").unwrap().into_report().await;
                assert_eq!(report.cost, Some(micro(4)));
                budget.reserve(spent).unwrap().settle(spent);
                ToolOutcome::Output(report.final_text().as_str().into())
            });
            let budget = Budget::new(micro(9_900));
            let agent = agent(&model).facts(facts(1)).tool(child).budget(budget.clone()).build().unwrap();
            let (_, report) = run(&Conversation::new(&agent), "Go").await;
            assert_eq!(matches!(report.ending, Ending::Completed), completes, "{:?}", report.ending);
            let own = if completes { 33 } else { 11 };
            assert_eq!(budget.spent(), micro(own + 4).plus(spent));
            assert_eq!(model.sent().len(), if completes { 2 } else { 1 });
        });
    }
}

#[test]
fn other_tools_break_the_cache_and_that_is_said_before_anything_is_sent() {
    for (policy, sent, ends) in [(CachePolicy::Warn, 2, false), (CachePolicy::Refuse, 1, true)] {
        block_on(async {
            let replies = [Reply::text("One.").usage(used(1_000, 5)), Reply::text("Two.").usage(used(1_000, 5))];
            let model = ScriptedProvider::new(replies);
            let mut settings = RunSettings::default();
            settings.cache = policy;
            let with = |name: &str| {
                let tool = FnTool::says(name, "ok");
                agent(&model).facts(facts(1)).tool(tool).settings(settings.clone()).build().unwrap()
            };
            let conversation = Conversation::new(&with("a"));
            run(&conversation, "First").await;
            let mut second = conversation.with_agent(&with("b")).run("Second").unwrap();
            let mut causes = Vec::new();
            while let Some(event) = second.next().await {
                if let AgentEvent::CacheBreak(found) = event {
                    assert_eq!(model.sent().len(), 1, "before it is sent");
                    causes.push(found.cause);
                }
            }
            assert_eq!(causes, [CacheBreakCause::Tools]);
            assert_eq!(model.sent().len(), sent);
            let report = second.into_report().await;
            assert_eq!(matches!(report.ending, Ending::Stopped(StopCause::CacheBreak(_))), ends, "{:?}", report.ending);
        });
    }
}

#[test]
fn case_63_of_three_attempts_the_last_is_seen_with_what_came_meanwhile_in_its_place() {
    block_on(async {
        let busy = || ProviderError::new(ProviderErrorKind::Overloaded, "busy");
        let replies = [
            Reply::text("First try").chunks(2).error_after(4, busy()),
            Reply::text("Second try").chunks(2).error_after(5, busy()),
            Reply::call("a", "{}").then_text("Third").chunks(2),
            Reply::text("Done.").error_after(3, ProviderError::new(ProviderErrorKind::Auth, "no")),
        ];
        let mut settings = RunSettings::default();
        (settings.retry.after_output, settings.retry.base_ms) = (true, 0);
        let model = ScriptedProvider::new(replies);
        let agent = agent(&model).tool(FnTool::says("a", "ok")).settings(settings).build().unwrap();
        let whole = Conversation::new(&agent).seeded(1);
        let (events, work) = whole.run("Go").unwrap().split(64);
        let read = async {
            let mut events = RetrySafeEvents::new(events);
            let mut seen = Vec::new();
            while let Some(event) = events.next().await {
                assert!(!matches!(event, AgentEvent::MessageDropped { .. }));
                seen.push(event);
            }
            seen
        };
        let (seen, report) = tokio::join!(read, work);
        let text: String = seen
            .iter()
            .filter_map(|event| match event {
                AgentEvent::Model(agent_core::ModelEvent::TextDelta { text, .. }) => Some(text.to_string()),
                _ => None,
            })
            .collect();
        assert!(!text.contains("try") && text.starts_with("Third"), "{text}");
        let lines = trace(&seen);
        let position = |what: &str| lines.iter().position(|line| line.starts_with(what)).unwrap();
        assert!(position("retry 1") < position("retry 2"), "{lines:#?}");
        assert!(position("retry 2") < position("messageStart assistant"), "{lines:#?}");
        assert!(position("messageEnd assistant") < position("toolStart"), "{lines:#?}");
        assert!(matches!(report.ending, Ending::Failed(_)), "{:?}", report.ending);
        assert!(lines.last().unwrap().starts_with("agentEnd"), "{lines:#?}");
    });
}

/// Denies what a person may not see.
struct Denies;

impl agent_core::Hook for Denies {
    fn before_tool<'a>(
        &'a self,
        _: &'a agent_core::RunFacts,
        _: agent_core::CallId,
        call: &'a agent_core::ToolCall,
        arguments: &'a agent_core::RawJson,
    ) -> agent_core::HookFuture<'a, agent_core::ToolVerdict> {
        let verdict = match call.name == "secret" || arguments.get().contains("secret") {
            true => agent_core::ToolVerdict::Deny("it is secret".into()),
            false => agent_core::ToolVerdict::Allow,
        };
        Box::pin(std::future::ready(Ok(verdict)))
    }
}

#[test]
fn case_84_a_denial_reaches_the_model_in_every_way_of_running_calls() {
    let ways = [
        Concurrency::Effects { at_most: 16 },
        Concurrency::Effects { at_most: 0 },
        Concurrency::Sequential,
        Concurrency::Batched(0),
        Concurrency::Batched(2),
    ];
    for concurrency in ways {
        block_on(async {
            let model = ScriptedProvider::new([
                Reply::call("open", "{}").then_call("secret", "{}").then_call("open", r#"{"of":"secret"}"#),
                Reply::text("Done."),
            ]);
            let (open, secret) = (FnTool::says("open", "ok"), FnTool::says("secret", "42"));
            let mut settings = RunSettings::default();
            settings.concurrency = concurrency;
            let agent = agent(&model)
                .tool(open.clone())
                .tool(secret.clone())
                .hook(Arc::new(Denies), OnFailure::Deny)
                .settings(settings)
                .build()
                .unwrap();
            let conversation = Conversation::new(&agent);
            run(&conversation, "Go").await;
            let shown: Vec<_> =
                model.calls()[1].view.messages().skip(2).map(|message| crate::given::said(message)).collect();
            let denied = "toolResult! denied: it is secret";
            assert_eq!(shown, ["toolResult ok", denied, denied], "{concurrency:?}");
            assert_eq!((open.runs(), secret.runs()), (1, 0));
        });
    }
}

#[test]
fn case_90_a_policy_of_the_tree_reaches_the_runs_below_and_they_cannot_drop_it() {
    block_on(async {
        let inner = FnTool::says("secret", "42");
        let (grandchild, said) = (inner.clone(), Arc::new(Mutex::new(Vec::new())));
        let told = said.clone();
        let child = FnTool::new("child", move |_, context| {
            let (secret, told) = (grandchild.clone(), told.clone());
            async move {
                let model = ScriptedProvider::new([Reply::call("secret", "{}"), Reply::text("Ok.")]);
                let mut builder = agent(&model).tool(secret);
                for hook in context.tree_hooks.iter() {
                    builder = builder.tree_hook(hook.clone());
                }
                let conversation = Conversation::new(&builder.build().unwrap());
                conversation.run("Do it").unwrap().into_report().await;
                told.lock().unwrap().extend(history(&conversation));
                ToolOutcome::Output("ok".into())
            }
        });
        let model = ScriptedProvider::new([Reply::call("child", r#"{"n":1}"#), Reply::text("Done.")]);
        let child = child.schema(json(r#"{"type":"object"}"#).get());
        let agent = agent(&model).tool(child).tree_hook(Arc::new(Denies)).build().unwrap();
        run(&Conversation::new(&agent), "Go").await;
        assert_eq!(inner.runs(), 0);
        assert_eq!(said.lock().unwrap()[2], "toolResult! denied: it is secret");
    });
}
