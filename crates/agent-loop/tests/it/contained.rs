//! Panics of everybody else's code at the points that are easily forgotten: contained, and the conversation goes on.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use agent_core::{
    AgentEvent, BoxFuture, Branch, CancelToken, Hook, HookFuture, Journal, JournalError, JournalRecord, ModelCall,
    ModelStream, OnFailure, Origin, Prepared, Provider, ProviderError, ProviderErrorKind, RawJson, RunFacts, Segments,
    SendPrepared, TokenBound, TokenCounter, Tool, ToolContext, ToolOutcome, ToolSpec, Validator, Violation,
};
use agent_loop::{Agent, Conversation, Ending, Limits, RunError, RunSettings, State, StopCause};
use agent_testkit::{FnProvider, MemoryJournal, PausedTimer, Reply, ScriptedProvider};

use crate::given::{FnTool, agent, block_on, history, options, run};

/// A provider whose first call panics at a point.
#[derive(Clone)]
struct Panicking {
    point: &'static str,
    inner: ScriptedProvider,
    left: Arc<AtomicUsize>,
}

impl Panicking {
    fn now(&self, point: &str) -> bool {
        self.point == point
            && self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok()
    }
}

impl Provider for Panicking {
    fn origin(&self, model: &str) -> Origin {
        assert!(!self.now("origin"), "at origin");
        self.inner.origin(model)
    }

    fn prepare(&self, call: ModelCall) -> BoxFuture<'_, Result<Prepared, ProviderError>> {
        Box::pin(async move {
            let prepared = self.inner.prepare(call).await?;
            let sender = Arc::new(Sender { provider: self.clone(), prepared });
            Ok(Prepared::unguarded(TokenBound::AtMost(10), sender))
        })
    }
}

struct Sender {
    provider: Panicking,
    prepared: Prepared,
}

impl SendPrepared for Sender {
    fn send(
        &self,
        _: Option<&Segments>,
        cancel: CancelToken,
    ) -> BoxFuture<'static, Result<ModelStream, ProviderError>> {
        assert!(!self.provider.now("send"), "at send");
        let (provider, sending) = (self.provider.clone(), self.prepared.send(cancel));
        Box::pin(async move {
            assert!(!provider.now("sending"), "at sending");
            let stream = sending.await?;
            let mut panics = provider.now("stream");
            let mut events = 0;
            Ok(ModelStream::new(futures_util::StreamExt::map(stream, move |event| {
                events += 1;
                assert!(!(panics && events == 4), "at stream");
                panics &= events < 4;
                event
            })))
        })
    }
}

#[test]
fn a_provider_that_panics_while_it_sends_or_streams_fails_the_run_and_nothing_else() {
    for point in ["origin", "send", "sending", "stream"] {
        block_on(async {
            let inner = ScriptedProvider::new((0..3).map(|_| Reply::text("Hello!").chunks(2)));
            let provider = Panicking { point, inner, left: Arc::new(AtomicUsize::new(1)) };
            let agent = Agent::builder(provider, options(), PausedTimer::at(0)).build().unwrap();
            let journal = MemoryJournal::new();
            let conversation = Conversation::new(&agent).journal(Arc::new(journal.clone()));
            let (lines, report) = run(&conversation, "Hi").await;
            let Ending::Failed(RunError::Provider(error)) = &report.ending else { panic!("{point}: {lines:#?}") };
            assert!(error.to_string().contains(&format!("panicked: at {point}")), "{error}");
            assert!(lines.last().unwrap().starts_with("agentEnd Failed"), "{lines:#?}");
            let shown = lines.iter().filter(|line| line.starts_with("messageStart assistant")).count();
            let ended = lines.iter().filter(|line| line.starts_with("messageEnd assistant")).count();
            assert_eq!(shown, ended, "{lines:#?}");
            let report = conversation.run("Again").unwrap().into_report().await;
            assert_eq!(report.final_text(), "Hello!", "{point}");
            assert!(State::replay(&journal.records().unwrap()).unwrap() == conversation.state().unwrap());
        });
    }
}

/// A journal that panics at its second append, while it is called or while it is polled.
struct PanickingJournal {
    inner: MemoryJournal,
    while_polled: bool,
    appends: AtomicUsize,
}

impl Journal for PanickingJournal {
    fn append(&self, records: Vec<JournalRecord>) -> BoxFuture<'static, Result<(), JournalError>> {
        match self.appends.fetch_add(1, Ordering::SeqCst) {
            1 if self.while_polled => Box::pin(async { panic!("in the journal") }),
            1 => panic!("in the journal"),
            _ => self.inner.append(records),
        }
    }

    fn load(&self) -> BoxFuture<'_, Result<Branch, JournalError>> {
        self.inner.load()
    }
}

