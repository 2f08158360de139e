//! A model call: prepare, guard, reserve, journal, send, journal; and again where it failed.

use agent_core::{
    AgentEvent, AssistantMessage, Billed, CacheBreak, CallEnd, CallStart, ContentBlock, Divergence, Message, Money,
    Price, ProviderErrorKind, RecordBody, StopReason, TokenBound, ViewEdit, WorstCaseError,
};

use super::{CallOutcome, Effect, HookPoint, Machine, Phase, PreparedFacts, Step, turn::Purpose};
use crate::{CachePolicy, Ending, FailedCall, RunError, StopCause, state::kind};

/// The fewest tokens of output for which a request is worth sending when the budget is nearly used up.
const LEAST_OUTPUT: u64 = 64;

/// What follows when the end of a call is in the journal.
#[derive(Debug)]
pub(super) enum AfterSettle {
    /// The answer is looked at.
    Answer,
    /// The next attempt, after so many milliseconds.
    Retry(FailedCall, u64),
    /// The context policy, once more.
    Overflow(FailedCall),
    /// The next model.
    Fallback(FailedCall),
    /// The run ends.
    Fail(FailedCall),
    /// The run was interrupted.
    Interrupted,
}

impl Machine {
    pub(super) fn prepare(&mut self) {
        let call = match &self.turn.purpose {
            Purpose::Answer => self.model_call(),
            Purpose::Summary { call, .. } => (**call).clone(),
        };
        self.wait_for(Effect::Prepare { model: self.turn.model, call: Box::new(call) });
    }

    pub(super) fn prepared(&mut self, prepared: Result<Box<PreparedFacts>, Box<FailedCall>>) {
        let facts = match prepared {
            Ok(facts) => facts,
            Err(failed) => {
                self.turn.after = Some(self.judge_failure(*failed, false));
                return self.go(Phase::OnError);
            }
        };
        if !facts.losses.is_empty() {
            self.emit(AgentEvent::Lost { losses: facts.losses.clone() });
        }
        let is_answer = matches!(self.turn.purpose, Purpose::Answer);
        if let Some(divergence) = facts.divergence.filter(|_| is_answer)
            && self.guard(&divergence)
        {
            return self.go(Phase::CloseTurn);
        }
        self.turn.prepared = Some(facts);
        self.turn.attempts = 0;
        self.go(Phase::Reserve);
    }

    /// Reports a cache break; whether it ends the run.
    fn guard(&mut self, divergence: &Divergence) -> bool {
        let policy = self.setup.settings.cache;
        let Some(last) = self.state.last else { return false };
        let (Some(chain), false) = (last.chain, policy == CachePolicy::Allow) else { return false };
        let lost = self.price().map(|price| {
            let rates = price.rates_for(last.usage.prompt());
            rates.input.minus(rates.cache_read)
        });
        let broken = CacheBreak::new(divergence, &chain, last.usage.prompt(), lost);
        self.emit(AgentEvent::CacheBreak(broken));
        if policy == CachePolicy::Refuse {
            self.stop(StopCause::CacheBreak(broken));
        }
        policy == CachePolicy::Refuse
    }

    /// What the model costs that is really asked: a hook or a summary can name another one. That one's price is known
    /// where the agent has it from the same provider too.
    fn price(&self) -> Option<&Price> {
        let (own, facts) = self.setup.models.get(self.turn.model)?;
        let asked = match &self.turn.purpose {
            Purpose::Summary { call, .. } => &call.options.model,
            Purpose::Answer => self.turn.options.as_ref().map_or(&own.model, |options| &options.model),
        };
        if *asked == own.model {
            return facts.price.as_ref();
        }
        let mut others = self.setup.models.iter();
        let found = others.find(|(options, other)| options.model == *asked && other.provider == facts.provider);
        found.and_then(|(_, facts)| facts.price.as_ref())
    }

    /// How many tokens the prepared call can have at most; what is not prepared has none.
    fn bounds(&self) -> (TokenBound, Option<u64>) {
        let facts = self.turn.prepared.as_ref();
        facts.map_or((TokenBound::ZERO, None), |facts| (facts.input_bound, facts.output_bound))
    }

