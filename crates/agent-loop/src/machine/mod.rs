//! The run as a deterministic machine: no clock, no randomness, no I/O, no waiting.
//!
//! [`Machine::handle`] tells it what happened, [`Machine::next`] asks what is to be done. Everything that decides about
//! a run is in here; who drives it only does what it says, and cannot leave out a hook, a limit or the budget, since
//! they are steps. Its state changes by acknowledged records only.

mod call;
mod close;
mod context;
mod detect;
mod effect;
mod interrupt;
mod judge;
mod output;
mod phase;
mod start;
mod structured;
mod tools;
mod turn;
mod wave;
mod writes;

use std::{collections::VecDeque, sync::Arc};

use agent_core::{
    AgentEvent, CallId, CallOptions, IdSource, JournalError, JournalRecord, Message, MessageId, ModelFacts,
    NoteMessage, PieceCache, RecordBody, RunFacts, RunId, ToolSet,
};

pub use self::{
    effect::{
        CallOutcome, Command, ContextQuestion, Effect, EffectId, HookPoint, Hooked, Input, JudgeCall, Judgement,
        PreparedFacts, RunTool, Step,
    },
    phase::Phase,
};
use self::{interrupt::Interrupt, turn::Turn, wave::Wave, writes::Writes};
use crate::{Ending, Limit, RunError, RunReport, RunSettings, State, StopCause};

/// What a machine has to know of an agent.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct MachineSetup {
    /// Limits, retries and the like.
    pub settings: RunSettings,
    /// The models, the first choice first: what is asked of each, and what is known of it.
    pub models: Vec<(Arc<CallOptions>, ModelFacts)>,
    /// What the model is told about tools.
    pub tools: ToolSet,
    /// Whether there are hooks; without, they are not asked.
    pub hooks: bool,
    /// Whether there is a context policy.
    pub policy: bool,
    /// Whether there is a counter of tokens; without, they are estimated.
    pub counter: bool,
    /// Whether there is a budget.
    pub budget: bool,
}

impl MachineSetup {
    /// An agent with one model and nothing else.
    pub fn new(options: impl Into<Arc<CallOptions>>, facts: ModelFacts) -> Self {
        let (settings, tools) = (RunSettings::default(), ToolSet::default());
        let models = vec![(options.into(), facts)];
        Self { settings, models, tools, hooks: false, policy: false, counter: false, budget: false }
    }
}

/// How a run begins.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Begin {
    /// With this input, which heals and ends what was left before it.
    Prompt(Vec<Message>),
    /// Where the last run was left: by a crash, by dropping it, or by a pause.
    Resume,
}

/// One run, from its beginning to its report.
///
/// ```
/// use agent_core::{AgentEvent, CallOptions, IdSource, ModelFacts, PieceCache, UserMessage};
/// use agent_loop::{Begin, Input, Machine, MachineSetup, State, Step};
/// let setup = MachineSetup::new(CallOptions::new("toy-1"), ModelFacts::new("toy", "toy-1"));
/// let mut ids = IdSource::seeded(1);
/// let begin = Begin::Prompt(vec![UserMessage::text(ids.message(0), "Hi").into()]);
/// let mut machine = Machine::new(setup.into(), State::default(), begin, ids, PieceCache::new(), None, 0);
/// assert!(matches!(machine.next(), Step::Emit(AgentEvent::AgentStart)));
/// let Step::Start(id, effect) = machine.next() else { panic!("it writes first") };
/// println!("{effect:?}");
/// machine.handle(1, id, Input::Appended(Ok(())));
/// ```
#[derive(Debug)]
pub struct Machine {
    setup: Arc<MachineSetup>,
    state: State,
    ids: IdSource,
    cache: PieceCache,
    now_ms: u64,
    run: RunId,
    parent: Option<CallId>,
    begin: Option<Begin>,
    phase: Phase,
    visited: Vec<(Phase, Phase)>,
    steps: VecDeque<Step>,
    effects: u64,
    /// The effect whose end the phase waits for.
    waiting: Option<EffectId>,
    writes: Writes,
    turn: Turn,
    wave: Wave,
    interrupt: Option<Interrupt>,
    ending: Option<Ending>,
    wall_ms: Option<u64>,
    report: Option<Box<RunReport>>,
}

