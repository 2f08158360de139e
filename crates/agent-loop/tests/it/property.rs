//! The machine under a host that does anything: random answers, errors, cancels, steering, approvals, crashes.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use agent_core::{
    Access, AgentEvent, Approval, ApprovalAnswer, Arguments, AssistantMessage, CallId, CallOptions, ContentBlock,
    ContextPlan, Effects, IdSource, JournalError, JournalRecord, Message, MessageId, ModelCall, ModelFacts, Money,
    PieceCache, Price, ProviderError, ProviderErrorKind, Rates, RecordBody, Replay, RunId, StopReason, StopVerdict,
    Suspended, TokenBound, ToolCall, ToolError, ToolOutcome, ToolOutput, TurnVerdict, Usage, UserMessage, ViewEdit,
};
use agent_loop::{
    ApprovalMode, Begin, CallOutcome, Command, Concurrency, Effect, EffectId, Ending, FailedCall, HookPoint, Hooked,
    Input, Judgement, Machine, MachineSetup, Phase, PreparedFacts, Queue, QueueMode, RunReport, RunSettings, State,
    Step,
};
use proptest::prelude::{ProptestConfig, any, proptest};

use crate::given::json;

/// A host that decides by a list of bytes, and by what is harmless when the list is used up.
struct Host {
    choices: std::vec::IntoIter<u8>,
    ids: IdSource,
    now: u64,
    pending: Vec<(EffectId, Effect)>,
    log: Vec<JournalRecord>,
    reported: BTreeMap<RunId, Usage>,
    crashes: usize,
    put: Vec<MessageId>,
    steps: usize,
    walked: BTreeSet<(Phase, Phase)>,
}

impl Host {
    fn pick(&mut self, of: u8) -> u8 {
        self.choices.next().map_or(0, |byte| byte % of)
    }

    fn is_spent(&self) -> bool {
        self.choices.len() == 0
    }

    fn usage(&mut self) -> Usage {
        let mut usage = Usage::ZERO;
        (usage.input, usage.output) = (u64::from(self.pick(200)), u64::from(self.pick(50)));
        usage
    }

    fn failure(&mut self) -> FailedCall {
        let kinds = [
            ProviderErrorKind::Overloaded,
            ProviderErrorKind::Auth,
            ProviderErrorKind::ContextOverflow,
            ProviderErrorKind::Network,
            ProviderErrorKind::Cancelled,
        ];
        let kind = kinds[usize::from(self.pick(5))];
        FailedCall::new(ProviderError::new(kind, "no"), self.now, 7)
    }

