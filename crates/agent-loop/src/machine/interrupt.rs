//! Cancel and the wall clock: they end whatever the run is doing, and leave a valid history.

use agent_core::{AgentEvent, RecordBody};

use super::{
    Command, Machine, Phase, Step,
    wave::{Running, Stage, Stopping},
};
use crate::{Ending, Limit, Limits, StopCause, state::kind, texts};

/// Why a run was interrupted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Why {
    Cancelled,
    WallClock,
}

/// An interruption, and how far it was carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Interrupt {
    why: Why,
    /// The phase at which it was carried out last.
    done: Option<Phase>,
    /// It met running tools.
    met_tools: bool,
    /// The note for the next prompt's model is written.
    noted: bool,
}

impl Interrupt {
    pub(super) fn ending(self, limits: &Limits) -> Option<Ending> {
        Some(match self.why {
            Why::Cancelled => Ending::Cancelled,
            Why::WallClock => Ending::Stopped(StopCause::Limit(Limit::WallClock(limits.wall_ms?))),
        })
    }
}

impl Machine {
    pub(super) fn command(&mut self, command: Command) {
        match command {
            Command::Put(queue, message) => {
                if self.phase != Phase::Done {
                    let message = self.fresh(*message);
                    let (name, id) = (queue.as_str(), message.id());
                    self.write(RecordBody::QueuePut { queue: name.into(), message });
                    self.emit(AgentEvent::Queued { queue: name, message: id });
                }
            }
            Command::Withdraw(message) => {
                // One that is on its way out of the queue is not taken back any more.
                let taken =
                    |body: &RecordBody| matches!(body, RecordBody::QueueTaken { message: id } if *id == message);
                let leaves = self.phase == Phase::Input || self.writes.on_the_way().any(taken);
                if self.state.queued().iter().any(|one| one.id() == message) && !leaves {
                    self.write(RecordBody::QueueTaken { message });
                    self.emit(AgentEvent::Dequeued { message });
                }
            }
            Command::Answer(call, answer) => self.approval_given(call, answer),
            Command::Cancel => self.interrupt_with(Why::Cancelled),
        }
    }

    fn interrupt_with(&mut self, why: Why) {
        // What has ended cannot be interrupted any more.
        if self.interrupt.is_none() && !matches!(self.phase, Phase::End | Phase::Done) {
            self.interrupt = Some(Interrupt { why, done: None, met_tools: false, noted: false });
        }
    }

    /// A provider that says by itself that it was cancelled.
    pub(super) fn interrupted_by_provider(&mut self) {
        self.interrupt.get_or_insert(Interrupt { why: Why::Cancelled, done: None, met_tools: false, noted: false });
    }

    /// Carries an interruption out where the run is, once for each phase. Whether the phase changed.
    pub(super) fn interrupt_phase(&mut self) -> bool {
        let phase = self.phase;
        let Some(interrupt) = self.interrupt.as_mut().filter(|interrupt| interrupt.done != Some(phase)) else {
            return false;
        };
        interrupt.done = Some(phase);
        match phase {
            Phase::Call if self.waiting.is_some() => {
                // What had arrived comes back at once.
                self.steps.extend(self.waiting.map(Step::Abort));
                false
            }
            Phase::Call => {
                // The journal has a call that was not sent: it was free.
                if self.writes.is_idle() {
                    self.unsent();
                    return true;
                }
                if let Some(interrupt) = &mut self.interrupt {
                    interrupt.done = None;
                }
                false
            }
            Phase::Heal | Phase::Judge | Phase::Tools => {
                self.interrupt_wave();
                false
            }
            Phase::Start | Phase::Settle | Phase::Answered | Phase::CloseTurn | Phase::Paused => false,
            Phase::End | Phase::Done => false,
            Phase::BeginTurn => false,
            Phase::OnStop => {
                self.steps.extend(self.waiting.take().map(Step::Abort));
                self.go(Phase::End);
                true
            }
            _ => {
                self.steps.extend(self.waiting.take().map(Step::Abort));
                self.release();
                self.go(Phase::CloseTurn);
                true
            }
        }
    }

    /// Gives back what was reserved for a call that is not sent.
    fn release(&mut self) {
        self.take_purpose();
        self.turn.after = None;
        if let Some(reserved) = self.turn.reserved.take() {
            self.steps.push_back(Step::Settle(reserved, Some(agent_core::Money::ZERO)));
        }
    }

