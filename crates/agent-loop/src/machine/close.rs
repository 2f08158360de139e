//! The end of a turn, and of the run.

use agent_core::{AgentEvent, RecordBody, StopReason, StopVerdict};

use super::{HookPoint, Hooked, Machine, Phase};
use crate::{Ending, RunReport, StopCause, state::kind, texts};

impl Machine {
    pub(super) fn close_turn(&mut self) {
        if self.state.open_turn().is_some() {
            // Whatever ended the turn, every call has an answer.
            let text = match (&self.ending, &self.interrupt) {
                (Some(Ending::Refused), _) => texts::REFUSED.to_owned(),
                (_, Some(_)) => self.not_run(),
                _ => texts::INTERRUPTED_CALL.to_owned(),
            };
            return self.answer_calls(&text);
        }
        if self.interrupt_note() {
            return;
        }
        if self.setup.hooks && self.turn.open {
            let (reason, usage) = (self.turn.stop_reason.clone(), self.turn.usage);
            self.hook(HookPoint::AfterTurn(reason, usage));
        } else {
            self.turn_ended();
        }
    }

    pub(super) fn turn_ended(&mut self) {
        if std::mem::take(&mut self.turn.open) {
            let (turn, stop_reason, usage) = (self.turn.number, self.turn.stop_reason.clone(), self.turn.usage);
            self.emit(AgentEvent::TurnEnd { turn, stop_reason, usage });
        }
        let ends = self.state.run().is_some_and(|run| run.ends);
        if self.interrupt.is_some() || self.ending.is_some() || ends {
            return self.go(Phase::End);
        }
        (self.turn.number, self.turn.message) = (self.turn.number + 1, None);
        if !self.turn.natural || !self.state.queued().is_empty() {
            return self.go(Phase::BeginTurn);
        }
        let asks = matches!(self.turn.stop_reason, Some(StopReason::EndTurn | StopReason::StopSequence));
        self.go(if self.setup.hooks && asks { Phase::OnStop } else { Phase::End });
    }

    pub(super) fn on_stop(&mut self) {
        self.hook(HookPoint::OnStop);
    }

    pub(super) fn stop_judged(&mut self, hooked: Hooked) {
        let continues = self.state.run().map_or(0, |run| run.continues);
        match hooked {
            Hooked::Stop(StopVerdict::Continue(text)) if continues < self.setup.settings.continues => {
                self.write_note(kind::CONTINUE, text);
                self.go(Phase::BeginTurn);
            }
            Hooked::Stop(StopVerdict::Continue(_)) => {
                let error = format!("sent the model on more than {continues} times; its answer is accepted");
                self.emit(AgentEvent::HookFailed { point: "on_stop", error });
                self.go(Phase::End);
            }
            Hooked::StopFailed(error) => {
                self.stop(StopCause::Hook(error));
                self.go(Phase::End);
            }
            // Something may have been put into a queue while the hooks were asked.
            _ if !self.state.queued().is_empty() => self.go(Phase::BeginTurn),
            _ => self.go(Phase::End),
        }
    }

    /// Writes the ending; where that is acknowledged, hooks finish.
    pub(super) fn end(&mut self) {
        let recorded = self.state.run().filter(|run| run.id == self.run).is_some_and(|run| run.ending.is_some());
        let ending = self.final_ending();
        if !recorded && !self.turn.ended {
            self.turn.ended = true;
            return self.write(RecordBody::RunEnded(ending));
        }
        if self.setup.hooks {
            self.hook(HookPoint::Finish);
        } else {
            self.finished();
        }
    }

    fn final_ending(&mut self) -> agent_core::RunEnding {
        let interrupted = self.interrupt.take();
        if let Some(ending) = interrupted.and_then(|why| why.ending(&self.setup.settings.limits)) {
            self.ending.get_or_insert(ending);
        }
        self.ending.get_or_insert(Ending::Completed).recorded()
    }

    pub(super) fn finished(&mut self) {
        let ending = self.ending.take().unwrap_or(Ending::Completed);
        self.finish_with(ending);
    }

    /// The last event, and the report.
    pub(super) fn finish_with(&mut self, ending: Ending) {
        self.drop_message(None);
        if std::mem::take(&mut self.turn.open) {
            let (turn, stop_reason, usage) = (self.turn.number, self.turn.stop_reason.clone(), self.turn.usage);
            self.emit(AgentEvent::TurnEnd { turn, stop_reason, usage });
        }
        let run = self.state.run().filter(|run| run.id == self.run);
        let messages = self.state.transcript().messages();
        let report = RunReport {
            run: self.run,
            stop_reason: run.and_then(|run| run.stop_reason.clone()),
            new_messages: messages.iter_from(run.map_or(messages.len(), |run| run.first)).cloned().collect(),
            usage: run.map(|run| run.usage).unwrap_or_default(),
            cost: run.filter(|run| !run.unpriced).map(|run| run.cost),
            turns: run.map_or(0, |run| run.turns),
            origin: run.and_then(|run| run.origin.clone()),
            ending,
        };
        let (usage, cost, origin) = (report.usage, report.cost, report.origin.clone());
        self.emit(AgentEvent::AgentEnd { ending: report.ending.recorded(), usage, cost, origin });
        self.report = Some(Box::new(report));
        if self.phase == Phase::End {
            self.go(Phase::Done);
        }
        // A journal that fails ends a run from anywhere.
        self.phase = Phase::Done;
    }
}
