//! An answer is looked at, and its calls are judged before any of them runs.

use agent_core::{
    AgentEvent, Approval, ApprovalAnswer, CallId, CallIntent, Message, RawJson, RecordBody, StopReason, Verdict,
};

use super::{
    Effect, EffectId, Input, JudgeCall, Judgement, Machine, Phase, detect,
    wave::{Ready, Slot, Stage},
};
use crate::{
    ApprovalMode, Ending, StopCause,
    state::{is_empty_answer, kind},
    texts,
};

impl Machine {
    pub(super) fn answered(&mut self) {
        if self.interrupt.is_some() {
            return self.go(Phase::CloseTurn);
        }
        let last = self.state.transcript().messages().last().cloned();
        // An answer without any content is not in the history.
        let answer = match last.as_deref() {
            Some(Message::Assistant(answer)) if Some(answer.id) == self.turn.message => Some(answer),
            _ => None,
        };
        let has_calls = self.state.open_turn().is_some();
        // Some vendors refuse without a word.
        let said = self.turn.stop_reason.as_ref().filter(|_| answer.is_none());
        match answer.map(|answer| &answer.stop_reason).or(said) {
            Some(StopReason::Refusal) => self.ends(Ending::Refused),
            Some(StopReason::Error) => self.ends(Ending::Failed(failed(answer))),
            Some(StopReason::Cancelled) => self.ends(Ending::Cancelled),
            _ if has_calls => return self.check_calls(),
            Some(StopReason::MaxTokens | StopReason::ContextWindow) => self.ends(Ending::Truncated),
            // The vendor paused a long answer: it is sent again as it is.
            Some(StopReason::Paused) if answer.is_some() => {}
            _ if answer.is_none_or(is_empty_answer) => self.empty_answer(),
            _ => self.turn.natural = true,
        }
        self.go(Phase::CloseTurn);
    }

    fn ends(&mut self, ending: Ending) {
        self.ending.get_or_insert(ending);
    }

    /// Asks again, as often as the settings say.
    fn empty_answer(&mut self) {
        let asked = self.state.run().map_or(0, |run| run.empty_nudges);
        if asked < self.setup.settings.empty_nudges {
            self.write_note(kind::EMPTY, texts::EMPTY_NOTE);
        } else {
            self.stop(StopCause::EmptyAnswer);
        }
    }

    /// Limits and loops are looked at before any call runs.
    fn check_calls(&mut self) {
        if self.tokens_left() == Some(0)
            && let Some(tokens) = self.setup.settings.limits.tokens
        {
            let limit = crate::Limit::Tokens(tokens);
            self.answer_calls(&texts::limited(limit));
            self.stop(StopCause::Limit(limit));
            return self.go(Phase::CloseTurn);
        }
        // All of them, answered or not: a run that is resumed finds what it found before.
        let answer = self.state.open_turn().and_then(|turn| turn.assistant());
        let calls: Vec<_> = answer.into_iter().flat_map(|answer| answer.tool_calls()).map(|(id, _)| id).collect();
        let verdict = match (self.setup.settings.limits.loops, self.state.run()) {
            (Some(settings), Some(run)) => detect::judge(&run.recent, calls.len(), &run.told, settings),
            _ => detect::Verdict::Fine,
        };
        let named = |at: usize| calls.get(at).and_then(|call| self.state.call(*call)).map(|call| call.name.clone());
        match verdict {
            detect::Verdict::Stop { at, repetitions } => {
                let tool = named(at).unwrap_or_default();
                self.emit(AgentEvent::LoopDetected { tool: tool.clone(), repetitions, stopped: true });
                self.answer_calls(texts::LOOPED);
                self.stop(StopCause::Loop(tool));
                self.go(Phase::CloseTurn);
            }
            detect::Verdict::Tell { call, at, repetitions } => {
                let tool = named(at).unwrap_or_default();
                self.emit(AgentEvent::LoopDetected { tool, repetitions, stopped: false });
                self.go(Phase::Judge);
                self.judge();
                self.wave.nudge = Some(call);
            }
            detect::Verdict::Fine => {
                self.go(Phase::Judge);
                self.judge();
            }
        }
    }

    /// Answers every call of the open turn that has no answer.
    pub(super) fn answer_calls(&mut self, text: &str) {
        self.build_wave(|machine, slot| {
            let begun = machine.state.intents.contains_key(&slot.id);
            machine.settle(slot, texts::error(if begun { texts::UNKNOWN } else { text }));
        });
    }

    /// Begins to judge the calls of the open turn, and takes up again what was left of it.
    pub(super) fn judge(&mut self) {
        self.build_wave(|machine, slot| {
            if slot.replay(machine) {
                return;
            }
            if let Some(asked) = machine.state.approvals.get(&slot.id) {
                let told = asked.answer.is_some() || asked.expired;
                slot.stage = Stage::Asked { effect: None, told, expiring: false };
                return;
            }
            let Some(call) = machine.state.call(slot.id).cloned() else { return };
            match (call.arguments.as_object().cloned(), call.arguments.fault()) {
                (Some(arguments), _) => {
                    let effect = machine.judge_call(slot.id, arguments, true);
                    slot.stage = Stage::Judging(effect);
                }
                (None, fault) => {
                    let text = fault.map(texts::fault).unwrap_or_default();
                    machine.settle(slot, texts::error(text));
                }
            }
        });
    }

