//! Does what the machine says, and hands events over, whenever it is polled.

use std::{
    collections::VecDeque,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use agent_core::{
    AgentEvent, BoxFuture, CallId, CancelToken, IdSource, JournalError, JournalRecord, Prepared, Reservation, RunId,
};

use super::model::ModelWork;
use crate::{
    Agent, Begin, EffectId, Ending, Input, Machine, PreparedFacts, RunHandle, RunReport, Step, contain,
    conversation::{Pending, Shared, Taken},
    telemetry::RunSpan,
};

/// What is on its way for a machine.
pub(crate) struct Driver {
    pub(super) agent: Agent,
    pub(super) shared: Arc<Shared>,
    begin: Option<Begin>,
    parent: Option<CallId>,
    /// The state before the machine has it: an append of the run before is waited for.
    boot: Option<BoxFuture<'static, Taken>>,
    taken: Option<Taken>,
    pub(super) machine: Option<Machine>,
    pub(super) events: VecDeque<AgentEvent>,
    /// Ends of effects that took no time.
    pub(super) ready: VecDeque<(EffectId, Input)>,
    pub(super) append: Option<Append>,
    pub(super) model: Option<Box<ModelWork>>,
    pub(super) work: Vec<Work>,
    pub(super) prepared: Option<Box<Prepared>>,
    pub(super) reservations: Vec<(EffectId, Reservation)>,
    /// When the machine wants to be asked again, and the sleep until then.
    pub(super) sleep: Option<(u64, BoxFuture<'static, ()>)>,
    pub(super) draws: IdSource,
    /// How many losses of options and of messages were told already.
    pub(super) told_losses: (usize, usize),
    /// Hooks whose `on_event` panicked.
    deaf: Vec<usize>,
    changed: bool,
    done: bool,
    run: Option<RunId>,
    report: Option<Box<RunReport>>,
    pub(super) span: RunSpan,
}

/// Records on their way into the journal.
pub(super) struct Append {
    pub(super) id: EffectId,
    pub(super) records: Arc<Vec<JournalRecord>>,
    pub(super) future: BoxFuture<'static, Result<(), JournalError>>,
}

/// An effect that takes time.
pub(super) struct Work {
    pub(super) id: EffectId,
    pub(super) future: BoxFuture<'static, Finished>,
    /// Tells a tool to end.
    pub(super) cancel: Option<CancelToken>,
}

impl Work {
    /// Tells a tool to end, and what it has begun elsewhere: a task, a process.
    fn stop(&self) {
        self.cancel.iter().for_each(CancelToken::cancel);
    }
}

/// What an effect comes to.
pub(super) enum Finished {
    Input(Input),
    /// A call that is ready to be sent, and what the machine may know of it.
    Prepared(Box<Prepared>, Box<PreparedFacts>),
}

impl Driver {
    pub(crate) fn new(
        agent: Agent,
        shared: Arc<Shared>,
        mut taken: Taken,
        begin: Begin,
        parent: Option<CallId>,
    ) -> Self {
        let draws = {
            shared.inbox.begin_run();
            let id = shared.new_message(&*agent.0.timer).bits();
            IdSource::seeded(u64::try_from(id & u128::from(u64::MAX)).unwrap_or_default())
        };
        let settings = &agent.0.setup.settings.telemetry;
        let span = RunSpan::new(settings, agent.0.metrics.clone(), agent.0.timer.now_ms());
        let boot: BoxFuture<'static, Taken> = Box::pin(async move {
            taken.settle_pending().await;
            taken
        });
        Self {
            agent,
            shared,
            begin: Some(begin),
            parent,
            boot: Some(boot),
            taken: None,
            machine: None,
            events: VecDeque::new(),
            ready: VecDeque::new(),
            append: None,
            model: None,
            work: Vec::new(),
            prepared: None,
            reservations: Vec::new(),
            sleep: None,
            draws,
            told_losses: (0, 0),
            deaf: Vec::new(),
            changed: false,
            done: false,
            run: None,
            report: None,
            span,
        }
    }

    pub(super) fn handle(&self) -> RunHandle {
        RunHandle::new(self.shared.clone(), self.agent.0.timer.clone())
    }

    pub(super) fn id(&self) -> Option<RunId> {
        self.run
    }

    pub(super) fn now_ms(&self) -> u64 {
        self.agent.0.timer.now_ms()
    }

    /// The report of a run whose events have ended.
    pub(super) fn take_report(&mut self) -> RunReport {
        self.report.take().map_or_else(RunReport::taken, |report| *report)
    }

    pub(super) fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<AgentEvent>> {
        let span = self.span.span.clone();
        let _entered = span.enter();
        loop {
            if let Some(event) = self.events.pop_front() {
                self.observe(&event);
                return Poll::Ready(Some(event));
            }
            if self.done {
                return Poll::Ready(None);
            }
            if let Some(boot) = &mut self.boot {
                match boot.as_mut().poll(cx) {
                    Poll::Ready(taken) => self.begin(taken),
                    Poll::Pending => return Poll::Pending,
                }
            }
            self.take_inbox();
            self.pump();
            if self.events.is_empty() && !self.done && !self.poll_work(cx) {
                self.shared.inbox.register(cx);
                if self.shared.inbox.is_empty() {
                    self.rest();
                    return Poll::Pending;
                }
            }
        }
    }

    /// Gives room back before a wait that may be long: for somebody's answer, or for a tool.
    fn rest(&mut self) {
        if self.model.is_none() {
            self.events.shrink_to_fit();
            self.ready.shrink_to_fit();
            self.machine.iter_mut().for_each(Machine::shrink);
        }
    }

    fn begin(&mut self, mut taken: Taken) {
        self.boot = None;
        let (cache, ids) = {
            let mut shared = self.shared.lock();
            let seed = shared.ids.message(0).bits();
            let seed = u64::try_from(seed & u128::from(u64::MAX)).unwrap_or_default();
            (shared.cache.clone(), IdSource::seeded(seed))
        };
        let begin = self.begin.take().unwrap_or(Begin::Resume);
        let (setup, state) = (self.agent.0.setup.clone(), taken.lend());
        let machine = Machine::new(setup, state, begin, ids, cache, self.parent, self.now_ms());
        self.run = Some(machine.run());
        self.span.begun(machine.run());
        (self.machine, self.taken) = (Some(machine), Some(taken));
    }

    fn take_inbox(&mut self) {
        let Some((commands, events)) = self.shared.inbox.take() else { return };
        self.events.extend(events);
        for command in commands {
            // A command belongs to no effect; the machine does not look at the id.
            self.tell(EffectId::NONE, Input::Command(command));
        }
    }

    pub(super) fn tell(&mut self, id: EffectId, input: Input) {
        let now = self.now_ms();
        if let Some(machine) = &mut self.machine {
            machine.handle(now, id, input);
            self.changed = true;
        }
    }

    /// Does what the machine says until it waits.
    pub(super) fn pump(&mut self) {
        while let Some(machine) = &mut self.machine {
            match machine.next() {
                Step::Emit(event) => self.events.push_back(event),
                Step::Start(id, effect) => self.start(id, effect),
                Step::Cancel(id) => self.work.iter().filter(|work| work.id == id).for_each(Work::stop),
                Step::Abort(id) => self.abort(id),
                Step::Settle(id, cost) => {
                    if let Some(at) = self.reservations.iter().position(|(held, _)| *held == id) {
                        let (_, reservation) = self.reservations.swap_remove(at);
                        if let Some(cost) = cost {
                            reservation.settle(cost);
                        }
                    }
                }
                Step::Done(report) => return self.finish(report),
                wait => match (self.ready.pop_front(), wait) {
                    (Some((id, input)), _) => self.tell(id, input),
                    (None, Step::WaitUntil(at)) => {
                        self.sleep_until(at);
                        break;
                    }
                    (None, _) => {
                        self.sleep = None;
                        break;
                    }
                },
            }
        }
        self.show();
    }

    fn show(&mut self) {
        if let Some(machine) = self.machine.as_ref().filter(|_| std::mem::take(&mut self.changed)) {
            self.shared.lock().show(machine.state());
        }
    }

    fn sleep_until(&mut self, at: u64) {
        if self.sleep.as_ref().is_none_or(|(set, _)| *set != at) {
            let wait = at.saturating_sub(self.now_ms());
            self.sleep = Some((at, self.agent.0.timer.sleep(Duration::from_millis(wait))));
        }
    }

    pub(super) fn draw(&mut self) -> u64 {
        u64::try_from(self.draws.message(0).bits() & u128::from(u64::MAX)).unwrap_or_default()
    }

    fn abort(&mut self, id: EffectId) {
        self.work.iter().filter(|work| work.id == id).for_each(Work::stop);
        self.work.retain(|work| work.id != id);
        self.ready.retain(|(ready, _)| *ready != id);
        if let Some(model) = self.model.take_if(|model| model.id == id) {
            let outcome = model.interrupt().outcome(self.now_ms(), 0);
            self.ready.push_back((id, Input::CallEnded(Box::new(outcome))));
        }
    }

    /// Hooks see an event before the consumer does.
    fn observe(&mut self, event: &AgentEvent) {
        let hooks = self.agent.0.hooks.all.clone();
        for (at, one) in hooks.iter().enumerate() {
            if !self.deaf.contains(&at)
                && let Err(error) = contain::call(|| one.hook.on_event(event))
            {
                self.deaf.push(at);
                if !self.done {
                    self.events.push_back(AgentEvent::HookFailed { point: "on_event", error });
                }
            }
        }
    }

    /// The last events stay; everything else ends.
    fn finish(&mut self, report: Box<RunReport>) {
        self.span.ended(&report, self.now_ms());
        self.report = Some(report);
        self.done = true;
        self.release();
    }

    /// Gives the conversation its state back.
    fn release(&mut self) {
        self.boot = None;
        self.work.iter().for_each(Work::stop);
        self.work.clear();
        self.model = None;
        self.reservations.clear();
        let pending = self
            .append
            .take()
            .map(|Append { records, future, .. }| Pending { records: Arc::unwrap_or_clone(records), append: future });
        if let (Some(machine), Some(mut taken)) = (self.machine.take(), self.taken.take()) {
            taken.give(machine.into_state(), pending);
        }
    }

    /// Whether a cancel or a deadline waits while a reader sleeps.
    pub(super) fn is_urgent(&mut self, cx: &mut Context<'_>) -> bool {
        self.shared.inbox.register(cx);
        self.shared.inbox.is_cancelled() || self.poll_sleep(cx)
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        self.release();
    }
}

impl RunReport {
    /// Of a report that somebody has taken already.
    fn taken() -> Self {
        Self {
            run: RunId::from_bits(0),
            ending: Ending::Cancelled,
            stop_reason: None,
            new_messages: Vec::new(),
            usage: agent_core::Usage::ZERO,
            cost: None,
            turns: 0,
            origin: None,
        }
    }
}
