//! The budget, the cache guard and the context policy: nothing is sent before they agree.

use std::sync::Arc;

use agent_core::{
    AgentEvent, Budget, CacheBreakCause, CallOptions, ContextFacts, ContextPlan, ContextPolicy, Hook, HookFuture,
    ModelCall, ModelFacts, ModelVerdict, Money, OnFailure, Price, ProviderError, ProviderErrorKind, Rates, RunFacts,
    ToolSet, Usage, ViewEdit,
};
use agent_loop::{Agent, CachePolicy, Conversation, Ending, RunError, RunSettings, StopCause};
use agent_testkit::{PausedTimer, Reply, ScriptedProvider};

use crate::given::{FnTool, agent, block_on, history, options, run};

fn micro(dollars: u64) -> Money {
    Money::from_micro_dollars(dollars)
}

fn facts() -> ModelFacts {
    let mut facts = ModelFacts::new("toy", "toy-1");
    facts.price = Some(Price::new(Rates::new(micro(1), micro(10))));
    facts
}

fn used(input: u64, output: u64) -> Usage {
    let mut usage = Usage::ZERO;
    (usage.input, usage.output) = (input, output);
    usage
}

#[test]
fn a_call_that_the_budget_does_not_cover_is_not_sent() {
    block_on(async {
        let model = ScriptedProvider::new([Reply::text("Hello!")]);
        let budget = Budget::new(micro(50));
        let agent = agent(&model).facts(facts()).budget(budget.clone()).build().unwrap();
        let (_, report) = run(&Conversation::new(&agent), "Hi").await;
        assert!(matches!(&report.ending, Ending::Stopped(StopCause::Budget(_))), "{:?}", report.ending);
        assert!(model.sent().is_empty());
        assert_eq!((budget.spent(), budget.reserved()), (Money::ZERO, Money::ZERO));
    });
}

#[test]
fn too_little_left_lowers_the_output_limit() {
    block_on(async {
        let model = ScriptedProvider::new([Reply::text("Hello!").usage(used(10, 3))]);
        // The input bound and 100 tokens of output are more than this; the input bound and 64 are not.
        let budget = Budget::new(micro(950));
        let agent = agent(&model).facts(facts()).budget(budget.clone()).build().unwrap();
        let (_, report) = run(&Conversation::new(&agent), "Hi").await;
        assert!(matches!(report.ending, Ending::Completed), "{:?}", report.ending);
        let calls = model.calls();
        let limits: Vec<_> = calls.iter().map(|call| call.options.max_output.unwrap()).collect();
        assert!(limits[0] == 100 && limits[1] < 100 && limits[1] >= 64, "{limits:?}");
        assert_eq!(model.sent().len(), 1);
        assert_eq!(budget.spent(), micro(10 + 30));
        assert_eq!(report.cost, Some(micro(40)));
    });
}

#[test]
fn a_cheaper_model_is_taken_before_the_run_is_stopped() {
    block_on(async {
        let (dear, cheap) =
            (ScriptedProvider::new([Reply::text("Dear")]), ScriptedProvider::new([Reply::text("Cheap")]));
        let mut cheap_facts = ModelFacts::new("toy", "toy-2");
        cheap_facts.price = Some(Price::new(Rates::new(Money::from_pico_dollars(1), Money::from_pico_dollars(1))));
        let agent = agent(&dear)
            .facts(facts())
            .fallback(Arc::new(cheap.clone()), CallOptions::new("toy-2").max_output(100), cheap_facts)
            .budget(Budget::new(micro(50)))
            .build()
            .unwrap();
        let (_, report) = run(&Conversation::new(&agent), "Hi").await;
        assert_eq!(report.final_text(), "Cheap");
        assert!(dear.sent().is_empty());
    });
}

#[test]
fn a_model_that_does_not_answer_gives_way_to_the_next() {
    block_on(async {
        let busy = || Reply::error(ProviderError::new(ProviderErrorKind::Overloaded, "busy"));
        let (first, second) = (ScriptedProvider::new([busy(), busy()]), ScriptedProvider::new([Reply::text("Here")]));
        let mut settings = RunSettings::default();
        (settings.retry.attempts, settings.retry.base_ms) = (2, 0);
        let facts = ModelFacts::new("toy", "toy-2");
        let agent = agent(&first)
            .fallback(Arc::new(second.clone()), CallOptions::new("toy-2").max_output(100), facts)
            .settings(settings)
            .build()
            .unwrap();
        let (_, report) = run(&Conversation::new(&agent), "Hi").await;
        assert_eq!(report.final_text(), "Here");
        assert_eq!((first.sent().len(), second.sent().len()), (2, 1));
    });
}