    fn answer(&mut self, id: MessageId) -> AssistantMessage {
        let mut content = Vec::new();
        let calls = self.pick(4);
        if self.pick(3) > 0 || self.is_spent() {
            content.push(ContentBlock::text("words"));
        }
        for _ in 0..calls {
            let name = ["a", "b"][usize::from(self.pick(2))];
            let arguments = [r#"{"x":1}"#, "{", "{}"][usize::from(self.pick(3))];
            content.push(ToolCall::new(name, Arguments::from_text(arguments)).into());
        }
        let has_calls = calls > 0;
        let stop = match self.pick(8) {
            0..=3 if has_calls => StopReason::ToolUse,
            0..=3 => StopReason::EndTurn,
            4 => StopReason::MaxTokens,
            5 => StopReason::Refusal,
            6 => StopReason::Paused,
            _ => StopReason::EndTurn,
        };
        AssistantMessage::new(id, content, stop)
    }

    fn hooked(&mut self, point: HookPoint) -> Hooked {
        let choice = self.pick(8);
        match point {
            HookPoint::Input(_) if choice == 1 => Hooked::Rejected("no".into()),
            HookPoint::Input(message) if choice == 2 => Hooked::Input(message, vec!["careful".into()]),
            HookPoint::Input(message) => Hooked::Input(message, Vec::new()),
            HookPoint::BeforeTurn if choice == 1 => Hooked::Turn(TurnVerdict::Stop("no".into())),
            HookPoint::BeforeTurn => Hooked::Turn(TurnVerdict::Go),
            HookPoint::BeforeModel(..) if choice == 1 => Hooked::ModelStop("no".into()),
            HookPoint::BeforeModel(..) => Hooked::Model(vec!["a note".into()], None),
            HookPoint::AfterTool(_, _, output) => Hooked::Output(output),
            HookPoint::OnStop if choice == 1 => Hooked::Stop(StopVerdict::Continue("go on".into())),
            HookPoint::OnStop if choice == 2 => Hooked::StopFailed("broken".into()),
            HookPoint::OnStop => Hooked::Stop(StopVerdict::Accept),
            _ => Hooked::Done,
        }
    }

    fn effects(&mut self) -> Effects {
        let mut effects = match self.pick(3) {
            0 => Effects::shared(),
            1 => Effects::exclusive("disk"),
            _ => Effects::exclusive("net").replay(Replay::Verify),
        };
        if self.pick(5) == 1 {
            effects = effects.approval(Approval::Needed);
        }
        if self.pick(6) == 1 {
            effects = effects.ends_turn();
        }
        assert!(matches!(effects.access, Access::Shared | Access::Exclusive(_)));
        effects
    }

    fn plan(&mut self, state: &State) -> ContextPlan {
        let shown: Vec<MessageId> = state.view().messages().map(|message| message.id()).collect();
        let span = shown.first().copied().zip(shown.get(usize::from(self.pick(4))).copied());
        match (self.pick(4), span) {
            (1, Some((first, last))) => ContextPlan::Edits(vec![ViewEdit::Hide { first, last }]),
            (2, Some((first, last))) => {
                let call = Box::new(ModelCall::new(CallOptions::new("toy-1"), state.view().clone()));
                ContextPlan::Summarise { call, first, last }
            }
            _ => ContextPlan::Keep,
        }
    }

    /// Ends an effect.
    fn end(&mut self, machine: &mut Machine, id: EffectId, effect: Effect) {
        let input = match effect {
            Effect::Append(records) => {
                if self.pick(60) == 1 {
                    Input::Appended(Err(JournalError::Closed))
                } else {
                    self.log.extend(records.iter().cloned());
                    drop(records);
                    machine.handle(self.now, id, Input::Appended(Ok(())));
                    let replayed = State::replay(&self.log).unwrap();
                    assert!(&replayed == machine.state(), "live and replayed state differ");
                    check_transcript(machine.state());
                    return;
                }
            }
            Effect::Hook(_, point) => Input::Hooked(self.hooked(point)),
            Effect::Count(_) => Input::Counted(Ok(5)),
            Effect::Context(_) => Input::Planned(Ok(self.plan(machine.state()))),
            Effect::Prepare { .. } if self.pick(20) == 1 => Input::Prepared(Err(Box::new(self.failure()))),
            Effect::Prepare { .. } => {
                Input::Prepared(Ok(Box::new(PreparedFacts::new(TokenBound::AtMost(100), Some(500)))))
            }
            Effect::Reserve(_) => match self.pick(6) {
                1 => Input::Reserved(Err(Money::from_micro_dollars(u64::from(self.pick(250))))),
                _ => Input::Reserved(Ok(())),
            },
            Effect::Send { message, .. } => {
                if self.pick(4) > 0 {
                    machine.handle(self.now, id, Input::FirstOutput);
                }
                let (answer, usage) = (self.answer(message), self.usage());
                let run = machine.run();
                *self.reported.entry(run).or_default() += usage;
                let outcome = match self.pick(4) {
                    1 => CallOutcome::failed(Some(answer), usage, self.failure()),
                    _ => CallOutcome::answered(answer, usage),
                };
                Input::CallEnded(Box::new(outcome))
            }
            Effect::Judge(call) => {
                let judgement = match self.pick(5) {
                    1 => Judgement::Refuse(ToolOutput::text("no such tool").as_error()),
                    choice => Judgement::Run {
                        arguments: call.arguments.clone(),
                        coercions: Vec::new(),
                        effects: self.effects(),
                        version: "1".into(),
                        modified: choice == 2,
                        ask: (choice == 3).then(|| "sure?".into()),
                    },
                };
                Input::Judged(Box::new(judgement))
            }
            Effect::Approval(_) => Input::Answered(self.approval()),
            Effect::Tool(run) if run.verify && self.pick(2) == 1 => Input::DidNotRun,
            Effect::Tool(_) => Input::ToolEnded(match self.pick(5) {
                1 => ToolOutcome::Error(ToolError::failed("no")),
                2 => ToolOutcome::Suspended(Suspended::on("the weather")),
                _ => ToolOutcome::Output("done".into()),
            }),
            Effect::Sleep(_) => Input::Slept,
            other => panic!("unknown effect {other:?}"),
        };
        machine.handle(self.now, id, input);
    }

    fn approval(&mut self) -> ApprovalAnswer {
        match self.pick(3) {
            0 => ApprovalAnswer::Allow,
            1 => ApprovalAnswer::AllowWith(json(r#"{"other":true}"#)),
            _ => ApprovalAnswer::Deny("no".into()),
        }
    }

    fn command(&mut self, machine: &mut Machine) {
        let command = match self.pick(8) {
            1 | 2 => {
                let id = self.ids.message(self.now);
                self.put.push(id);
                let queue = if self.pick(2) == 0 { Queue::Steer } else { Queue::FollowUp };
                Command::Put(queue, Box::new(UserMessage::text(id, "more").into()))
            }
            3 => match self.put.last() {
                Some(id) => Command::Withdraw(*id),
                None => return,
            },
            4 | 5 => match machine.state().pending_approvals().next().map(|intent| intent.call) {
                Some(call) => Command::Answer(call, self.approval()),
                None => return,
            },
            6 if self.pick(3) == 1 => Command::Cancel,
            _ => return,
        };
        machine.handle(self.now, EffectId::NONE, Input::Command(command));
    }

    /// Drives a machine to its end, or to a crash.
    fn drive(&mut self, mut machine: Machine, may_crash: bool) -> Option<(RunReport, State)> {
        let mut events = Balance::default();
        loop {
            self.steps += 1;
            assert!(self.steps < 50_000, "it does not end; phase {:?}", machine.phase());
            match machine.next() {
                Step::Emit(event) => events.see(&event),
                Step::Start(id, effect) => self.pending.push((id, effect)),
                Step::Cancel(_) | Step::Settle(..) => {}
                Step::Abort(id) => {
                    let aborted = self.pending.iter().position(|(pending, _)| *pending == id);
                    if let Some(at) = aborted
                        && let (id, Effect::Send { message, .. }) = self.pending.swap_remove(at)
                    {
                        let partial = (self.pick(2) == 1).then(|| self.answer(message));
                        let usage = self.usage();
                        *self.reported.entry(machine.run()).or_default() += usage;
                        let failed = FailedCall::new(ProviderError::cancelled(), self.now, 0);
                        let outcome = CallOutcome::failed(partial, usage, failed);
                        machine.handle(self.now, id, Input::CallEnded(Box::new(outcome)));
                    }
                }
                Step::Done(report) => {
                    self.walked.extend(machine.take_visited());
                    assert_eq!(machine.phase(), Phase::Done);
                    events.closed();
                    return Some((*report, machine.into_state()));
                }
                wait => {
                    if may_crash && self.pick(40) == 1 {
                        return None;
                    }
                    self.now += u64::from(self.pick(200));
                    self.command(&mut machine);
                    if self.pending.is_empty() {
                        match wait {
                            Step::WaitUntil(at) => {
                                self.now = self.now.max(at);
                                machine.handle(self.now, EffectId::NONE, Input::Time);
                            }
                            // A command may have started something.
                            _ => continue,
                        }
                    } else {
                        let at = usize::from(self.pick(8)) % self.pending.len();
                        let (id, effect) = self.pending.swap_remove(at);
                        self.end(&mut machine, id, effect);
                    }
                }
            }
        }
    }
}

/// Every call that has an end has exactly one answer, in call order: what `Transcript` promises, looked at from
/// outside.
fn check_transcript(state: &State) {
    let mut waiting: Vec<CallId> = Vec::new();
    for message in state.transcript().messages().iter() {
        match &**message {
            Message::ToolResult(result) => {
                assert_eq!(waiting.first(), Some(&result.call), "a result out of order");
                waiting.remove(0);
            }
            other => {
                assert!(waiting.is_empty(), "calls without an answer before another message");
                if let Message::Assistant(answer) = other {
                    waiting = answer.tool_calls().map(|(id, _)| id).collect();
                }
            }
        }
    }
}

/// Every start has one end.
#[derive(Default)]
struct Balance {
    agent: i32,
    ended: bool,
    turn: Option<u64>,
    message: Option<&'static str>,
    tools: BTreeMap<CallId, i32>,
}

impl Balance {
    fn see(&mut self, event: &AgentEvent) {
        assert!(!self.ended, "{event:?} after the end");
        match event {
            AgentEvent::AgentStart => self.agent += 1,
            AgentEvent::AgentEnd { .. } => self.ended = true,
            AgentEvent::TurnStart { turn } => assert!(self.turn.replace(*turn).is_none(), "a turn in a turn"),
            AgentEvent::TurnEnd { turn, .. } => {
                assert!(self.message.is_none(), "a message is open at the end of a turn");
                assert_eq!(self.turn.take(), Some(*turn));
            }
            AgentEvent::MessageStart { role } => {
                assert!(self.message.replace(role).is_none(), "a message in a message")
            }
            AgentEvent::MessageEnd { message } => assert_eq!(self.message.take(), Some(message.role())),
            AgentEvent::MessageDropped { .. } => assert!(self.message.take().is_some(), "nothing was begun"),
            AgentEvent::ToolStart { call, .. } => *self.tools.entry(*call).or_default() += 1,
            AgentEvent::ToolEnd { call, .. } => {
                let left = self.tools.entry(*call).or_default();
                *left -= 1;
                assert_eq!(*left, 0, "a tool ended that was not begun");
            }
            _ => {}
        }
    }

    fn closed(&self) {
        assert!(self.agent == 1 && self.ended && self.turn.is_none());
    }
}

fn setup(host: &mut Host) -> Arc<MachineSetup> {
    let mut settings = RunSettings::default();
    settings.limits.turns = [None, Some(2), Some(6)][usize::from(host.pick(3))];
    settings.limits.tokens = [None, Some(300)][usize::from(host.pick(2))];
    settings.limits.wall_ms = [None, Some(2_000)][usize::from(host.pick(2))];
    settings.concurrency = [Concurrency::Effects { at_most: 2 }, Concurrency::Sequential, Concurrency::Batched(2)]
        [usize::from(host.pick(3))];
    settings.approvals = [ApprovalMode::Pause, ApprovalMode::Wait][usize::from(host.pick(2))];
    settings.approval_ms = [None, Some(500)][usize::from(host.pick(2))];
    settings.steer = [QueueMode::One, QueueMode::All][usize::from(host.pick(2))];
    settings.retry.after_output = host.pick(2) == 1;
    settings.tool_ms = [0, 300][usize::from(host.pick(2))];
    settings.grace_ms = 100;
    let rates = Rates::new(Money::from_micro_dollars(1), Money::from_micro_dollars(1));
    let mut facts = ModelFacts::new("toy", "toy-1");
    (facts.price, facts.max_output) = (Some(Price::new(rates)), Some(500));
    let mut setup = MachineSetup::new(CallOptions::new("toy-1").max_output(500), facts.clone());
    if host.pick(2) == 1 {
        setup.models.push((CallOptions::new("toy-2").max_output(400).into(), facts));
    }
    setup.settings = settings;
    setup.hooks = host.pick(2) == 1;
    setup.policy = host.pick(2) == 1;
    setup.counter = host.pick(2) == 1;
    setup.budget = host.pick(2) == 1;
    Arc::new(setup)
}

fn whole(seed: u64, choices: Vec<u8>) -> BTreeSet<(Phase, Phase)> {
    let mut host = Host {
        choices: choices.into_iter(),
        ids: IdSource::seeded(seed),
        now: 1_000,
        pending: Vec::new(),
        log: Vec::new(),
        reported: BTreeMap::new(),
        crashes: 0,
        put: Vec::new(),
        steps: 0,
        walked: BTreeSet::new(),
    };
    let setup = setup(&mut host);
    let mut state = State::default();
    for round in 0..6 {
        let prompt = UserMessage::text(host.ids.message(host.now), "go").into();
        let begin = match state.is_unfinished() && host.pick(2) == 0 {
            true => Begin::Resume,
            false => Begin::Prompt(vec![prompt]),
        };
        let ids = IdSource::seeded(seed ^ (round << 32) ^ 0xABCD);
        let machine = Machine::new(setup.clone(), state.clone(), begin, ids, PieceCache::new(), None, host.now);
        match host.drive(machine, true) {
            None => {
                host.crashes += 1;
                // An append that was on its way may have been written.
                for (_, effect) in std::mem::take(&mut host.pending) {
                    if let Effect::Append(records) = effect
                        && host.pick(2) == 1
                    {
                        host.log.extend(records.iter().cloned());
                    }
                }
                state = State::replay(&host.log).unwrap();
            }
            Some((report, after)) => {
                host.pending.clear();
                let journal_failed = matches!(&report.ending, Ending::Failed(agent_loop::RunError::Journal(_)));
                if journal_failed {
                    // What was not written is lost, as in a crash.
                    host.crashes += 1;
                } else {
                    check_report(&host, &report, &after);
                }
                state = State::replay(&host.log).unwrap();
                assert!(state == after, "what the run leaves is what is written");
            }
        }
    }
    host.walked
}

/// The diagram says what can happen, no less and no more: a step that it has not is a panic of the machine in debug
/// builds, and one that nobody ever takes is found here.
#[test]
fn every_step_of_the_state_diagram_is_taken() {
    let mut walked = BTreeSet::new();
    let mut random = 88_172_645_463_325_252_u64;
    for seed in 0..1_500 {
        let choices = std::iter::repeat_with(|| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            u8::try_from(random & 0xFF).unwrap()
        });
        walked.extend(whole(seed, choices.take(600).collect()));
    }
    let drawn: BTreeSet<_> =
        Phase::DIAGRAM.iter().flat_map(|(from, next)| next.iter().map(|to| (*from, *to))).collect();
    let never: Vec<_> = drawn.difference(&walked).collect();
    assert!(never.is_empty(), "nobody goes {never:?}");
    let unknown: Vec<_> = walked.difference(&drawn).collect();
    assert!(unknown.is_empty(), "the diagram has no {unknown:?}");
}

fn check_report(host: &Host, report: &RunReport, state: &State) {
    let settled = host
        .log
        .iter()
        .filter(|record| record.run == Some(report.run))
        .filter_map(|record| if let RecordBody::CallSettled(end) = &record.body { Some(end.usage) } else { None });
    let sum = settled.fold(Usage::ZERO, |sum, usage| sum.plus(usage));
    assert_eq!(report.usage, sum, "the report and the records");
    if host.crashes == 0 {
        let reported = host.reported.get(&report.run).copied().unwrap_or(Usage::ZERO);
        assert_eq!(report.usage, reported, "the report and what providers said");
    }
    assert!(state.transcript().open_turn().is_none() || matches!(report.ending, Ending::Paused { .. }));
    let ended = state.run().and_then(|run| run.ending.as_ref());
    assert!(ended.is_some(), "an ending that is not written");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, max_shrink_iters: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_the_history_is_valid_and_what_lives_is_what_is_written(
        seed in any::<u64>(),
        choices in proptest::collection::vec(any::<u8>(), 0..900),
    ) {
        whole(seed, choices);
    }
}
