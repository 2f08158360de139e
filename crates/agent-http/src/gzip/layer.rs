//! The layer of [`Gzip`].

use tower_layer::Layer;

use super::Gzip;

/// Asks for gzip and decodes it while it arrives.
///
/// A request that names its own `accept-encoding`, or a `range`, is left alone, and so is its response.
/// For server-sent events gzip is not asked for, since what compresses on the way holds events back;
/// it is decoded if it comes all the same. Where a body was decoded, `content-encoding` and
/// `content-length` are gone from the response; all other headers stay.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct GzipLayer;

impl GzipLayer {
    /// The layer.
    pub fn new() -> Self {
        Self
    }
}

impl<S> Layer<S> for GzipLayer {
    type Service = Gzip<S>;

    fn layer(&self, inner: S) -> Gzip<S> {
        Gzip::new(inner)
    }
}
