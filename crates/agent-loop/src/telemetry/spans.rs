//! The spans, and the metrics that are known where they end.

use agent_core::{
    AssistantMessage, Message, ModelEvent, Money, Origin, ProviderError, RunId, StopReason, ToolOutcome, Usage,
};
use tracing::{Span, field::Empty, info_span};

use super::{Sink, Telemetry, names};
use crate::{Ending, RunReport};

fn seconds(from_ms: u64, to_ms: u64) -> f64 {
    std::time::Duration::from_millis(to_ms.saturating_sub(from_ms)).as_secs_f64()
}

/// A count as metrics have it: exact up to 2^53.
fn count(n: u64) -> f64 {
    n as f64
}

fn micro_dollars(money: Money) -> f64 {
    money.pico_dollars() as f64 / 1e6
}

/// The tokens of one call or of many, by the conventions: input holds what was cached, output what was reasoned.
fn record_usage(span: &Span, usage: &Usage, cost: Option<Money>) {
    span.record("gen_ai.usage.input_tokens", usage.prompt());
    span.record("gen_ai.usage.output_tokens", usage.generated());
    span.record("gen_ai.usage.cache_read.input_tokens", usage.cache_read);
    span.record("gen_ai.usage.cache_write.input_tokens", usage.cache_write_5m.saturating_add(usage.cache_write_1h));
    span.record("gen_ai.usage.reasoning.output_tokens", usage.reasoning);
    // What is free costs 0; what nobody knows has no cost.
    if let Some(cost) = cost {
        span.record("mainspring.cost_micro_usd", micro_dollars(cost));
    }
}

/// A run, from its first poll to its report.
pub(crate) struct RunSpan {
    pub(crate) span: Span,
    started_ms: u64,
    calls: u64,
    tools: u64,
    sink: Sink,
    agent: String,
}

impl RunSpan {
    /// A child of the caller's span.
    pub(crate) fn new(settings: &Telemetry, sink: Sink, now_ms: u64) -> Self {
        let agent = settings.agent.clone().unwrap_or_default();
        let span = info_span!(
            target: "mainspring",
            "invoke_agent",
            otel.name = Empty,
            otel.kind = "internal",
            gen_ai.operation.name = "invoke_agent",
            gen_ai.agent.name = Empty,
            gen_ai.usage.input_tokens = Empty,
            gen_ai.usage.output_tokens = Empty,
            gen_ai.usage.cache_read.input_tokens = Empty,
            gen_ai.usage.cache_write.input_tokens = Empty,
            gen_ai.usage.reasoning.output_tokens = Empty,
            error.type = Empty,
            mainspring.run.id = Empty,
            mainspring.ending = Empty,
            mainspring.cost_micro_usd = Empty,
        );
        if !span.is_disabled() && !agent.is_empty() {
            span.record("otel.name", format!("invoke_agent {agent}"));
            span.record("gen_ai.agent.name", &*agent);
        }
        Self { span, started_ms: now_ms, calls: 0, tools: 0, sink, agent }
    }

    pub(crate) fn begun(&self, run: RunId) {
        if !self.span.is_disabled() {
            self.span.record("mainspring.run.id", run.to_string());
        }
    }

    pub(crate) fn model_called(&mut self) {
        self.calls = self.calls.saturating_add(1);
    }

    pub(crate) fn tool_ran(&mut self) {
        self.tools = self.tools.saturating_add(1);
    }

    pub(crate) fn ended(&self, report: &RunReport, now_ms: u64) {
        let ending = ending(&report.ending);
        let failed = error_of(&report.ending);
        if !self.span.is_disabled() {
            record_usage(&self.span, &report.usage, report.cost);
            self.span.record("mainspring.ending", ending);
            self.span.record("error.type", failed);
        }
        if let Some(sink) = &self.sink {
            let mut attributes = vec![("gen_ai.operation.name", "invoke_agent"), ("gen_ai.agent.name", &*self.agent)];
            attributes.extend(failed.map(|kind| ("error.type", kind)));
            sink.record(names::RUN_DURATION, seconds(self.started_ms, now_ms), &attributes);
            sink.record(names::RUN_CALLS, count(self.calls), &attributes);
            sink.record(names::RUN_TOOLS, count(self.tools), &attributes);
        }
    }
}

/// How a run ended, as one of few words.
fn ending(ending: &Ending) -> &'static str {
    match ending {
        Ending::Completed => "completed",
        Ending::Refused => "refused",
        Ending::Truncated => "truncated",
        Ending::Stopped(_) => "stopped",
        Ending::Paused { .. } => "paused",
        Ending::Cancelled => "cancelled",
        Ending::Failed(_) => "failed",
    }
}

