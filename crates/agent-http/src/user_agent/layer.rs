//! The layer of [`UserAgent`].

use http::HeaderValue;
use tower_layer::Layer;

use super::UserAgent;

/// Adds a `user-agent` header to requests that have none.
#[derive(Debug, Clone)]
pub struct UserAgentLayer(HeaderValue);

impl UserAgentLayer {
    /// With this value, by convention `name/version`.
    pub fn new(value: HeaderValue) -> Self {
        Self(value)
    }
}

impl<S> Layer<S> for UserAgentLayer {
    type Service = UserAgent<S>;

    fn layer(&self, inner: S) -> UserAgent<S> {
        UserAgent::new(inner, self.0.clone())
    }
}
