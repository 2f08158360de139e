//! The process dies after every record, and another one goes on.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    task::{Context, Waker},
};

use agent_core::{
    BoxFuture, CallId, Effects, Journal, RawJson, RecordBody, Replay, Tool, ToolContext, ToolError, ToolOutcome,
    ToolOutput, ToolSpec,
};
use agent_loop::{Agent, Conversation, Ending, Run, State};
use agent_testkit::{Crash, FnProvider, MemoryJournal, PausedTimer, Reply};

use crate::given::{block_on, history, json, options};

/// What a tool did, over all processes.
type Did = Arc<Mutex<BTreeMap<CallId, u32>>>;

struct Counting {
    spec: ToolSpec,
    effects: Effects,
    did: Did,
}

impl Counting {
    fn new(name: &str, effects: Effects, did: &Did) -> Self {
        let spec = ToolSpec::new(name, "Counts.", json(r#"{"type":"object"}"#)).unwrap();
        Self { spec, effects, did: did.clone() }
    }
}

impl Tool for Counting {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn effects(&self, _: &RawJson) -> Effects {
        self.effects.clone()
    }

    fn call(&self, _: RawJson, context: ToolContext) -> BoxFuture<'_, ToolOutcome> {
        *self.did.lock().unwrap().entry(context.call).or_default() += 1;
        Box::pin(std::future::ready(ToolOutcome::Output("did it".into())))
    }

    fn verify(&self, _: RawJson, context: ToolContext) -> BoxFuture<'_, Result<Option<ToolOutput>, ToolError>> {
        let did = self.did.lock().unwrap().contains_key(&context.call);
        Box::pin(std::future::ready(Ok(did.then(|| "did it".into()))))
    }
}

