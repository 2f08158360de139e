//! Hooks on several threads: each event is theirs before it is the consumer's, and runs do not mix.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex},
};

use agent_core::{
    AgentEvent, CallId, Hook, HookFuture, OnFailure, RawJson, RunFacts, RunId, ToolCall, ToolOutcome, ToolVerdict,
    TurnVerdict,
};
use agent_loop::{Agent, Conversation, Ending};
use agent_testkit::{FnProvider, PausedTimer, Reply};

use crate::given::{FnTool, options, trace};

/// The turns and the calls of a run.
type Seen = (Vec<u64>, Vec<CallId>);

/// Keeps what it saw: events in order, and of each run its turns and calls.
#[derive(Default)]
struct Ledger {
    events: Mutex<Vec<String>>,
    runs: Mutex<HashMap<RunId, Seen>>,
}

impl Hook for Ledger {
    fn before_turn<'a>(&'a self, run: &'a RunFacts) -> HookFuture<'a, TurnVerdict> {
        self.runs.lock().unwrap().entry(run.run).or_default().0.push(run.turn);
        Box::pin(async {
            tokio::task::yield_now().await;
            Ok(TurnVerdict::Go)
        })
    }

    fn before_tool<'a>(
        &'a self,
        run: &'a RunFacts,
        call: CallId,
        _: &'a ToolCall,
        _: &'a RawJson,
    ) -> HookFuture<'a, ToolVerdict> {
        self.runs.lock().unwrap().entry(run.run).or_default().1.push(call);
        Box::pin(std::future::ready(Ok(ToolVerdict::Allow)))
    }

    fn on_event(&self, event: &AgentEvent) {
        self.events.lock().unwrap().push(line(event));
    }
}

fn line(event: &AgentEvent) -> String {
    trace(std::slice::from_ref(event)).join("")
}

fn working(hook: Arc<Ledger>) -> Agent {
    let model = FnProvider::new(|call| match call.view.len() {
        1 => Reply::call("a", "{}").then_call("a", r#"{"n":1}"#),
        _ => Reply::text("Done, and this is a longer text.").chunks(3),
    });
    let a = FnTool::new("a", |_, _| async {
        tokio::task::yield_now().await;
        ToolOutcome::Output("ok".into())
    });
    Agent::builder(model, options(), PausedTimer::at(0)).tool(a).hook(hook, OnFailure::Deny).build().unwrap()
}

fn threads() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(4).build().unwrap()
}

#[test]
fn case_91_on_several_threads_too_an_event_is_a_hooks_before_it_is_the_consumers() {
    threads().block_on(async {
        for room in [1, 4, 64] {
            let hook = Arc::new(Ledger::default());
            let (mut events, work) = Conversation::new(&working(hook.clone())).run("Go").unwrap().split(room);
            let work = tokio::spawn(work);
            let mut read = Vec::new();
            while let Some(event) = events.next().await {
                read.push(line(&event));
                let seen = hook.events.lock().unwrap();
                assert!(seen.len() >= read.len(), "{read:?}");
                assert_eq!(seen[read.len() - 1], read[read.len() - 1], "in one order");
            }
            assert!(matches!(work.await.unwrap().ending, Ending::Completed));
            assert_eq!(*hook.events.lock().unwrap(), read);
        }
    });
}

#[test]
fn case_92_of_fifty_runs_at_once_a_hook_sees_each_by_itself() {
    threads().block_on(async {
        let hook = Arc::new(Ledger::default());
        let agent = working(hook.clone());
        let runs: Vec<_> = (0..50)
            .map(|_| {
                let run = Conversation::new(&agent).run("Go").unwrap();
                tokio::spawn(run.into_report())
            })
            .collect();
        let mut ids = HashSet::new();
        for run in runs {
            ids.insert(run.await.unwrap().run);
        }
        let seen = hook.runs.lock().unwrap();
        assert_eq!(seen.keys().copied().collect::<HashSet<_>>(), ids);
        assert!(seen.values().all(|(turns, calls)| *turns == [0, 1] && calls.len() == 2), "{seen:?}");
        let calls: HashSet<_> = seen.values().flat_map(|(_, calls)| calls).collect();
        assert_eq!(calls.len(), 100, "no call is another run's");
    });
}
