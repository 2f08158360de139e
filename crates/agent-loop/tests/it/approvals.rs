//! Approvals: as data that another process answers, and as a wait.

use std::{sync::Arc, time::Duration};

use agent_core::{
    AgentEvent, Approval, ApprovalAnswer, BoxFuture, CallId, CallIntent, Effects, Hook, HookFuture, RawJson, RunFacts,
    ToolCall, ToolVerdict,
};
use agent_loop::{Agent, ApprovalMode, Approver, Conversation, Ending, ResumeError, Run, RunReport, RunSettings};
use agent_testkit::{FnProvider, MemoryJournal, PausedTimer, Reply};

use crate::given::{FnTool, Notes, block_on, history, json, options};

/// Asks about every call of `danger`, and notes that it was asked.
struct Asks(Notes);

impl Hook for Asks {
    fn before_tool<'a>(
        &'a self,
        _: &'a RunFacts,
        _: CallId,
        call: &'a ToolCall,
        _: &'a RawJson,
    ) -> HookFuture<'a, ToolVerdict> {
        self.0.add(format!("judged {}", call.name));
        let verdict =
            if call.name == "danger" { ToolVerdict::Ask("it is dangerous".into()) } else { ToolVerdict::Allow };
        Box::pin(std::future::ready(Ok(verdict)))
    }
}

struct World {
    notes: Notes,
    timer: PausedTimer,
    settings: RunSettings,
    journal: MemoryJournal,
}

impl World {
    fn new() -> Self {
        let (notes, timer) = (Notes::default(), PausedTimer::at(1_000));
        Self { notes, timer, settings: RunSettings::default(), journal: MemoryJournal::new() }
    }

    /// An agent as a new process has it.
    fn process(&self) -> Agent {
        self.builder().build().unwrap()
    }

