//! The order of everything that a run does to the outside: journal, hooks, context policy, requests, tools, events.

use std::sync::Arc;

use agent_core::{
    BoxFuture, Branch, CancelToken, ContextFacts, ContextPlan, ContextPolicy, Effects, Journal, JournalError,
    JournalRecord, ModelCall, ModelStream, OnFailure, Origin, Prepared, Provider, ProviderError, ProviderErrorKind,
    Segments, SendPrepared, ToolOutcome,
};
use agent_loop::{Agent, Conversation, Ending, Limits, RunSettings, StopCause};
use agent_testkit::{MemoryJournal, PausedTimer, Reply, ScriptedProvider};

use crate::{
    given::{FnTool, Notes, block_on, options},
    hook_order::Recorder,
    traces::golden,
};

struct NotedModel(ScriptedProvider, Notes);

impl Provider for NotedModel {
    fn origin(&self, model: &str) -> Origin {
        self.0.origin(model)
    }

    fn prepare(&self, call: ModelCall) -> BoxFuture<'_, Result<Prepared, ProviderError>> {
        self.1.add(format!("model prepare {} messages", call.view.len()));
        Box::pin(async move {
            let prepared = self.0.prepare(call).await?;
            let (segments, sender) = (prepared.segments().unwrap().clone(), NotedSender(prepared, self.1.clone()));
            Ok(Prepared::new(segments, Arc::new(sender)))
        })
    }
}

struct NotedSender(Prepared, Notes);

impl SendPrepared for NotedSender {
    fn send(
        &self,
        _: Option<&Segments>,
        cancel: CancelToken,
    ) -> BoxFuture<'static, Result<ModelStream, ProviderError>> {
        self.1.add("model send");
        self.0.send(cancel)
    }
}

struct NotedPolicy(Notes);

impl ContextPolicy for NotedPolicy {
    fn plan(&self, facts: &ContextFacts<'_>) -> ContextPlan {
        self.0.add(format!("policy {} messages", facts.view.len()));
        ContextPlan::Keep
    }
}

struct NotedJournal(MemoryJournal, Notes);

impl Journal for NotedJournal {
    fn append(&self, records: Vec<JournalRecord>) -> BoxFuture<'static, Result<(), JournalError>> {
        let kinds = records.iter().map(|record| {
            let body = format!("{:?}", record.body);
            body.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default().to_owned()
        });
        self.1.add(format!("journal {}", kinds.collect::<Vec<_>>().join(" ")));
        self.0.append(records)
    }

    fn load(&self) -> BoxFuture<'_, Result<Branch, JournalError>> {
        self.0.load()
    }
}

#[test]
fn the_whole_order_of_a_run_with_everything_that_can_be_asked() {
    block_on(async {
        let notes = Notes::default();
        let busy = ProviderError::new(ProviderErrorKind::Overloaded, "busy");
        let model = ScriptedProvider::new([
            Reply::call("a", "{}").then_call("b", "{}"),
            Reply::error(busy),
            Reply::text("Done."),
            Reply::text("More."),
        ]);
        let mut settings = RunSettings::default();
        (settings.retry.base_ms, settings.limits) = (0, Limits::NONE);
        settings.limits.turns = Some(3);
        let tool = |name: &'static str| {
            let notes = notes.clone();
            let tool = FnTool::new(name, move |_, _| {
                notes.add(format!("tool {name}"));
                std::future::ready(ToolOutcome::Output("ok".into()))
            });
            tool.effects(Effects::exclusive("one"))
        };
        let agent = Agent::builder(NotedModel(model.clone(), notes.clone()), options(), PausedTimer::at(0))
            .tool(tool("a"))
            .tool(tool("b"))
            .hook(Arc::new(Recorder::new("older", &notes)), OnFailure::Deny)
            .context_policy(NotedPolicy(notes.clone()))
            .settings(settings)
            .build()
            .unwrap();
        let journal = MemoryJournal::new();
        let conversation = Conversation::new(&agent).journal(Arc::new(NotedJournal(journal.clone(), notes.clone())));
        conversation.handle().follow_up("And more").unwrap();
        conversation.handle().follow_up("And too much").unwrap();
        let report = conversation.run("Go").unwrap().into_report().await;
        assert!(matches!(report.ending, Ending::Stopped(StopCause::Limit(_))), "{:?}", report.ending);
        assert_eq!(model.remaining(), 0);
        let order = notes.take();
        // Written ahead: a request is sent, and a tool runs, only when the journal has said that it has the intent.
        let position = |what: &str| order.iter().position(|line| line == what).unwrap();
        assert!(position("journal CallStarted") < position("model send"));
        assert!(position("journal ToolIntents") < position("tool a"));
        golden("turn_order", &order);
    });
}
