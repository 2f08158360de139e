//! What holds of every run, whatever happened in it.

use std::collections::BTreeMap;

use agent_core::{AgentEvent, CallId, Message, MessageId, Transcript};
use agent_loop::{Conversation, Ending, Run, RunReport};
use agent_testkit::PausedTimer;
use futures_util::FutureExt;

use crate::given::trace;

/// A run by its events, held against the laws.
pub(crate) struct Ran {
    pub(crate) events: Vec<AgentEvent>,
    pub(crate) report: RunReport,
}

impl Ran {
    pub(crate) fn trace(&self) -> Vec<String> {
        trace(&self.events)
    }

    /// How often an event came whose short form begins so.
    pub(crate) fn count(&self, beginning: &str) -> usize {
        self.trace().iter().filter(|line| line.starts_with(beginning)).count()
    }

    /// Where the first event stands whose short form begins so.
    pub(crate) fn at(&self, beginning: &str) -> usize {
        let trace = self.trace();
        let found = trace.iter().position(|line| line.starts_with(beginning));
        found.unwrap_or_else(|| panic!("no {beginning} in {trace:#?}"))
    }
}

/// Runs a prompt to its end, and checks the laws.
pub(crate) async fn ran(conversation: &Conversation, prompt: &str) -> Ran {
    finish(conversation, conversation.run(prompt).unwrap(), Vec::new()).await
}

/// Goes on to the end of a run that has shown these events, and checks the laws.
pub(crate) async fn finish(conversation: &Conversation, mut run: Run, mut events: Vec<AgentEvent>) -> Ran {
    let mut idle = 0;
    loop {
        match run.next().now_or_never() {
            Some(Some(event)) => events.push(event),
            Some(None) => break,
            // Nothing here waits for a clock or a network: what does not go on hangs.
            None => {
                idle += 1;
                assert!(idle < 1_000, "it hangs: {:#?}", trace(&events));
                tokio::task::yield_now().await;
            }
        }
    }
    let report = run.into_report().await;
    let ran = Ran { events, report };
    run_is_framed(&ran);
    turns_are_closed_once(&ran);
    messages_have_their_events(&ran);
    tools_have_their_events(&ran);
    history_is_valid(conversation, &ran);
    ran
}

/// What a run shows before it waits for something.
pub(crate) fn until_stuck(run: &mut Run) -> Vec<AgentEvent> {
    let mut events = Vec::new();
    while let Some(Some(event)) = run.next().now_or_never() {
        events.push(event);
    }
    events
}

/// The same, where the clock moves whenever the run waits for nothing else.
pub(crate) async fn ran_in_time(conversation: &Conversation, timer: &PausedTimer, prompt: &str) -> Ran {
    let mut run = conversation.run(prompt).unwrap();
    let mut events = Vec::new();
    loop {
        tokio::select! {
            biased;
            event = run.next() => match event {
                Some(event) => events.push(event),
                None => return finish(conversation, run, events).await,
            },
            () = std::future::ready(()) => assert!(timer.advance_to_next().is_some(), "it hangs: {:#?}", trace(&events)),
        }
    }
}

fn run_is_framed(ran: &Ran) {
    let trace = ran.trace();
    assert_eq!(trace.first().map(String::as_str), Some("agentStart"), "{trace:#?}");
    assert!(trace.last().unwrap().starts_with("agentEnd"), "{trace:#?}");
    assert_eq!((ran.count("agentStart"), ran.count("agentEnd")), (1, 1), "{trace:#?}");
}

/// Every turn start has exactly one turn end, and turns do not overlap.
fn turns_are_closed_once(ran: &Ran) {
    let mut open = None;
    for event in &ran.events {
        match event {
            AgentEvent::TurnStart { turn } => assert_eq!(open.replace(*turn), None, "{:#?}", ran.trace()),
            AgentEvent::TurnEnd { turn, .. } => assert_eq!(open.take(), Some(*turn), "{:#?}", ran.trace()),
            _ => {}
        }
    }
    assert_eq!(open, None, "{:#?}", ran.trace());
}

/// Every message that the run added has one start and one end, in the order of the history; a start that came to
/// nothing was taken back.
fn messages_have_their_events(ran: &Ran) {
    let mut open = None;
    let mut told: Vec<MessageId> = Vec::new();
    for event in &ran.events {
        match event {
            AgentEvent::MessageStart { role } => assert_eq!(open.replace(*role), None, "{:#?}", ran.trace()),
            AgentEvent::MessageEnd { message } => {
                assert_eq!(open.take(), Some(message.role()), "{:#?}", ran.trace());
                told.push(message.id());
            }
            AgentEvent::MessageDropped { message } => {
                assert_eq!(open.take(), Some(message.role()), "{:#?}", ran.trace());
            }
            AgentEvent::Model(_) => assert_eq!(open, Some("assistant"), "{:#?}", ran.trace()),
            _ => {}
        }
    }
    assert_eq!(open, None, "{:#?}", ran.trace());
    let added: Vec<_> = ran.report.new_messages.iter().map(|message| message.id()).collect();
    // What was left of the run before is answered first, and belongs to it.
    let own = told.len().saturating_sub(added.len());
    assert_eq!(told[own..], added, "events and history differ: {:#?}", ran.trace());
}

/// Every call has one start and one end before its result; only a paused one has none.
fn tools_have_their_events(ran: &Ran) {
    let mut calls: BTreeMap<CallId, (usize, usize)> = BTreeMap::new();
    for event in &ran.events {
        match event {
            AgentEvent::ToolStart { call, .. } => calls.entry(*call).or_default().0 += 1,
            AgentEvent::ToolEnd { call, .. } => {
                let seen = calls.entry(*call).or_default();
                seen.1 += 1;
                assert_eq!(*seen, (1, 1), "{:#?}", ran.trace());
            }
            AgentEvent::MessageEnd { message } => {
                if let Message::ToolResult(result) = &**message {
                    assert_eq!(calls.get(&result.call), Some(&(1, 1)), "{:#?}", ran.trace());
                }
            }
            _ => {}
        }
    }
}

/// A new transcript takes every message, and no call is left without an answer.
pub(crate) fn history_is_valid(conversation: &Conversation, ran: &Ran) {
    let mut transcript = Transcript::new();
    for message in conversation.messages().iter() {
        transcript.append(message.clone()).unwrap();
    }
    let waits = matches!(ran.report.ending, Ending::Paused { .. });
    assert_eq!(transcript.open_turn().is_some(), waits, "{:#?}", ran.trace());
}