    fn worst_case(&self) -> Result<Money, WorstCaseError> {
        let (input_bound, output_bound) = self.bounds();
        self.price().ok_or(WorstCaseError::UnknownPrice)?.worst_case(input_bound, output_bound)
    }

    pub(super) fn reserve(&mut self) {
        if !self.setup.budget {
            self.turn.reserved = None;
            return self.go(Phase::StartCall);
        }
        match self.worst_case() {
            Ok(worst) => {
                self.wait_for(Effect::Reserve(worst));
                self.turn.reserved = self.waiting;
            }
            Err(error) => self.cannot_afford(error.to_string()),
        }
    }

    pub(super) fn reserved(&mut self, reserved: Result<(), Money>) {
        let left = match reserved {
            Ok(()) => return self.go(Phase::StartCall),
            Err(left) => left,
        };
        self.turn.reserved = None;
        match self.affordable_output(left) {
            Some(tokens) => {
                self.turn.max_output = Some(tokens);
                self.go(Phase::Prepare);
            }
            None => {
                let worst = self.worst_case().unwrap_or(Money::MAX);
                self.cannot_afford(format!("{left} are left, and the next call can cost {worst}"));
            }
        }
    }

    /// How much output the rest of a budget covers, where that is less than was asked for and worth asking for.
    fn affordable_output(&self, left: Money) -> Option<u64> {
        let (input_bound, output_bound) = self.bounds();
        let (price, TokenBound::AtMost(_)) = (self.price()?, input_bound) else { return None };
        if !matches!(self.turn.purpose, Purpose::Answer) {
            return None;
        }
        let fits = |tokens| price.worst_case(input_bound, Some(tokens)).is_ok_and(|worst| worst <= left);
        // The cost grows with the output, so the largest that fits is found by halving.
        let (mut low, mut high) = (0, output_bound?);
        while low < high {
            let middle = low + (high - low).div_ceil(2);
            if fits(middle) { low = middle } else { high = middle - 1 }
        }
        // A second time the same would go round for ever.
        (low >= LEAST_OUTPUT && Some(low) < output_bound && self.turn.max_output.is_none_or(|last| low < last))
            .then_some(low)
    }

    /// Goes on without the summary that could not be had.
    fn without_summary(&mut self, error: String) {
        self.take_purpose();
        self.emit(AgentEvent::HookFailed { point: "context", error });
        self.go(Phase::BeforeModel);
    }

    fn cannot_afford(&mut self, reason: String) {
        if matches!(self.turn.purpose, Purpose::Summary { .. }) {
            return self.without_summary(reason);
        }
        if self.next_model() {
            return self.go(Phase::Prepare);
        }
        self.stop(StopCause::Budget(reason));
        self.go(Phase::CloseTurn);
    }

    /// Takes the next model, where there is one and the call is the turn's answer.
    fn next_model(&mut self) -> bool {
        let next = self.turn.model + 1;
        let is_there = next < self.setup.models.len() && matches!(self.turn.purpose, Purpose::Answer);
        if is_there {
            (self.turn.model, self.turn.max_output, self.turn.options) = (next, None, None);
        }
        is_there
    }

    pub(super) fn start_call(&mut self) {
        self.turn.attempts += 1;
        let attempt = self.ids.attempt(self.now_ms);
        let mut start = CallStart::new(attempt, self.new_message());
        start.number = self.turn.attempts;
        start.deadline_ms = self.wall_ms;
        let chain = self.turn.prepared.as_ref().and_then(|facts| facts.chain);
        start.hash = chain.map(|chain| chain.head());
        // The prefix of a summary is not the conversation's.
        start.chain = chain.filter(|_| matches!(self.turn.purpose, Purpose::Answer));
        start.reserved = self.turn.reserved.and_then(|_| self.worst_case().ok());
        (self.turn.attempt, self.turn.message) = (Some(attempt), Some(start.message));
        self.write(RecordBody::CallStarted(start));
        self.go(Phase::Call);
    }

