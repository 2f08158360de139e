//! Cases 46 to 73 of the specification's list: loops, limits, retries, usage.

use std::{
    task::{Context, Poll, Waker},
    time::Duration,
};

use agent_core::{
    AgentEvent, ModelFacts, Money, Price, ProviderError, ProviderErrorKind, Rates, RetryAfter, StopReason, Usage,
};
use agent_loop::{
    Agent, Conversation, Ending, Limit, Limits, LoopDetection, RetrySafeEvents, RunError, RunSettings, StopCause,
    TokenCount,
};
use agent_testkit::{PausedTimer, Reply, ScriptedProvider};
use futures_util::Stream;

use crate::given::{FnTool, agent, block_on, history, options, run, trace};

fn used(input: u64, output: u64) -> Usage {
    let mut usage = Usage::ZERO;
    (usage.input, usage.output) = (input, output);
    usage
}

/// Runs answers that call tools, and says at which of them a loop was found and how the run ended.
fn looped(detection: Option<LoopDetection>, answers: &[&[(&str, &str)]]) -> (Vec<String>, bool) {
    block_on(async {
        let replies = answers.iter().map(|calls| {
            calls.iter().fold(Reply::empty(), |reply, (name, arguments)| reply.then_call(*name, *arguments))
        });
        let model = ScriptedProvider::new(replies.chain([Reply::text("Done.")]));
        let mut settings = RunSettings::default();
        settings.limits.loops = detection;
        let agent = agent(&model).tool(FnTool::says("a", "ok")).tool(FnTool::says("b", "ok")).settings(settings);
        let (lines, report) = run(&Conversation::new(&agent.build().unwrap()), "Go").await;
        let found = lines.into_iter().filter(|line| line.starts_with("loopDetected")).collect();
        (found, matches!(report.ending, Ending::Stopped(StopCause::Loop(_))))
    })
}

const A: &[(&str, &str)] = &[("a", "{}")];
const B: &[(&str, &str)] = &[("b", "{}")];

fn detection(repetitions: u32, period: u32) -> Option<LoopDetection> {
    let mut detection = LoopDetection::default();
    (detection.repetitions, detection.period) = (repetitions, period);
    Some(detection)
}

#[test]
fn case_46_three_identical_calls_in_one_batch_are_found() {
    let three: &[&[(&str, &str)]] = &[&[("a", "{}"), ("a", "{}"), ("a", "{}")]];
    assert_eq!(looped(detection(3, 1), three), (vec!["loopDetected a 3".into()], false));
    let six: &[&[(&str, &str)]] = &[&[("a", "{}"); 6]];
    assert_eq!(looped(detection(3, 1), six), (vec!["loopDetected a 3 stopped".into()], true));
}

#[test]
fn case_47_the_worst_verdict_of_a_batch_wins_over_the_last() {
    let batch: &[&[(&str, &str)]] = &[A, A, A, A, A, &[("a", "{}"), ("b", "{}")]];
    let (found, stopped) = looped(detection(3, 1), batch);
    assert_eq!(found, ["loopDetected a 3", "loopDetected a 3 stopped"]);
    assert!(stopped);
}

