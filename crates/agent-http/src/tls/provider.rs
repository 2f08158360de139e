//! The one crypto provider of a build. It is handed over explicitly, so the process-wide default of
//! rustls is neither needed nor set.

use std::sync::Arc;

use rustls::crypto::CryptoProvider;

#[cfg(feature = "ring")]
pub(super) fn provider() -> Option<Arc<CryptoProvider>> {
    Some(Arc::new(rustls::crypto::ring::default_provider()))
}

#[cfg(all(feature = "aws-lc-rs", not(feature = "ring")))]
pub(super) fn provider() -> Option<Arc<CryptoProvider>> {
    Some(Arc::new(rustls::crypto::aws_lc_rs::default_provider()))
}

/// Without a provider an application may have installed its own; else `https` gives an error.
#[cfg(not(any(feature = "ring", feature = "aws-lc-rs")))]
pub(super) fn provider() -> Option<Arc<CryptoProvider>> {
    CryptoProvider::get_default().cloned()
}
