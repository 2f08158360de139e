//! Spans and metrics have OpenTelemetry's names, and say nothing that is private.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use agent_core::{
    BoxFuture, CallOptions, ModelFacts, Money, Price, ProviderError, ProviderErrorKind, Rates, RawJson, Tool,
    ToolContext, ToolOutcome, ToolSpec, Usage,
};
use agent_loop::{Agent, Conversation, MetricSink, RunSettings, telemetry::names};
use agent_testkit::{PausedTimer, Reply, ScriptedProvider};
use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span,
};

/// The fields that the conventions have for each span, and ours.
const TABLE: [(&str, &[&str]); 3] = [
    (
        "invoke_agent",
        &[
            "gen_ai.operation.name",
            "gen_ai.agent.name",
            "gen_ai.usage.input_tokens",
            "gen_ai.usage.output_tokens",
            "gen_ai.usage.cache_read.input_tokens",
            "gen_ai.usage.cache_write.input_tokens",
            "gen_ai.usage.reasoning.output_tokens",
            "error.type",
        ],
    ),
    (
        "chat",
        &[
            "gen_ai.operation.name",
            "gen_ai.provider.name",
            "gen_ai.request.model",
            "gen_ai.request.max_tokens",
            "gen_ai.request.temperature",
            "gen_ai.request.top_p",
            "gen_ai.request.seed",
            "gen_ai.request.stream",
            "gen_ai.output.type",
            "gen_ai.output.messages",
            "gen_ai.response.id",
            "gen_ai.response.model",
            "gen_ai.response.finish_reasons",
            "gen_ai.response.time_to_first_chunk",
            "gen_ai.usage.input_tokens",
            "gen_ai.usage.output_tokens",
            "gen_ai.usage.cache_read.input_tokens",
            "gen_ai.usage.cache_write.input_tokens",
            "gen_ai.usage.reasoning.output_tokens",
            "error.type",
        ],
    ),
    (
        "execute_tool",
        &[
            "gen_ai.operation.name",
            "gen_ai.tool.name",
            "gen_ai.tool.call.id",
            "gen_ai.tool.type",
            "gen_ai.tool.call.arguments",
            "gen_ai.tool.call.result",
            "error.type",
        ],
    ),
];

#[derive(Debug, Clone, Default)]
struct Seen {
    name: &'static str,
    parent: Option<u64>,
    /// What the span may hold.
    declared: Vec<String>,
    fields: BTreeMap<String, String>,
}

/// Keeps all spans.
#[derive(Clone, Default)]
struct Spans(Arc<Mutex<BTreeMap<u64, Seen>>>, Arc<AtomicU64>, Arc<Mutex<Vec<u64>>>);

impl Visit for Seen {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.fields.insert(field.name().to_owned(), format!("{value:?}").trim_matches('"').to_owned());
    }
}

impl Subscriber for Spans {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == names::TARGET || metadata.target().starts_with("it")
    }

    fn new_span(&self, attributes: &span::Attributes<'_>) -> span::Id {
        let id = self.1.fetch_add(1, Ordering::Relaxed) + 1;
        let mut seen = Seen { name: attributes.metadata().name(), ..Seen::default() };
        seen.parent = attributes.parent().map(span::Id::into_u64).or(self.2.lock().unwrap().last().copied());
        seen.declared = attributes.metadata().fields().iter().map(|field| field.name().to_owned()).collect();
        attributes.record(&mut seen);
        self.0.lock().unwrap().insert(id, seen);
        span::Id::from_u64(id)
    }

    fn record(&self, id: &span::Id, values: &span::Record<'_>) {
        values.record(self.0.lock().unwrap().get_mut(&id.into_u64()).unwrap());
    }

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, _: &Event<'_>) {}

    fn enter(&self, id: &span::Id) {
        self.2.lock().unwrap().push(id.into_u64());
    }

    fn exit(&self, id: &span::Id) {
        let mut open = self.2.lock().unwrap();
        assert_eq!(open.pop(), Some(id.into_u64()), "spans are left in their order");
    }
}

impl Spans {
    fn named(&self, name: &str) -> Vec<(u64, Seen)> {
        self.0
            .lock()
            .unwrap()
            .iter()
            .filter(|(_, seen)| seen.name == name)
            .map(|(id, seen)| (*id, seen.clone()))
            .collect()
    }
}

