//! How calls are judged and tools run: contained, with all that they may use.

use std::sync::Arc;

use agent_core::{
    AgentEvent, CancelToken, Coercion, RawJson, ToolContext, ToolError, ToolEvents, ToolIntent, ToolOutcome,
    ToolOutput, Violation, coerce,
};

use tracing::Instrument as _;

use super::driver::{Driver, Finished, Work};
use crate::{
    Agent, EffectId, Input, JudgeCall, Judgement, RunTool, agent::OfferedTool, contain, conversation::Inbox,
    hooks::ToolJudgement, telemetry::ToolSpan,
};

/// A call that is being judged.
pub(super) struct Judging {
    agent: Agent,
    offered: Arc<OfferedTool>,
    arguments: RawJson,
    coercions: Vec<Coercion>,
    modified: bool,
    ask: Option<String>,
}

impl Judging {
    /// Looks a tool up, mends and checks the arguments.
    pub(super) fn begin(agent: &Agent, call: &JudgeCall) -> Result<Self, ToolError> {
        let name = &call.tool.name;
        let offered = agent.0.tools.get(name).ok_or_else(|| ToolError::NotFound { name: name.clone() })?.clone();
        let (arguments, coercions) = (call.arguments.clone(), Vec::new());
        let mut judging = Self { agent: agent.clone(), offered, arguments, coercions, modified: false, ask: None };
        match judging.check() {
            Ok(()) if !call.fresh || !has_odd_number(&judging.arguments) => {}
            Err(error) if !call.fresh => return Err(error),
            _ => {
                (judging.arguments, judging.coercions) = coerce(judging.offered.tool.spec().schema(), &call.arguments);
                judging.check()?;
            }
        }
        Ok(judging)
    }

    fn check(&self) -> Result<(), ToolError> {
        let checked = contain::call(|| match &self.agent.0.validator {
            Some(validator) => validator.validate(self.offered.tool.spec().schema(), &self.arguments),
            None => self.offered.schema().check(&self.arguments),
        });
        match checked.map_err(ToolError::failed)? {
            Ok(()) => Ok(()),
            Err(wrong) => Err(ToolError::invalid_arguments(listed(&wrong))),
        }
    }

    /// Asks the hooks.
    pub(super) async fn ask_hooks(mut self, inbox: Arc<Inbox>, call: Box<JudgeCall>) -> Input {
        let mut failures = Vec::new();
        let hooks = self.agent.0.hooks.clone();
        let arguments = self.arguments.clone();
        let said = hooks.before_tool(&call.facts, call.call, &call.tool, arguments, &mut failures).await;
        for (point, error) in failures {
            inbox.event(AgentEvent::HookFailed { point, error });
        }
        judged(match said {
            ToolJudgement::Deny(reason) => Err(ToolError::Denied { reason }),
            ToolJudgement::Run { arguments, modified, ask } => {
                (self.arguments, self.modified, self.ask) = (arguments, modified, ask);
                let checked = if modified { self.check() } else { Ok(()) };
                checked.and_then(|()| self.end())
            }
        })
    }

    /// Asks the tool what the call may do.
    pub(super) fn end(self) -> Result<Judgement, ToolError> {
        let Self { offered, arguments, coercions, modified, ask, .. } = self;
        let tool = &offered.tool;
        let asked = contain::call(|| (tool.effects(&arguments), tool.version().to_owned()));
        let (effects, version) = asked.map_err(ToolError::failed)?;
        Ok(Judgement::Run { arguments, coercions, effects, version, modified, ask })
    }
}

pub(super) fn judged(judgement: Result<Judgement, ToolError>) -> Input {
    let refused = |error: ToolError| Judgement::Refuse(ToolOutput::from(&error));
    Input::Judged(Box::new(judgement.unwrap_or_else(refused)))
}