fn error_of(ending: &Ending) -> Option<&'static str> {
    match ending {
        Ending::Failed(crate::RunError::Provider(error)) => Some(kind(error)),
        Ending::Failed(crate::RunError::Journal(_)) => Some("journal"),
        Ending::Failed(_) => Some("state"),
        _ => None,
    }
}

/// The kind of an error, as one of few words.
fn kind(error: &ProviderError) -> &'static str {
    use agent_core::ProviderErrorKind as Kind;
    match error.kind() {
        Kind::Auth => "auth",
        Kind::Permission => "permission",
        Kind::InvalidRequest => "invalid_request",
        Kind::NotFound => "not_found",
        Kind::ContextOverflow => "context_overflow",
        Kind::RateLimited => "rate_limited",
        Kind::Quota => "quota",
        Kind::Overloaded => "overloaded",
        Kind::Server => "server",
        Kind::Timeout => "timeout",
        Kind::Network => "network",
        Kind::Protocol => "protocol",
        Kind::Refused => "refused",
        Kind::Unsupported => "unsupported",
        Kind::Cancelled => "cancelled",
        _ => "_OTHER",
    }
}

/// A model call, from its sending to its end.
pub(crate) struct CallSpan {
    pub(crate) span: Span,
    started_ms: u64,
    begun: bool,
    content: bool,
    sink: Sink,
    provider: String,
    model: String,
}

impl CallSpan {
    pub(crate) fn new(
        settings: &Telemetry,
        sink: Sink,
        origin: &Origin,
        options: Option<&agent_core::CallOptions>,
        now_ms: u64,
    ) -> Self {
        let span = info_span!(
            target: "mainspring",
            "chat",
            otel.name = Empty,
            otel.kind = "client",
            gen_ai.operation.name = "chat",
            gen_ai.provider.name = Empty,
            gen_ai.request.model = Empty,
            gen_ai.request.max_tokens = Empty,
            gen_ai.request.temperature = Empty,
            gen_ai.request.top_p = Empty,
            gen_ai.request.seed = Empty,
            gen_ai.request.stream = true,
            gen_ai.output.type = Empty,
            gen_ai.response.id = Empty,
            gen_ai.response.model = Empty,
            gen_ai.response.finish_reasons = Empty,
            gen_ai.response.time_to_first_chunk = Empty,
            gen_ai.usage.input_tokens = Empty,
            gen_ai.usage.output_tokens = Empty,
            gen_ai.usage.cache_read.input_tokens = Empty,
            gen_ai.usage.cache_write.input_tokens = Empty,
            gen_ai.usage.reasoning.output_tokens = Empty,
            gen_ai.output.messages = Empty,
            error.type = Empty,
            mainspring.cost_micro_usd = Empty,
        );
        if !span.is_disabled() {
            span.record("otel.name", format!("chat {}", origin.model));
            span.record("gen_ai.provider.name", names::provider(&origin.provider));
            span.record("gen_ai.request.model", &*origin.model);
            if let Some(options) = options {
                span.record("gen_ai.request.max_tokens", options.max_output);
                span.record("gen_ai.request.temperature", options.temperature);
                span.record("gen_ai.request.top_p", options.top_p);
                span.record("gen_ai.request.seed", options.seed);
                span.record("gen_ai.output.type", if options.output_schema.is_some() { "json" } else { "text" });
            }
        }
        let (provider, model) = match &sink {
            Some(_) => (names::provider(&origin.provider).to_owned(), origin.model.clone()),
            None => Default::default(),
        };
        Self { span, started_ms: now_ms, begun: false, content: settings.content, sink, provider, model }
    }

    pub(crate) fn event(&mut self, event: &ModelEvent, is_content: bool, now_ms: impl FnOnce() -> u64) {
        if self.is_idle() {
            return;
        }
        match event {
            ModelEvent::Start { response_id, model } => {
                self.span.record("gen_ai.response.id", response_id.as_deref());
                self.span.record("gen_ai.response.model", model.as_deref());
            }
            ModelEvent::Stop { reason, .. } => {
                self.span.record("gen_ai.response.finish_reasons", finish_reason(reason));
            }
            _ if is_content && !self.begun => {
                self.begun = true;
                let waited = seconds(self.started_ms, now_ms());
                self.span.record("gen_ai.response.time_to_first_chunk", waited);
                if let Some(sink) = &self.sink {
                    sink.record(names::TIME_TO_FIRST_CHUNK, waited, &self.attributes());
                }
            }
            _ => {}
        }
    }

