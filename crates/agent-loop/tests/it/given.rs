//! What tests are made of: tools, hooks, traces.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};

use agent_core::{
    AgentEvent, BoxFuture, CallOptions, Effects, Message, RawJson, Tool, ToolContext, ToolError, ToolOutcome, ToolSpec,
};
use agent_loop::{Agent, AgentBuilder, Conversation, RunReport};
use agent_testkit::{PausedTimer, ScriptedProvider};

type Call = dyn Fn(RawJson, ToolContext) -> BoxFuture<'static, ToolOutcome> + Send + Sync;

/// A tool made of a function; it counts its runs.
#[derive(Clone)]
pub(crate) struct FnTool {
    spec: ToolSpec,
    effects: Effects,
    call: Arc<Call>,
    pub(crate) runs: Arc<AtomicUsize>,
}

impl FnTool {
    /// A shared tool with any arguments.
    pub(crate) fn new<F>(name: &str, call: impl Fn(RawJson, ToolContext) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = ToolOutcome> + Send + 'static,
    {
        let spec = ToolSpec::new(name, format!("The tool {name}."), json(r#"{"type":"object"}"#)).unwrap();
        let call: Arc<Call> = Arc::new(move |arguments, context| Box::pin(call(arguments, context)));
        Self { spec, effects: Effects::shared(), call, runs: Arc::default() }
    }

    /// A tool that answers at once.
    pub(crate) fn says(name: &str, text: &str) -> Self {
        let text = text.to_owned();
        Self::new(name, move |_, _| std::future::ready(ToolOutcome::Output(text.as_str().into())))
    }

    /// A tool that fails at once.
    pub(crate) fn fails(name: &str, text: &str) -> Self {
        let text = text.to_owned();
        Self::new(name, move |_, _| std::future::ready(ToolOutcome::Error(ToolError::failed(text.as_str()))))
    }

    pub(crate) fn effects(mut self, effects: Effects) -> Self {
        self.effects = effects;
        self
    }

    pub(crate) fn schema(mut self, schema: &str) -> Self {
        self.spec = ToolSpec::new(self.spec.name(), "A tool.", json(schema)).unwrap();
        self
    }

    pub(crate) fn runs(&self) -> usize {
        self.runs.load(Ordering::Relaxed)
    }
}

impl Tool for FnTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn effects(&self, _: &RawJson) -> Effects {
        self.effects.clone()
    }

    fn call(&self, arguments: RawJson, context: ToolContext) -> BoxFuture<'_, ToolOutcome> {
        self.runs.fetch_add(1, Ordering::Relaxed);
        (self.call)(arguments, context)
    }
}

pub(crate) fn json(text: &str) -> RawJson {
    RawJson::parse(text).unwrap()
}

/// An agent over a scripted model, by a clock that stands still.
pub(crate) fn agent(model: &ScriptedProvider) -> AgentBuilder {
    Agent::builder(model.clone(), options(), PausedTimer::at(1_000))
}

pub(crate) fn options() -> CallOptions {
    CallOptions::new("toy-1").system("You help.").max_output(100)
}

pub(crate) fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(work)
}

/// Runs a prompt to its end.
pub(crate) async fn run(conversation: &Conversation, prompt: &str) -> (Vec<String>, RunReport) {
    let (events, report) = conversation.run(prompt).unwrap().collect().await;
    (trace(&events), report)
}

/// The events in short, with deltas left out but for one in a row.
pub(crate) fn trace(events: &[AgentEvent]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for event in events {
        let line = short(event);
        if line == "delta" && lines.last().is_some_and(|last| last == "delta") {
            continue;
        }
        lines.push(line);
    }
    lines
}

fn short(event: &AgentEvent) -> String {
    match event {
        AgentEvent::AgentStart => "agentStart".into(),
        AgentEvent::TurnStart { turn } => format!("turnStart {turn}"),
        AgentEvent::InputRejected { reason } => format!("inputRejected: {reason}"),
        AgentEvent::Queued { queue, .. } => format!("queued {queue}"),
        AgentEvent::Dequeued { .. } => "dequeued".into(),
        AgentEvent::MessageStart { role } => format!("messageStart {role}"),
        AgentEvent::MessageEnd { message } => format!("messageEnd {}", said(message)),
        AgentEvent::MessageDropped { message } => format!("messageDropped {}", said(message)),
        AgentEvent::Model(_) => "delta".into(),
        AgentEvent::ContextEdited { before, after } => format!("contextEdited {before} -> {after}"),
        AgentEvent::LoopDetected { tool, repetitions, stopped } => {
            format!("loopDetected {tool} {repetitions}{}", if *stopped { " stopped" } else { "" })
        }
        AgentEvent::HookFailed { point, error } => format!("hookFailed {point}: {error}"),
        AgentEvent::CacheBreak(broken) => format!("cacheBreak {:?}", broken.cause),
        AgentEvent::Lost { losses } => format!("lost {}", losses.len()),
        AgentEvent::Retry { attempt, kind, delay_ms, .. } => format!("retry {attempt} {kind} {delay_ms} ms"),
        AgentEvent::ToolStart { name, arguments, .. } => format!("toolStart {name} {}", arguments.get()),
        AgentEvent::ToolProgress { text, .. } => format!("toolProgress {text}"),
        AgentEvent::ToolPartial { .. } => "toolPartial".into(),
        AgentEvent::ToolEnd { output, .. } => {
            let text: Vec<_> = output.content.iter().filter_map(|block| block.as_text()).collect();
            format!("toolEnd{} {}", if output.is_error { " error" } else { "" }, text.join(" | "))
        }
        AgentEvent::ApprovalAsked { tool, reason, .. } => format!("approvalAsked {}: {reason}", tool.name),
        AgentEvent::TurnEnd { turn, stop_reason, .. } => {
            format!("turnEnd {turn} {}", stop_reason.as_ref().map_or("-", |reason| reason.as_str()))
        }
        AgentEvent::AgentEnd { ending, .. } => format!("agentEnd {ending:?}"),
        other => format!("{other:?}"),
    }
}

/// A message in short.
pub(crate) fn said(message: &Message) -> String {
    let calls = match message {
        Message::Assistant(answer) => answer.tool_calls().map(|(_, call)| format!("[{}]", call.name)).collect(),
        _ => String::new(),
    };
    let error = matches!(message, Message::ToolResult(result) if result.is_error);
    let kind = if let Message::Note(note) = message { format!("({})", note.kind) } else { String::new() };
    format!("{}{kind}{} {}{calls}", message.role(), if error { "!" } else { "" }, message.text())
}

/// The history in short.
pub(crate) fn history(conversation: &Conversation) -> Vec<String> {
    conversation.messages().iter().map(|message| said(message)).collect()
}

/// Things that happened, from several places.
#[derive(Clone, Default)]
pub(crate) struct Notes(Arc<Mutex<Vec<String>>>);

impl Notes {
    pub(crate) fn add(&self, line: impl Into<String>) {
        self.0.lock().unwrap().push(line.into());
    }

    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}