impl Machine {
    /// A machine over a conversation. `parent` is the call of a parent run that this run answers; `now_ms` is the time,
    /// in milliseconds since the Unix epoch.
    pub fn new(
        setup: Arc<MachineSetup>,
        state: State,
        begin: Begin,
        mut ids: IdSource,
        cache: PieceCache,
        parent: Option<CallId>,
        now_ms: u64,
    ) -> Self {
        let resumed = state.run().filter(|_| begin == Begin::Resume).map(|run| run.id);
        let run = resumed.unwrap_or_else(|| ids.run(now_ms));
        let wall_ms = setup.settings.limits.wall_ms.map(|limit| now_ms.saturating_add(limit));
        let mut machine = Self {
            setup,
            state,
            ids,
            cache,
            now_ms,
            run,
            parent,
            begin: Some(begin),
            phase: Phase::Start,
            visited: Vec::new(),
            steps: VecDeque::new(),
            effects: 0,
            waiting: None,
            writes: Writes::default(),
            turn: Turn::default(),
            wave: Wave::default(),
            interrupt: None,
            ending: None,
            wall_ms,
            report: None,
        };
        machine.advance();
        machine
    }

    /// Says what happened. An input that nobody waits for any more changes nothing.
    pub fn handle(&mut self, now_ms: u64, id: EffectId, input: Input) {
        self.now_ms = self.now_ms.max(now_ms);
        match input {
            Input::Appended(result) => self.appended(id, result),
            Input::Command(command) => self.command(command),
            Input::Time => {}
            other if self.waiting == Some(id) => self.answer(other),
            other => self.wave_input(id, other),
        }
        self.look_at_time();
        self.advance();
    }

    /// What is to be done next.
    #[expect(clippy::should_implement_trait, reason = "it never ends by itself, and an iterator would say it had")]
    pub fn next(&mut self) -> Step {
        if let Some(step) = self.steps.pop_front() {
            return step;
        }
        match self.report.take() {
            Some(report) => Step::Done(report),
            None => self.next_deadline().map_or(Step::Idle, Step::WaitUntil),
        }
    }

    /// The conversation as of the last acknowledged record.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Gives the conversation back.
    pub fn into_state(self) -> State {
        self.state
    }

    /// Where the run is.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// The run.
    pub fn run(&self) -> RunId {
        self.run
    }

    /// The steps from phase to phase so far that were not asked for yet.
    pub fn take_visited(&mut self) -> Vec<(Phase, Phase)> {
        std::mem::take(&mut self.visited)
    }

    /// Gives room back that nothing is in.
    pub(crate) fn shrink(&mut self) {
        self.steps.shrink_to_fit();
    }

    // What the phases are made of.

    fn go(&mut self, phase: Phase) {
        debug_assert!(self.phase.next().contains(&phase), "{:?} -> {phase:?} is not in the diagram", self.phase);
        // Kept for tests of the diagram; a run of many turns must not grow by it.
        let step = (self.phase, phase);
        if cfg!(debug_assertions) && !self.visited.contains(&step) {
            self.visited.push(step);
        }
        self.phase = phase;
    }

    /// Does what each phase does on entry, until one has to wait.
    fn advance(&mut self) {
        loop {
            if self.interrupt_phase() {
                continue;
            }
            match self.phase {
                Phase::Heal | Phase::Judge | Phase::Tools => {
                    if !self.advance_wave() {
                        return;
                    }
                }
                Phase::Done => return,
                _ if self.waiting.is_some() || !self.writes.is_idle() => return,
                phase => self.enter(phase),
            }
        }
    }

    fn enter(&mut self, phase: Phase) {
        match phase {
            Phase::Start => self.start(),
            Phase::BeginTurn => self.begin_turn(),
            Phase::Input => self.next_input(),
            Phase::Limits => self.limits(),
            Phase::BeforeTurn => self.before_turn(),
            Phase::Context => self.context(),
            Phase::BeforeModel => self.before_model(),
            Phase::Prepare => self.prepare(),
            Phase::Reserve => self.reserve(),
            Phase::StartCall => self.start_call(),
            Phase::Call => self.send(),
            Phase::Settle => self.settled(),
            Phase::OnError => self.on_error(),
            Phase::Backoff => self.backoff(),
            Phase::Answered => self.answered(),
            Phase::CloseTurn => self.close_turn(),
            Phase::OnStop => self.on_stop(),
            Phase::Paused => self.go(Phase::End),
            Phase::End => self.end(),
            Phase::Heal | Phase::Judge | Phase::Tools | Phase::Done => {}
        }
    }

