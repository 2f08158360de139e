//! A conversation over a session that one process leaves and another takes up: replay policies, approvals, budgets, and
//! what is said about it. A process is a store that is opened anew; real ones are killed in `session_crash`.
#![expect(clippy::unwrap_used, clippy::panic, clippy::disallowed_methods, reason = "tests, with files")]

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    pin::pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
    task::{Context, Waker},
};

use agent_core::{
    Approval, ApprovalAnswer, BoxFuture, Budget, CallOptions, Effects, Message, ModelFacts, Money, Price, Rates,
    RawJson, Replay, Tool, ToolContext, ToolError, ToolOutcome, ToolOutput, ToolSpec,
};
use agent_loop::{Agent, AgentBuilder, Conversation, Ending, Recourse, ResumeError};
use agent_session::{JsonlFile, Session};
use agent_testkit::{Gate, PausedTimer, Reply, ScriptedProvider};

fn file() -> JsonlFile {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let name = format!("session-resume-{}-{}.jsonl", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    let path: PathBuf = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    JsonlFile::new(path)
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

/// What tools did, over all processes: the idempotency keys, by tool.
type Did = Arc<Mutex<BTreeMap<String, Vec<String>>>>;

/// A tool that does something and then hangs, if it is told to.
struct Doing {
    spec: ToolSpec,
    effects: Effects,
    version: &'static str,
    did: Did,
    hangs: bool,
}

impl Doing {
    fn new(name: &str, effects: Effects, did: &Did) -> Self {
        let schema = RawJson::parse(r#"{"type":"object"}"#).unwrap();
        let spec = ToolSpec::new(name, "Does something.", schema).unwrap();
        Self { spec, effects, version: "1", did: did.clone(), hangs: false }
    }

    fn hangs(self) -> Self {
        Self { hangs: true, ..self }
    }

    fn version(self, version: &'static str) -> Self {
        Self { version, ..self }
    }
}

impl Tool for Doing {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn effects(&self, _: &RawJson) -> Effects {
        self.effects.clone()
    }

    fn version(&self) -> &str {
        self.version
    }

    fn call(&self, arguments: RawJson, context: ToolContext) -> BoxFuture<'_, ToolOutcome> {
        let name = self.spec.name().to_owned();
        self.did.lock().unwrap().entry(name).or_default().push(context.idempotency_key());
        if self.hangs {
            return Box::pin(std::future::pending());
        }
        Box::pin(std::future::ready(ToolOutcome::Output(format!("did {arguments}").into())))
    }

    fn verify(&self, _: RawJson, context: ToolContext) -> BoxFuture<'_, Result<Option<ToolOutput>, ToolError>> {
        let did = self.did.lock().unwrap();
        let found = did.get(self.spec.name()).is_some_and(|keys| keys.contains(&context.idempotency_key()));
        Box::pin(std::future::ready(Ok(found.then(|| "found it".into()))))
    }
}

fn agent(model: ScriptedProvider) -> AgentBuilder {
    Agent::builder(model, CallOptions::new("toy-1").max_output(100), PausedTimer::at(1_000))
}

async fn open(file: &JsonlFile, agent: &Agent) -> (Session, Conversation) {
    let session = file.open_or_create().await.unwrap();
    let conversation = Conversation::from_journal(agent, Arc::new(session.journal())).await.unwrap();
    (session, conversation)
}

fn texts(conversation: &Conversation) -> Vec<String> {
    conversation.messages().iter().map(|message| format!("{}: {}", message.role(), message.text())).collect()
}

/// Polls a run, with time for the session's thread, until `stuck` says that it is where it should be.
async fn until(run: &mut agent_loop::Run, stuck: impl Fn() -> bool) {
    let mut run = pin!(run);
    let mut cx = Context::from_waker(Waker::noop());
    while !stuck() {
        if futures_util::Stream::poll_next(run.as_mut(), &mut cx).is_pending() {
            std::thread::yield_now();
        }
    }
}

/// Begins a call of `tool`, and ends the process in the middle of it.
async fn interrupted_in(file: &JsonlFile, tool: Doing) {
    let (name, did) = (tool.spec.name().to_owned(), tool.did.clone());
    let agent = agent(ScriptedProvider::new([Reply::call(&name, "{}")])).tool(tool.hangs()).build().unwrap();
    let (session, conversation) = open(file, &agent).await;
    let mut run = conversation.run("Go").unwrap();
    until(&mut run, || did.lock().unwrap().contains_key(&name)).await;
    drop(run);
    session.close().await.unwrap();
}

/// What the next process finds and what the model is told, with the tools that it has.
async fn taken_up(file: &JsonlFile, tools: Vec<Doing>) -> (Recourse, String, String) {
    let mut agent = agent(ScriptedProvider::new(["Done."]));
    for tool in tools {
        agent = agent.tool(tool);
    }
    let (session, conversation) = open(file, &agent.build().unwrap()).await;
    let recovery = conversation.recovery().unwrap();
    assert!(!recovery.is_clean());
    let [interrupted] = recovery.interrupted.as_slice() else { panic!("{recovery:?}") };
    let report = conversation.resume().unwrap().into_report().await;
    assert!(matches!(report.ending, Ending::Completed), "{:?}", report.ending);
    let told = conversation.messages().iter().find_map(|message| match &**message {
        Message::ToolResult(result) => {
            assert_eq!(result.call, interrupted.call);
            assert_eq!(interrupted.idempotency_key, result.call.to_string());
            Some(message.text())
        }
        _ => None,
    });
    assert!(conversation.recovery().unwrap().is_clean());
    session.close().await.unwrap();
    (interrupted.recourse, told.unwrap(), recovery.to_string())
}

#[test]
fn each_replay_policy_does_what_it_says() {
    let policy = |replay| Effects::exclusive("thing").replay(replay);
    let unknown =
        "Interrupted: the process ended while this ran, and its outcome is unknown. Check before you call again.";
    for (replay, recourse, told, times, said) in [
        (Replay::Rerun, Recourse::Rerun, "did {}", 2, "runs again"),
        (Replay::Resume, Recourse::Resume, "did {}", 2, "goes on"),
        (Replay::Verify, Recourse::Verify, "found it", 1, "is asked whether it took effect"),
        (Replay::AskModel, Recourse::AskModel, unknown, 1, "is not repeated: its outcome is unknown"),
    ] {
        block_on(async {
            let (file, did) = (file(), Did::default());
            interrupted_in(&file, Doing::new("thing", policy(replay), &did)).await;
            let (found, text, line) = taken_up(&file, vec![Doing::new("thing", policy(replay), &did)]).await;
            assert_eq!((found, text.as_str()), (recourse, told), "{replay:?}");
            assert_eq!(line, format!("2 messages; `thing` was interrupted and {said}"));
            let keys = did.lock().unwrap()["thing"].clone();
            assert_eq!(keys.len(), times, "{replay:?}");
            assert!(keys.iter().all(|key| *key == keys[0]), "the same key for each attempt: {keys:?}");
            fs::remove_file(file.path()).unwrap();
        });
    }
}

#[test]
fn what_did_not_take_effect_is_done_after_it_was_looked_for() {
    block_on(async {
        let (file, did) = (file(), Did::default());
        let effects = Effects::exclusive("thing").replay(Replay::Verify);
        interrupted_in(&file, Doing::new("thing", effects.clone(), &did)).await;
        // The process ended before the effect.
        did.lock().unwrap().clear();
        let (_, text, _) = taken_up(&file, vec![Doing::new("thing", effects, &did)]).await;
        assert_eq!(text, "did {}");
        assert_eq!(did.lock().unwrap()["thing"].len(), 1);
    });
}

#[test]
fn a_tool_that_is_gone_or_has_changed_is_said_and_nothing_runs() {
    for replay in [Replay::Verify, Replay::Rerun] {
        block_on(async {
            let effects = Effects::exclusive("thing").replay(replay);
            let did = Did::default();
            let gone = file();
            interrupted_in(&gone, Doing::new("thing", effects.clone(), &did)).await;
            let (found, text, _) = taken_up(&gone, vec![Doing::new("other", Effects::shared(), &did)]).await;
            assert_eq!(found, Recourse::ToolGone);
            assert_eq!(text, "`thing` is gone since this call began, and cannot tell what became of it");

            let changed = file();
            did.lock().unwrap().clear();
            interrupted_in(&changed, Doing::new("thing", effects.clone(), &did)).await;
            let newer = Doing::new("thing", effects, &did).version("2");
            let (found, text, line) = taken_up(&changed, vec![newer]).await;
            assert_eq!(found, Recourse::ToolChanged);
            assert_eq!(text, "`thing` has changed since this call began, and cannot tell what became of it");
            assert_eq!(line, "2 messages; `thing` was interrupted and has changed: its outcome is unknown");
            assert_eq!(did.lock().unwrap()["thing"].len(), 1, "the old call only");
        });
    }
}

#[test]
fn an_approval_is_asked_in_one_process_answered_in_another_and_acted_on_in_a_third() {
    block_on(async {
        let (file, did) = (file(), Did::default());
        let asking = || Doing::new("pay", Effects::exclusive("bank").approval(Approval::Needed), &did);
        let first =
            agent(ScriptedProvider::new([Reply::call("pay", r#"{"to":"Ann"}"#)])).tool(asking()).build().unwrap();
        let (session, conversation) = open(&file, &first).await;
        let report = conversation.run("Pay Ann").unwrap().into_report().await;
        let Ending::Paused { approvals, .. } = report.ending else { panic!("{:?}", report.ending) };
        assert_eq!(approvals[0].arguments.get(), r#"{"to":"Ann"}"#);
        session.close().await.unwrap();

        // Somebody looks, and answers; no model is asked, no tool runs.
        let none: [Reply; 0] = [];
        let second = agent(ScriptedProvider::new(none)).tool(asking()).build().unwrap();
        let (session, conversation) = open(&file, &second).await;
        let recovery = conversation.recovery().unwrap();
        assert_eq!(recovery.to_string(), "2 messages; `pay` waits for agreement");
        let call = recovery.approvals[0].call;
        let changed = RawJson::parse(r#"{"to":"Bob"}"#).unwrap();
        conversation.answer(call, ApprovalAnswer::AllowWith(changed)).await.unwrap();
        let twice = conversation.answer(call, ApprovalAnswer::Allow).await;
        assert!(matches!(twice, Err(ResumeError::NotAsked { .. })), "{twice:?}");
        assert!(did.lock().unwrap().is_empty());
        session.close().await.unwrap();

        let third = agent(ScriptedProvider::new(["Paid."])).tool(asking()).build().unwrap();
        let (session, conversation) = open(&file, &third).await;
        assert_eq!(conversation.recovery().unwrap().to_string(), "2 messages; `pay` was decided");
        let report = conversation.resume().unwrap().into_report().await;
        assert!(matches!(report.ending, Ending::Completed), "{:?}", report.ending);
        assert_eq!(texts(&conversation)[2..], ["toolResult: did {\"to\":\"Bob\"}", "assistant: Paid."]);
        assert_eq!(did.lock().unwrap()["pay"].len(), 1);
        session.close().await.unwrap();
    });
}

#[test]
fn a_refusal_is_kept_for_the_process_that_goes_on() {
    block_on(async {
        let (file, did) = (file(), Did::default());
        let asking = || Doing::new("pay", Effects::exclusive("bank").approval(Approval::Needed), &did);
        let model = ScriptedProvider::new([Reply::call("pay", "{}")]);
        let (session, conversation) = open(&file, &agent(model).tool(asking()).build().unwrap()).await;
        conversation.run("Pay").unwrap().into_report().await;
        session.close().await.unwrap();
        let model = ScriptedProvider::new(["Then not."]);
        let (session, conversation) = open(&file, &agent(model.clone()).tool(asking()).build().unwrap()).await;
        let call = conversation.recovery().unwrap().approvals[0].call;
        conversation.answer(call, ApprovalAnswer::Deny("too much".into())).await.unwrap();
        session.close().await.unwrap();
        let (session, conversation) = open(&file, &agent(model).tool(asking()).build().unwrap()).await;
        conversation.resume().unwrap().into_report().await;
        assert_eq!(texts(&conversation)[2..], ["toolResult: Not run, denied: too much", "assistant: Then not."]);
        assert!(did.lock().unwrap().is_empty());
        session.close().await.unwrap();
    });
}

#[test]
fn a_call_whose_end_was_lost_counts_with_its_reservation() {
    block_on(async {
        let micro = Money::from_micro_dollars;
        let priced = |model: ScriptedProvider, budget: &Budget| {
            let mut facts = ModelFacts::new("toy", "toy-1");
            facts.price = Some(Price::new(Rates::new(micro(1), micro(1))));
            agent(model).facts(facts).budget(budget.clone()).build().unwrap()
        };
        let file = file();
        let budget = Budget::new(micro(1_000_000));
        let model = ScriptedProvider::new([Reply::text("Never heard").wait(&Gate::new())]);
        let (session, conversation) = open(&file, &priced(model.clone(), &budget)).await;
        let mut run = conversation.run("Go").unwrap();
        until(&mut run, || !model.sent().is_empty()).await;
        let reserved = budget.reserved();
        assert!(reserved > Money::ZERO);
        drop(run);
        session.close().await.unwrap();

        let closed = Budget::new(Money::ZERO);
        let (session, conversation) = open(&file, &priced(ScriptedProvider::new(["Hi"]), &closed)).await;
        let recovery = conversation.recovery().unwrap();
        assert_eq!((recovery.spent, recovery.lost_call.unwrap().reserved), (reserved, Some(reserved)));
        assert_eq!(recovery.to_string(), format!("1 messages; a model call was lost, which counts as {reserved}"));

        // Opened with what was spent; the lost call is settled at its reservation, once.
        let budget = Budget::opened(micro(1_000_000), conversation.spent());
        let conversation = conversation.with_agent(&priced(ScriptedProvider::new(["Hi"]), &budget));
        let report = conversation.resume().unwrap().into_report().await;
        assert!(matches!(report.ending, Ending::Completed), "{:?}", report.ending);
        assert_eq!(texts(&conversation), ["user: Go", "assistant: Hi"]);
        assert_eq!(budget.reserved(), Money::ZERO);
        assert_eq!(conversation.spent(), budget.spent(), "what the journal says is what was spent");
        assert!(budget.spent() > reserved);
        session.close().await.unwrap();
        let (session, again) = open(&file, &priced(ScriptedProvider::new(["Hi"]), &budget)).await;
        assert_eq!(again.spent(), budget.spent());
        assert!(again.recovery().unwrap().is_clean());
        session.close().await.unwrap();
    });
}

#[test]
fn what_waits_in_a_queue_is_found_again() {
    block_on(async {
        let file = file();
        let model = ScriptedProvider::new([Reply::text("A").wait(&Gate::new())]);
        let (session, conversation) = open(&file, &agent(model).build().unwrap()).await;
        let mut run = conversation.run("Go").unwrap();
        conversation.handle().follow_up("And then?").unwrap();
        until(&mut run, || conversation.queued().len() == 1).await;
        drop(run);
        session.close().await.unwrap();
        let (session, conversation) = open(&file, &agent(ScriptedProvider::new(["A", "B"])).build().unwrap()).await;
        let line = conversation.recovery().unwrap().to_string();
        assert!(line.ends_with("; 1 inputs wait in queues"), "{line}");
        conversation.resume().unwrap().into_report().await;
        assert_eq!(texts(&conversation), ["user: Go", "assistant: A", "user: And then?", "assistant: B"]);
        session.close().await.unwrap();
    });
}