#[derive(Default)]
struct Values(Mutex<Vec<(&'static str, f64, String)>>);

impl MetricSink for Values {
    fn record(&self, metric: &'static str, value: f64, attributes: &[(&'static str, &str)]) {
        let attributes: Vec<_> = attributes.iter().map(|(name, value)| format!("{name}={value}")).collect();
        self.0.lock().unwrap().push((metric, value, attributes.join(" ")));
    }
}

struct Clock(ToolSpec, bool);

impl Tool for Clock {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn call(&self, _: RawJson, _: ToolContext) -> BoxFuture<'_, ToolOutcome> {
        let outcome = match self.1 {
            true => ToolOutcome::Output("a-private-result".into()),
            false => ToolOutcome::Error(agent_core::ToolError::failed("it is broken")),
        };
        Box::pin(std::future::ready(outcome))
    }
}

/// A run with a tool turn, under a span of the caller; the price as given.
fn run(works: bool, content: bool, price: Option<Price>, replies: Vec<Reply>) -> (Spans, Arc<Values>) {
    let (spans, values) = (Spans::default(), Arc::new(Values::default()));
    let kept = values.clone();
    tracing::subscriber::with_default(spans.clone(), || {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let mut settings = RunSettings::default();
            (settings.telemetry.agent, settings.telemetry.content) = (Some("helper".into()), content);
            settings.retry = agent_loop::RetryPolicy::NEVER;
            let mut facts = ModelFacts::new("toy", "toy-1");
            facts.price = price;
            let spec =
                ToolSpec::new("clock", "Tells the time.", RawJson::parse(r#"{"type":"object"}"#).unwrap()).unwrap();
            let options = CallOptions::new("toy-1").max_output(50).temperature(0.5);
            let agent = Agent::builder(ScriptedProvider::new(replies), options, PausedTimer::at(5_000))
                .facts(facts)
                .tool(Clock(spec, works))
                .settings(settings)
                .metrics(kept)
                .build()
                .unwrap();
            let caller = tracing::info_span!(target: "it", "caller");
            let run = caller.in_scope(|| Conversation::new(&agent).run("a-private-question").unwrap());
            // Polled outside of the caller's span: where the run was begun counts.
            run.into_report().await;
        });
    });
    (spans, values)
}

