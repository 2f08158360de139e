//! The calls of one answer, and how far each is.

use agent_core::{
    AgentEvent, Arguments, CallId, CallIntent, Coercion, RecordBody, Suspended, ToolIntent, ToolOutput, Verdict,
};

use super::{EffectId, Machine};
use crate::{Limit, texts};

/// The calls of one answer, in call order.
#[derive(Debug, Default)]
pub(super) struct Wave {
    pub(super) slots: Vec<Slot>,
    /// What the model is told behind the results: that it goes round in circles.
    pub(super) nudge: Option<agent_core::ChainHash>,
}

/// One call.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) id: CallId,
    pub(super) name: String,
    pub(super) stage: Stage,
    /// A start was told, and the end was not.
    started: bool,
}

#[derive(Debug)]
pub(super) enum Stage {
    /// Nothing was decided yet.
    New,
    /// It is being judged.
    Judging(EffectId),
    /// Somebody is asked; `None` before the record is acknowledged, or where only a command can answer.
    Asked {
        effect: Option<EffectId>,
        told: bool,
        expiring: bool,
    },
    /// It can begin when the scheduler lets it.
    Ready(Box<Ready>),
    /// Its intent is on its way into the journal.
    Intended {
        intent: Box<ToolIntent>,
        coercions: Vec<Coercion>,
        verify: bool,
    },
    Running(Running),
    /// The hooks look at its output.
    After(EffectId),
    /// It waits for something outside.
    Suspended(Suspended),
    /// Its output is in the journal, or on its way there.
    Over,
}

#[derive(Debug)]
pub(super) struct Ready {
    pub(super) intent: CallIntent,
    pub(super) version: String,
    pub(super) verdict: Verdict,
    pub(super) coercions: Vec<Coercion>,
}

/// A tool that runs.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) effect: EffectId,
    pub(super) intent: Box<ToolIntent>,
    /// When it has to be over, and how long it was given.
    pub(super) deadline: Option<(u64, u64)>,
    /// It was told to end, for this reason; at this time it is abandoned.
    pub(super) stopping: Option<(Stopping, u64)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stopping {
    Cancelled,
    /// The run reached a limit.
    Limited(Limit),
    TimedOut(u64),
}

impl Stopping {
    /// What the model is told.
    pub(super) fn text(self) -> String {
        match self {
            Self::Cancelled => texts::CANCELLED.to_owned(),
            Self::Limited(limit) => texts::unfinished(limit),
            Self::TimedOut(ms) => texts::timed_out(ms),
        }
    }
}

impl Slot {
    pub(super) fn new(id: CallId, name: String) -> Self {
        Self { id, name, stage: Stage::New, started: false }
    }

    /// The effect that runs for this call.
    pub(super) fn effect(&self) -> Option<EffectId> {
        match &self.stage {
            Stage::Judging(effect) | Stage::After(effect) => Some(*effect),
            Stage::Running(running) => Some(running.effect),
            Stage::Asked { effect, .. } => *effect,
            _ => None,
        }
    }

    /// Whether it could still be left alone: no intent is written.
    pub(super) fn is_unstarted(&self) -> bool {
        matches!(self.stage, Stage::New | Stage::Judging(_) | Stage::Asked { .. } | Stage::Ready(_))
    }

    pub(super) fn intend(&mut self, intent: ToolIntent, coercions: Vec<Coercion>, verify: bool) {
        self.stage = Stage::Intended { intent: Box::new(intent), coercions, verify };
    }
}

impl Wave {
    pub(super) fn begin(&mut self, slots: Vec<Slot>) {
        *self = Self { slots, nudge: None };
    }

    pub(super) fn is_over(&self) -> bool {
        self.slots.iter().all(|slot| matches!(slot.stage, Stage::Over))
    }

    pub(super) fn of_effect(&mut self, effect: EffectId) -> Option<&mut Slot> {
        self.slots.iter_mut().find(|slot| slot.effect() == Some(effect))
    }

    pub(super) fn of_call(&mut self, call: CallId) -> Option<&mut Slot> {
        self.slots.iter_mut().find(|slot| slot.id == call)
    }

    pub(super) fn position(&self, effect: EffectId) -> Option<usize> {
        self.slots.iter().position(|slot| slot.effect() == Some(effect))
    }
}

impl Machine {
    /// Tells of the start of a call, once.
    pub(super) fn tell_start(&mut self, slot: &mut Slot, arguments: agent_core::RawJson, coercions: Vec<Coercion>) {
        if !std::mem::replace(&mut slot.started, true) {
            let (call, name) = (slot.id, slot.name.clone());
            self.emit(AgentEvent::ToolStart { call, name, arguments, coercions });
        }
    }

    /// Answers a call: events, and the record.
    pub(super) fn settle(&mut self, slot: &mut Slot, output: ToolOutput) {
        self.settle_showing(slot, output.clone(), output);
    }

    /// The same, where the model is shown less than there is.
    pub(super) fn settle_showing(&mut self, slot: &mut Slot, whole: ToolOutput, output: ToolOutput) {
        if matches!(slot.stage, Stage::Over) {
            return;
        }
        if let Some(effect) = slot.effect().filter(|_| !matches!(slot.stage, Stage::Running(_))) {
            self.steps.push_back(super::Step::Abort(effect));
        }
        slot.stage = Stage::Over;
        let arguments = self.state.call(slot.id).and_then(|call| call.arguments.as_object().cloned());
        let arguments = arguments.or_else(|| Arguments::empty().as_object().cloned());
        if let Some(arguments) = arguments {
            self.tell_start(slot, arguments, Vec::new());
        }
        self.emit(AgentEvent::ToolEnd { call: slot.id, output: whole });
        let (call, message) = (slot.id, self.new_message());
        self.write(RecordBody::ToolSettled { call, message, output });
    }

    /// Works on one slot with the rest of the machine at hand.
    pub(super) fn with_slot(&mut self, at: usize, work: impl FnOnce(&mut Self, &mut Slot)) {
        let mut slots = std::mem::take(&mut self.wave.slots);
        if let Some(slot) = slots.get_mut(at) {
            work(self, slot);
        }
        self.wave.slots = slots;
    }

    /// Works on every slot in call order.
    pub(super) fn each_slot(&mut self, mut work: impl FnMut(&mut Self, &mut Slot)) {
        let mut slots = std::mem::take(&mut self.wave.slots);
        slots.iter_mut().for_each(|slot| work(self, slot));
        self.wave.slots = slots;
    }
}
