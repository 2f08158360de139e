//! The layer of [`Trace`].

use tower_layer::Layer;

use super::Trace;

/// Opens a `tracing` span `http_request` for each exchange, with OpenTelemetry's names: method, host,
/// port, status, and what kind of error there was; two events in it tell the milliseconds to the head
/// and to the end of the body.
///
/// Never in it: headers, credentials, the path and the query of the address, what is sent and received.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct TraceLayer;

impl TraceLayer {
    /// The layer.
    pub fn new() -> Self {
        Self
    }
}

impl<S> Layer<S> for TraceLayer {
    type Service = Trace<S>;

    fn layer(&self, inner: S) -> Trace<S> {
        Trace::new(inner)
    }
}