    pub(super) fn send(&mut self) {
        let (Some(message), reserved) = (self.turn.message, self.turn.reserved) else { return };
        let shown = matches!(self.turn.purpose, Purpose::Answer);
        self.wait_for(Effect::Send { model: self.turn.model, reserved, message, shown });
    }

    pub(super) fn first_output(&mut self) {
        if matches!(self.turn.purpose, Purpose::Answer) && self.turn.streamed.is_none() {
            self.turn.streamed = self.turn.message;
            self.emit(AgentEvent::MessageStart { role: "assistant" });
        }
    }

    pub(super) fn call_ended(&mut self, outcome: CallOutcome) {
        let CallOutcome { message, usage, error } = outcome;
        self.turn.usage += usage;
        let shown = self.turn.streamed.is_some();
        let Some(attempt) = self.turn.attempt else { return };
        let mut end = CallEnd::new(attempt);
        end.usage = usage;
        let (mut kept, after) = match error {
            None => (message, AfterSettle::Answer),
            Some(failed) => {
                end.error = Some(failed.error.to_string());
                end.billed = failed.error.billed();
                let partial = message.filter(|_| shown);
                if self.interrupt.is_some() || failed.error.kind() == ProviderErrorKind::Cancelled {
                    self.interrupted_by_provider();
                    (partial.map(cancelled), AfterSettle::Interrupted)
                } else {
                    match self.judge_failure(failed, shown) {
                        fail @ AfterSettle::Fail(_) => (partial, fail),
                        again => {
                            self.drop_message(partial);
                            (None, again)
                        }
                    }
                }
            }
        };
        end.cost = self.cost(&end);
        self.turn.cost = end.cost;
        if let Purpose::Summary { first, last, .. } = self.turn.purpose {
            // What it says stands in the edit, not in the history.
            let summary = kept.take().filter(|_| matches!(after, AfterSettle::Answer)).map(Message::from);
            self.write(RecordBody::CallSettled(end));
            self.summarised(summary, first, last);
        } else {
            if let Some(answer) = &mut kept {
                self.unwrap_structured(answer);
            }
            self.turn.stop_reason = kept.as_ref().map(|answer| answer.stop_reason.clone());
            let kept = kept.filter(|answer| !answer.content.is_empty());
            if kept.is_none() {
                self.drop_message(None);
            } else if self.turn.streamed.is_none() {
                // Content without a first output: a driver of somebody's own.
                self.first_output();
            }
            end.message = kept.map(|mut answer| {
                self.state.make_unique(&mut answer);
                (answer.usage, answer.timestamp_ms) = (usage, self.now_ms);
                answer.into()
            });
            self.write(RecordBody::CallSettled(end));
        }
        self.turn.after = Some(after);
        self.go(Phase::Settle);
    }

    fn summarised(&mut self, summary: Option<Message>, first: agent_core::MessageId, last: agent_core::MessageId) {
        let text = summary.map(|message| message.text()).unwrap_or_default();
        if text.trim().is_empty() {
            let error = "the summary is empty".to_owned();
            return self.emit(AgentEvent::HookFailed { point: "context", error });
        }
        let summary = self.note(kind::SUMMARY, text);
        self.edit_view(vec![ViewEdit::Summarise { first, last, summary }]);
    }

    /// What had begun of a message is void.
    pub(super) fn drop_message(&mut self, partial: Option<AssistantMessage>) {
        if let Some(id) = self.turn.streamed.take() {
            let message = partial.unwrap_or_else(|| AssistantMessage::new(id, Vec::new(), StopReason::Error));
            self.emit(AgentEvent::MessageDropped { message: std::sync::Arc::new(message.into()) });
        }
    }

    /// What a call counts for. One that ended without usage counts with its reservation, unless it provably was free.
    fn cost(&self, end: &CallEnd) -> Option<Money> {
        if end.error.is_some() && end.billed == Billed::No {
            return Some(Money::ZERO);
        }
        let reserved = self.turn.reserved.and_then(|_| self.worst_case().ok());
        if end.usage == agent_core::Usage::ZERO && reserved.is_some() {
            return reserved;
        }
        self.price().map(|price| price.cost(&end.usage))
    }