    /// The end of the effect that the phase waits for.
    fn answer(&mut self, input: Input) {
        if !matches!(input, Input::FirstOutput) {
            self.waiting = None;
        }
        match (self.phase, input) {
            (Phase::Input, Input::Hooked(hooked)) => self.input_judged(hooked),
            (Phase::BeforeTurn, Input::Hooked(hooked)) => self.turn_judged(hooked),
            (Phase::Context, Input::Counted(counted)) => self.counted(counted),
            (Phase::Context, Input::Planned(plan)) => self.planned(plan),
            (Phase::BeforeModel, Input::Hooked(hooked)) => self.model_judged(hooked),
            (Phase::Prepare, Input::Prepared(prepared)) => self.prepared(prepared),
            (Phase::Reserve, Input::Reserved(reserved)) => self.reserved(reserved),
            (Phase::Call, Input::FirstOutput) => self.first_output(),
            (Phase::Call, Input::CallEnded(outcome)) => self.call_ended(*outcome),
            (Phase::OnError, _) => self.after_error(),
            (Phase::Backoff, _) => self.go(Phase::Reserve),
            (Phase::CloseTurn, _) => self.turn_ended(),
            (Phase::OnStop, Input::Hooked(hooked)) => self.stop_judged(hooked),
            (Phase::End, _) => self.finished(),
            // A driver that answers something else is asked the same again.
            _ => {}
        }
    }

    fn start_effect(&mut self, effect: Effect) -> EffectId {
        self.effects += 1;
        let id = EffectId(self.effects);
        self.steps.push_back(Step::Start(id, effect));
        id
    }

    fn wait_for(&mut self, effect: Effect) {
        self.waiting = Some(self.start_effect(effect));
    }

    fn hook(&mut self, point: HookPoint) {
        let facts = self.facts();
        self.wait_for(Effect::Hook(Box::new(facts), point));
    }

    fn facts(&self) -> RunFacts {
        let mut facts = RunFacts::new(self.run, self.state.view().clone());
        (facts.parent, facts.turn) = (self.parent, self.turn.number);
        facts.usage = self.state.run().map(|run| run.usage).unwrap_or_default();
        facts
    }

    fn emit(&mut self, event: AgentEvent) {
        self.steps.push_back(Step::Emit(event));
    }

    fn new_message(&mut self) -> MessageId {
        self.ids.message(self.now_ms)
    }

    fn write(&mut self, body: RecordBody) {
        let mut record = JournalRecord::new(self.run, body);
        record.parent = self.parent;
        self.writes.push(record);
        self.flush();
    }

    fn note(&mut self, kind: &str, text: impl Into<String>) -> NoteMessage {
        NoteMessage::new(self.new_message(), kind).content(vec![agent_core::ContentBlock::text(text)])
    }

    fn write_note(&mut self, kind: &str, text: impl Into<String>) {
        let note = self.note(kind, text);
        self.write(RecordBody::MessageAppended(note.into()));
    }

    /// Begins to write what waits, unless an append is on its way; then it goes with the next one.
    fn flush(&mut self) {
        if let Some(batch) = self.writes.next_batch() {
            let id = self.start_effect(Effect::Append(batch));
            self.writes.sent(id);
        }
    }

    fn appended(&mut self, id: EffectId, result: Result<(), JournalError>) {
        let Some(batch) = self.writes.acknowledged(id) else { return };
        if let Err(error) = result {
            return self.fail(RunError::Journal(error));
        }
        for record in batch {
            match self.state.apply(record) {
                Ok(entered) => entered.into_iter().for_each(|message| self.entered(message)),
                Err(error) => return self.fail(RunError::State(error)),
            }
        }
        self.flush();
    }

    /// Tells of a message that entered the history.
    fn entered(&mut self, message: Arc<Message>) {
        if self.turn.streamed.take_if(|id| *id == message.id()).is_none() {
            self.emit(AgentEvent::MessageStart { role: message.role() });
        }
        self.emit(AgentEvent::MessageEnd { message });
    }

    /// Ends at once, without writing any more: what was not acknowledged did not happen.
    fn fail(&mut self, error: RunError) {
        self.abort_all();
        self.writes = Writes::default();
        self.finish_with(Ending::Failed(error));
    }

    /// Whether somebody has a right to be told something after the end: nobody.
    fn stop(&mut self, cause: StopCause) {
        self.ending.get_or_insert(Ending::Stopped(cause));
    }

    fn limit(&mut self, limit: Limit) {
        self.write_note(crate::state::kind::LIMIT, crate::texts::limit_note(limit));
        self.stop(StopCause::Limit(limit));
    }
}
