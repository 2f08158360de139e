//! The beginning of a turn: input, limits, hooks, context.

use std::{collections::VecDeque, mem, sync::Arc};

use agent_core::{
    AgentEvent, AttemptId, CallOptions, ContentBlock, Message, MessageId, ModelCall, Money, RecordBody, StopReason,
    TurnVerdict, Usage,
};

use super::{Begin, EffectId, HookPoint, Hooked, Machine, Phase, PreparedFacts, call::AfterSettle};
use crate::{Limit, Queue, QueueMode, StopCause, TokenCount, state::kind};

/// What a turn has come to so far; forgotten with it.
#[derive(Debug, Default)]
pub(super) struct Turn {
    pub(super) number: u64,
    /// A start was told, and no end yet.
    pub(super) open: bool,
    /// Input that enters the history first.
    pub(super) inputs: VecDeque<Arriving>,
    /// The message whose start was told when its first content arrived.
    pub(super) streamed: Option<MessageId>,
    pub(super) stop_reason: Option<StopReason>,
    pub(super) usage: Usage,
    /// The model ended its answer by itself and called nothing.
    pub(super) natural: bool,

    pub(super) purpose: Purpose,
    pub(super) options: Option<Arc<CallOptions>>,
    pub(super) note: Option<String>,
    pub(super) model: usize,
    pub(super) max_output: Option<u64>,
    pub(super) tokens: u64,
    /// The vendor has said that it does not fit.
    pub(super) overflowed: bool,
    /// Until the answer is there.
    pub(super) prepared: Option<Box<PreparedFacts>>,
    pub(super) reserved: Option<EffectId>,
    pub(super) attempt: Option<AttemptId>,
    /// What the last attempt counts for.
    pub(super) cost: Option<Money>,
    pub(super) attempts: u32,
    pub(super) message: Option<MessageId>,
    pub(super) after: Option<AfterSettle>,
    /// The ending is on its way into the journal.
    pub(super) ended: bool,
}

/// Whether somebody may say this: the loop alone writes answers and results.
fn acceptable(message: &Message) -> Result<(), &'static str> {
    match message {
        Message::User(_) | Message::Note(_) => {
            let has_call = message.content().iter().any(|block| matches!(block, ContentBlock::ToolCall(_)));
            if has_call { Err("input holds a tool call, which only a model makes") } else { Ok(()) }
        }
        _ => Err("input has to be a user message or a note; load a history with `Conversation::from_messages`"),
    }
}

/// Input on its way into the history.
#[derive(Debug)]
pub(super) struct Arriving {
    message: Message,
    queued: bool,
}

/// What a model call is for.
#[derive(Debug, Default)]
pub(super) enum Purpose {
    /// The turn's answer.
    #[default]
    Answer,
    /// A summary of a span of the history.
    Summary { call: Box<ModelCall>, first: MessageId, last: MessageId },
}

impl Machine {
    pub(super) fn begin_turn(&mut self) {
        let Turn { mut number, natural, message: resumed, .. } = self.turn;
        if resumed.is_some() {
            number = number.saturating_sub(1);
        }
        self.turn = Turn { number, open: true, ..Turn::default() };
        self.emit(AgentEvent::TurnStart { turn: number });
        if resumed.is_some() {
            self.turn.message = resumed;
            self.turn.stop_reason = self.state.run().and_then(|run| run.stop_reason.clone());
            return self.go(Phase::Answered);
        }
        if let Some(Begin::Prompt(messages)) = self.begin.take() {
            self.turn.inputs.extend(messages.into_iter().map(|message| Arriving { message, queued: false }));
        }
        self.take_queue(Queue::Steer, self.setup.settings.steer);
        if self.turn.inputs.is_empty() && natural {
            self.take_queue(Queue::FollowUp, self.setup.settings.follow_up);
        }
        self.go(Phase::Input);
    }