    fn unsent(&mut self) {
        let Some(attempt) = self.turn.attempt else { return };
        let mut end = agent_core::CallEnd::new(attempt);
        (end.billed, end.cost) = (agent_core::Billed::No, Some(agent_core::Money::ZERO));
        end.error = Some("cancelled before it was sent".into());
        self.turn.cost = end.cost;
        self.take_purpose();
        self.write(RecordBody::CallSettled(end));
        self.turn.after = Some(super::call::AfterSettle::Interrupted);
        self.go(Phase::Settle);
    }

    fn interrupt_wave(&mut self) {
        let ran = |slot: &super::wave::Slot| {
            matches!(slot.stage, Stage::Running(_) | Stage::Intended { .. } | Stage::After(_) | Stage::Over)
        };
        let met_tools = self.wave.slots.iter().any(ran) && self.phase != Phase::Heal;
        if let Some(interrupt) = self.interrupt.as_mut().filter(|_| met_tools) {
            interrupt.met_tools = true;
        }
        let why = self.wall_limit().map_or(Stopping::Cancelled, Stopping::Limited);
        self.each_slot(|machine, slot| match &slot.stage {
            Stage::Running(Running { .. }) => machine.stop_tool(slot, why),
            // It waits elsewhere, and is not undone by this.
            Stage::Suspended(_) => machine.settle(slot, texts::error(why.text())),
            Stage::Over => {}
            Stage::After(_) => machine.settle(slot, texts::error(texts::WITHHELD)),
            // Written or not, it has not begun.
            _ => machine.settle(slot, texts::error(machine.not_run())),
        });
    }

    /// The limit, where the run was interrupted by its clock.
    fn wall_limit(&self) -> Option<Limit> {
        let by_clock = self.interrupt.is_some_and(|interrupt| interrupt.why == Why::WallClock);
        self.setup.settings.limits.wall_ms.filter(|_| by_clock).map(Limit::WallClock)
    }

    /// What is said of a call that an interruption kept from running: the model is not told of a user who did nothing.
    pub(super) fn not_run(&self) -> String {
        self.wall_limit().map_or_else(|| texts::NOT_RUN_CANCELLED.to_owned(), texts::limited)
    }

    /// The note that tells the next prompt's model what happened to the tools.
    /// Whether it was written just now.
    pub(super) fn interrupt_note(&mut self) -> bool {
        let Some(interrupt) = self.interrupt.as_mut().filter(|interrupt| !interrupt.noted) else { return false };
        interrupt.noted = true;
        match (interrupt.why, interrupt.met_tools, self.setup.settings.limits.wall_ms) {
            (Why::Cancelled, true, _) => self.write_note(kind::CANCELLED, texts::CANCEL_NOTE),
            (Why::WallClock, _, Some(ms)) => {
                self.write_note(kind::LIMIT, texts::limit_note(Limit::WallClock(ms)));
            }
            _ => return false,
        }
        true
    }

    /// The next time at which something is due.
    pub(super) fn next_deadline(&self) -> Option<u64> {
        if self.phase == Phase::Done {
            return None;
        }
        let wall = self.wall_ms.filter(|_| self.interrupt.is_none());
        let slots = self.wave.slots.iter().filter_map(|slot| match &slot.stage {
            Stage::Running(Running { stopping: Some((_, until)), .. }) => Some(*until),
            Stage::Running(running) => running.deadline.map(|(at, _)| at),
            Stage::Asked { effect: Some(_), expiring: false, .. } => self.expiry(slot.id),
            _ => None,
        });
        slots.chain(wall).min()
    }

    fn expiry(&self, call: agent_core::CallId) -> Option<u64> {
        let asked = self.state.approvals.get(call).filter(|asked| asked.answer.is_none() && !asked.expired);
        asked.and_then(|asked| asked.intent.expires_ms)
    }

    pub(super) fn look_at_time(&mut self) {
        if self.wall_ms.is_some_and(|at| at <= self.now_ms) {
            self.interrupt_with(Why::WallClock);
        }
        if self.wave.slots.is_empty() {
            return;
        }
        self.each_slot(|machine, slot| {
            machine.look_at_slot(slot);
        });
    }

    /// Drops everything that runs.
    pub(super) fn abort_all(&mut self) {
        self.steps.extend(self.waiting.take().map(Step::Abort));
        let effects: Vec<_> = self.wave.slots.iter().filter_map(super::wave::Slot::effect).collect();
        self.steps.extend(effects.into_iter().map(Step::Abort));
        self.wave = super::wave::Wave::default();
    }
}
