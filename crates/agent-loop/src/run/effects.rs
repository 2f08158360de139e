//! How each effect is begun.

use std::sync::Arc;

use agent_core::{AgentEvent, ContextFacts, ModelCall, ProviderError, ProviderErrorKind};

use super::{
    driver::{Append, Driver, Finished, Work},
    model::{Called, ModelWork},
    tool::{Judging, judged},
};
use crate::{Effect, EffectId, FailedCall, Input, PreparedFacts, contain, telemetry::CallSpan};

impl Driver {
    pub(super) fn start(&mut self, id: EffectId, effect: Effect) {
        match effect {
            Effect::Append(records) => self.start_append(id, records),
            Effect::Hook(facts, point) => {
                let (hooks, inbox) = (self.agent.0.hooks.clone(), self.shared.inbox.clone());
                self.begin_work(id, async move {
                    let mut failures = Vec::new();
                    let hooked = hooks.ask(&facts, point, &mut failures).await;
                    for (point, error) in failures {
                        inbox.event(AgentEvent::HookFailed { point, error });
                    }
                    Input::Hooked(hooked)
                });
            }
            Effect::Count(call) => {
                let counter = self.agent.0.counter.clone();
                self.begin_work(id, async move {
                    let Some(counter) = counter else { return Input::Counted(Err(missing("token counter"))) };
                    let counted = contain::Contained::new(|| Box::pin(async { counter.count(&call).await })).await;
                    Input::Counted(counted.unwrap_or_else(|text| Err(panicked("the token counter", &text))))
                });
            }
            Effect::Context(question) => {
                let unknown = agent_core::ModelFacts::default();
                let model = self.agent.0.setup.models.get(question.model).map_or(&unknown, |(_, facts)| facts);
                let mut facts = ContextFacts::new(&question.view, model, question.tokens);
                (facts.last_usage, facts.overflowed) = (question.last_usage, question.overflowed);
                let plan = match &self.agent.0.policy {
                    Some(policy) => contain::call(|| policy.plan(&facts)),
                    None => Ok(agent_core::ContextPlan::Keep),
                };
                self.ready.push_back((id, Input::Planned(plan)));
            }
            Effect::Prepare { model, call } => self.start_prepare(id, model, *call),
            Effect::Reserve(worst) => {
                let reserved = match &self.agent.0.budget {
                    None => Ok(()),
                    Some(budget) => match budget.reserve(worst) {
                        Ok(reservation) => {
                            self.reservations.push((id, reservation));
                            Ok(())
                        }
                        Err(exceeded) => Err(exceeded.left),
                    },
                };
                self.ready.push_back((id, Input::Reserved(reserved)));
            }
            Effect::Send { model, reserved, message, shown } => {
                let asked = self.agent.0.setup.models.get(model).map_or("", |(options, _)| &options.model);
                let found = self.prepared.as_ref().zip(self.agent.0.providers.get(model));
                let found = found.ok_or_else(|| missing("prepared call")).and_then(|(prepared, provider)| {
                    let origin = contain::call(|| provider.origin(asked));
                    Ok((prepared, origin.map_err(|text| panicked("the provider", &text))?))
                });
                let (prepared, origin) = match found {
                    Ok(found) => found,
                    Err(error) => {
                        let failed = FailedCall::new(error.with_billed(agent_core::Billed::No), 0, 0);
                        let outcome = crate::CallOutcome::failed(None, agent_core::Usage::ZERO, failed);
                        return self.ready.push_back((id, Input::CallEnded(Box::new(outcome))));
                    }
                };
                let timer = self.agent.0.timer.clone();
                let setup = self.agent.0.setup.clone();
                let options = setup.models.get(model).map(|(options, _)| &**options);
                let (settings, sink) = (&setup.settings.telemetry, self.agent.0.metrics.clone());
                let span = CallSpan::new(settings, sink, &origin, options, timer.now_ms());
                let called = Called { id, message, origin, shown, span, priced: (setup, model) };
                self.model = Some(Box::new(ModelWork::send(timer, prepared, called)));
                self.span.model_called();
                let held = self.reservations.iter_mut().find(|(held, _)| Some(*held) == reserved);
                held.into_iter().for_each(|(_, reservation)| reservation.sent());
                if shown {
                    self.shared.lock().last = prepared.segments().cloned();
                }
            }
            Effect::Judge(call) => {
                let asks = call.fresh && self.agent.0.setup.hooks;
                let begun = contain::call(|| Judging::begin(&self.agent, &call));
                match begun.unwrap_or_else(|text| Err(agent_core::ToolError::failed(text))) {
                    Ok(judging) if asks => {
                        let inbox = self.shared.inbox.clone();
                        self.begin_work(id, judging.ask_hooks(inbox, call));
                    }
                    // Nobody has to be waited for.
                    begun => self.ready.push_back((id, judged(begun.and_then(Judging::end)))),
                }
            }
            Effect::Approval(intent) => {
                if let Some(approver) = self.agent.0.approver.clone() {
                    self.begin_work(id, async move {
                        let answer = contain::Contained::new(|| approver.answer(*intent)).await;
                        // Fail closed.
                        let denied = |text| agent_core::ApprovalAnswer::Deny(format!("the approver {text}"));
                        Input::Answered(answer.unwrap_or_else(denied))
                    });
                }
            }
            Effect::Tool(run) => self.start_tool(id, *run),
            Effect::Sleep(ms) => {
                let sleep = self.agent.0.timer.sleep(std::time::Duration::from_millis(ms));
                self.begin_work(id, async move {
                    sleep.await;
                    Input::Slept
                });
            }
        }
    }

