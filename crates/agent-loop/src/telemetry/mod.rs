//! What a run tells `tracing` and whoever measures: spans of the run, its model calls and its tools, with
//! OpenTelemetry's names.

pub mod names;
mod spans;

use std::sync::Arc;

pub(crate) use self::spans::{CallSpan, RunSpan, ToolSpan};

/// What is told of runs, besides what is told anyway: names and numbers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Telemetry {
    /// The name of the agent, in spans and metrics.
    pub agent: Option<String>,
    /// Whether spans hold what was said: the arguments and results of tools, and answers. It may be private: off if it
    /// isn't set.
    pub content: bool,
}

/// Somebody who measures: a way to OpenTelemetry's meters, to Prometheus, to a log.
///
/// Called while the run is polled: it must not block.
pub trait MetricSink: Send + Sync {
    /// A value: seconds of durations, tokens or micro-dollars of counters (see [`names`]), with the attributes that
    /// the conventions have for it.
    fn record(&self, metric: &'static str, value: f64, attributes: &[(&'static str, &str)]);
}

/// Who measures, if anybody does; shared by all runs of an agent.
pub(crate) type Sink = Option<Arc<dyn MetricSink>>;