fn process(did: &Did) -> Agent {
    let model = FnProvider::new(|call| match call.view.len() {
        1 => Reply::call("again", "{}").then_call("once", "{}").then_call("checked", "{}"),
        5 => Reply::call("once", r#"{"second":true}"#),
        _ => Reply::text("Done."),
    });
    Agent::builder(model, options(), PausedTimer::at(1_000))
        .tool(Counting::new("again", Effects::shared(), did))
        .tool(Counting::new("once", Effects::exclusive("disk"), did))
        .tool(Counting::new("checked", Effects::exclusive("net").replay(Replay::Verify), did))
        .build()
        .unwrap()
}

/// Polls until nothing moves any more.
fn until_stuck(run: &mut Run) {
    let mut cx = Context::from_waker(Waker::noop());
    let mut stream = std::pin::Pin::new(run);
    while let std::task::Poll::Ready(Some(_)) = futures_util::Stream::poll_next(stream.as_mut(), &mut cx) {}
}

/// Runs until the journal dies after `count` records; `None` where the run ended before.
fn live(count: usize, crash: Crash, did: &Did) -> (MemoryJournal, Option<Run>) {
    let journal = MemoryJournal::new();
    journal.crash_after(count, crash);
    let conversation = Conversation::new(&process(did)).journal(Arc::new(journal.clone()));
    let mut run = conversation.run("Go").unwrap();
    until_stuck(&mut run);
    (journal, Some(run))
}

#[test]
fn killed_after_every_record_nothing_that_was_settled_runs_again() {
    let did = Did::default();
    let (journal, run) = live(usize::MAX, Crash::Hang, &did);
    drop(run);
    let total = journal.len();
    let whole =
        block_on(async { history(&Conversation::from_journal(&process(&did), Arc::new(journal)).await.unwrap()) });
    assert_eq!(whole.len(), 8, "{whole:?}");
    for count in 0..=total {
        for crash in [Crash::Hang, Crash::Fail] {
            let did = Did::default();
            let (journal, run) = live(count, crash, &did);
            drop(run);
            let survivor = journal.cut_after(count);
            assert_eq!(survivor.len(), journal.len(), "nothing is written after the crash");
            let settled: Vec<CallId> = settled(&survivor);
            let before = did.lock().unwrap().clone();
            block_on(async {
                let conversation =
                    Conversation::from_journal(&process(&did), Arc::new(survivor.clone())).await.unwrap();
                if !survivor
                    .records()
                    .unwrap()
                    .iter()
                    .any(|record| matches!(record.body, RecordBody::MessageAppended(_)))
                {
                    return; // The prompt was never acknowledged.
                }
                if conversation.state().unwrap().is_unfinished() {
                    let report = conversation.resume().unwrap().into_report().await;
                    assert!(matches!(report.ending, Ending::Completed), "after {count}: {:?}", report.ending);
                }
                let now = history(&conversation);
                let after = did.lock().unwrap().clone();
                for call in &settled {
                    assert_eq!(before.get(call), after.get(call), "a settled tool ran again, after {count}");
                }
                for (at, (line, expected)) in now.iter().zip(&whole).enumerate() {
                    let unknown = line.starts_with("toolResult! Interrupted") && expected == "toolResult did it";
                    assert!(line == expected || unknown, "after {count}, message {at}: {line} is not {expected}");
                }
                assert_eq!(now.len(), whole.len(), "after {count}");
                // Those that must not run twice did not.
                let once: Vec<_> = calls_of(&conversation, &["once", "checked"]);
                assert!(once.iter().all(|call| after.get(call).copied().unwrap_or(0) <= 1), "after {count}: {after:?}");
                // What lives is what is written.
                let replayed = State::replay(&survivor.records().unwrap()).unwrap();
                assert!(replayed == conversation.state().unwrap(), "after {count}");
            });
        }
    }
}

fn settled(journal: &MemoryJournal) -> Vec<CallId> {
    let records = journal.records().unwrap();
    let calls = records.iter().filter_map(|record| match &record.body {
        RecordBody::ToolSettled { call, .. } => Some(*call),
        _ => None,
    });
    calls.collect()
}

fn calls_of(conversation: &Conversation, names: &[&str]) -> Vec<CallId> {
    let mut found = Vec::new();
    for message in conversation.messages().iter() {
        if let agent_core::Message::Assistant(answer) = &**message {
            let calls = answer.tool_calls().filter(|(_, call)| names.contains(&call.name.as_str()));
            found.extend(calls.map(|(id, _)| id));
        }
    }
    found
}

#[test]
fn a_new_prompt_after_a_crash_heals_first_and_ends_the_old_run() {
    let did = Did::default();
    let (journal, run) = live(usize::MAX, Crash::Hang, &did);
    drop(run);
    let total = journal.len();
    for count in 1..=total {
        let did = Did::default();
        let (journal, run) = live(count, Crash::Hang, &did);
        drop(run);
        let survivor = journal.cut_after(count);
        block_on(async {
            let conversation = Conversation::from_journal(&process(&did), Arc::new(survivor.clone())).await.unwrap();
            let report = conversation.run("Another thing").unwrap().into_report().await;
            assert!(matches!(report.ending, Ending::Completed), "after {count}: {:?}", report.ending);
            let records = survivor.records().unwrap();
            let started = records.iter().filter(|record| matches!(record.body, RecordBody::RunStarted)).count();
            let ended = records.iter().filter(|record| matches!(record.body, RecordBody::RunEnded(_))).count();
            assert_eq!(started, ended, "after {count}: every run that began has an end");
            assert!(State::replay(&records).unwrap() == conversation.state().unwrap(), "after {count}");
        });
    }
}

#[test]
fn a_run_dropped_while_an_append_is_on_its_way_is_taken_up_where_the_journal_is() {
    let did = Did::default();
    let (journal, run) = live(usize::MAX, Crash::Hang, &did);
    drop(run);
    for held in 0..journal.len() {
        let did = Did::default();
        let journal = MemoryJournal::new();
        let gate = agent_testkit::Gate::new();
        let conversation = Conversation::new(&process(&did)).journal(Arc::new(journal.clone()));
        let mut run = conversation.run("Go").unwrap();
        let mut cx = Context::from_waker(Waker::noop());
        while journal.len() <= held {
            let mut stream = std::pin::Pin::new(&mut run);
            if futures_util::Stream::poll_next(stream.as_mut(), &mut cx).is_pending() {
                break;
            }
            if journal.len() >= held {
                journal.hold(&gate);
            }
        }
        until_stuck(&mut run);
        drop(run);
        gate.open();
        block_on(async {
            let report = match conversation.state().unwrap().is_unfinished() {
                true => conversation.resume().unwrap().into_report().await,
                false => conversation.run("Go").unwrap().into_report().await,
            };
            assert!(matches!(report.ending, Ending::Completed), "held at {held}: {:?}", report.ending);
            let branch = journal.load().await.unwrap();
            assert!(State::replay(branch.records()).unwrap() == conversation.state().unwrap(), "held at {held}");
        });
    }
}