#[test]
fn a_journal_that_panics_has_not_written() {
    for while_polled in [false, true] {
        block_on(async {
            let inner = MemoryJournal::new();
            let journal = PanickingJournal { inner: inner.clone(), while_polled, appends: AtomicUsize::new(0) };
            let model = FnProvider::new(|_| Reply::text("Hello!"));
            let agent = Agent::builder(model, options(), PausedTimer::at(0)).build().unwrap();
            let conversation = Conversation::new(&agent).journal(Arc::new(journal));
            let (lines, report) = run(&conversation, "Hi").await;
            assert!(matches!(&report.ending, Ending::Failed(RunError::Journal(_))), "{:?}", report.ending);
            assert!(lines.last().unwrap().starts_with("agentEnd"), "{lines:#?}");
            let report = conversation.run("Again").unwrap().into_report().await;
            assert_eq!(report.final_text(), "Hello!");
            assert!(State::replay(&inner.records().unwrap()).unwrap() == conversation.state().unwrap());
        });
    }
}

/// A tool that panics where it is asked something else than to run.
struct OddTool {
    inner: FnTool,
    point: &'static str,
    /// How often it is well behaved before.
    fine: AtomicUsize,
}

impl OddTool {
    fn at(&self, point: &str) {
        let fine = self.fine.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok();
        assert!(self.point != point || fine, "at {point}");
    }
}

impl Tool for OddTool {
    fn spec(&self) -> &ToolSpec {
        self.inner.spec()
    }

    fn call(&self, arguments: RawJson, context: ToolContext) -> BoxFuture<'_, ToolOutcome> {
        self.inner.call(arguments, context)
    }

    fn version(&self) -> &str {
        self.at("version");
        ""
    }
}

struct OddValidator;

impl Validator for OddValidator {
    fn validate(&self, _: &RawJson, _: &RawJson) -> Result<(), Vec<Violation>> {
        panic!("at validate")
    }
}

#[test]
fn a_tool_that_panics_beside_its_run_is_an_error_result() {
    // Asked for its version twice: when it is judged, and when it runs.
    for (fine, validator) in [(0, false), (1, false), (0, true)] {
        block_on(async {
            let model = ScriptedProvider::new([Reply::call("a", "{}"), Reply::text("Done.")]);
            let a = FnTool::says("a", "ok");
            let point = if validator { "nowhere" } else { "version" };
            let odd = OddTool { inner: a.clone(), point, fine: AtomicUsize::new(fine) };
            let mut builder = agent(&model).tool(odd);
            if validator {
                builder = builder.validator(OddValidator);
            }
            let conversation = Conversation::new(&builder.build().unwrap());
            let (_, report) = run(&conversation, "Go").await;
            assert!(matches!(report.ending, Ending::Completed), "{:?}", report.ending);
            assert!(history(&conversation)[2].starts_with("toolResult! "), "{:?}", history(&conversation));
            assert!(history(&conversation)[2].contains("panicked: at v"), "{:?}", history(&conversation));
            assert_eq!(a.runs(), 0);
        });
    }
}

/// A hook that cannot say whether it filters, and one that fails where the run has nearly ended.
struct OddHook(&'static str);

impl OddHook {
    fn fails<'a>(&self, point: &str) -> HookFuture<'a, ()> {
        if self.0 == point { Box::pin(async { Err("broken".into()) }) } else { Box::pin(async { Ok(()) }) }
    }
}

impl Hook for OddHook {
    fn filters_output(&self) -> bool {
        assert_ne!(self.0, "filters_output", "who knows");
        false
    }

    fn on_error<'a>(&'a self, _: &'a RunFacts, _: ProviderErrorKind, _: &'a str) -> HookFuture<'a, ()> {
        self.fails("on_error")
    }

    fn finish<'a>(&'a self, _: &'a RunFacts) -> HookFuture<'a, ()> {
        self.fails("finish")
    }
}

#[test]
fn a_hook_that_cannot_say_whether_it_filters_does() {
    block_on(async {
        let a = FnTool::new("a", |_, context| async move {
            context.progress("the secret");
            tokio::task::yield_now().await;
            ToolOutcome::Output("ok".into())
        });
        let model = ScriptedProvider::new([Reply::call("a", "{}"), Reply::text("Done.")]);
        let hook = Arc::new(OddHook("filters_output"));
        let agent = agent(&model).tool(a).hook(hook, OnFailure::Deny).build().unwrap();
        let (lines, report) = run(&Conversation::new(&agent), "Go").await;
        assert!(matches!(report.ending, Ending::Completed));
        assert!(!lines.iter().any(|line| line.contains("secret")), "{lines:#?}");
    });
}