    pub(super) fn begin_work(&mut self, id: EffectId, work: impl Future<Output = Input> + Send + 'static) {
        let future = Box::pin(async move { Finished::Input(work.await) });
        self.work.push(Work { id, future, cancel: None });
    }

    fn start_append(&mut self, id: EffectId, records: Arc<Vec<agent_core::JournalRecord>>) {
        let (journal, mut all) = {
            let mut shared = self.shared.lock();
            let Some(journal) = shared.journal.clone() else {
                drop(shared);
                return self.ready.push_back((id, Input::Appended(Ok(()))));
            };
            (journal, std::mem::take(&mut shared.unwritten))
        };
        all.extend(records.iter().cloned());
        let future = contain::append(&*journal, all);
        self.append = Some(Append { id, records, future });
    }

    fn start_prepare(&mut self, id: EffectId, model: usize, call: ModelCall) {
        let provider = self.agent.0.providers.get(model).cloned();
        let (previous, last) = (call.previous, self.shared.lock().last.clone());
        self.prepared = None;
        let (now_ms, draw, told) = (self.now_ms(), self.draw(), self.told_losses);
        let failed = move |error| Finished::Input(Input::Prepared(Err(Box::new(FailedCall::new(error, now_ms, draw)))));
        let work = async move {
            let Some(provider) = provider else { return failed(missing("model")) };
            let prepared = contain::Contained::new(|| provider.prepare(call)).await;
            match prepared.unwrap_or_else(|text| Err(panicked("the provider", &text))) {
                Err(error) => failed(error),
                Ok(prepared) => {
                    let mut facts = PreparedFacts::new(prepared.input_bound(), prepared.output_bound());
                    facts.chain = prepared.chain().copied();
                    let segments = prepared.segments().zip(previous);
                    facts.divergence = segments.and_then(|(now, before)| now.diverges_from(&before, last.as_ref()));
                    // Those of earlier calls were told then.
                    let (options, messages) = (&prepared.lost().options, &prepared.lost().messages);
                    facts.losses = options.get(told.0..).unwrap_or_default().to_vec();
                    facts.losses.extend(messages.iter_from(told.1).cloned());
                    Finished::Prepared(Box::new(prepared), Box::new(facts))
                }
            }
        };
        self.work.push(Work { id, future: Box::pin(work), cancel: None });
    }
}

pub(super) fn missing(what: &str) -> ProviderError {
    ProviderError::new(ProviderErrorKind::Other, format!("there is no {what}"))
}

fn panicked(who: &str, text: &str) -> ProviderError {
    ProviderError::new(ProviderErrorKind::Other, format!("{who} {text}"))
}