#[test]
fn under_a_budget_a_model_without_a_price_is_refused_and_without_one_it_is_not() {
    block_on(async {
        let model = ScriptedProvider::new([Reply::text("Hello!")]);
        let limited = agent(&model).budget(Budget::new(micro(1_000_000))).build().unwrap();
        let (_, report) = run(&Conversation::new(&limited), "Hi").await;
        assert!(matches!(&report.ending, Ending::Stopped(StopCause::Budget(why)) if why.contains("price")));
        assert!(model.sent().is_empty());
        let (_, report) = run(&Conversation::new(&agent(&model).build().unwrap()), "Hi").await;
        assert!(matches!(report.ending, Ending::Completed));
        assert_eq!(report.cost, None, "unknown is not free");
    });
}

#[test]
fn a_failed_call_counts_with_its_reservation_unless_it_was_free() {
    for (billed, free) in [(agent_core::Billed::Unknown, false), (agent_core::Billed::No, true)] {
        block_on(async {
            let failed = ProviderError::new(ProviderErrorKind::Auth, "no").with_billed(billed);
            let model = ScriptedProvider::new([Reply::error(failed)]);
            let budget = Budget::new(micro(1_000_000));
            let agent = agent(&model).facts(facts()).budget(budget.clone()).build().unwrap();
            let (_, report) = run(&Conversation::new(&agent), "Hi").await;
            assert!(matches!(report.ending, Ending::Failed(RunError::Provider(_))));
            assert_eq!(budget.spent() == Money::ZERO, free, "{billed:?}");
            assert_eq!(report.cost, Some(budget.spent()));
            assert_eq!(budget.reserved(), Money::ZERO);
        });
    }
}

/// Changes the system prompt from the second turn on.
struct Restless;

impl Hook for Restless {
    fn before_model<'a>(
        &'a self,
        run: &'a RunFacts,
        options: &'a CallOptions,
        _: &'a ToolSet,
    ) -> HookFuture<'a, ModelVerdict> {
        let verdict = match run.turn {
            0 => ModelVerdict::Note("a note for this call only".into()),
            _ => ModelVerdict::Options(Arc::new(options.clone().system("Now in French."))),
        };
        Box::pin(std::future::ready(Ok(verdict)))
    }
}

#[test]
fn a_cache_break_is_told_before_the_request_is_sent_or_stops_it() {
    for (policy, told, sent) in
        [(CachePolicy::Allow, false, 2), (CachePolicy::Warn, true, 2), (CachePolicy::Refuse, true, 1)]
    {
        block_on(async {
            let replies = [Reply::call("a", "{}").usage(used(1_000, 5)), Reply::text("Done.")];
            let model = ScriptedProvider::new(replies);
            let mut settings = RunSettings::default();
            settings.cache = policy;
            let agent = agent(&model)
                .facts(facts())
                .tool(FnTool::says("a", "ok"))
                .hook(Arc::new(Restless), OnFailure::Deny)
                .settings(settings)
                .build()
                .unwrap();
            let mut run = Conversation::new(&agent).run("Go").unwrap();
            let mut broken = None;
            while let Some(event) = run.next().await {
                if let AgentEvent::CacheBreak(found) = event {
                    assert_eq!(model.sent().len(), 1, "before it is sent");
                    broken = Some(found);
                }
            }
            assert_eq!(broken.is_some(), told, "{policy:?}");
            assert_eq!(model.sent().len(), sent, "{policy:?}");
            if let Some(broken) = broken {
                assert_eq!(broken.cause, CacheBreakCause::System);
                assert!(broken.tokens_lost > 0 && broken.byte.is_some(), "{broken:?}");
            }
        });
    }
}

/// Hides what is older than the last two messages; or has it summarised, where it is told to.
struct Short {
    summarise: bool,
    only_overflow: bool,
}

impl ContextPolicy for Short {
    fn plan(&self, facts: &ContextFacts<'_>) -> ContextPlan {
        let ids: Vec<_> = facts.view.messages().map(|message| (message.role(), message.id())).collect();
        let last_user = ids.iter().rposition(|(role, _)| *role == "user").unwrap_or(0);
        if last_user == 0 || (self.only_overflow && !facts.overflowed) {
            return ContextPlan::Keep;
        }
        let (first, last) = (ids[0].1, ids[last_user - 1].1);
        if self.summarise {
            let mut call = ModelCall::new(CallOptions::new("toy-1").max_output(50), facts.view.clone());
            call.note = Some("Summarise.".into());
            return ContextPlan::Summarise { call: Box::new(call), first, last };
        }
        ContextPlan::Edits(vec![ViewEdit::Hide { first, last }])
    }
}