#[test]
fn case_48_another_call_between_begins_anew_and_cycles_are_found_where_they_are_looked_for() {
    assert_eq!(looped(detection(3, 1), &[A, A, B, A, A]), (vec![], false));
    let alternating = [A, B, A, B, A, B, A, B];
    assert_eq!(looped(detection(3, 1), &alternating), (vec![], false), "by default it does not trip");
    let (found, _) = looped(detection(3, 2), &alternating);
    assert_eq!(found, ["loopDetected b 3"]);
    let of_three: [&[(&str, &str)]; 9] =
        [A, B, &[("a", r#"{"n":1}"#)], A, B, &[("a", r#"{"n":1}"#)], A, B, &[("a", r#"{"n":1}"#)]];
    assert_eq!(looped(detection(3, 4), &of_three).0, ["loopDetected a 3"]);
}

#[test]
fn case_26_the_order_of_keys_makes_no_other_call() {
    let calls: [&[(&str, &str)]; 3] =
        [&[("a", r#"{"x":1,"y":2}"#)], &[("a", r#"{"y":2,"x":1}"#)], &[("a", r#"{ "x": 1, "y": 2 }"#)]];
    assert_eq!(looped(detection(3, 1), &calls).0, ["loopDetected a 3"]);
}

#[test]
fn case_50_detection_can_be_switched_off() {
    for off in [None, detection(0, 1), detection(1, 1)] {
        assert_eq!(looped(off, &[A; 8]), (vec![], false));
    }
}

fn limited(change: impl FnOnce(&mut Limits)) -> RunSettings {
    let mut settings = RunSettings::default();
    settings.limits = Limits::NONE;
    change(&mut settings.limits);
    settings
}

#[test]
fn case_51_a_limit_of_tokens_counts_every_kind_and_calls_behind_it_do_not_run() {
    block_on(async {
        let mut usage = used(100, 10);
        (usage.cache_read, usage.cache_write_5m, usage.reasoning) = (30, 20, 5);
        let a = FnTool::says("a", "ok");
        let model = ScriptedProvider::new([Reply::call("a", "{}").usage(usage), Reply::call("a", "{}").usage(usage)]);
        let settings = limited(|limits| limits.tokens = Some(usage.total() + 1));
        let conversation = Conversation::new(&agent(&model).tool(a.clone()).settings(settings).build().unwrap());
        let (_, report) = run(&conversation, "Go").await;
        assert!(matches!(report.ending, Ending::Stopped(StopCause::Limit(Limit::Tokens(_)))), "{:?}", report.ending);
        assert_eq!(a.runs(), 1);
        assert!(history(&conversation).last().unwrap().contains("reached its limit"), "{:?}", history(&conversation));
    });
}

#[test]
fn case_52_growth_counts_what_the_conversation_grew_by() {
    block_on(async {
        for (count, turns) in [(TokenCount::Growth, 6), (TokenCount::Processed, 2)] {
            let replies = (0..5).map(|n| Reply::call("a", format!("{{\"n\":{n}}}")).usage(used(1_000, 0)));
            let model = ScriptedProvider::new(replies.chain([Reply::text("Done.").usage(used(1_000, 0))]));
            let settings = limited(|limits| (limits.tokens, limits.count) = (Some(1_500), count));
            let agent = agent(&model).tool(FnTool::says("a", "ok")).settings(settings).build().unwrap();
            let (_, report) = run(&Conversation::new(&agent), "Go").await;
            assert_eq!(report.turns, turns, "{count:?}");
        }
    });
}

#[test]
fn an_output_limit_is_lowered_to_the_tokens_that_are_left() {
    block_on(async {
        let model = ScriptedProvider::new([Reply::call("a", "{}").usage(used(60, 0)), Reply::text("Done.")]);
        let settings = limited(|limits| limits.tokens = Some(100));
        let agent = agent(&model).tool(FnTool::says("a", "ok")).settings(settings).build().unwrap();
        run(&Conversation::new(&agent), "Go").await;
        let asked: Vec<_> = model.calls().iter().map(|call| call.options.max_output).collect();
        assert_eq!(asked, [Some(100), Some(40)]);
    });
}

#[test]
fn an_empty_answer_is_asked_for_again_once_and_then_has_a_name() {
    let calls_nothing = || Reply::text("I will call a tool.").stop(StopReason::ToolUse);
    let table: [(Vec<Reply>, bool); 5] = [
        (vec![Reply::empty(), Reply::text("Here.")], true),
        (vec![Reply::empty(), Reply::empty()], false),
        (vec![Reply::thinking("Hm."), Reply::thinking("Hm.")], false),
        (vec![calls_nothing(), calls_nothing()], false),
        (vec![calls_nothing(), Reply::text("Here.")], true),
    ];
    for (replies, completes) in table {
        block_on(async {
            let model = ScriptedProvider::new(replies);
            let conversation = Conversation::new(&agent(&model).tool(FnTool::says("a", "ok")).build().unwrap());
            let (lines, report) = run(&conversation, "Go").await;
            let ending = &report.ending;
            let expected = match completes {
                true => matches!(ending, Ending::Completed),
                false => matches!(ending, Ending::Stopped(StopCause::EmptyAnswer)),
            };
            assert!(expected, "{ending:?}: {lines:#?}");
            assert_eq!(history(&conversation).iter().filter(|line| line.starts_with("note(empty)")).count(), 1);
            assert_eq!(model.remaining(), 0);
        });
    }
}

#[test]
fn an_answer_that_is_cut_at_its_limit_is_said_to_be() {
    block_on(async {
        let model = ScriptedProvider::new([Reply::text("Once upon a").stop(StopReason::MaxTokens)]);
        let (_, report) = run(&Conversation::new(&agent(&model).build().unwrap()), "Go").await;
        assert!(matches!(report.ending, Ending::Truncated));
        assert_eq!(report.final_text(), "Once upon a");
    });
}

#[test]
fn an_answer_that_the_vendor_pauses_is_sent_again_as_it_is() {
    block_on(async {
        let model = ScriptedProvider::new([Reply::text("First half").stop(StopReason::Paused), Reply::text("Second.")]);
        let conversation = Conversation::new(&agent(&model).build().unwrap());
        let (_, report) = run(&conversation, "Go").await;
        assert!(matches!(report.ending, Ending::Completed), "{:?}", report.ending);
        assert_eq!(history(&conversation), ["user Go", "assistant First half", "assistant Second."]);
    });
}

/// The waits of a run whose first attempts fail so.
fn waits(failures: Vec<ProviderError>, change: impl FnOnce(&mut RunSettings)) -> (Vec<u64>, bool) {
    block_on(async {
        let replies = failures.into_iter().map(Reply::error).chain([Reply::text("Done.")]);
        let mut settings = RunSettings::default();
        change(&mut settings);
        let agent = Agent::builder(ScriptedProvider::new(replies), options(), PausedTimer::auto());
        let conversation = Conversation::new(&agent.settings(settings).build().unwrap()).seeded(7);
        let (events, report) = conversation.run("Go").unwrap().collect().await;
        let delays = events.iter().filter_map(|event| match event {
            AgentEvent::Retry { delay_ms, .. } => Some(*delay_ms),
            _ => None,
        });
        (delays.collect(), matches!(report.ending, Ending::Completed))
    })
}

fn busy() -> ProviderError {
    ProviderError::new(ProviderErrorKind::Overloaded, "busy")
}

#[test]
fn a_backoff_doubles_is_drawn_anew_and_stays_below_its_cap() {
    let (delays, completed) = waits((0..9).map(|_| busy()).collect(), |settings| {
        (settings.retry.attempts, settings.retry.base_ms, settings.retry.cap_ms) = (10, 1_000, 8_000);
    });
    assert!(completed);
    let caps = [1_000, 2_000, 4_000, 8_000, 8_000, 8_000, 8_000, 8_000, 8_000];
    assert_eq!(delays.len(), caps.len());
    assert!(delays.iter().zip(caps).all(|(delay, cap)| *delay <= cap), "{delays:?}");
    assert!(delays.iter().any(|delay| *delay != delays[0]), "{delays:?}");
}

#[test]
fn case_53_attempts_and_waits_of_any_size_do_not_overflow() {
    let (delays, completed) = waits((0..70).map(|_| busy()).collect(), |settings| {
        (settings.retry.attempts, settings.retry.base_ms, settings.retry.cap_ms) = (u32::MAX, u64::MAX, 5);
    });
    assert!(completed && delays.iter().all(|delay| *delay <= 5), "{delays:?}");
    let (delays, completed) = waits(vec![busy()], |settings| settings.retry.attempts = 0);
    assert!(!completed && delays.is_empty());
}

#[test]
fn case_62_advice_is_followed_within_the_cap_and_above_it_the_call_fails_at_once() {
    let advised = |seconds| busy().with_retry_after(RetryAfter::Delay(Duration::from_secs(seconds)));
    assert_eq!(waits(vec![advised(7)], |_| {}), (vec![7_000], true));
    assert_eq!(waits(vec![advised(3_600)], |_| {}), (vec![], false));
    // A date: the clock stands at 0.
    assert_eq!(waits(vec![busy().with_retry_after(RetryAfter::At(9_000))], |_| {}), (vec![9_000], true));
}

#[test]
fn case_57_a_failure_that_is_not_retryable_ends_the_run_with_the_error() {
    block_on(async {
        let failed = ProviderError::new(ProviderErrorKind::Auth, "the key is not accepted");
        let model = ScriptedProvider::new([Reply::error(failed)]);
        let conversation = Conversation::new(&agent(&model).build().unwrap());
        let (lines, report) = run(&conversation, "Go").await;
        let Ending::Failed(RunError::Provider(error)) = &report.ending else { panic!("{:?}", report.ending) };
        // Case 64: one text in the event, in the record and in the report.
        assert!(lines.last().unwrap().contains(&error.to_string()), "{lines:#?}");
        assert_eq!(history(&conversation), ["user Go"]);
    });
}

#[test]
fn after_text_was_shown_the_turn_ends_with_it_unless_retries_are_asked_for() {
    block_on(async {
        let replies = || [Reply::text("Half").error_after(3, busy()), Reply::text("Whole")];
        let model = ScriptedProvider::new(replies());
        let conversation = Conversation::new(&agent(&model).build().unwrap());
        let (_, report) = run(&conversation, "Go").await;
        assert!(matches!(report.ending, Ending::Failed(_)));
        assert_eq!(history(&conversation), ["user Go", "assistant Half"]);
        // What was kept is a history that goes on.
        assert_eq!(conversation.run("Go on").unwrap().final_text().await.unwrap(), "Whole");
    });
}

#[test]
fn case_63_a_consumer_can_see_the_successful_attempt_only() {
    block_on(async {
        let replies = [Reply::text("Half").error_after(3, busy()), Reply::text("Whole")];
        let mut settings = RunSettings::default();
        (settings.retry.after_output, settings.retry.base_ms) = (true, 0);
        let agent = agent(&ScriptedProvider::new(replies)).settings(settings).build().unwrap();
        let mut events = RetrySafeEvents::new(Conversation::new(&agent).run("Go").unwrap());
        let mut seen = Vec::new();
        while let Some(event) = events.next().await {
            seen.push(event);
        }
        let texts: String = seen
            .iter()
            .filter_map(|event| match event {
                AgentEvent::Model(agent_core::ModelEvent::TextDelta { text, .. }) => Some(text.to_string()),
                _ => None,
            })
            .collect();
        assert_eq!(texts, "Whole");
        let lines = trace(&seen);
        assert!(lines.iter().any(|line| line.starts_with("retry 1")), "{lines:#?}");
        assert_eq!(lines.iter().filter(|line| *line == "messageStart assistant").count(), 1, "{lines:#?}");
        assert!(lines.last().unwrap().starts_with("agentEnd"));
    });
}

#[test]
fn a_retry_safe_stream_lets_go_what_is_left_when_it_ends() {
    let lone = AgentEvent::MessageStart { role: "assistant" };
    let mut events = RetrySafeEvents::new(futures_util::stream::iter([AgentEvent::AgentStart, lone]));
    let mut cx = Context::from_waker(Waker::noop());
    let mut seen = 0;
    while let Poll::Ready(Some(_)) = std::pin::Pin::new(&mut events).poll_next(&mut cx) {
        seen += 1;
    }
    assert_eq!(seen, 2);
}

#[test]
fn both_attempts_count_in_the_report_and_in_the_journal() {
    block_on(async {
        let rates = Rates::new(Money::from_micro_dollars(1), Money::from_micro_dollars(1));
        let mut facts = ModelFacts::new("toy", "toy-1");
        facts.price = Some(Price::new(rates));
        let mut settings = RunSettings::default();
        (settings.retry.after_output, settings.retry.base_ms) = (true, 0);
        let half = Reply::text("Half").usage(used(10, 1)).error_after(5, busy());
        let model = ScriptedProvider::new([half, Reply::text("Whole").usage(used(10, 2))]);
        let journal = agent_testkit::MemoryJournal::new();
        let agent = agent(&model).facts(facts).settings(settings).build().unwrap();
        let conversation = Conversation::new(&agent).journal(std::sync::Arc::new(journal.clone()));
        let (_, report) = run(&conversation, "Go").await;
        let settled = journal.records().unwrap().into_iter().filter_map(|record| match record.body {
            agent_core::RecordBody::CallSettled(end) => Some((end.usage, end.error.is_some())),
            _ => None,
        });
        let settled: Vec<_> = settled.collect();
        assert_eq!(settled.len(), 2);
        assert!(settled[0].1 && !settled[1].1);
        let sum = settled.iter().fold(Usage::ZERO, |sum, (usage, _)| sum.plus(*usage));
        assert_eq!(report.usage, sum);
        assert_eq!(report.cost, Some(Money::from_micro_dollars(sum.total())));
    });
}
