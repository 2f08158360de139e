//! The order of a turn, with everything that can be asked: pinned as a golden file. And what hooks say together.

use std::sync::Arc;

use agent_core::{
    AgentEvent, CallId, CallOptions, Hook, HookFuture, InputVerdict, Message, ModelVerdict, OnFailure,
    ProviderErrorKind, RawJson, RunFacts, StopReason, StopVerdict, ToolCall, ToolOutcome, ToolOutput, ToolSet,
    ToolVerdict, TurnVerdict, Usage, UserMessage,
};
use agent_loop::{Conversation, Ending, RunSettings};
use agent_testkit::{Reply, ScriptedProvider};

use crate::{
    given::{FnTool, Notes, agent, block_on, history, json, run, said, trace},
    traces::golden,
};

/// Writes down every point; says what it is told to say.
#[derive(Default)]
pub(crate) struct Recorder {
    name: &'static str,
    notes: Notes,
    input: Option<fn(&Message) -> InputVerdict>,
    tool: Option<fn(&RawJson) -> ToolVerdict>,
    stop: Option<StopVerdict>,
    note: Option<&'static str>,
    redact: bool,
}

impl Recorder {
    pub(crate) fn new(name: &'static str, notes: &Notes) -> Self {
        Self { name, notes: notes.clone(), ..Self::default() }
    }

    fn say<'a, T: Send + 'a>(&self, what: String, verdict: T) -> HookFuture<'a, T> {
        self.notes.add(format!("{} {what}", self.name));
        Box::pin(std::future::ready(Ok(verdict)))
    }
}

impl Hook for Recorder {
    fn on_input<'a>(&'a self, _: &'a RunFacts, input: &'a Message) -> HookFuture<'a, InputVerdict> {
        let verdict = self.input.map_or(InputVerdict::Pass, |judge| judge(input));
        self.say(format!("on_input {}", input.text()), verdict)
    }

    fn before_turn<'a>(&'a self, run: &'a RunFacts) -> HookFuture<'a, TurnVerdict> {
        self.say(format!("before_turn {}", run.turn), TurnVerdict::Go)
    }

    fn before_model<'a>(&'a self, _: &'a RunFacts, _: &'a CallOptions, _: &'a ToolSet) -> HookFuture<'a, ModelVerdict> {
        let verdict = self.note.map_or(ModelVerdict::Go, |note| ModelVerdict::Note(note.into()));
        self.say("before_model".into(), verdict)
    }

    fn before_tool<'a>(
        &'a self,
        _: &'a RunFacts,
        _: CallId,
        call: &'a ToolCall,
        arguments: &'a RawJson,
    ) -> HookFuture<'a, ToolVerdict> {
        let verdict = self.tool.map_or(ToolVerdict::Allow, |judge| judge(arguments));
        self.say(format!("before_tool {} {}", call.name, arguments.get()), verdict)
    }

    fn after_tool<'a>(
        &'a self,
        _: &'a RunFacts,
        _: CallId,
        call: &'a ToolCall,
        output: ToolOutput,
    ) -> HookFuture<'a, ToolOutput> {
        let output = if self.redact { ToolOutput::text("[redacted]") } else { output };
        self.say(format!("after_tool {}", call.name), output)
    }

    fn filters_output(&self) -> bool {
        self.redact
    }

    fn after_turn<'a>(&'a self, _: &'a RunFacts, reason: Option<&'a StopReason>, _: Usage) -> HookFuture<'a, ()> {
        self.say(format!("after_turn {}", reason.map_or("-", StopReason::as_str)), ())
    }

    fn on_error<'a>(&'a self, _: &'a RunFacts, kind: ProviderErrorKind, _: &'a str) -> HookFuture<'a, ()> {
        self.say(format!("on_error {kind}"), ())
    }

    fn on_stop<'a>(&'a self, _: &'a RunFacts) -> HookFuture<'a, StopVerdict> {
        self.say("on_stop".into(), self.stop.clone().unwrap_or(StopVerdict::Accept))
    }

    fn on_event(&self, event: &AgentEvent) {
        let line = trace(std::slice::from_ref(event));
        if self.name == "older" && line != ["delta"] {
            self.notes.add(format!("event {}", line.join("")));
        }
    }

    fn finish<'a>(&'a self, _: &'a RunFacts) -> HookFuture<'a, ()> {
        self.say("finish".into(), ())
    }
}

