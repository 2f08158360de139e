//! The hooks of an agent, asked in the order of their installation.
//!
//! | point | a hook that denies fails | a hook that advises fails |
//! |---|---|---|
//! | `on_input` | the input is rejected | it is skipped |
//! | `before_turn`, `before_model` | the run is stopped | it is skipped |
//! | `before_tool` | the call is denied | it is skipped |
//! | `after_tool` | the output is withheld | the output stays |
//! | `on_stop` | the run is stopped | it is skipped |
//! | `after_turn`, `on_error`, `finish`, `on_event` | it is reported | it is reported |

mod tool;

use std::sync::Arc;

use agent_core::{
    BoxFuture, CallOptions, Hook, HookFuture, InputVerdict, Message, ModelVerdict, OnFailure, RunFacts, StopVerdict,
    Timer, ToolOutput, TurnVerdict,
};

pub(crate) use self::tool::ToolJudgement;
use crate::{HookPoint, Hooked, contain, texts};

/// How often input or arguments may be rewritten before they are refused: two hooks that undo each other end.
const REWRITES: usize = 16;

/// A hook, and what its failure means.
#[derive(Clone)]
pub(crate) struct Installed {
    pub(crate) hook: Arc<dyn Hook>,
    pub(crate) on_failure: OnFailure,
}

/// The hooks of an agent.
#[derive(Clone)]
pub(crate) struct Hooks {
    pub(crate) all: Arc<[Installed]>,
    pub(crate) timer: Arc<dyn Timer>,
    pub(crate) bound_ms: u64,
}

/// A failure of a hook: the point, and the error in words.
pub(crate) type Failure = (&'static str, String);

/// What one hook said at a point.
enum Said<T> {
    Verdict(T),
    /// It failed and is skipped.
    Skipped,
    /// It failed and denies, for this reason.
    Denies(String),
}

impl Hooks {
    /// Asks all hooks at a point. Failures are added to `failures`.
    pub(crate) async fn ask(&self, facts: &RunFacts, point: HookPoint, failures: &mut Vec<Failure>) -> Hooked {
        match point {
            HookPoint::Input(message) => self.input(facts, message, failures).await,
            HookPoint::BeforeTurn => self.before_turn(facts, failures).await,
            HookPoint::BeforeModel(options, tools) => {
                let mut state = (Vec::new(), None::<Arc<CallOptions>>);
                for one in &*self.all {
                    let now = state.1.clone().unwrap_or_else(|| options.clone());
                    let said =
                        self.one(one, "before_model", failures, |hook| hook.before_model(facts, &now, &tools)).await;
                    match said {
                        Said::Verdict(ModelVerdict::Note(note)) => state.0.push(note),
                        Said::Verdict(ModelVerdict::Options(new)) => state.1 = Some(new),
                        Said::Verdict(ModelVerdict::Stop(reason)) | Said::Denies(reason) => {
                            return Hooked::ModelStop(reason);
                        }
                        _ => {}
                    }
                }
                Hooked::Model(state.0, state.1)
            }
            HookPoint::AfterTool(id, call, mut output) => {
                for one in &*self.all {
                    let before = output.clone();
                    let said =
                        self.one(one, "after_tool", failures, |hook| hook.after_tool(facts, id, &call, before)).await;
                    output = match said {
                        Said::Verdict(output) => output,
                        Said::Skipped => output,
                        Said::Denies(_) => return Hooked::Output(ToolOutput::text(texts::WITHHELD).as_error()),
                    };
                }
                Hooked::Output(output)
            }
            HookPoint::AfterTurn(reason, usage) => {
                let reason = reason.as_ref();
                for one in &*self.all {
                    self.one(one, "after_turn", failures, |hook| hook.after_turn(facts, reason, usage)).await;
                }
                Hooked::Done
            }
            HookPoint::OnError(kind, text) => {
                for one in &*self.all {
                    self.one(one, "on_error", failures, |hook| hook.on_error(facts, kind, &text)).await;
                }
                Hooked::Done
            }
            HookPoint::OnStop => self.on_stop(facts, failures).await,
            HookPoint::Finish => {
                for one in &*self.all {
                    self.one(one, "finish", failures, |hook| hook.finish(facts)).await;
                }
                Hooked::Done
            }
        }
    }

    async fn before_turn(&self, facts: &RunFacts, failures: &mut Vec<Failure>) -> Hooked {
        for one in &*self.all {
            match self.one(one, "before_turn", failures, |hook| hook.before_turn(facts)).await {
                Said::Verdict(TurnVerdict::Stop(reason)) | Said::Denies(reason) => {
                    return Hooked::Turn(TurnVerdict::Stop(reason));
                }
                _ => {}
            }
        }
        Hooked::Turn(TurnVerdict::Go)
    }

    /// All hooks that send the model on say so in one text, a paragraph each.
    async fn on_stop(&self, facts: &RunFacts, failures: &mut Vec<Failure>) -> Hooked {
        let mut texts = Vec::new();
        for one in &*self.all {
            match self.one(one, "on_stop", failures, |hook| hook.on_stop(facts)).await {
                Said::Verdict(StopVerdict::Continue(text)) => texts.push(text),
                Said::Denies(reason) => return Hooked::StopFailed(reason),
                _ => {}
            }
        }
        let verdict = if texts.is_empty() { StopVerdict::Accept } else { StopVerdict::Continue(texts.join("\n\n")) };
        Hooked::Stop(verdict)
    }

    /// Input that a hook rewrites is judged again by all others; warnings are judged by nobody.
    async fn input(&self, facts: &RunFacts, mut message: Arc<Message>, failures: &mut Vec<Failure>) -> Hooked {
        let (mut warnings, mut at, mut rewriter, mut rewrites) = (Vec::new(), 0, None, 0);
        while let Some(one) = self.all.get(at) {
            let here = at;
            at += 1;
            if rewriter == Some(here) {
                continue;
            }
            let now = message.clone();
            match self.one(one, "on_input", failures, |hook| hook.on_input(facts, &now)).await {
                Said::Verdict(InputVerdict::Reject(reason)) | Said::Denies(reason) => return Hooked::Rejected(reason),
                // Asked again after a rewrite, it warns again.
                Said::Verdict(InputVerdict::Warn(text)) if !warnings.contains(&text) => warnings.push(text),
                Said::Verdict(InputVerdict::Rewrite(new)) if new != message => {
                    rewrites += 1;
                    if rewrites > REWRITES {
                        return Hooked::Rejected("hooks rewrite it over and over".into());
                    }
                    (message, rewriter, at) = (new, Some(here), 0);
                }
                _ => {}
            }
        }
        Hooked::Input(message, warnings)
    }

    /// Asks one hook, contained and bounded in time.
    async fn one<'a, T: Send + 'a>(
        &self,
        one: &'a Installed,
        point: &'static str,
        failures: &mut Vec<Failure>,
        ask: impl FnOnce(&'a dyn Hook) -> HookFuture<'a, T> + Send + 'a,
    ) -> Said<T> {
        let hook = &*one.hook;
        let make = move || -> BoxFuture<'a, _> { ask(hook) };
        let error = match contain::bounded(&*self.timer, self.bound_ms, make).await {
            Ok(Ok(verdict)) => return Said::Verdict(verdict),
            Ok(Err(error)) => error.to_string(),
            Err(panic) => panic,
        };
        failures.push((point, error.clone()));
        match one.on_failure {
            OnFailure::Skip => Said::Skipped,
            _ => Said::Denies(format!("a check failed: {error}")),
        }
    }
}
