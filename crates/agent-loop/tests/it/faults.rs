//! Faults of everybody else's code: panics, hooks that fail, journals that fail. The conversation stays usable.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use agent_core::{
    AgentEvent, BoxFuture, Branch, CallId, CallOptions, ContextFacts, ContextPlan, ContextPolicy, Hook, HookFuture,
    InputVerdict, Journal, JournalError, JournalRecord, Message, ModelCall, ModelVerdict, OnFailure, Origin, Prepared,
    Provider, ProviderError, ProviderErrorKind, RawJson, RunFacts, StopReason, StopVerdict, ToolCall, ToolOutcome,
    ToolOutput, ToolSet, ToolVerdict, TurnVerdict, Usage,
};
use agent_loop::{Agent, Conversation, Ending, RunError, State, StopCause};
use agent_testkit::{FnProvider, MemoryJournal, PausedTimer, Reply, ScriptedProvider};

use crate::given::{FnTool, agent, block_on, history, options, run};

/// A hook that fails at one point: by a panic, an error, or by never answering.
struct Failing {
    point: &'static str,
    how: How,
}

#[derive(Clone, Copy, Debug)]
enum How {
    Panic,
    PanicLater,
    Error,
    Hang,
}

impl Failing {
    fn at<'a, T: Send + 'a>(&self, point: &str, fine: T) -> HookFuture<'a, T> {
        if self.point != point {
            return Box::pin(std::future::ready(Ok(fine)));
        }
        match self.how {
            How::Panic => panic!("at {point}"),
            How::PanicLater => Box::pin(async { panic!("later") }),
            How::Error => Box::pin(async { Err("broken".into()) }),
            How::Hang => Box::pin(std::future::pending()),
        }
    }
}

impl Hook for Failing {
    fn on_input<'a>(&'a self, _: &'a RunFacts, _: &'a Message) -> HookFuture<'a, InputVerdict> {
        self.at("on_input", InputVerdict::Pass)
    }

    fn before_turn<'a>(&'a self, _: &'a RunFacts) -> HookFuture<'a, TurnVerdict> {
        self.at("before_turn", TurnVerdict::Go)
    }

    fn before_model<'a>(&'a self, _: &'a RunFacts, _: &'a CallOptions, _: &'a ToolSet) -> HookFuture<'a, ModelVerdict> {
        self.at("before_model", ModelVerdict::Go)
    }

    fn before_tool<'a>(
        &'a self,
        _: &'a RunFacts,
        _: CallId,
        _: &'a ToolCall,
        _: &'a RawJson,
    ) -> HookFuture<'a, ToolVerdict> {
        self.at("before_tool", ToolVerdict::Allow)
    }

    fn after_tool<'a>(
        &'a self,
        _: &'a RunFacts,
        _: CallId,
        _: &'a ToolCall,
        output: ToolOutput,
    ) -> HookFuture<'a, ToolOutput> {
        self.at("after_tool", output)
    }

    fn after_turn<'a>(&'a self, _: &'a RunFacts, _: Option<&'a StopReason>, _: Usage) -> HookFuture<'a, ()> {
        self.at("after_turn", ())
    }

    fn on_error<'a>(&'a self, _: &'a RunFacts, _: ProviderErrorKind, _: &'a str) -> HookFuture<'a, ()> {
        self.at("on_error", ())
    }

    fn on_stop<'a>(&'a self, _: &'a RunFacts) -> HookFuture<'a, StopVerdict> {
        self.at("on_stop", StopVerdict::Accept)
    }

    fn on_event(&self, event: &AgentEvent) {
        if self.point == "on_event" && matches!(event, AgentEvent::TurnStart { .. }) {
            panic!("at on_event");
        }
    }

    fn finish<'a>(&'a self, _: &'a RunFacts) -> HookFuture<'a, ()> {
        self.at("finish", ())
    }
}

