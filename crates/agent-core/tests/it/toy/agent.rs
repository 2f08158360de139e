//! The toy loop: prepare, guard, reserve, journal, send, journal, tools, journal.

use std::sync::Arc;

use agent_core::{
    Assembler, Budget, BudgetExceeded, CacheBreak, CallEnd, CallId, CallIntent, CallOptions, CallStart, CancelToken,
    IdSource, Journal, JournalRecord, ModelCall, Money, PieceCache, Prepared, Price, Provider, RecordBody, Replay,
    RunEnding, Tool, ToolContext, ToolIntent, ToolOutcome, ToolOutput, ToolSet, UserMessage,
};

use super::State;

/// What happens before a request is sent that will not find its prefix in the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnCacheBreak {
    Warn,
    Refuse,
}

/// How a run ended.
#[derive(Debug, PartialEq)]
pub(crate) enum Ending {
    Completed,
    OverBudget(BudgetExceeded),
    CacheBreak(CacheBreak),
}

/// A conversation with everything that it needs.
pub(crate) struct Agent {
    pub(crate) provider: Arc<dyn Provider>,
    pub(crate) journal: Arc<dyn Journal>,
    pub(crate) tools: Vec<Arc<dyn Tool>>,
    pub(crate) options: CallOptions,
    pub(crate) price: Price,
    pub(crate) budget: Budget,
    pub(crate) on_cache_break: OnCacheBreak,
    pub(crate) ids: IdSource,
    pub(crate) state: State,
    pub(crate) cache: PieceCache,
    pub(crate) last: Option<Prepared>,
    /// What happened, in order.
    pub(crate) trace: Vec<String>,
    /// The state after every acknowledged append, with the number of records then.
    pub(crate) states: Vec<(usize, State)>,
    written: usize,
}

impl Agent {
    /// An agent over a journal; continues what the journal holds.
    pub(crate) async fn open(
        provider: Arc<dyn Provider>,
        journal: Arc<dyn Journal>,
        tools: Vec<Arc<dyn Tool>>,
        limit: Money,
        seed: u64,
    ) -> Self {
        let branch = journal.load().await.unwrap();
        let state = State::replay(branch.records());
        let dollars = |d: f64| Money::from_dollars(d / 1e6).unwrap();
        let rates = agent_core::Rates::new(dollars(1.0), dollars(5.0));
        Self {
            budget: Budget::opened(limit, state.spent),
            provider,
            journal,
            tools,
            options: CallOptions::new("toy-1").system("You add numbers.").max_output(50),
            price: Price::new(rates),
            on_cache_break: OnCacheBreak::Warn,
            ids: IdSource::seeded(seed),
            state,
            cache: PieceCache::new(),
            last: None,
            trace: Vec::new(),
            states: Vec::new(),
            written: branch.records().len(),
        }
    }

    /// Writes records, waits until they are acknowledged, then lives by them.
    async fn append(&mut self, bodies: Vec<RecordBody>) {
        let run = self.ids.run(0);
        let records: Vec<_> = bodies.into_iter().map(|body| JournalRecord::new(run, body)).collect();
        self.journal.append(records.clone()).await.unwrap();
        for record in &records {
            self.trace.push(record.body.kind().to_owned());
            self.state.apply(record);
        }
        self.written += records.len();
        self.states.push((self.written, self.state.clone()));
    }

    /// Runs until the model is done; `prompt` is `None` to go on with what there is.
    pub(crate) async fn run(&mut self, prompt: Option<&str>) -> Ending {
        self.heal().await;
        if let Some(text) = prompt {
            let message = UserMessage::text(self.ids.message(0), text).into();
            self.append(vec![RecordBody::RunStarted, RecordBody::MessageAppended(message)]).await;
        }
        loop {
            let waiting: Vec<CallId> =
                self.state.transcript.open_turn().map(|turn| turn.unanswered().collect()).unwrap_or_default();
            let done = self.state.transcript.messages().last().is_none_or(|m| m.role() == "assistant");
            if !waiting.is_empty() {
                self.run_tools(waiting).await;
            } else if done {
                if self.state.ending.is_none() && !self.state.transcript.messages().is_empty() {
                    self.append(vec![RecordBody::RunEnded(RunEnding::Completed)]).await;
                }
                return Ending::Completed;
            } else if let Err(ending) = self.call_model().await {
                return ending;
            }
        }
    }

