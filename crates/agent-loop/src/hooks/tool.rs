//! What the hooks say of a tool call: deny wins over ask, and ask over allow.

use agent_core::{CallId, RawJson, RunFacts, ToolCall, ToolVerdict};

use super::{Failure, Hooks, REWRITES, Said};

/// What all hooks together say.
pub(crate) enum ToolJudgement {
    /// It runs with these arguments; somebody is asked first where there is a reason to.
    Run { arguments: RawJson, modified: bool, ask: Option<String> },
    /// It does not run.
    Deny(String),
}

impl Hooks {
    /// Arguments that a hook changes are judged again by all others.
    pub(crate) async fn before_tool(
        &self,
        facts: &RunFacts,
        id: CallId,
        call: &ToolCall,
        arguments: RawJson,
        failures: &mut Vec<Failure>,
    ) -> ToolJudgement {
        let (mut arguments, mut modified, mut ask) = (arguments, false, None);
        let (mut at, mut modifier, mut rewrites) = (0, None, 0);
        while let Some(one) = self.all.get(at) {
            let here = at;
            at += 1;
            if modifier == Some(here) {
                continue;
            }
            let now = arguments.clone();
            match self.one(one, "before_tool", failures, |hook| hook.before_tool(facts, id, call, &now)).await {
                Said::Verdict(ToolVerdict::Deny(reason)) | Said::Denies(reason) => return ToolJudgement::Deny(reason),
                // The first reason is the one that is shown.
                Said::Verdict(ToolVerdict::Ask(reason)) => drop(ask.get_or_insert(reason)),
                Said::Verdict(ToolVerdict::Modify(new)) if new != arguments => {
                    rewrites += 1;
                    if rewrites > REWRITES {
                        return ToolJudgement::Deny("hooks change its arguments over and over".into());
                    }
                    (arguments, modified, modifier, at) = (new, true, Some(here), 0);
                }
                _ => {}
            }
        }
        ToolJudgement::Run { arguments, modified, ask }
    }
}