    fn judge_call(&mut self, call: CallId, arguments: RawJson, fresh: bool) -> EffectId {
        let facts = self.facts();
        let tool = self.state.call(call).cloned();
        let tool = tool.unwrap_or_else(|| agent_core::ToolCall::new("", agent_core::Arguments::empty()));
        self.start_effect(Effect::Judge(Box::new(JudgeCall { call, tool, arguments, fresh, facts })))
    }

    pub(super) fn wave_input(&mut self, id: EffectId, input: Input) {
        let Some(at) = self.wave.position(id) else { return };
        match input {
            Input::Judged(judgement) => self.with_slot(at, |machine, slot| machine.judged(slot, *judgement)),
            Input::Answered(answer) => {
                let call = self.wave.of_effect(id).map(|slot| slot.id);
                if let Some(call) = call {
                    self.approval_given(call, answer);
                }
            }
            Input::ToolEnded(outcome) => self.with_slot(at, |machine, slot| machine.tool_ended(slot, outcome)),
            Input::DidNotRun => self.with_slot(at, |machine, slot| machine.did_not_run(slot)),
            Input::Hooked(hooked) => self.with_slot(at, |machine, slot| machine.output_judged(slot, hooked)),
            _ => {}
        }
    }

    fn judged(&mut self, slot: &mut Slot, judgement: Judgement) {
        let (arguments, coercions, effects, version, modified, ask) = match judgement {
            Judgement::Run { arguments, coercions, effects, version, modified, ask } => {
                (arguments, coercions, effects, version, modified, ask)
            }
            Judgement::Refuse(output) => {
                slot.stage = Stage::New;
                return self.settle(slot, output);
            }
        };
        let approved = self.state.approvals.contains_key(&slot.id);
        let needs = effects.approval == Approval::Needed;
        let mut intent = CallIntent::new(slot.id, &slot.name, arguments, effects);
        if !approved && (ask.is_some() || needs) {
            intent.reason = ask.or_else(|| Some(format!("`{}` needs somebody's agreement", slot.name)));
            let valid = self.setup.settings.approval_ms;
            intent.expires_ms = valid.map(|ms| self.now_ms.saturating_add(ms));
            slot.stage = Stage::Asked { effect: None, told: false, expiring: false };
            return self.write(RecordBody::ApprovalAsked(intent));
        }
        let verdict = match (approved, modified) {
            (true, _) => Verdict::Approved,
            (false, true) => Verdict::Modified,
            (false, false) => Verdict::Allowed,
        };
        slot.stage = Stage::Ready(Box::new(Ready { intent, version, verdict, coercions }));
    }

    pub(super) fn approval_given(&mut self, call: CallId, answer: ApprovalAnswer) {
        let waits = self.wave.of_call(call).is_some_and(|slot| matches!(slot.stage, Stage::Asked { .. }));
        let open = self.state.approvals.get(&call).is_some_and(|asked| asked.is_open(self.now_ms));
        if waits && open {
            self.write(RecordBody::ApprovalGiven { call, answer });
        }
    }

    /// Goes on with a call that somebody is asked about.
    pub(super) fn asked(&mut self, slot: &mut Slot) {
        let Some(asked) = self.state.approvals.get(&slot.id).cloned() else { return };
        let Stage::Asked { effect, .. } = slot.stage else { return };
        let arguments = match asked.answer {
            Some(ApprovalAnswer::Allow) => asked.intent.arguments,
            Some(ApprovalAnswer::AllowWith(arguments)) => arguments,
            Some(ApprovalAnswer::Deny(reason)) => return self.settle(slot, texts::error(texts::denied(&reason))),
            _ if asked.expired => return self.settle(slot, texts::error(texts::EXPIRED)),
            _ => return self.ask(slot, asked.intent),
        };
        if let Some(effect) = effect {
            self.steps.push_back(super::Step::Abort(effect));
        }
        let effect = self.judge_call(slot.id, arguments, false);
        slot.stage = Stage::Judging(effect);
    }

    /// Tells that somebody is asked, once, and looks whether the time for an answer is over.
    fn ask(&mut self, slot: &mut Slot, intent: CallIntent) {
        let Stage::Asked { mut effect, told, mut expiring } = slot.stage else { return };
        if !told {
            let (call, reason) = (slot.id, intent.reason.clone().unwrap_or_default());
            if let Some(tool) = self.state.call(slot.id).cloned() {
                self.emit(AgentEvent::ApprovalAsked { call, tool, reason });
            }
        }
        if intent.expires_ms.is_some_and(|at| at <= self.now_ms) {
            if !std::mem::replace(&mut expiring, true) {
                self.write(RecordBody::ApprovalExpired { call: slot.id });
            }
        } else if !told && self.setup.settings.approvals == ApprovalMode::Wait {
            effect = Some(self.start_effect(Effect::Approval(Box::new(intent))));
        }
        slot.stage = Stage::Asked { effect, told: true, expiring };
    }
}

/// The error of an answer that was cut off, when its run is resumed.
fn failed(answer: Option<&agent_core::AssistantMessage>) -> crate::RunError {
    let text = answer.and_then(|answer| answer.error.clone()).unwrap_or_default();
    crate::RunError::Provider(agent_core::ProviderError::new(agent_core::ProviderErrorKind::Other, text))
}
