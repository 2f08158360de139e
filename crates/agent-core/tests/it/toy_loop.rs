//! The types of core in the order of a real prompt: tools, cache breaks, budgets, kills and resumes.

use std::sync::Arc;

use agent_core::{CacheBreakCause, ContentBlock, Message, Money, Provider, RecordBody, Tool, ViewEdit};
use futures_util::FutureExt;

use crate::toy::{Add, Agent, CrashingJournal, Death, Ending, OnCacheBreak, Runs, Server, State, Write, provider};

const PROMPT: &str = "What are 1 + 2 and 3 + 4? Write it down.";

fn dollars(d: f64) -> Money {
    Money::from_dollars(d).unwrap()
}

fn agent(server: &Server, journal: &CrashingJournal, runs: &Runs, limit: Money, seed: u64) -> Agent {
    let tools: Vec<Arc<dyn Tool>> = vec![Arc::new(Add::new(runs)), Arc::new(Write::new(runs))];
    let provider: Arc<dyn Provider> = Arc::new(provider(server));
    let opened = Agent::open(provider, Arc::new(journal.clone()), tools, limit, seed);
    opened.now_or_never().expect("opening waits for nothing")
}

/// Roles and texts of a history, which two runs with different ids share.
fn story(state: &State) -> Vec<String> {
    let line = |m: &Arc<Message>| {
        format!("{}: {} {}", m.role(), m.text(), m.content().iter().filter_map(name).collect::<String>())
    };
    state.transcript.messages().iter().map(line).collect()
}

fn name(block: &ContentBlock) -> Option<String> {
    match block {
        ContentBlock::ToolCall(call) => Some(format!("{}{}", call.name, call.arguments.text())),
        _ => None,
    }
}

struct Uninterrupted {
    lines: Vec<String>,
    story: Vec<String>,
    trace: Vec<String>,
}

fn uninterrupted() -> Uninterrupted {
    let (server, runs) = (Server::with_tools(), Runs::default());
    let journal = CrashingJournal::new(Vec::new(), Death::Never);
    let mut agent = agent(&server, &journal, &runs, dollars(1.0), 1);
    assert_eq!(agent.run(Some(PROMPT)).now_or_never(), Some(Ending::Completed));
    for (written, state) in &agent.states {
        assert_eq!(*state, State::replay(&journal.records()[..*written]), "live = replayed after {written}");
    }
    assert_eq!(agent.budget.spent(), agent.state.spent);
    assert_eq!(agent.budget.reserved(), Money::ZERO);
    Uninterrupted { lines: journal.lines(), story: story(&agent.state), trace: agent.trace.clone() }
}

#[test]
fn a_prompt_goes_its_way_in_order() {
    let whole = uninterrupted();
    let call = ["prepare", "guard", "reserve", "callStarted", "send", "callSettled"];
    let mut expected = vec!["runStarted", "messageAppended", "prepare"];
    expected.extend(&call[2..]);
    expected.extend(["toolIntents", "tool add", "toolSettled", "tool add", "toolSettled"]);
    expected.extend(call);
    expected.extend(["toolIntents", "tool write", "toolSettled"]);
    expected.extend(call);
    expected.push("runEnded");
    assert_eq!(whole.trace, expected);
    assert_eq!(
        whole.story,
        [
            "user: What are 1 + 2 and 3 + 4? Write it down. ",
            r#"assistant: Let me see. add{"a":1,"b":2}add{"a":3,"b":4}"#,
            "toolResult: 3 ",
            "toolResult: 7 ",
            r#"assistant:  write{"text":"3 and 7"}"#,
            "toolResult: written ",
            "assistant: 3 and 7. ",
        ]
    );
}

