//! The budget is for the model that is really asked, whoever named it.

use std::sync::Arc;

use agent_core::{
    Budget, CallOptions, ContextFacts, ContextPlan, ContextPolicy, Hook, HookFuture, ModelCall, ModelFacts,
    ModelVerdict, Money, OnFailure, Price, Rates, RunFacts, ToolSet, Usage,
};
use agent_loop::{AgentBuilder, Conversation, Ending, StopCause};
use agent_testkit::{Reply, ScriptedProvider};

use crate::given::{agent, block_on, run};

fn micro(dollars: u64) -> Money {
    Money::from_micro_dollars(dollars)
}

fn facts(model: &str, per_token: u64) -> ModelFacts {
    let mut facts = ModelFacts::new("toy", model);
    facts.price = Some(Price::new(Rates::new(micro(per_token), micro(per_token))));
    facts
}

fn used(input: u64, output: u64) -> Usage {
    let mut usage = Usage::ZERO;
    (usage.input, usage.output) = (input, output);
    usage
}

/// Has another model asked.
struct Swaps;

impl Hook for Swaps {
    fn before_model<'a>(
        &'a self,
        _: &'a RunFacts,
        options: &'a CallOptions,
        _: &'a ToolSet,
    ) -> HookFuture<'a, ModelVerdict> {
        let mut other = options.clone();
        other.model = "toy-2".into();
        Box::pin(std::future::ready(Ok(ModelVerdict::Options(Arc::new(other)))))
    }
}

/// An agent whose first model costs one a token; the second, where it is known, ten.
fn priced(model: &ScriptedProvider, knows_other: bool) -> AgentBuilder {
    let builder = agent(model).facts(facts("toy-1", 1));
    let other = CallOptions::new("toy-2").max_output(100);
    if knows_other { builder.fallback(Arc::new(model.clone()), other, facts("toy-2", 10)) } else { builder }
}

#[test]
fn a_model_that_a_hook_names_is_paid_at_its_own_price_and_refused_without_one() {
    for (knows_other, has_budget, cost, completes) in [
        (true, true, Some(micro(120)), true),
        (true, false, Some(micro(120)), true),
        (false, true, None, false),
        (false, false, None, true),
    ] {
        block_on(async {
            let model = ScriptedProvider::new([Reply::text("Done.").usage(used(10, 2))]);
            let budget = Budget::new(micro(1_000_000));
            let builder = priced(&model, knows_other).hook(Arc::new(Swaps), OnFailure::Deny);
            let builder = if has_budget { builder.budget(budget.clone()) } else { builder };
            let (_, report) = run(&Conversation::new(&builder.build().unwrap()), "Go").await;
            match completes {
                true => {
                    assert_eq!(model.calls()[0].options.model, "toy-2");
                    assert_eq!(report.cost, cost, "{knows_other} {has_budget}");
                }
                false => {
                    assert!(matches!(&report.ending, Ending::Stopped(StopCause::Budget(why)) if why.contains("price")));
                    assert!(model.sent().is_empty());
                }
            }
            assert_eq!(budget.spent(), cost.filter(|_| has_budget).unwrap_or_default());
            assert_eq!(budget.reserved(), Money::ZERO);
        });
    }
}

/// Has the first exchange summarised by another model.
struct Elsewhere;

impl ContextPolicy for Elsewhere {
    fn plan(&self, facts: &ContextFacts<'_>) -> ContextPlan {
        let ids: Vec<_> = facts.view.messages().map(|message| message.id()).collect();
        if ids.len() < 3 {
            return ContextPlan::Keep;
        }
        let call = ModelCall::new(CallOptions::new("toy-2").max_output(50), facts.view.clone());
        ContextPlan::Summarise { call: Box::new(call), first: ids[0], last: ids[1] }
    }
}

#[test]
fn a_summary_by_another_model_is_paid_at_its_own_price_and_done_without_where_it_has_none() {
    for (knows_other, cost, told) in [(true, micro(22 * 10 + 33), false), (false, micro(33), true)] {
        block_on(async {
            let summary = Reply::text("They greeted.").usage(used(20, 2));
            let answers = [Reply::text("One.").usage(used(10, 1)), Reply::text("Two.").usage(used(30, 3))];
            let [one, two] = answers;
            let model =
                ScriptedProvider::new([Some(one), knows_other.then_some(summary), Some(two)].into_iter().flatten());
            let budget = Budget::new(micro(1_000_000));
            let agent = priced(&model, knows_other).context_policy(Elsewhere).budget(budget.clone()).build().unwrap();
            let conversation = Conversation::new(&agent);
            run(&conversation, "First").await;
            let (lines, report) = run(&conversation, "Second").await;
            assert_eq!(report.final_text(), "Two.", "{lines:#?}");
            assert_eq!(report.cost, Some(cost));
            assert_eq!(budget.spent(), cost.plus(micro(11)));
            assert_eq!(lines.iter().any(|line| line.starts_with("hookFailed context")), told, "{lines:#?}");
        });
    }
}