    /// Settles what a crash left open.
    async fn heal(&mut self) {
        if let Some(start) = self.state.open_call.clone() {
            // Sent or not, nobody knows: the reservation counts as spent.
            let mut end = CallEnd::new(start.attempt);
            (end.cost, end.error) = (start.reserved, Some("interrupted".into()));
            // The budget was opened with what was settled; this is spent on top.
            let mut reservation = self.budget.reserve(start.reserved.unwrap_or_default()).unwrap();
            reservation.sent();
            drop(reservation);
            self.append(vec![RecordBody::CallSettled(end)]).await;
        }
        for (call, intent) in self.state.intents.clone() {
            match intent.intent.effects.replay {
                Replay::Rerun => self.run_tool(&intent).await,
                _ => {
                    let output = ToolOutput::text("Interrupted; the outcome is unknown.").as_error();
                    let message = self.ids.message(0);
                    self.append(vec![RecordBody::ToolSettled { call, message, output }]).await;
                }
            }
        }
    }

    async fn call_model(&mut self) -> Result<(), Ending> {
        let specs = self.tools.iter().map(|tool| tool.spec().clone()).collect();
        let call = ModelCall::new(self.options.clone(), self.state.view.clone())
            .tools(ToolSet::new(specs).unwrap())
            .cache(self.cache.clone());
        let prepared = self.provider.prepare(call).await.unwrap();
        self.trace.push("prepare".into());

        if let (Some((chain, tokens)), Some(now)) = (&self.state.last, prepared.segments()) {
            let before = self.last.as_ref().and_then(Prepared::segments);
            self.trace.push("guard".into());
            if let Some(divergence) = now.diverges_from(chain, before) {
                let lost = CacheBreak::new(&divergence, chain, *tokens, Some(self.price.rates.input));
                self.trace.push(format!("cacheBreak {:?}", lost.cause));
                if self.on_cache_break == OnCacheBreak::Refuse {
                    return Err(Ending::CacheBreak(lost));
                }
            }
        }

        let worst = self.price.worst_case(prepared.input_bound(), prepared.output_bound()).unwrap();
        let mut reservation = self.budget.reserve(worst).map_err(Ending::OverBudget)?;
        self.trace.push("reserve".into());

        let mut start = CallStart::new(self.ids.attempt(0), self.ids.message(0));
        (start.chain, start.reserved) = (prepared.chain().copied(), Some(worst));
        let (attempt, message) = (start.attempt, start.message);
        self.append(vec![RecordBody::CallStarted(start)]).await;

        reservation.sent();
        self.trace.push("send".into());
        let mut stream = prepared.send(CancelToken::new()).await.unwrap();
        let mut assembler = Assembler::new(message).origin(self.provider.origin(&self.options.model));
        while let Some(event) = stream.next().await {
            assembler.push(&event.unwrap()).unwrap();
        }
        let mut end = CallEnd::new(attempt);
        end.usage = assembler.usage();
        let cost = self.price.cost(&end.usage);
        (end.message, end.cost) = (Some(assembler.finish().into()), Some(cost));
        self.append(vec![RecordBody::CallSettled(end)]).await;
        assert_eq!(reservation.settle(cost).overrun, Money::ZERO, "the bound holds");
        self.last = Some(prepared);
        Ok(())
    }

    async fn run_tools(&mut self, calls: Vec<CallId>) {
        let fresh: Vec<_> = calls.iter().filter(|id| !self.state.intents.contains_key(id)).copied().collect();
        let turn = self.state.transcript.open_turn().unwrap().clone();
        let intents = fresh.into_iter().map(|id| {
            let call = turn.call(id).unwrap();
            let tool = self.tools.iter().find(|tool| tool.spec().name() == call.name).unwrap();
            let arguments = call.arguments.as_object().unwrap().clone();
            let effects = tool.effects(&arguments);
            ToolIntent::new(CallIntent::new(id, &call.name, arguments, effects), tool.version())
        });
        let intents: Vec<_> = intents.collect();
        self.append(vec![RecordBody::ToolIntents(intents.clone())]).await;
        for intent in intents {
            self.run_tool(&intent).await;
        }
    }

    async fn run_tool(&mut self, intent: &ToolIntent) {
        let CallIntent { call, tool, arguments, .. } = &intent.intent;
        let found = self.tools.iter().find(|t| t.spec().name() == tool).unwrap().clone();
        self.trace.push(format!("tool {tool}"));
        let context = ToolContext::new(self.ids.run(0), *call);
        let output = match found.call(arguments.clone(), context).await {
            ToolOutcome::Output(output) => output,
            ToolOutcome::Error(error) => ToolOutput::from(&error),
            other => panic!("the toy tools do not wait: {other:?}"),
        };
        let message = self.ids.message(0);
        self.append(vec![RecordBody::ToolSettled { call: *call, message, output }]).await;
    }
}