#[test]
fn a_policy_hides_what_the_model_need_not_see_and_the_history_keeps_it() {
    block_on(async {
        let model = ScriptedProvider::new([Reply::text("One."), Reply::text("Two.")]);
        let policy = Short { summarise: false, only_overflow: false };
        let conversation = Conversation::new(&agent(&model).context_policy(policy).build().unwrap());
        run(&conversation, "First").await;
        let (lines, _) = run(&conversation, "Second").await;
        assert!(lines.contains(&"contextEdited 3 -> 1".to_owned()), "{lines:#?}");
        assert_eq!(model.calls().last().unwrap().view.len(), 1);
        assert_eq!(conversation.messages().len(), 4);
    });
}

#[test]
fn a_summary_is_a_call_of_the_run_with_budget_and_spend_and_no_events_of_its_own() {
    block_on(async {
        let replies = [
            Reply::text("One.").usage(used(10, 1)),
            Reply::text("They said hello.").usage(used(20, 2)),
            Reply::text("Two.").usage(used(30, 3)),
        ];
        let model = ScriptedProvider::new(replies);
        let policy = Short { summarise: true, only_overflow: false };
        let budget = Budget::new(micro(1_000_000));
        let agent = agent(&model).facts(facts()).budget(budget.clone()).context_policy(policy).build().unwrap();
        let conversation = Conversation::new(&agent);
        run(&conversation, "First").await;
        let (lines, report) = run(&conversation, "Second").await;
        assert_eq!(report.final_text(), "Two.");
        assert_eq!(report.usage, used(50, 5), "the summary counts");
        assert_eq!(budget.spent(), micro(60 + 60));
        assert!(!lines.iter().any(|line| line.contains("They said hello")), "{lines:#?}");
        let shown: Vec<_> = model.calls()[2].view.messages().map(|message| crate::given::said(message)).collect();
        assert_eq!(shown, ["note(summary) They said hello.", "user Second"]);
        assert_eq!(history(&conversation), ["user First", "assistant One.", "user Second", "assistant Two."]);
        assert_eq!(budget.spent(), conversation.spent());
    });
}

#[test]
fn a_summary_that_fails_is_done_without() {
    block_on(async {
        let failed = ProviderError::new(ProviderErrorKind::InvalidRequest, "no");
        let model = ScriptedProvider::new([Reply::text("One."), Reply::error(failed), Reply::text("Two.")]);
        let policy = Short { summarise: true, only_overflow: false };
        let conversation = Conversation::new(&agent(&model).context_policy(policy).build().unwrap());
        run(&conversation, "First").await;
        let (lines, report) = run(&conversation, "Second").await;
        assert_eq!(report.final_text(), "Two.", "{lines:#?}");
        assert!(lines.iter().any(|line| line.starts_with("hookFailed context")), "{lines:#?}");
    });
}

#[test]
fn an_overflow_asks_the_policy_once_and_tries_once_more() {
    block_on(async {
        let overflow = || Reply::error(ProviderError::new(ProviderErrorKind::ContextOverflow, "too long"));
        let replies = [Reply::text("One."), overflow(), Reply::text("Two."), overflow(), overflow()];
        let model = ScriptedProvider::new(replies);
        let policy = Short { summarise: false, only_overflow: true };
        let conversation = Conversation::new(&agent(&model).context_policy(policy).build().unwrap());
        run(&conversation, "First").await;
        let (lines, report) = run(&conversation, "Second").await;
        assert_eq!(report.final_text(), "Two.");
        assert!(lines.contains(&"contextEdited 3 -> 1".to_owned()), "{lines:#?}");
        let (_, report) = run(&conversation, "Third").await;
        assert!(matches!(report.ending, Ending::Failed(_)), "twice is enough: {:?}", report.ending);
        assert_eq!(model.sent().len(), 5);
    });
}

#[test]
fn many_conversations_of_one_agent_at_once_share_its_budget() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    runtime.block_on(async {
        let model = agent_testkit::FnProvider::new(|call| match call.view.len() {
            1 => Reply::call("a", "{}").usage(used(10, 1)),
            _ => Reply::text("Done.").usage(used(20, 2)),
        });
        let budget = Budget::new(micro(1_000_000));
        let agent = Agent::builder(model, options(), PausedTimer::at(0))
            .facts(facts())
            .tool(FnTool::says("a", "ok"))
            .budget(budget.clone())
            .build()
            .unwrap();
        let runs: Vec<_> = (0..100)
            .map(|_| {
                let conversation = Conversation::new(&agent);
                tokio::spawn(async move { conversation.run("Go").unwrap().into_report().await })
            })
            .collect();
        for run in runs {
            assert!(matches!(run.await.unwrap().ending, Ending::Completed));
        }
        assert_eq!((budget.spent(), budget.reserved()), (micro(100 * (20 + 40)), Money::ZERO));
    });
}