    fn judge_failure(&mut self, failed: FailedCall, shown: bool) -> AfterSettle {
        let settings = self.setup.settings.retry;
        let is_answer = matches!(self.turn.purpose, Purpose::Answer);
        let number = self.turn.attempts.max(1);
        if let Some(delay_ms) = settings.wait(&failed, number, shown).filter(|_| self.turn.attempt.is_some()) {
            return AfterSettle::Retry(failed, delay_ms);
        }
        let overflowed = failed.error.kind() == ProviderErrorKind::ContextOverflow;
        let keeps_text = shown && !settings.after_output;
        if overflowed && is_answer && self.setup.policy && !self.turn.overflowed && !keeps_text {
            return AfterSettle::Overflow(failed);
        }
        if failed.retryable && !keeps_text && self.next_model() {
            return AfterSettle::Fallback(failed);
        }
        AfterSettle::Fail(failed)
    }

    /// The end of the call is acknowledged.
    pub(super) fn settled(&mut self) {
        self.turn.attempt = None;
        if let Some(reserved) = self.turn.reserved.take() {
            self.steps.push_back(Step::Settle(reserved, self.turn.cost));
        }
        match self.turn.after.take() {
            Some(AfterSettle::Answer) => {
                self.turn.prepared = None;
                match self.take_purpose() {
                    Purpose::Answer => self.go(Phase::Answered),
                    // One plan is enough: a policy that wants more says so at the next turn.
                    Purpose::Summary { .. } => self.go(Phase::BeforeModel),
                }
            }
            Some(AfterSettle::Interrupted) | None => self.go(Phase::CloseTurn),
            Some(failed) => {
                self.turn.after = Some(failed);
                self.go(Phase::OnError);
            }
        }
    }

    pub(super) fn on_error(&mut self) {
        let failed = match &self.turn.after {
            Some(AfterSettle::Retry(failed, _) | AfterSettle::Overflow(failed)) => failed,
            Some(AfterSettle::Fallback(failed) | AfterSettle::Fail(failed)) => failed,
            _ => return self.go(Phase::CloseTurn),
        };
        let (kind, text) = (failed.error.kind(), failed.error.to_string());
        if self.setup.hooks {
            self.hook(HookPoint::OnError(kind, text));
        } else {
            self.after_error();
        }
    }

    pub(super) fn after_error(&mut self) {
        match self.turn.after.take() {
            Some(AfterSettle::Retry(failed, delay_ms)) => {
                let (attempt, kind, error) = (self.turn.attempts, failed.error.kind(), failed.error.to_string());
                self.emit(AgentEvent::Retry { attempt, kind, error, delay_ms });
                self.turn.after = Some(AfterSettle::Retry(failed, delay_ms));
                self.go(Phase::Backoff);
            }
            Some(AfterSettle::Overflow(_)) => {
                self.turn.overflowed = true;
                self.go(Phase::Context);
            }
            Some(AfterSettle::Fallback(_)) => self.go(Phase::Prepare),
            Some(AfterSettle::Fail(failed)) if matches!(self.turn.purpose, Purpose::Summary { .. }) => {
                self.without_summary(failed.error.to_string());
            }
            Some(AfterSettle::Fail(failed)) => {
                self.ending.get_or_insert(Ending::Failed(RunError::Provider(failed.error)));
                self.go(Phase::CloseTurn);
            }
            _ => self.go(Phase::CloseTurn),
        }
    }

    pub(super) fn backoff(&mut self) {
        match self.turn.after.take() {
            Some(AfterSettle::Retry(_, delay_ms)) => self.wait_for(Effect::Sleep(delay_ms)),
            _ => self.go(Phase::Reserve),
        }
    }
}

/// A partial answer of a run that was interrupted; a call in it that had not arrived is not there.
fn cancelled(mut answer: AssistantMessage) -> AssistantMessage {
    answer.stop_reason = StopReason::Cancelled;
    answer.content.retain(|block| !matches!(block, ContentBlock::Text(text) if text.text.is_empty()));
    answer
}