/// Whether there may be a `5.0` or `5e3` where an integer is wanted: right for the schema, and wrong for most tools.
fn has_odd_number(arguments: &RawJson) -> bool {
    let pairs = arguments.get().as_bytes().windows(2);
    pairs.into_iter().any(|pair| matches!(pair, [b'0'..=b'9', b'.' | b'e' | b'E']))
}

fn listed(wrong: &[Violation]) -> String {
    wrong.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

impl Driver {
    pub(super) fn start_tool(&mut self, id: EffectId, run: RunTool) {
        let RunTool { intent, verify, deadline_ms } = run;
        let cancel = CancelToken::new();
        let context = self.tool_context(&intent, &cancel, deadline_ms);
        let (settings, sink) = (&self.agent.0.setup.settings.telemetry, self.agent.0.metrics.clone());
        let span = ToolSpan::new(settings, sink, &intent, self.now_ms());
        let found = self.agent.0.tools.get(&intent.intent.tool).map(|offered| offered.tool.clone());
        let work = async move {
            let name = &intent.intent.tool;
            let Some(tool) = found else {
                // A call that is judged has its tool: this one was begun by another process.
                return lost(name, "is gone");
            };
            match contain::call(|| tool.version() == intent.tool_version) {
                Ok(true) => {}
                // Only a call that was begun by another process can meet another version.
                Ok(false) => return lost(name, "has changed"),
                Err(text) => return Input::ToolEnded(ToolOutcome::Error(ToolError::failed(text))),
            }
            let arguments = intent.intent.arguments.clone();
            if verify {
                let asked = contain::Contained::new(|| tool.verify(arguments, context)).await;
                return match asked {
                    Ok(Ok(Some(output))) => Input::ToolEnded(ToolOutcome::Output(output)),
                    Ok(Ok(None)) => Input::DidNotRun,
                    Ok(Err(error)) => Input::ToolEnded(ToolOutcome::Error(error)),
                    Err(text) => Input::ToolEnded(ToolOutcome::Error(ToolError::failed(text))),
                };
            }
            let ended = contain::Contained::new(|| tool.call(arguments, context)).await;
            Input::ToolEnded(ended.unwrap_or_else(|text| ToolOutcome::Error(ToolError::failed(text))))
        };
        let timer = self.agent.0.timer.clone();
        self.span.tool_ran();
        let future = Box::pin(async move {
            let input = work.instrument(span.span.clone()).await;
            let outcome = if let Input::ToolEnded(outcome) = &input { Some(outcome) } else { None };
            span.ended(outcome, timer.now_ms());
            Finished::Input(input)
        });
        self.work.push(Work { id, future, cancel: Some(cancel) });
    }

    fn tool_context(&self, intent: &ToolIntent, cancel: &CancelToken, deadline_ms: Option<u64>) -> ToolContext {
        let run = self.id().unwrap_or(agent_core::RunId::from_bits(0));
        let mut context = ToolContext::new(run, intent.intent.call);
        context.cancel = cancel.clone();
        context.deadline_ms = deadline_ms;
        context.budget = self.agent.0.budget.clone();
        let inbox = self.shared.inbox.clone();
        // What was not looked at yet is not shown; a hook that cannot say whether it looks is taken to.
        let filters = |hook: &dyn agent_core::Hook| contain::call(|| hook.filters_output()).unwrap_or(true);
        let withheld = self.agent.0.hooks.all.iter().any(|one| filters(&*one.hook));
        context.events = ToolEvents::new(move |event| match event {
            AgentEvent::ToolProgress { .. } | AgentEvent::ToolPartial { .. } if withheld => {}
            event => inbox.event(event),
        });
        context.journal = self.shared.lock().journal.clone();
        context.tree_hooks = self.agent.0.tree_hooks.clone();
        context
    }
}

fn lost(name: &str, why: &str) -> Input {
    let text = format!("`{name}` {why} since this call began, and cannot tell what became of it");
    Input::ToolEnded(ToolOutcome::Error(ToolError::failed(text)))
}