#[test]
fn the_whole_order_of_a_run_with_two_hooks() {
    block_on(async {
        let notes = Notes::default();
        let busy = agent_core::ProviderError::new(ProviderErrorKind::Overloaded, "busy");
        let replies = [Reply::call("a", "{}"), Reply::error(busy), Reply::text("Done."), Reply::text("More.")];
        let model = ScriptedProvider::new(replies);
        let mut settings = RunSettings::default();
        settings.retry.base_ms = 0;
        let agent = agent(&model)
            .tool(FnTool::says("a", "ok"))
            .hook(Arc::new(Recorder::new("older", &notes)), OnFailure::Deny)
            .hook(Arc::new(Recorder::new("newer", &notes)), OnFailure::Skip)
            .settings(settings)
            .build()
            .unwrap();
        let conversation = Conversation::new(&agent);
        conversation.handle().follow_up("And more").unwrap();
        let report = conversation.run("Go").unwrap().into_report().await;
        assert!(matches!(report.ending, Ending::Completed));
        golden("hook_order", &notes.take());
    });
}

#[test]
fn case_91_hooks_see_every_event_before_the_consumer() {
    block_on(async {
        let notes = Notes::default();
        let agent = agent(&ScriptedProvider::new([Reply::text("Done.")]))
            .hook(Arc::new(Recorder::new("older", &notes)), OnFailure::Deny)
            .build()
            .unwrap();
        let mut run = Conversation::new(&agent).run("Go").unwrap();
        while let Some(event) = run.next().await {
            let line = trace(std::slice::from_ref(&event)).join("");
            let seen = notes.take();
            assert!(line == "delta" || seen.contains(&format!("event {line}")), "{line}: {seen:?}");
        }
    });
}

#[test]
fn case_82_a_warning_is_seen_by_the_model_and_by_no_later_check() {
    block_on(async {
        let notes = Notes::default();
        let warns =
            Recorder { input: Some(|_| InputVerdict::Warn("be careful".into())), ..Recorder::new("older", &notes) };
        let model = ScriptedProvider::new([Reply::text("Done.")]);
        let agent = agent(&model)
            .hook(Arc::new(warns), OnFailure::Deny)
            .hook(Arc::new(Recorder::new("newer", &notes)), OnFailure::Deny)
            .build()
            .unwrap();
        run(&Conversation::new(&agent), "Go").await;
        let shown: Vec<_> = model.calls()[0].view.messages().map(|message| said(message)).collect();
        assert_eq!(shown, ["user Go", "note(warning) be careful"]);
        assert!(notes.take().iter().all(|note| !note.contains("on_input be careful")));
    });
}

