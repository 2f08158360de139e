//! The scheduler: which calls run when, and what their ends come to.

use agent_core::{Access, RecordBody, ToolError, ToolIntent, ToolOutcome, ToolOutput};

use super::{
    Effect, HookPoint, Hooked, Machine, Phase, RunTool, Step, output,
    wave::{Running, Slot, Stage, Stopping},
};
use crate::{ApprovalMode, Concurrency, Ending, Queue, state::kind, texts};

impl Machine {
    /// Takes every call as far as it can go. Whether the phase has ended.
    pub(super) fn advance_wave(&mut self) -> bool {
        if self.steered() {
            self.each_slot(|machine, slot| {
                if slot.is_unstarted() {
                    machine.settle(slot, texts::error(texts::SKIPPED));
                }
            });
        }
        self.each_slot(Self::asked);
        let judging = self.wave.slots.iter().any(|slot| matches!(slot.stage, Stage::Judging(_)));
        if self.phase == Phase::Judge {
            if judging {
                return false;
            }
            self.go(Phase::Tools);
        }
        // A call that somebody is to be asked about keeps others from their place only when that is in the journal.
        let asking = |slot: &Slot| matches!(slot.stage, Stage::Asked { .. }) && !self.state.approvals.contains(slot.id);
        if !judging && !self.wave.slots.iter().any(asking) {
            self.intend();
        }
        self.run_intended();
        self.wave_over()
    }

    fn steered(&self) -> bool {
        self.phase != Phase::Heal && self.state.queued().iter().any(|one| one.queue == Queue::Steer)
    }

    /// Writes the intents of the calls that can begin now, in one record.
    fn intend(&mut self) {
        let chosen = self.choose();
        let mut intents = Vec::new();
        for at in chosen {
            self.with_slot(at, |_, slot| {
                if let Stage::Ready(ready) = std::mem::replace(&mut slot.stage, Stage::New) {
                    let mut intent = ToolIntent::new(ready.intent, ready.version);
                    intent.verdict = ready.verdict;
                    intents.push(intent.clone());
                    slot.intend(intent, ready.coercions, false);
                }
            });
        }
        if !intents.is_empty() {
            self.write(RecordBody::ToolIntents(intents));
        }
    }

    /// The calls that can begin beside those that run.
    fn choose(&self) -> Vec<usize> {
        let slots = &self.wave.slots;
        let busy = |slot: &Slot| matches!(slot.stage, Stage::Intended { .. } | Stage::Running(_) | Stage::After(_));
        let running = slots.iter().filter(|slot| busy(slot)).count();
        let unfinished = |slot: &Slot| !matches!(slot.stage, Stage::Over);
        let ready = slots.iter().enumerate().filter(|(_, slot)| matches!(slot.stage, Stage::Ready(_)));
        match self.setup.settings.concurrency {
            Concurrency::Sequential => {
                let first = slots.iter().position(unfinished);
                ready.map(|(at, _)| at).filter(|at| running == 0 && Some(*at) == first).collect()
            }
            Concurrency::Batched(size) => {
                let group = |at: usize| at / size.max(1);
                let first = slots.iter().position(unfinished).map(group);
                ready.map(|(at, _)| at).filter(|at| Some(group(*at)) == first).collect()
            }
            Concurrency::Effects { at_most } => {
                let mut keys: Vec<&str> = Vec::new();
                let mut chosen = Vec::new();
                let room = at_most.max(1).saturating_sub(running);
                for (at, slot) in slots.iter().enumerate().filter(|(_, slot)| unfinished(slot)) {
                    let key = self.key(slot);
                    let blocked = key.is_some_and(|key| keys.contains(&key));
                    if matches!(slot.stage, Stage::Ready(_)) && !blocked && chosen.len() < room {
                        chosen.push(at);
                    }
                    keys.extend(key);
                }
                chosen
            }
        }
    }

    /// What a call keeps others from.
    fn key<'a>(&'a self, slot: &'a Slot) -> Option<&'a str> {
        let effects = match &slot.stage {
            Stage::Ready(ready) => &ready.intent.effects,
            Stage::Intended { intent, .. } => &intent.intent.effects,
            Stage::Running(running) => &running.intent.intent.effects,
            _ => {
                let intent = self.state.intents.get(slot.id).map(|intent| &intent.intent);
                let asked = self.state.approvals.get(slot.id).map(|asked| &asked.intent);
                &intent.or(asked)?.effects
            }
        };
        match &effects.access {
            Access::Exclusive(key) => Some(key),
            _ => None,
        }
    }

    /// Starts the tools whose intents are acknowledged.
    fn run_intended(&mut self) {
        self.each_slot(|machine, slot| {
            if !matches!(slot.stage, Stage::Intended { .. }) || !machine.state.intents.contains(slot.id) {
                return;
            }
            if let Stage::Intended { intent, coercions, verify } = std::mem::replace(&mut slot.stage, Stage::New) {
                machine.tell_start(slot, intent.intent.arguments.clone(), coercions);
                machine.run_tool(slot, intent, verify);
            }
        });
    }

    fn run_tool(&mut self, slot: &mut Slot, intent: Box<ToolIntent>, verify: bool) {
        let given = intent.intent.effects.timeout_ms.unwrap_or(self.setup.settings.tool_ms);
        let deadline = (given > 0).then(|| (self.now_ms.saturating_add(given), given));
        let deadline_ms = [deadline.map(|(at, _)| at), self.wall_ms].into_iter().flatten().min();
        let run = RunTool { intent: (*intent).clone(), verify, deadline_ms };
        let effect = self.start_effect(Effect::Tool(Box::new(run)));
        slot.stage = Stage::Running(Running { effect, intent, deadline, stopping: None });
    }

