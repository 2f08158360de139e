//! The resume fold's other half: what a crash, a drop or a pause left open is settled before anything new begins.

use agent_core::{AgentEvent, Billed, CallEnd, Message, RecordBody, Replay, RunEnding};

use super::{Begin, Machine, Phase, wave::Slot};
use crate::{state, texts};

impl Machine {
    /// Settles an open call, then the open turn, then begins.
    pub(super) fn start(&mut self) {
        self.emit(AgentEvent::AgentStart);
        if !self.state.begun {
            self.write(RecordBody::ConversationStarted { version: state::VERSION });
        }
        if let Some(start) = self.state.open_call.clone() {
            // Sent or not, nobody knows: the reservation counts as spent.
            let mut end = CallEnd::new(start.attempt);
            (end.cost, end.error, end.billed) = (start.reserved, Some(texts::INTERRUPTED.into()), Billed::Unknown);
            self.write(RecordBody::CallSettled(end));
        }
        if self.begin == Some(Begin::Resume) {
            // An answer that was acknowledged is looked at as if it had just come: what was decided about it then is
            // decided again, from the same records.
            self.begin = None;
            self.turn.number = self.state.run().map_or(0, |run| run.turns);
            self.turn.message = match self.state.transcript().messages().last().map(|message| &**message) {
                Some(Message::Assistant(answer)) => Some(answer.id),
                _ => None,
            };
            return self.go(Phase::BeginTurn);
        }
        if self.state.open_turn().is_some() {
            self.build_wave(|machine, slot| {
                if !slot.replay(machine) {
                    let answered = machine.state.approvals.contains_key(&slot.id);
                    let text = if answered { texts::NO_ANSWER } else { texts::SKIPPED };
                    machine.settle(slot, texts::error(text));
                }
            });
            return self.go(Phase::Heal);
        }
        self.begin_run();
        self.go(Phase::BeginTurn);
    }

    /// Ends the run before this one if it did not end, and begins this one.
    pub(super) fn begin_run(&mut self) {
        if let Some(old) = self.state.run().filter(|run| run.is_unfinished()) {
            let ended = RecordBody::RunEnded(RunEnding::Failed(texts::INTERRUPTED.into()));
            let mut record = agent_core::JournalRecord::new(old.id, ended);
            record.parent = old.parent;
            self.writes.push(record);
        }
        self.write(RecordBody::RunStarted);
    }

    /// After healing, in a run with a prompt.
    pub(super) fn healed(&mut self) {
        if self.interrupt.is_some() {
            self.go(Phase::End);
        } else {
            self.begin_run();
            self.go(Phase::BeginTurn);
        }
    }

    /// The calls of the open turn, in call order.
    pub(super) fn build_wave(&mut self, mut each: impl FnMut(&mut Self, &mut Slot)) {
        let open = self.state.open_turn();
        let calls: Vec<_> = open.into_iter().flat_map(|turn| turn.unanswered()).collect();
        let mut slots: Vec<_> = calls
            .into_iter()
            .map(|id| Slot::new(id, self.state.call(id).map(|call| call.name.clone()).unwrap_or_default()))
            .collect();
        slots.iter_mut().for_each(|slot| each(self, slot));
        self.wave.begin(slots);
    }
}

impl Slot {
    /// Takes an intent without a settle up again, as the tool's policy says. `false` where there is none.
    pub(super) fn replay(&mut self, machine: &mut Machine) -> bool {
        let Some(intent) = machine.state.intents.get(&self.id).cloned() else { return false };
        match intent.intent.effects.replay {
            Replay::Rerun | Replay::Resume => self.intend(*intent, Vec::new(), false),
            Replay::Verify => self.intend(*intent, Vec::new(), true),
            _ => machine.settle(self, texts::error(texts::UNKNOWN)),
        }
        true
    }
}