    fn take_queue(&mut self, queue: Queue, mode: QueueMode) {
        let waiting = self.state.queued().iter().filter(|one| one.queue == queue);
        let most = if mode == QueueMode::One { 1 } else { usize::MAX };
        let taken: Vec<_> = waiting.take(most).map(|one| one.message.clone()).collect();
        self.turn.inputs.extend(taken.into_iter().map(|message| Arriving { message, queued: true }));
    }

    pub(super) fn next_input(&mut self) {
        // Taken back or edited while the ones before it were looked at.
        while let Some(arriving) = self.turn.inputs.front_mut().filter(|one| one.queued) {
            match self.state.queue.iter().find(|one| one.message.id() == arriving.message.id()) {
                Some(now) => {
                    arriving.message = now.message.clone();
                    break;
                }
                None => drop(self.turn.inputs.pop_front()),
            }
        }
        match self.turn.inputs.front() {
            None => {
                // Their room goes with them: a run may wait for days.
                self.turn.inputs = VecDeque::new();
                self.go(if self.ending.is_some() { Phase::CloseTurn } else { Phase::Limits });
            }
            Some(next) if self.setup.hooks => {
                let message = Arc::new(next.message.clone());
                self.hook(HookPoint::Input(message));
            }
            Some(_) => self.take_input(None, Vec::new()),
        }
    }

    pub(super) fn input_judged(&mut self, hooked: Hooked) {
        match hooked {
            Hooked::Input(message, warnings) => self.take_input(Some(message), warnings),
            Hooked::Rejected(reason) => {
                self.emit(AgentEvent::InputRejected { reason: reason.clone() });
                match self.turn.inputs.pop_front() {
                    Some(one) if one.queued => self.dequeue(one.message.id()),
                    // Of several prompts none is taken: together they are one question.
                    _ => {
                        self.turn.inputs.clear();
                        self.stop(StopCause::Rejected(reason));
                    }
                }
            }
            _ => {}
        }
    }

    fn take_input(&mut self, rewritten: Option<Arc<Message>>, warnings: Vec<String>) {
        let Some(Arriving { message, queued }) = self.turn.inputs.pop_front() else { return };
        if queued {
            self.dequeue(message.id());
        }
        let message = rewritten.map_or(message, |new| Arc::try_unwrap(new).unwrap_or_else(|shared| (*shared).clone()));
        if let Err(reason) = acceptable(&message) {
            self.emit(AgentEvent::InputRejected { reason: reason.to_owned() });
            if !queued {
                self.turn.inputs.clear();
                self.stop(StopCause::Rejected(reason.to_owned()));
            }
            return;
        }
        let message = self.fresh(message);
        self.write(RecordBody::MessageAppended(message));
        for warning in warnings {
            self.write_note(kind::WARNING, warning);
        }
    }

    /// Gives a message a new id whose own is in the history, or on its way there: the same input twice is two messages.
    pub(super) fn fresh(&mut self, mut message: Message) -> Message {
        let id = message.id();
        let coming = |body: &RecordBody| match body {
            RecordBody::MessageAppended(one) => one.id() == id,
            RecordBody::QueueTaken { message } => *message == id,
            _ => false,
        };
        let taken = self.state.transcript().message(id).is_some()
            || (self.writes.on_the_way().any(coming) && !self.state.queued().iter().any(|one| one.id() == id));
        if taken {
            let new = self.new_message();
            match &mut message {
                Message::User(user) => user.id = new,
                Message::Note(note) => note.id = new,
                _ => {}
            }
        }
        message
    }

    fn dequeue(&mut self, message: MessageId) {
        self.write(RecordBody::QueueTaken { message });
        self.emit(AgentEvent::Dequeued { message });
    }

    /// Whether the model has something to answer: input that is refused leaves nothing new.
    fn has_question(&mut self) -> bool {
        let last = self.state.view().messages().next_back().cloned();
        match last.as_deref() {
            Some(Message::Assistant(answer)) => {
                let paused = answer.stop_reason == StopReason::Paused;
                self.turn.natural = !paused;
                paused
            }
            Some(_) => true,
            None => {
                self.stop(StopCause::Rejected("there is nothing to answer".to_owned()));
                false
            }
        }
    }