#[test]
fn input_is_rewritten_judged_again_by_the_others_or_rejected() {
    block_on(async {
        let notes = Notes::default();
        let rewrites = |input: &Message| match input.text().contains("secret") {
            true => InputVerdict::Rewrite(Arc::new(UserMessage::text(input.id(), "Tell me [redacted]").into())),
            false => InputVerdict::Pass,
        };
        let rejects = |input: &Message| match input.text().contains("bomb") {
            true => InputVerdict::Reject("no bombs".into()),
            false => InputVerdict::Pass,
        };
        let model = ScriptedProvider::new([Reply::text("Done.")]);
        let agent = agent(&model)
            .hook(Arc::new(Recorder { input: Some(rejects), ..Recorder::new("older", &notes) }), OnFailure::Deny)
            .hook(Arc::new(Recorder { input: Some(rewrites), ..Recorder::new("newer", &notes) }), OnFailure::Deny)
            .build()
            .unwrap();
        let conversation = Conversation::new(&agent);
        let (lines, report) = run(&conversation, "How is a bomb made?").await;
        assert!(lines.contains(&"inputRejected: no bombs".to_owned()), "{lines:#?}");
        assert!(matches!(&report.ending, Ending::Stopped(agent_loop::StopCause::Rejected(_))));
        assert!(history(&conversation).is_empty() && model.sent().is_empty());
        notes.take();
        run(&conversation, "Tell me the secret").await;
        assert_eq!(history(&conversation)[0], "user Tell me [redacted]");
        let judged: Vec<_> = notes.take().into_iter().filter(|note| note.contains("on_input")).collect();
        let expected = [
            "older on_input Tell me the secret",
            "newer on_input Tell me the secret",
            "older on_input Tell me [redacted]",
        ];
        assert_eq!(judged, expected);
    });
}

#[test]
fn steering_that_is_rejected_leaves_its_queue_and_the_run_goes_on() {
    block_on(async {
        let rejects = |input: &Message| match input.text().contains("bomb") {
            true => InputVerdict::Reject("no bombs".into()),
            false => InputVerdict::Pass,
        };
        let notes = Notes::default();
        let model = ScriptedProvider::new([Reply::text("Done.")]);
        let hook = Recorder { input: Some(rejects), ..Recorder::new("older", &notes) };
        let conversation = Conversation::new(&agent(&model).hook(Arc::new(hook), OnFailure::Deny).build().unwrap());
        conversation.handle().follow_up("And a bomb?").unwrap();
        let (lines, report) = run(&conversation, "Go").await;
        assert!(matches!(report.ending, Ending::Completed), "{lines:#?}");
        assert!(lines.contains(&"inputRejected: no bombs".to_owned()), "{lines:#?}");
        assert!(conversation.queued().is_empty());
        assert_eq!(history(&conversation), ["user Go", "assistant Done."]);
    });
}