/// What a failure at each point comes to: of a hook that denies, and of one that advises.
#[test]
fn a_hook_that_fails_denies_or_is_skipped_at_every_point() {
    let table = [
        ("on_input", "rejected", "completed"),
        ("before_turn", "hook", "completed"),
        ("before_model", "hook", "completed"),
        ("before_tool", "completed, denied", "completed"),
        ("after_tool", "completed, withheld", "completed"),
        ("after_turn", "completed", "completed"),
        ("on_stop", "hook", "completed"),
        ("finish", "completed", "completed"),
    ];
    for (point, denies, advises) in table {
        for how in [How::Panic, How::PanicLater, How::Error, How::Hang] {
            for (on_failure, expected) in [(OnFailure::Deny, denies), (OnFailure::Skip, advises)] {
                block_on(async {
                    let model =
                        ScriptedProvider::new([Reply::call("a", "{}"), Reply::text("Done."), Reply::text("More.")]);
                    // A hang is bounded: the clock moves by itself, and no tool may be timed by it.
                    let mut settings = agent_loop::RunSettings::default();
                    settings.tool_ms = 0;
                    let agent = Agent::builder(model.clone(), options(), PausedTimer::auto())
                        .tool(FnTool::says("a", "ok"))
                        .settings(settings)
                        .hook(Arc::new(Failing { point, how }), on_failure)
                        .build()
                        .unwrap();
                    let conversation = Conversation::new(&agent);
                    let (lines, report) = run(&conversation, "Go").await;
                    let found = match &report.ending {
                        Ending::Completed if lines.iter().any(|line| line.contains("error denied")) => {
                            "completed, denied"
                        }
                        Ending::Completed if lines.iter().any(|line| line.contains("withheld")) => {
                            "completed, withheld"
                        }
                        Ending::Completed => "completed",
                        Ending::Stopped(StopCause::Hook(_)) => "hook",
                        Ending::Stopped(StopCause::Rejected(_)) => "rejected",
                        other => panic!("{other:?} at {point}"),
                    };
                    assert_eq!(found, expected, "{point} {how:?} {on_failure:?}: {lines:#?}");
                    let told = lines.iter().any(|line| line.starts_with(&format!("hookFailed {point}")));
                    assert!(told || point == "finish" || point == "on_stop", "{point} {how:?}: {lines:#?}");
                    assert!(lines.last().unwrap().starts_with("agentEnd"), "{lines:#?}");
                    assert!(conversation.state().is_ok(), "the conversation is free again");
                });
            }
        }
    }
}

#[test]
fn a_hook_that_panics_on_an_event_is_not_told_any_more() {
    block_on(async {
        let model = ScriptedProvider::new([Reply::text("Done.")]);
        let hook = Arc::new(Failing { point: "on_event", how: How::Panic });
        let conversation = Conversation::new(&agent(&model).hook(hook, OnFailure::Deny).build().unwrap());
        let (lines, report) = run(&conversation, "Go").await;
        assert!(matches!(report.ending, Ending::Completed));
        assert_eq!(lines.iter().filter(|line| line.starts_with("hookFailed on_event")).count(), 1, "{lines:#?}");
    });
}

/// A provider that panics at a point the first time.
struct Panicking {
    point: &'static str,
    inner: ScriptedProvider,
    left: AtomicUsize,
}

impl Provider for Panicking {
    fn origin(&self, model: &str) -> Origin {
        self.inner.origin(model)
    }

    fn prepare(&self, call: ModelCall) -> BoxFuture<'_, Result<Prepared, ProviderError>> {
        if self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok() {
            match self.point {
                "prepare" => panic!("in prepare"),
                _ => return Box::pin(async { panic!("while preparing") }),
            }
        }
        self.inner.prepare(call)
    }
}

#[test]
fn a_provider_that_panics_fails_the_run_and_nothing_else() {
    for point in ["prepare", "future"] {
        block_on(async {
            let inner = ScriptedProvider::new([Reply::text("Hello!")]);
            let provider = Panicking { point, inner, left: AtomicUsize::new(1) };
            let agent = Agent::builder(provider, options(), PausedTimer::at(0)).build().unwrap();
            let conversation = Conversation::new(&agent);
            let (lines, report) = run(&conversation, "Hi").await;
            assert!(
                matches!(&report.ending, Ending::Failed(RunError::Provider(error)) if error.to_string().contains("panicked"))
            );
            assert!(lines.last().unwrap().starts_with("agentEnd Failed"), "{lines:#?}");
            let report = conversation.run("Again").unwrap().into_report().await;
            assert_eq!(report.final_text(), "Hello!");
            assert_eq!(history(&conversation), ["user Hi", "user Again", "assistant Hello!"]);
        });
    }
}

