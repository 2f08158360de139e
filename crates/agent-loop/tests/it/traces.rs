//! The canonical traces: the order of events, as golden files.

use agent_core::{ProviderError, ProviderErrorKind, StopReason, ToolOutcome};
use agent_loop::{Concurrency, Conversation, RunSettings};
use agent_testkit::{Gate, Reply, ScriptedProvider};

use crate::given::{FnTool, agent, block_on, history, run};

/// Compares with `tests/golden/<name>.txt`; writes it anew where `BLESS` is set.
pub(crate) fn golden(name: &str, lines: &[String]) {
    let path = format!("{}/tests/golden/{name}.txt", env!("CARGO_MANIFEST_DIR"));
    let found = lines.join("\n") + "\n";
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &found).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_else(|_| panic!("{path} is missing; run with BLESS=1"));
    assert_eq!(found, expected, "{path}");
}

fn both(mut lines: Vec<String>, conversation: &Conversation) -> Vec<String> {
    lines.push("--- history".into());
    lines.extend(history(conversation));
    lines
}

#[test]
fn trace_1_plain_text() {
    block_on(async {
        let model = ScriptedProvider::new([Reply::text("Hello!")]);
        let conversation = Conversation::new(&agent(&model).build().unwrap());
        let (lines, _) = run(&conversation, "Hi").await;
        golden("trace_1_plain_text", &both(lines, &conversation));
    });
}

#[test]
fn trace_2_two_tools_at_once_end_in_the_other_order() {
    block_on(async {
        let gate = Gate::new();
        let (slow, opens) = (gate.clone(), gate.clone());
        let a = FnTool::new("a", move |_, _| {
            let gate = slow.clone();
            async move {
                gate.pass().await;
                ToolOutcome::Output("from a".into())
            }
        });
        let b = FnTool::new("b", move |_, _| {
            opens.open();
            std::future::ready(ToolOutcome::Output("from b".into()))
        });
        let replies = [Reply::call("a", "{}").then_call("b", "{}"), Reply::text("Done.")];
        let model = ScriptedProvider::new(replies);
        let conversation = Conversation::new(&agent(&model).tool(a).tool(b).build().unwrap());
        let (lines, _) = run(&conversation, "Go").await;
        golden("trace_2_two_tools", &both(lines, &conversation));
    });
}

#[test]
fn trace_3_steered_while_the_first_of_two_runs_in_sequence() {
    block_on(async {
        let model = ScriptedProvider::new([Reply::call("a", "{}").then_call("b", "{}"), Reply::text("Done.")]);
        let mut settings = RunSettings::default();
        settings.concurrency = Concurrency::Sequential;
        let gate = Gate::new();
        let held = gate.clone();
        let a = FnTool::new("a", move |_, _| {
            let gate = held.clone();
            async move {
                gate.pass().await;
                ToolOutcome::Output("from a".into())
            }
        });
        let b = FnTool::says("b", "from b");
        let agent = agent(&model).tool(a).tool(b.clone()).settings(settings).build().unwrap();
        let conversation = Conversation::new(&agent);
        let mut running = conversation.run("Go").unwrap();
        let mut events = Vec::new();
        while let Some(event) = running.next().await {
            if matches!(event, agent_core::AgentEvent::ToolStart { .. }) && !gate.is_open() {
                running.handle().steer("Stop that").unwrap();
                running.handle().follow_up("And then?").unwrap();
                model.push(Reply::text("Later."));
                gate.open();
            }
            events.push(event);
        }
        assert_eq!(b.runs(), 0);
        golden("trace_3_steered", &both(crate::given::trace(&events), &conversation));
    });
}

#[test]
fn trace_7_retries_silent_and_after_output() {
    block_on(async {
        let failed = || ProviderError::new(ProviderErrorKind::Overloaded, "busy");
        let replies = [Reply::error(failed()), Reply::text("Hel").error_after(3, failed()), Reply::text("Hello!")];
        let model = ScriptedProvider::new(replies);
        let mut settings = RunSettings::default();
        settings.retry.after_output = true;
        settings.retry.base_ms = 0;
        let conversation = Conversation::new(&agent(&model).settings(settings).build().unwrap());
        let (lines, report) = run(&conversation, "Hi").await;
        assert_eq!(report.final_text(), "Hello!");
        golden("trace_7_retries", &both(lines, &conversation));
    });
}

#[test]
fn trace_8_refusal_with_a_call() {
    block_on(async {
        let model = ScriptedProvider::new([Reply::call("a", "{}").stop(StopReason::Refusal)]);
        let a = FnTool::says("a", "from a");
        let conversation = Conversation::new(&agent(&model).tool(a.clone()).build().unwrap());
        let (lines, _) = run(&conversation, "Go").await;
        assert_eq!(a.runs(), 0);
        golden("trace_8_refusal", &both(lines, &conversation));
    });
}

#[test]
fn trace_9_turn_limit() {
    block_on(async {
        let model = ScriptedProvider::new([Reply::call("a", "{}")]);
        let mut settings = RunSettings::default();
        settings.limits.turns = Some(1);
        let agent = agent(&model).tool(FnTool::says("a", "from a")).settings(settings).build().unwrap();
        let conversation = Conversation::new(&agent);
        let (lines, _) = run(&conversation, "Go").await;
        golden("trace_9_turn_limit", &both(lines, &conversation));
    });
}

#[test]
fn trace_10_loop_told_then_stopped() {
    block_on(async {
        let model = ScriptedProvider::new((0..6).map(|_| Reply::call("a", "{}")));
        let a = FnTool::says("a", "from a");
        let conversation = Conversation::new(&agent(&model).tool(a.clone()).build().unwrap());
        let (lines, _) = run(&conversation, "Go").await;
        assert_eq!(a.runs(), 5);
        golden("trace_10_loop", &both(lines, &conversation));
    });
}
