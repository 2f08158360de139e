//! What is on its way is asked whether it has arrived.

use std::task::{Context, Poll};

use agent_core::AgentEvent;

use super::{
    driver::{Append, Driver, Finished},
    model::ModelStep,
};
use crate::{EffectId, Input};

impl Driver {
    /// Whether something moved on.
    pub(super) fn poll_work(&mut self, cx: &mut Context<'_>) -> bool {
        // A clock that is due does not keep the rest from being asked.
        let woke = self.poll_sleep(cx);
        if let Some(append) = &mut self.append
            && let Poll::Ready(result) = append.future.as_mut().poll(cx)
        {
            if let Some(Append { id, records, .. }) = self.append.take() {
                // The machine takes the records over without a copy.
                drop(records);
                self.tell(id, Input::Appended(result));
            }
            return true;
        }
        if let Some(model) = &mut self.model
            && let Poll::Ready(step) = model.poll(cx)
        {
            self.model_step(step);
            return true;
        }
        for at in 0..self.work.len() {
            let Some(work) = self.work.get_mut(at) else { break };
            if let Poll::Ready(finished) = work.future.as_mut().poll(cx) {
                let id = self.work.swap_remove(at).id;
                self.finished(id, finished);
                return true;
            }
        }
        woke
    }

    fn finished(&mut self, id: EffectId, finished: Finished) {
        let input = match finished {
            Finished::Input(input) => input,
            Finished::Prepared(prepared, facts) => {
                let lost = prepared.lost();
                self.told_losses = (lost.options.len(), lost.messages.len());
                self.prepared = Some(prepared);
                Input::Prepared(Ok(facts))
            }
        };
        self.tell(id, input);
    }

    pub(super) fn poll_sleep(&mut self, cx: &mut Context<'_>) -> bool {
        let Some((_, sleep)) = &mut self.sleep else { return false };
        if sleep.as_mut().poll(cx).is_pending() {
            return false;
        }
        self.sleep = None;
        self.tell(EffectId::NONE, Input::Time);
        true
    }

    fn model_step(&mut self, step: ModelStep) {
        let Some(model) = &self.model else { return };
        let (id, shown) = (model.id, model.shown);
        match step {
            ModelStep::Event { event, first } => {
                if let Some(held) = first {
                    self.tell(id, Input::FirstOutput);
                    self.pump();
                    self.events.extend(held.into_iter().filter(|_| shown).map(AgentEvent::Model));
                }
                if shown {
                    self.events.push_back(AgentEvent::Model(event));
                }
            }
            ModelStep::Ended(ended) => {
                self.model = None;
                if ended.is_whole() {
                    // Nobody sends it again.
                    self.prepared = None;
                }
                let outcome = ended.outcome(self.now_ms(), self.draw());
                self.tell(id, Input::CallEnded(Box::new(outcome)));
            }
        }
    }
}