    fn builder(&self) -> agent_loop::AgentBuilder {
        let model = FnProvider::new(|call| match call.view.len() {
            1 => Reply::call("danger", r#"{"target":"all"}"#).then_call("safe", "{}"),
            _ => Reply::text("Done."),
        });
        let notes = self.notes.clone();
        let danger = FnTool::new("danger", move |arguments: RawJson, _| {
            notes.add(format!("danger {}", arguments.get()));
            std::future::ready(agent_core::ToolOutcome::Output("gone".into()))
        });
        let danger = danger
            .schema(r#"{"type":"object","properties":{"target":{"type":"string"}},"required":["target"]}"#)
            .effects(Effects::exclusive("world"));
        Agent::builder(model, options(), self.timer.clone())
            .tool(danger)
            .tool(FnTool::says("safe", "ok"))
            .hook(Arc::new(Asks(self.notes.clone())), agent_core::OnFailure::Deny)
            .settings(self.settings.clone())
    }

    async fn open(&self) -> Conversation {
        Conversation::from_journal(&self.process(), Arc::new(self.journal.clone())).await.unwrap()
    }
}

fn pending(report: &RunReport) -> CallIntent {
    match &report.ending {
        Ending::Paused { approvals, .. } => approvals[0].clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_paused_run_is_data_that_another_process_answers() {
    let table = [
        (ApprovalAnswer::Allow, r#"danger {"target":"all"}"#, "toolResult gone"),
        (ApprovalAnswer::AllowWith(json(r#"{"target":"one"}"#)), r#"danger {"target":"one"}"#, "toolResult gone"),
        (ApprovalAnswer::Deny("not today".into()), "", "toolResult! Not run, denied: not today"),
        // Arguments that do not fit are not run, whoever gave them.
        (
            ApprovalAnswer::AllowWith(json(r#"{"aim":1}"#)),
            "",
            "toolResult! invalid arguments: /: has no field `target`, which is required",
        ),
    ];
    for (answer, ran, result) in table {
        block_on(async {
            let world = World::new();
            let report = world.open().await.run("Go").unwrap().into_report().await;
            let intent = pending(&report);
            assert_eq!((intent.tool.as_str(), intent.reason.as_deref()), ("danger", Some("it is dangerous")));
            assert_eq!(world.notes.take(), ["judged danger", "judged safe"], "the other call has run meanwhile");

            let other = world.open().await;
            let waiting: Vec<_> = other.state().unwrap().pending_approvals().map(|intent| intent.call).collect();
            assert_eq!(waiting, [intent.call]);
            other.answer(intent.call, answer).await.unwrap();
            let again = other.answer(intent.call, ApprovalAnswer::Allow).await;
            assert!(matches!(again, Err(ResumeError::NotAsked { .. })), "one answer is enough");

            // A third process acts on it.
            let third = world.open().await;
            let report = third.resume().unwrap().into_report().await;
            assert!(matches!(report.ending, Ending::Completed), "{:?}", report.ending);
            let expected: Vec<&str> = if ran.is_empty() { vec![] } else { vec![ran] };
            assert_eq!(world.notes.take(), expected, "hooks are not asked again for a decided call");
            assert_eq!(
                history(&third),
                ["user Go", "assistant [danger][safe]", result, "toolResult ok", "assistant Done."]
            );
        });
    }
}

#[test]
fn a_paused_run_that_nobody_answers_stays_paused_and_a_new_prompt_denies() {
    block_on(async {
        let world = World::new();
        world.open().await.run("Go").unwrap().into_report().await;
        let report = world.open().await.resume().unwrap().into_report().await;
        assert_eq!(pending(&report).tool, "danger");
        let conversation = world.open().await;
        let report = conversation.run("Something else").unwrap().into_report().await;
        assert!(matches!(report.ending, Ending::Completed));
        assert!(
            history(&conversation)[2].starts_with("toolResult! Not run: nobody agreed"),
            "{:?}",
            history(&conversation)
        );
        assert!(!world.notes.take().iter().any(|note| note.starts_with("danger")));
    });
}

#[test]
fn an_approval_expires_also_while_no_process_is_there() {
    block_on(async {
        let mut world = World::new();
        world.settings.approval_ms = Some(60_000);
        let report = world.open().await.run("Go").unwrap().into_report().await;
        assert_eq!(pending(&report).expires_ms, Some(61_000));
        world.timer.advance(Duration::from_secs(61));
        let conversation = world.open().await;
        let report = conversation.resume().unwrap().into_report().await;
        assert!(matches!(report.ending, Ending::Completed), "{:?}", report.ending);
        assert_eq!(history(&conversation)[2], "toolResult! Not run: nobody agreed in time.");
    });
}

/// Polls until nothing moves.
fn until_stuck(run: &mut Run) -> Vec<AgentEvent> {
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    let mut events = Vec::new();
    while let std::task::Poll::Ready(Some(event)) =
        futures_util::Stream::poll_next(std::pin::Pin::new(&mut *run), &mut cx)
    {
        events.push(event);
    }
    events
}

fn asked(events: &[AgentEvent]) -> CallId {
    let asked = events.iter().find_map(|event| match event {
        AgentEvent::ApprovalAsked { call, .. } => Some(*call),
        _ => None,
    });
    asked.unwrap()
}

#[test]
fn a_run_that_waits_goes_on_when_it_is_answered() {
    block_on(async {
        let mut world = World::new();
        world.settings.approvals = ApprovalMode::Wait;
        let conversation = world.open().await;
        let mut run = conversation.run("Go").unwrap();
        let call = asked(&until_stuck(&mut run));
        conversation.answer(call, ApprovalAnswer::Allow).await.unwrap();
        let report = run.into_report().await;
        assert!(matches!(report.ending, Ending::Completed));
        assert!(world.notes.take().contains(&r#"danger {"target":"all"}"#.to_owned()));
    });
}

#[test]
fn a_run_that_waits_gives_up_in_time_on_cancel_and_on_a_steer() {
    for how in ["time", "cancel", "steer"] {
        block_on(async {
            let mut world = World::new();
            world.settings.approvals = ApprovalMode::Wait;
            world.settings.approval_ms = Some(5_000);
            let conversation = world.open().await;
            let mut run = conversation.run("Go").unwrap();
            let call = asked(&until_stuck(&mut run));
            match how {
                "time" => world.timer.advance(Duration::from_secs(5)),
                "cancel" => run.handle().cancel(),
                _ => drop(run.handle().steer("Stop that").unwrap()),
            }
            // An answer that comes too late changes nothing.
            until_stuck(&mut run);
            drop(conversation.answer(call, ApprovalAnswer::Allow).await);
            run.into_report().await;
            let expected = match how {
                "time" => "toolResult! Not run: nobody agreed in time.",
                "cancel" => "toolResult! Not run: the user cancelled the run.",
                _ => "toolResult! Not run: the user sent a new message first.",
            };
            assert_eq!(history(&conversation)[2], expected);
            assert!(!world.notes.take().iter().any(|note| note.starts_with("danger")), "{how}");
        });
    }
}

type Answer = fn() -> ApprovalAnswer;

struct Says(Answer);

impl Approver for Says {
    fn answer(&self, _: CallIntent) -> BoxFuture<'static, ApprovalAnswer> {
        let answer = self.0;
        Box::pin(async move { answer() })
    }
}

#[test]
fn an_approver_answers_by_itself_and_one_that_panics_denies() {
    let table: [(Answer, &str); 3] = [
        (|| ApprovalAnswer::Allow, "toolResult gone"),
        (|| ApprovalAnswer::Deny("policy".into()), "toolResult! Not run, denied: policy"),
        (|| panic!("oh"), "toolResult! Not run, denied: the approver panicked: oh"),
    ];
    for (answer, result) in table {
        block_on(async {
            let mut world = World::new();
            world.settings.approvals = ApprovalMode::Wait;
            let agent = world.builder().approver(Says(answer)).build().unwrap();
            let conversation = Conversation::new(&agent);
            let report = conversation.run("Go").unwrap().into_report().await;
            assert!(matches!(report.ending, Ending::Completed));
            assert_eq!(history(&conversation)[2], result);
        });
    }
}

#[test]
fn effects_that_need_approval_ask_without_a_hook() {
    block_on(async {
        let model =
            FnProvider::new(|call| if call.view.len() == 1 { Reply::call("a", "{}") } else { Reply::text("Done.") });
        let a = FnTool::says("a", "ok").effects(Effects::shared().approval(Approval::Needed));
        let agent = Agent::builder(model, options(), PausedTimer::at(0)).tool(a.clone()).build().unwrap();
        let conversation = Conversation::new(&agent);
        let report = conversation.run("Go").unwrap().into_report().await;
        let intent = pending(&report);
        assert_eq!(a.runs(), 0);
        conversation.answer(intent.call, ApprovalAnswer::Allow).await.unwrap();
        let report = conversation.resume().unwrap().into_report().await;
        assert!(matches!(report.ending, Ending::Completed));
        assert_eq!(a.runs(), 1);
    });
}