    fn attributes(&self) -> Vec<(&'static str, &str)> {
        vec![
            ("gen_ai.operation.name", "chat"),
            ("gen_ai.provider.name", &self.provider),
            ("gen_ai.request.model", &self.model),
        ]
    }

    /// Whether nobody listens.
    pub(crate) fn is_idle(&self) -> bool {
        self.span.is_disabled() && self.sink.is_none()
    }

    pub(crate) fn ended(
        &self,
        usage: &Usage,
        cost: Option<Money>,
        message: Option<&AssistantMessage>,
        error: Option<&ProviderError>,
        now_ms: u64,
    ) {
        let error = error.map(kind);
        if !self.span.is_disabled() {
            record_usage(&self.span, usage, cost);
            self.span.record("error.type", error);
            if self.content {
                let text = message.and_then(|message| serde_json::to_string(&Message::from(message.clone())).ok());
                self.span.record("gen_ai.output.messages", text);
            }
        }
        let Some(sink) = &self.sink else { return };
        let mut attributes = self.attributes();
        for (metric, tokens) in [
            (names::INPUT_TOKENS, usage.prompt()),
            (names::OUTPUT_TOKENS, usage.generated()),
            (names::CACHE_READ_TOKENS, usage.cache_read),
            (names::CACHE_WRITE_TOKENS, usage.cache_write_5m.saturating_add(usage.cache_write_1h)),
            (names::REASONING_TOKENS, usage.reasoning),
        ] {
            sink.record(metric, count(tokens), &attributes);
        }
        if let Some(cost) = cost {
            sink.record(names::COST, micro_dollars(cost), &attributes);
        }
        attributes.extend(error.map(|kind| ("error.type", kind)));
        sink.record(names::INFERENCE_DURATION, seconds(self.started_ms, now_ms), &attributes);
    }
}

/// The conventions' word for a reason to stop.
fn finish_reason(reason: &StopReason) -> &str {
    match reason {
        StopReason::EndTurn | StopReason::StopSequence => "stop",
        StopReason::ToolUse => "tool_call",
        StopReason::MaxTokens | StopReason::ContextWindow => "length",
        StopReason::Refusal => "content_filter",
        StopReason::Error => "error",
        StopReason::Other(other) => other,
        _ => "other",
    }
}

/// A tool that runs.
pub(crate) struct ToolSpan {
    pub(crate) span: Span,
    started_ms: u64,
    content: bool,
    sink: Sink,
    name: String,
}

impl ToolSpan {
    pub(crate) fn new(settings: &Telemetry, sink: Sink, intent: &agent_core::ToolIntent, now_ms: u64) -> Self {
        let name = &intent.intent.tool;
        let span = info_span!(
            target: "mainspring",
            "execute_tool",
            otel.name = Empty,
            otel.kind = "internal",
            gen_ai.operation.name = "execute_tool",
            gen_ai.tool.name = Empty,
            gen_ai.tool.call.id = Empty,
            gen_ai.tool.type = "function",
            gen_ai.tool.call.arguments = Empty,
            gen_ai.tool.call.result = Empty,
            error.type = Empty,
        );
        if !span.is_disabled() {
            span.record("otel.name", format!("execute_tool {name}"));
            span.record("gen_ai.tool.name", &**name);
            span.record("gen_ai.tool.call.id", intent.intent.call.to_string());
            if settings.content {
                span.record("gen_ai.tool.call.arguments", intent.intent.arguments.get());
            }
        }
        let name = if sink.is_some() { name.clone() } else { String::new() };
        Self { span, started_ms: now_ms, content: settings.content, sink, name }
    }

    pub(crate) fn ended(&self, outcome: Option<&ToolOutcome>, now_ms: u64) {
        let error = match outcome {
            Some(ToolOutcome::Error(_)) => Some("tool_error"),
            Some(ToolOutcome::Output(output)) if output.is_error => Some("tool_error"),
            _ => None,
        };
        if !self.span.is_disabled() {
            self.span.record("error.type", error);
            if let (true, Some(ToolOutcome::Output(output))) = (self.content, outcome) {
                let text: Vec<_> = output.content.iter().filter_map(agent_core::ContentBlock::as_text).collect();
                self.span.record("gen_ai.tool.call.result", text.join("\n"));
            }
        }
        if let Some(sink) = &self.sink {
            let mut attributes = vec![("gen_ai.operation.name", "execute_tool"), ("gen_ai.tool.name", &*self.name)];
            attributes.extend(error.map(|kind| ("error.type", kind)));
            sink.record(names::TOOL_DURATION, seconds(self.started_ms, now_ms), &attributes);
        }
    }
}