struct PanickingPolicy;

impl ContextPolicy for PanickingPolicy {
    fn plan(&self, _: &ContextFacts<'_>) -> ContextPlan {
        panic!("in the policy")
    }
}

#[test]
fn a_policy_that_panics_keeps_everything() {
    block_on(async {
        let model = ScriptedProvider::new([Reply::text("Hello!")]);
        let conversation = Conversation::new(&agent(&model).context_policy(PanickingPolicy).build().unwrap());
        let (lines, report) = run(&conversation, "Hi").await;
        assert!(matches!(report.ending, Ending::Completed));
        assert!(lines.iter().any(|line| line.starts_with("hookFailed context: panicked")), "{lines:#?}");
    });
}

#[test]
fn a_tool_that_panics_is_an_error_result_and_its_siblings_go_on() {
    block_on(async {
        let building = FnTool::new("building", |_, _| -> std::future::Ready<ToolOutcome> { panic!("early") });
        let polling = FnTool::new("polling", |_, _| async { panic!("late") });
        let calls = Reply::call("building", "{}").then_call("polling", "{}").then_call("fine", "{}");
        let model = ScriptedProvider::new([calls, Reply::text("Done.")]);
        let fine = FnTool::says("fine", "ok");
        let agent = agent(&model).tool(building).tool(polling).tool(fine).build().unwrap();
        let conversation = Conversation::new(&agent);
        let (_, report) = run(&conversation, "Go").await;
        assert!(matches!(report.ending, Ending::Completed));
        let said = history(&conversation);
        assert!(said[2].contains("panicked: early") && said[3].contains("panicked: late"), "{said:?}");
        assert_eq!(said[4], "toolResult ok");
    });
}

/// A journal whose append of one number fails.
struct FailsAt {
    inner: MemoryJournal,
    left: AtomicUsize,
}

impl Journal for FailsAt {
    fn append(&self, records: Vec<JournalRecord>) -> BoxFuture<'static, Result<(), JournalError>> {
        match self.left.fetch_sub(1, Ordering::SeqCst) {
            0 => Box::pin(std::future::ready(Err(JournalError::Closed))),
            _ => self.inner.append(records),
        }
    }

    fn load(&self) -> BoxFuture<'_, Result<Branch, JournalError>> {
        self.inner.load()
    }
}

#[test]
fn a_journal_that_fails_at_any_append_ends_the_run_and_the_next_one_goes_on() {
    let mut failed = 0;
    for at in 0..20 {
        block_on(async {
            let model = FnProvider::new(|call| match call.view.len() {
                1 => Reply::call("a", "{}"),
                _ => Reply::text("Done."),
            });
            let inner = MemoryJournal::new();
            let journal = FailsAt { inner: inner.clone(), left: AtomicUsize::new(at) };
            let agent = Agent::builder(model, options(), PausedTimer::at(0)).tool(FnTool::says("a", "ok"));
            let conversation = Conversation::new(&agent.build().unwrap()).journal(Arc::new(journal));
            let (lines, report) = run(&conversation, "Go").await;
            assert!(lines.last().unwrap().starts_with("agentEnd"), "{lines:#?}");
            let has_failed = matches!(report.ending, Ending::Failed(RunError::Journal(_)));
            failed += usize::from(has_failed);
            assert!(has_failed || matches!(report.ending, Ending::Completed), "at {at}: {:?}", report.ending);
            let live = conversation.state().unwrap();
            assert!(State::replay(&inner.records().unwrap()).unwrap() == live, "at {at}: what is not written is not");
            if has_failed {
                let report = conversation.run("Go on").unwrap().into_report().await;
                assert!(matches!(report.ending, Ending::Completed), "at {at}: {:?}", report.ending);
            }
            let live = conversation.state().unwrap();
            assert!(State::replay(&inner.records().unwrap()).unwrap() == live, "at {at}");
        });
    }
    assert_eq!(failed, 10, "every append of the run failed once");
}