#[test]
fn case_89_a_failure_after_a_limit_stop_or_an_error_is_told_once_and_changes_no_ending() {
    for (point, on_failure) in
        ["finish", "on_error"].into_iter().flat_map(|point| [(point, OnFailure::Deny), (point, OnFailure::Skip)])
    {
        block_on(async {
            let failed = ProviderError::new(ProviderErrorKind::Auth, "no");
            let model = match point {
                "finish" => ScriptedProvider::new([Reply::call("a", "{}")]),
                _ => ScriptedProvider::new([Reply::error(failed)]),
            };
            let mut settings = RunSettings::default();
            settings.limits = Limits::NONE;
            settings.limits.turns = Some(1);
            let agent = agent(&model)
                .tool(FnTool::says("a", "ok"))
                .settings(settings)
                .hook(Arc::new(OddHook(point)), on_failure)
                .build()
                .unwrap();
            let (lines, report) = run(&Conversation::new(&agent), "Go").await;
            match point {
                "finish" => assert!(matches!(report.ending, Ending::Stopped(StopCause::Limit(_))), "{lines:#?}"),
                _ => assert!(matches!(report.ending, Ending::Failed(RunError::Provider(_))), "{lines:#?}"),
            }
            let told: Vec<_> = lines.iter().filter(|line| line.starts_with("hookFailed")).collect();
            assert_eq!(told, [&format!("hookFailed {point}: broken")], "{lines:#?}");
            assert!(lines.last().unwrap().starts_with("agentEnd"), "{lines:#?}");
        });
    }
}

/// Panics on the event with this name.
struct Startled(&'static str, AtomicUsize);

impl Hook for Startled {
    fn on_event(&self, event: &AgentEvent) {
        if format!("{event:?}").starts_with(self.0) {
            self.1.fetch_add(1, Ordering::SeqCst);
            panic!("at {}", self.0);
        }
    }
}

#[test]
fn a_hook_that_panics_on_any_event_is_told_of_once_and_the_run_goes_on() {
    let all = ["AgentStart", "TurnStart", "MessageStart", "Model", "MessageEnd", "ToolStart", "ToolEnd", "TurnEnd"];
    for name in all.into_iter().chain(["AgentEnd"]) {
        block_on(async {
            let model = ScriptedProvider::new([Reply::call("a", "{}"), Reply::text("Done.")]);
            let hook = Arc::new(Startled(name, AtomicUsize::new(0)));
            let agent =
                agent(&model).tool(FnTool::says("a", "ok")).hook(hook.clone(), OnFailure::Deny).build().unwrap();
            let conversation = Conversation::new(&agent);
            let (lines, report) = run(&conversation, "Go").await;
            assert!(matches!(report.ending, Ending::Completed), "{name}");
            assert_eq!(hook.1.load(Ordering::SeqCst), 1, "{name}");
            let told = lines.iter().filter(|line| line.starts_with("hookFailed on_event")).count();
            assert_eq!(told, usize::from(name != "AgentEnd"), "{name}: {lines:#?}");
            assert!(lines.last().unwrap().starts_with("agentEnd"), "{name}: {lines:#?}");
            assert!(conversation.state().is_ok());
        });
    }
}

struct OddCounter;

impl TokenCounter for OddCounter {
    fn count<'a>(&'a self, _: &'a ModelCall) -> BoxFuture<'a, Result<u64, ProviderError>> {
        panic!("at count")
    }
}

struct Keeps(Arc<AtomicUsize>);

impl agent_core::ContextPolicy for Keeps {
    fn plan(&self, facts: &agent_core::ContextFacts<'_>) -> agent_core::ContextPlan {
        self.0.store(usize::try_from(facts.tokens).unwrap(), Ordering::SeqCst);
        agent_core::ContextPlan::Keep
    }
}

#[test]
fn a_counter_that_panics_is_an_estimate() {
    block_on(async {
        let model = ScriptedProvider::new([Reply::text("Done.")]);
        let tokens = Arc::new(AtomicUsize::new(0));
        let agent = agent(&model).context_policy(Keeps(tokens.clone())).token_counter(OddCounter).build().unwrap();
        let (_, report) = run(&Conversation::new(&agent), "0123456789abcdef").await;
        assert!(matches!(report.ending, Ending::Completed));
        assert_eq!(tokens.load(Ordering::SeqCst), 4);
    });
}
