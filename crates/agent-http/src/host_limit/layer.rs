//! The layer of [`HostLimit`].

use std::sync::Arc;

use tower_layer::Layer;

use super::{HostLimit, hosts::Hosts};

/// Bounds how many exchanges with one host (scheme, name and port) go on at once; further ones wait
/// for their turn, in order.
///
/// An exchange lasts until its response body has ended or was dropped. It keeps a process from running
/// out of file descriptors. Who waits for a further response while holding as many open ones as the
/// limit waits for ever.
#[derive(Debug, Clone)]
pub struct HostLimitLayer(Arc<Hosts>);

impl HostLimitLayer {
    /// With this many exchanges per host, at least one. All services of this layer share the count.
    pub fn new(limit: usize) -> Self {
        Self(Arc::new(Hosts::new(limit)))
    }
}

impl<S> Layer<S> for HostLimitLayer {
    type Service = HostLimit<S>;

    fn layer(&self, inner: S) -> HostLimit<S> {
        HostLimit::new(inner, self.0.clone())
    }
}