/// Runs until the journal dies, then resumes in a "new process" with what is on the disk.
fn kill_and_resume(death: Death) -> (State, Runs, Vec<String>) {
    let (server, runs) = (Server::with_tools(), Runs::default());
    let dying = CrashingJournal::new(Vec::new(), death);
    {
        let mut agent = agent(&server, &dying, &runs, dollars(1.0), 1);
        assert_eq!(agent.run(Some(PROMPT)).now_or_never(), None, "{death:?} stops the run");
    }
    let on_disk = dying.lines();
    let settled_runs = runs.lock().unwrap().clone();
    let before = State::replay(&dying.records());

    let journal = CrashingJournal::new(on_disk.clone(), Death::Never);
    let mut resumed = agent(&server, &journal, &runs, dollars(1.0), 2);
    assert_eq!(resumed.state, before, "the resumed state is what was acknowledged");
    // A process that died before the prompt was on the disk was never given one.
    let prompt = before.transcript.messages().is_empty().then_some(PROMPT);
    assert_eq!(resumed.run(prompt).now_or_never(), Some(Ending::Completed), "{death:?}");

    assert!(journal.lines().starts_with(&on_disk), "{death:?}: nothing acknowledged is lost");
    assert_eq!(resumed.state, State::replay(&journal.records()), "{death:?}: live = replayed");
    assert_eq!(resumed.budget.spent(), resumed.state.spent, "{death:?}");
    assert!(resumed.budget.spent() <= resumed.budget.limit(), "{death:?}");
    for (call, count) in &settled_runs {
        let open = before.intents.contains_key(call);
        assert!(open || runs.lock().unwrap()[call] == *count, "{death:?}: a settled tool ran again");
    }
    (resumed.state, runs, resumed.trace)
}

#[test]
fn killed_after_every_record_and_resumed_nothing_is_lost_and_nothing_runs_twice() {
    let whole = uninterrupted();
    for n in 1..=whole.lines.len() {
        for death in [Death::After(n), Death::Before(n)] {
            if death == Death::Before(whole.lines.len()) {
                continue; // The run is over then.
            }
            let (state, runs, _) = kill_and_resume(death);
            let mut expected = whole.story.clone();
            let story = story(&state);
            // A write that was intended and not settled is not repeated: the model is told so.
            if story.contains(&"toolResult: Interrupted; the outcome is unknown. ".to_owned()) {
                expected[5] = "toolResult: Interrupted; the outcome is unknown. ".to_owned();
            }
            assert_eq!(story, expected, "{death:?}");
            let write = state.transcript.messages().get(5).unwrap();
            let Message::ToolResult(write) = &**write else { panic!("{write:?}") };
            assert!(runs.lock().unwrap().get(&write.call).is_none_or(|count| *count == 1), "{death:?}: written twice");
        }
    }
}

#[test]
fn a_call_that_was_started_when_the_process_died_counts_as_spent_whole() {
    let whole = uninterrupted();
    let started = whole.lines.iter().position(|line| line.contains("callStarted")).unwrap() + 1;
    let (killed, ..) = kill_and_resume(Death::After(started));
    let (clean, ..) = kill_and_resume(Death::After(started - 1));
    assert!(killed.spent > clean.spent, "{} against {}", killed.spent, clean.spent);
    assert_eq!(killed.usage, clean.usage);
}

#[test]
fn a_request_that_the_budget_cannot_cover_is_never_sent() {
    let (server, runs) = (Server::with_tools(), Runs::default());
    let journal = CrashingJournal::new(Vec::new(), Death::Never);
    let mut poor = agent(&server, &journal, &runs, dollars(0.000_1), 1);
    let ending = poor.run(Some(PROMPT)).now_or_never();
    assert!(matches!(ending, Some(Ending::OverBudget(refused)) if refused.left == dollars(0.000_1)), "{ending:?}");
    assert_eq!(server.seen().len(), 0);
    assert!(!poor.trace.contains(&"callStarted".to_owned()));
    assert_eq!(poor.budget.left(), dollars(0.000_1), "nothing stays reserved");

    // Enough for the first call and not for the second: the work so far is kept.
    let journal = CrashingJournal::new(Vec::new(), Death::Never);
    let first = {
        let mut rich = agent(&server, &journal, &runs, dollars(1.0), 1);
        rich.run(Some(PROMPT)).now_or_never();
        let reserved = journal.records().iter().find_map(|record| match &record.body {
            RecordBody::CallStarted(start) => start.reserved,
            _ => None,
        });
        reserved.unwrap()
    };
    let (server, journal) = (Server::with_tools(), CrashingJournal::new(Vec::new(), Death::Never));
    let mut tight = agent(&server, &journal, &runs, first, 1);
    assert!(matches!(tight.run(Some(PROMPT)).now_or_never(), Some(Ending::OverBudget(_))));
    assert_eq!(server.seen().len(), 1);
    assert_eq!(tight.state.transcript.messages().len(), 4);
}