fn turn() -> Vec<Reply> {
    let mut usage = Usage::new(10, 3);
    (usage.cache_read, usage.reasoning) = (90, 2);
    vec![
        Reply::call("clock", r#"{"zone":"a-private-zone"}"#).usage(usage),
        Reply::text("a-private-answer").usage(Usage::new(20, 5)),
    ]
}

/// So many micro-dollars for each token.
fn per_token(input: u64, output: u64) -> Price {
    Price::new(Rates::new(Money::from_micro_dollars(input), Money::from_micro_dollars(output)))
}

fn price() -> Option<Price> {
    Some(per_token(1, 2))
}

#[test]
fn spans_have_the_conventions_names_and_nest_under_the_callers() {
    let (spans, _) = run(true, false, price(), turn());
    let [(caller, _)] = spans.named("caller").try_into().unwrap();
    let [(agent, run)] = spans.named("invoke_agent").try_into().unwrap();
    assert_eq!(run.parent, Some(caller));
    let calls = spans.named("chat");
    let [(_, tool)] = spans.named("execute_tool").try_into().unwrap();
    assert_eq!(calls.len(), 2);
    assert!(calls.iter().all(|(_, call)| call.parent == Some(agent)) && tool.parent == Some(agent));
    for (name, expected) in TABLE {
        for (_, seen) in spans.named(name) {
            let ours = |field: &&String| !field.starts_with("otel.") && !field.starts_with("mainspring.");
            let mut found: Vec<_> = seen.declared.iter().filter(ours).map(String::as_str).collect();
            let mut expected = expected.to_vec();
            found.sort_unstable();
            expected.sort_unstable();
            assert_eq!(found, expected, "{name}");
        }
    }
    let field = |seen: &Seen, name: &str| seen.fields.get(name).cloned().unwrap_or_default();
    let call = &calls[0].1;
    assert_eq!(field(call, "otel.name"), "chat toy-1");
    assert_eq!(field(call, "gen_ai.request.model"), "toy-1");
    assert_eq!(field(call, "gen_ai.request.max_tokens"), "50");
    assert_eq!(field(call, "gen_ai.request.temperature"), "0.5");
    // Input holds what was cached, output what was reasoned.
    assert_eq!(field(call, "gen_ai.usage.input_tokens"), "100");
    assert_eq!(field(call, "gen_ai.usage.output_tokens"), "5");
    assert_eq!(field(call, "gen_ai.usage.cache_read.input_tokens"), "90");
    assert_eq!(field(call, "gen_ai.usage.reasoning.output_tokens"), "2");
    assert_eq!(field(call, "gen_ai.response.finish_reasons"), "tool_call");
    assert_eq!(
        (field(&run, "otel.name"), field(&run, "mainspring.ending")),
        ("invoke_agent helper".into(), "completed".into())
    );
    assert_eq!(field(&run, "gen_ai.usage.input_tokens"), "120");
    assert_eq!(field(&tool, "gen_ai.tool.name"), "clock");
    assert!(!tool.fields.contains_key("error.type"), "{tool:?}");
}

#[test]
fn what_was_said_is_told_only_where_that_is_asked_for() {
    let (spans, _) = run(true, false, price(), turn());
    let all = format!("{:?}", spans.0.lock().unwrap());
    assert!(!all.contains("a-private"), "{all}");
    let (spans, _) = run(true, true, price(), turn());
    let all = format!("{:?}", spans.0.lock().unwrap());
    for told in ["a-private-zone", "a-private-result", "a-private-answer"] {
        assert!(all.contains(told), "{told}: {all}");
    }
}

#[test]
fn an_unknown_cost_is_absent_and_a_free_call_costs_nothing() {
    let cost = |price: Option<Price>| {
        let (spans, values) = run(true, false, price, turn());
        let of = |name| {
            spans
                .named(name)
                .iter()
                .filter_map(|(_, seen)| seen.fields.get("mainspring.cost_micro_usd").cloned())
                .collect::<Vec<_>>()
        };
        let counted = values
            .0
            .lock()
            .unwrap()
            .iter()
            .filter(|(metric, ..)| *metric == names::COST)
            .map(|(_, v, _)| *v)
            .sum::<f64>();
        let metrics = values.0.lock().unwrap().iter().filter(|(metric, ..)| *metric == names::COST).count();
        (of("chat"), of("invoke_agent"), counted, metrics)
    };
    assert_eq!(cost(None), (vec![], vec![], 0.0, 0));
    let free = Some(per_token(0, 0));
    assert_eq!(cost(free), (vec!["0.0".to_owned(); 2], vec!["0.0".to_owned()], 0.0, 2));
    let (calls, runs, counted, _) = cost(price());
    let sum: f64 = calls.iter().map(|text| text.parse::<f64>().unwrap()).sum();
    assert!(
        sum > 0.0 && (sum - counted).abs() < 1e-9 && runs[0].parse::<f64>().unwrap() == sum,
        "{calls:?} {runs:?} {counted}"
    );
}

#[test]
fn failures_have_a_kind_of_few_words() {
    let kind = |spans: &Spans, name: &str| spans.named(name)[0].1.fields.get("error.type").cloned();
    let (spans, _) = run(false, false, None, turn());
    assert_eq!(kind(&spans, "execute_tool").as_deref(), Some("tool_error"));
    assert_eq!(kind(&spans, "invoke_agent"), None, "the run went on");
    let busy = ProviderError::new(ProviderErrorKind::RateLimited, "later");
    let (spans, values) = run(true, false, None, vec![Reply::error(busy)]);
    assert_eq!(kind(&spans, "chat").as_deref(), Some("rate_limited"));
    assert_eq!(kind(&spans, "invoke_agent").as_deref(), Some("rate_limited"));
    let all = values.0.lock().unwrap();
    assert!(
        all.iter()
            .any(|(metric, _, at)| *metric == names::INFERENCE_DURATION && at.contains("error.type=rate_limited"))
    );
}

#[test]
fn metrics_count_tokens_calls_and_tools() {
    let (_, values) = run(true, false, price(), turn());
    let all = values.0.lock().unwrap();
    let sum = |name: &str| all.iter().filter(|(metric, ..)| *metric == name).map(|(_, value, _)| value).sum::<f64>();
    assert_eq!((sum(names::INPUT_TOKENS), sum(names::OUTPUT_TOKENS)), (120.0, 10.0));
    assert_eq!((sum(names::CACHE_READ_TOKENS), sum(names::REASONING_TOKENS)), (90.0, 2.0));
    assert_eq!((sum(names::RUN_CALLS), sum(names::RUN_TOOLS)), (2.0, 1.0));
    let count = |name: &str| all.iter().filter(|(metric, ..)| *metric == name).count();
    assert_eq!((count(names::INFERENCE_DURATION), count(names::TOOL_DURATION), count(names::RUN_DURATION)), (2, 1, 1));
    assert_eq!(count(names::TIME_TO_FIRST_CHUNK), 2);
}