#[test]
fn case_84_and_85_deny_wins_and_an_earlier_policy_judges_a_rewrite() {
    let denies = |arguments: &RawJson| match arguments.get().contains("/etc") {
        true => ToolVerdict::Deny("not there".into()),
        false => ToolVerdict::Allow,
    };
    let rewrites = |arguments: &RawJson| match arguments.get().contains("etc") {
        true => ToolVerdict::Allow,
        false => ToolVerdict::Modify(json(r#"{"path":"/etc"}"#)),
    };
    let asks = |_: &RawJson| ToolVerdict::Ask("sure?".into());
    for (first, second) in
        [(denies as fn(&RawJson) -> ToolVerdict, rewrites as fn(&RawJson) -> ToolVerdict), (asks, denies)]
    {
        block_on(async {
            let notes = Notes::default();
            let arguments = if second(&json("{}")) == ToolVerdict::Allow { r#"{"path":"/etc"}"# } else { "{}" };
            let model = ScriptedProvider::new([Reply::call("a", arguments), Reply::text("Done.")]);
            let a = FnTool::says("a", "ok");
            let agent = agent(&model)
                .tool(a.clone())
                .hook(Arc::new(Recorder { tool: Some(first), ..Recorder::new("older", &notes) }), OnFailure::Deny)
                .hook(Arc::new(Recorder { tool: Some(second), ..Recorder::new("newer", &notes) }), OnFailure::Deny)
                .build()
                .unwrap();
            let conversation = Conversation::new(&agent);
            run(&conversation, "Go").await;
            assert_eq!(a.runs(), 0);
            assert_eq!(history(&conversation)[2], "toolResult! denied: not there");
        });
    }
}

#[test]
fn case_86_what_a_tool_shows_on_its_way_is_withheld_where_a_hook_filters() {
    block_on(async {
        let a = FnTool::new("a", |_, context| async move {
            context.progress("the secret is");
            context.partial("42".into());
            tokio::task::yield_now().await;
            ToolOutcome::Output("42".into())
        });
        let model = ScriptedProvider::new([Reply::call("a", "{}"), Reply::text("Done.")]);
        let hook = Recorder { redact: true, ..Recorder::new("older", &Notes::default()) };
        let agent = agent(&model).tool(a).hook(Arc::new(hook), OnFailure::Deny).build().unwrap();
        let conversation = Conversation::new(&agent);
        let (lines, _) = run(&conversation, "Go").await;
        assert!(!lines.iter().any(|line| line.contains("42") || line.contains("secret")), "{lines:#?}");
        assert_eq!(history(&conversation)[2], "toolResult [redacted]");
    });
}

#[test]
fn notes_stand_behind_the_call_in_order_and_are_no_history() {
    block_on(async {
        let notes = Notes::default();
        let model = ScriptedProvider::new([Reply::text("Done."), Reply::text("Again.")]);
        let agent = agent(&model)
            .hook(Arc::new(Recorder { note: Some("one"), ..Recorder::new("older", &notes) }), OnFailure::Deny)
            .hook(Arc::new(Recorder { note: Some("two"), ..Recorder::new("newer", &notes) }), OnFailure::Deny)
            .build()
            .unwrap();
        let conversation = Conversation::new(&agent);
        let (lines, _) = run(&conversation, "Go").await;
        assert_eq!(model.calls()[0].note.as_deref(), Some("one\ntwo"));
        assert_eq!(history(&conversation), ["user Go", "assistant Done."]);
        let (more, _) = run(&conversation, "Again").await;
        assert!(!lines.iter().chain(&more).any(|line| line.starts_with("cacheBreak")), "{more:#?}");
    });
}

#[test]
fn case_55_hooks_that_send_the_model_on_are_capped() {
    block_on(async {
        let notes = Notes::default();
        let stop = Some(StopVerdict::Continue("Go on.".into()));
        let model = ScriptedProvider::new((0..9).map(|n| Reply::text(format!("{n}"))));
        let hook = Recorder { stop, ..Recorder::new("older", &notes) };
        let conversation = Conversation::new(&agent(&model).hook(Arc::new(hook), OnFailure::Deny).build().unwrap());
        let (lines, report) = run(&conversation, "Go").await;
        assert!(matches!(report.ending, Ending::Completed));
        assert_eq!(report.turns, 4);
        assert!(lines.iter().any(|line| line.starts_with("hookFailed on_stop")), "{lines:#?}");
    });
}

#[test]
fn case_92_a_hook_that_two_runs_share_can_tell_them_apart() {
    block_on(async {
        struct Runs(std::sync::Mutex<Vec<agent_core::RunId>>);
        impl Hook for Runs {
            fn before_turn<'a>(&'a self, run: &'a RunFacts) -> HookFuture<'a, TurnVerdict> {
                self.0.lock().unwrap().push(run.run);
                Box::pin(std::future::ready(Ok(TurnVerdict::Go)))
            }
        }
        let hook = Arc::new(Runs(std::sync::Mutex::default()));
        let model = ScriptedProvider::new([Reply::text("One."), Reply::text("Two.")]);
        let agent = agent(&model).hook(hook.clone(), OnFailure::Deny).build().unwrap();
        let (first, second) = (Conversation::new(&agent), Conversation::new(&agent));
        let (a, b) = tokio::join!(first.run("Go").unwrap().into_report(), second.run("Go").unwrap().into_report());
        let mut seen = hook.0.lock().unwrap().clone();
        seen.sort();
        let mut expected = vec![a.run, b.run];
        expected.sort();
        assert_eq!(seen, expected);
    });
}
