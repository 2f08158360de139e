//! The metadata server of a machine in Google Cloud
//! (<https://cloud.google.com/compute/docs/access/authenticate-workloads>).

use agent_core::{Body, ProviderError};
use http::Request;

use super::failed;

/// The server that every machine, container and function of Google Cloud can ask for the token of its service account.
/// It speaks HTTP without TLS, and is reached over no proxy.
#[derive(Debug, Clone)]
pub struct MetadataServer {
    host: String,
    account: String,
}

impl Default for MetadataServer {
    fn default() -> Self {
        Self { host: "metadata.google.internal".to_owned(), account: "default".to_owned() }
    }
}

impl MetadataServer {
    /// The server of this machine, and the account that it runs under.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets host and port (what `GCE_METADATA_HOST` says).
    #[must_use]
    pub fn host(self, host: impl Into<String>) -> Self {
        Self { host: host.into(), ..self }
    }

    /// Sets the account, by its address, of a machine that has several.
    #[must_use]
    pub fn account(self, account: impl Into<String>) -> Self {
        Self { account: account.into(), ..self }
    }

    pub(super) fn address(&self) -> &str {
        &self.host
    }

    pub(super) fn request(&self) -> Result<Request<Body>, ProviderError> {
        let account = crate::place::escape_segment(&self.account);
        let path = format!("computeMetadata/v1/instance/service-accounts/{account}/token");
        Request::get(format!("http://{}/{path}", self.host))
            .header("metadata-flavor", "Google")
            .body(Body::empty())
            .map_err(|e| failed("the address of the metadata server is none").with_source(e))
    }
}
