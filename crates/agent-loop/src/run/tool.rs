//! How calls are judged and tools run: contained, with all that they may use.

use std::sync::Arc;

use agent_core::{
    AgentEvent, CancelToken, Coercion, RawJson, ToolContext, ToolError, ToolEvents, ToolIntent, ToolOutcome,
    ToolOutput, Violation, coerce,
};

use super::driver::{Driver, Finished, Work};
use crate::{
    Agent, EffectId, Input, JudgeCall, Judgement, RunTool, contain, conversation::Inbox, hooks::ToolJudgement,
};

/// Looks a tool up, mends and checks the arguments, and asks the hooks.
pub(super) async fn judge(agent: Agent, inbox: Arc<Inbox>, call: JudgeCall) -> Input {
    let mut failures = Vec::new();
    let judgement = judgement(&agent, call, &mut failures).await;
    for (point, error) in failures {
        inbox.event(AgentEvent::HookFailed { point, error });
    }
    let refused = |error: ToolError| Judgement::Refuse(ToolOutput::from(&error));
    Input::Judged(Box::new(judgement.unwrap_or_else(refused)))
}

async fn judgement(
    agent: &Agent,
    call: JudgeCall,
    failures: &mut Vec<(&'static str, String)>,
) -> Result<Judgement, ToolError> {
    let JudgeCall { call: id, tool: asked, arguments, fresh, facts } = call;
    let parts = &agent.0;
    let tool = parts.tools.get(&asked.name).ok_or_else(|| ToolError::NotFound { name: asked.name.clone() })?;
    let schema = tool.spec().schema().clone();
    let check = |arguments: &RawJson| {
        let checked = contain::call(|| parts.validator.validate(&schema, arguments));
        match checked.map_err(ToolError::failed)? {
            Ok(()) => Ok(()),
            Err(wrong) => Err(ToolError::invalid_arguments(listed(&wrong))),
        }
    };
    let (mut arguments, coercions): (RawJson, Vec<Coercion>) =
        if fresh { coerce(&schema, &arguments) } else { (arguments, Vec::new()) };
    check(&arguments)?;
    let (mut modified, mut ask) = (false, None);
    if fresh {
        match parts.hooks.before_tool(&facts, id, &asked, arguments, failures).await {
            ToolJudgement::Deny(reason) => return Err(ToolError::Denied { reason }),
            ToolJudgement::Run { arguments: judged, modified: changed, ask: reason } => {
                (arguments, modified, ask) = (judged, changed, reason);
            }
        }
        if modified {
            check(&arguments)?;
        }
    }
    let effects = contain::call(|| tool.effects(&arguments)).map_err(ToolError::failed)?;
    let version = tool.version().to_owned();
    Ok(Judgement::Run { arguments, coercions, effects, version, modified, ask })
}

fn listed(wrong: &[Violation]) -> String {
    wrong.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

impl Driver {
    pub(super) fn start_tool(&mut self, id: EffectId, run: RunTool) {
        let RunTool { intent, verify, deadline_ms } = run;
        let cancel = CancelToken::new();
        let context = self.tool_context(&intent, &cancel, deadline_ms);
        let found = self.agent.0.tools.get(&intent.intent.tool).cloned();
        let work = async move {
            let name = &intent.intent.tool;
            let tool = match found {
                Some(tool) if tool.version() == intent.tool_version => tool,
                // Only a call that was begun by another process can meet another version.
                Some(_) => return changed(name),
                None => return Input::ToolEnded(ToolOutcome::Error(ToolError::NotFound { name: name.clone() })),
            };
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
        let future = Box::pin(async move { Finished::Input(work.await) });
        self.work.push(Work { id, future, cancel: Some(cancel) });
    }

    fn tool_context(&self, intent: &ToolIntent, cancel: &CancelToken, deadline_ms: Option<u64>) -> ToolContext {
        let run = self.id().unwrap_or(agent_core::RunId::from_bits(0));
        let mut context = ToolContext::new(run, intent.intent.call);
        context.cancel = cancel.clone();
        context.deadline_ms = deadline_ms;
        context.budget = self.agent.0.budget.clone();
        let inbox = self.shared.inbox.clone();
        context.events = ToolEvents::new(move |event| inbox.event(event));
        context.journal = self.shared.lock().journal.clone();
        context.tree_hooks = self.agent.0.tree_hooks.clone();
        context
    }
}

fn changed(name: &str) -> Input {
    let text = format!("`{name}` has changed since this call began, and cannot tell what became of it");
    Input::ToolEnded(ToolOutcome::Error(ToolError::failed(text)))
}