#[test]
fn a_changed_tool_list_is_named_as_the_cause_of_a_cache_break_before_sending() {
    let (server, runs) = (Server::with_tools(), Runs::default());
    let journal = CrashingJournal::new(Vec::new(), Death::Never);
    let mut agent = agent(&server, &journal, &runs, dollars(1.0), 1);
    agent.run(Some(PROMPT)).now_or_never().unwrap();
    assert!(!agent.trace.iter().any(|step| step.starts_with("cacheBreak")), "{:?}", agent.trace);

    agent.tools.remove(0);
    agent.on_cache_break = OnCacheBreak::Refuse;
    let sent = server.seen().len();
    let Some(Ending::CacheBreak(lost)) = agent.run(Some("And 5 + 6?")).now_or_never() else {
        panic!("the changed tools were not seen");
    };
    assert_eq!(lost.cause, CacheBreakCause::Tools);
    assert_eq!(server.seen().len(), sent, "nothing was sent");
    // Tools come first in the toy's cache: everything that it held is lost.
    assert_eq!((lost.tokens_lost, lost.cost), (160, Some(dollars(0.000_16))));
    let body = String::from_utf8(server.seen().pop().unwrap().body.to_vec()).unwrap();
    let byte = usize::try_from(lost.byte.unwrap()).unwrap();
    assert!(body[..byte].ends_with(r#"{"name":""#), "the first byte that differs is in the name of the first tool");

    // With a warning only, the break stands before the send.
    agent.on_cache_break = OnCacheBreak::Warn;
    agent.trace.clear();
    agent.run(None).now_or_never().unwrap();
    let at = |step: &str| agent.trace.iter().position(|s| s == step).unwrap();
    assert!(at("cacheBreak Tools") < at("callStarted") && at("callStarted") < at("send"));
}

#[test]
fn the_guard_works_across_a_restart() {
    let (server, runs) = (Server::with_tools(), Runs::default());
    let journal = CrashingJournal::new(Vec::new(), Death::Never);
    agent(&server, &journal, &runs, dollars(1.0), 1).run(Some(PROMPT)).now_or_never().unwrap();

    let journal = CrashingJournal::new(journal.lines(), Death::Never);
    let mut same = agent(&server, &journal, &runs, dollars(1.0), 2);
    same.run(Some("And 5 + 6?")).now_or_never().unwrap();
    assert!(same.trace.contains(&"guard".to_owned()));
    assert!(!same.trace.iter().any(|step| step.starts_with("cacheBreak")), "{:?}", same.trace);

    let journal = CrashingJournal::new(journal.lines(), Death::Never);
    let mut other = agent(&server, &journal, &runs, dollars(1.0), 3);
    other.options = other.options.clone().system("Be brief.");
    other.on_cache_break = OnCacheBreak::Refuse;
    let ending = other.run(Some("And 7 + 8?")).now_or_never();
    assert!(
        matches!(ending, Some(Ending::CacheBreak(lost)) if lost.cause == CacheBreakCause::System && lost.byte.is_none())
    );
}

#[test]
fn an_edit_of_the_view_is_seen_as_a_break_in_the_messages() {
    let (server, runs) = (Server::with_tools(), Runs::default());
    let journal = CrashingJournal::new(Vec::new(), Death::Never);
    let mut agent = agent(&server, &journal, &runs, dollars(1.0), 1);
    agent.run(Some(PROMPT)).now_or_never().unwrap();
    let result = agent.state.transcript.messages().get(2).unwrap().id();
    agent.state.view.apply(&ViewEdit::CutOutput { result, content: vec!["(cut)".into()] }).unwrap();
    agent.on_cache_break = OnCacheBreak::Refuse;
    let Some(Ending::CacheBreak(lost)) = agent.run(Some("And 5 + 6?")).now_or_never() else { panic!("no break") };
    assert_eq!(lost.cause, CacheBreakCause::Messages);
    assert!(lost.tokens_lost > 0 && lost.tokens_lost < 160, "what stands before the cut is kept: {}", lost.tokens_lost);
    let body = String::from_utf8(server.seen().pop().unwrap().body.to_vec()).unwrap();
    assert!(body.get(usize::try_from(lost.byte.unwrap()).unwrap()..).unwrap().starts_with("3\""));
}