    pub(super) fn did_not_run(&mut self, slot: &mut Slot) {
        if let Stage::Running(Running { intent, .. }) = std::mem::replace(&mut slot.stage, Stage::New) {
            self.run_tool(slot, intent, false);
        }
    }

    pub(super) fn tool_ended(&mut self, slot: &mut Slot, outcome: ToolOutcome) {
        let Stage::Running(running) = std::mem::replace(&mut slot.stage, Stage::New) else { return };
        let output = match (outcome, running.stopping) {
            (ToolOutcome::Suspended(_), None) if self.phase == Phase::Heal => texts::error(texts::NO_ANSWER),
            (ToolOutcome::Suspended(suspended), None) => {
                slot.stage = Stage::Suspended(suspended);
                return;
            }
            (ToolOutcome::Output(output), None) => output,
            (ToolOutcome::Error(error), None) => ToolOutput::from(&error),
            (outcome, Some((why, _))) => stopped(outcome, why),
            _ => ToolOutput::from(&ToolError::failed("it ended in a way that this version does not know")),
        };
        let call = self.state.call(slot.id).cloned().filter(|_| self.setup.hooks);
        if let Some(call) = call {
            let facts = self.facts();
            let point = HookPoint::AfterTool(slot.id, Box::new(call), output);
            let effect = self.start_effect(Effect::Hook(Box::new(facts), point));
            slot.stage = Stage::After(effect);
        } else {
            self.settle_cut(slot, output);
        }
    }

    pub(super) fn output_judged(&mut self, slot: &mut Slot, hooked: Hooked) {
        slot.stage = Stage::New;
        match hooked {
            Hooked::Output(output) => self.settle_cut(slot, output),
            _ => self.settle(slot, texts::error(texts::WITHHELD)),
        }
    }

    /// Settles with what the model is shown of an output; the event carries the whole.
    pub(super) fn settle_cut(&mut self, slot: &mut Slot, output: ToolOutput) {
        let effects = self.state.intents.get(slot.id).map(|intent| &intent.intent.effects);
        let cap = effects.and_then(|effects| effects.output_cap).unwrap_or(self.setup.settings.output_cap);
        let shown = output::cut(output.clone(), cap);
        self.settle_showing(slot, output, shown);
    }

    /// Whether the phase has ended.
    fn wave_over(&mut self) -> bool {
        if self.wave.is_over() {
            return self.writes.is_idle() && self.leave_wave();
        }
        // Everything that can run has run; the rest waits for somebody, as data.
        let can_pause = |slot: &Slot| match &slot.stage {
            Stage::Asked { .. } => self.setup.settings.approvals == ApprovalMode::Pause,
            Stage::Suspended(_) => true,
            Stage::Over => true,
            // Behind one that waits, in its order.
            Stage::Ready(_) => true,
            _ => false,
        };
        if !self.writes.is_idle() || !self.wave.slots.iter().all(can_pause) || !self.choose().is_empty() {
            return false;
        }
        if self.phase == Phase::Heal {
            return false;
        }
        let approvals: Vec<_> = self.state.pending_approvals().cloned().collect();
        let suspended = self.wave.slots.iter().filter_map(|slot| match &slot.stage {
            Stage::Suspended(suspended) => Some((slot.id, suspended.clone())),
            _ => None,
        });
        let suspended = suspended.collect();
        self.ending.get_or_insert(Ending::Paused { approvals, suspended });
        self.go(Phase::Paused);
        true
    }

    fn leave_wave(&mut self) -> bool {
        if self.phase == Phase::Heal {
            self.healed();
            return true;
        }
        if let Some(call) = self.wave.nudge.take().filter(|_| self.interrupt.is_none()) {
            let mut note = self.note(kind::LOOP, texts::LOOP_NOTE);
            note.data = agent_core::RawJson::of(&call).ok();
            self.write(RecordBody::MessageAppended(note.into()));
        }
        self.go(Phase::CloseTurn);
        true
    }

    /// Tells a tool to end, and remembers until when.
    pub(super) fn stop_tool(&mut self, slot: &mut Slot, why: Stopping) {
        let until = self.now_ms.saturating_add(self.setup.settings.grace_ms);
        if let Stage::Running(running) = &mut slot.stage
            && running.stopping.is_none()
        {
            running.stopping = Some((why, until));
            self.steps.push_back(Step::Cancel(running.effect));
        }
    }

    /// Looks at the clocks of one call.
    pub(super) fn look_at_slot(&mut self, slot: &mut Slot) {
        let Stage::Running(Running { effect, deadline, stopping, .. }) = &slot.stage else { return };
        match (*stopping, *deadline) {
            (Some((_, until)), _) if until <= self.now_ms => {
                self.steps.push_back(Step::Abort(*effect));
                slot.stage = Stage::New;
                self.settle(slot, texts::error(texts::abandoned(self.setup.settings.grace_ms)));
            }
            (None, Some((at, given))) if at <= self.now_ms => self.stop_tool(slot, Stopping::TimedOut(given)),
            _ => {}
        }
    }
}

/// What a tool came to that was told to end: what it had to say stays.
fn stopped(outcome: ToolOutcome, why: Stopping) -> ToolOutput {
    let mut output = match outcome {
        ToolOutcome::Output(output) => output,
        ToolOutcome::Error(error) if !matches!(error, ToolError::Cancelled) => ToolOutput::from(&error),
        _ => ToolOutput::default(),
    };
    output.content.push(agent_core::ContentBlock::text(why.text()));
    output.as_error()
}