    pub(super) fn limits(&mut self) {
        if !self.has_question() {
            return self.go(Phase::CloseTurn);
        }
        match self.limit_reached() {
            Some(limit) => {
                self.limit(limit);
                self.go(Phase::CloseTurn);
            }
            None => self.go(Phase::BeforeTurn),
        }
    }

    pub(super) fn limit_reached(&self) -> Option<Limit> {
        let (limits, run) = (&self.setup.settings.limits, self.state.run()?);
        let turns = limits.turns.filter(|most| run.turns >= *most).map(Limit::Turns);
        turns.or_else(|| self.tokens_left().filter(|left| *left == 0).and(limits.tokens).map(Limit::Tokens))
    }

    pub(super) fn tokens_left(&self) -> Option<u64> {
        let (limits, run) = (&self.setup.settings.limits, self.state.run()?);
        let used = match limits.count {
            TokenCount::Processed => run.usage.total(),
            TokenCount::Growth => run.last_total.saturating_sub(run.first_prompt.unwrap_or(run.last_total)),
        };
        limits.tokens.map(|most| most.saturating_sub(used))
    }

    pub(super) fn before_turn(&mut self) {
        if self.setup.hooks {
            self.hook(HookPoint::BeforeTurn);
        } else {
            self.go(Phase::Context);
        }
    }

    pub(super) fn turn_judged(&mut self, hooked: Hooked) {
        match hooked {
            Hooked::Turn(TurnVerdict::Stop(reason)) => {
                self.stop(StopCause::Hook(reason));
                self.go(Phase::CloseTurn);
            }
            _ => self.go(Phase::Context),
        }
    }

    pub(super) fn before_model(&mut self) {
        if self.setup.hooks {
            let options = self.options();
            self.hook(HookPoint::BeforeModel(options, self.setup.tools.clone()));
        } else {
            self.go(Phase::Prepare);
        }
    }

    pub(super) fn model_judged(&mut self, hooked: Hooked) {
        match hooked {
            Hooked::ModelStop(reason) => {
                self.stop(StopCause::Hook(reason));
                return self.go(Phase::CloseTurn);
            }
            Hooked::Model(notes, options) => {
                self.turn.note = (!notes.is_empty()).then(|| notes.join("\n"));
                self.turn.options = options;
            }
            _ => {}
        }
        self.go(Phase::Prepare);
    }

    /// What is asked of the model: what the agent says, what a hook says, and less output where less is left.
    pub(super) fn options(&self) -> Arc<CallOptions> {
        let model = self.setup.models.get(self.turn.model);
        let options =
            self.turn.options.clone().or_else(|| model.map(|(options, _)| options.clone())).unwrap_or_default();
        // A vendor refuses a limit above its own, so that one is set only to lower what holds already.
        let held = options.max_output.or(model.and_then(|(_, facts)| facts.max_output));
        let left = self.tokens_left().filter(|left| held.is_some_and(|held| *left < held));
        let least = [options.max_output, self.turn.max_output, left].into_iter().flatten().min();
        if least == options.max_output {
            return options;
        }
        let mut lowered = CallOptions::clone(&options);
        lowered.max_output = least;
        Arc::new(lowered)
    }

    pub(super) fn model_call(&self) -> ModelCall {
        let mut call = ModelCall::new(self.options(), self.state.view().clone());
        (call.tools, call.cache) = (self.setup.tools.clone(), self.cache.clone());
        call.note = self.turn.note.as_deref().map(Into::into);
        call.previous = self.state.last.and_then(|last| last.chain);
        call
    }

    /// Takes what a summary is for, and makes the next call an answer again.
    pub(super) fn take_purpose(&mut self) -> Purpose {
        mem::take(&mut self.turn.purpose)
    }
}
