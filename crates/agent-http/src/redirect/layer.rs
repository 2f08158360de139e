//! The layer of [`Redirect`].

use tower_layer::Layer;

use super::Redirect;

/// Follows the redirects of GET and HEAD requests without a body, within one origin (scheme, host and
/// port), at most 5 in a row. All others are [`HttpError::Redirect`](agent_core::HttpError::Redirect),
/// which names where to: so no credential ever reaches another origin.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct RedirectLayer;

impl RedirectLayer {
    /// The layer.
    pub fn new() -> Self {
        Self
    }
}

impl<S> Layer<S> for RedirectLayer {
    type Service = Redirect<S>;

    fn layer(&self, inner: S) -> Redirect<S> {
        Redirect::new(inner)
    }
}
