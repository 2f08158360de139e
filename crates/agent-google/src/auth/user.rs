//! People who have logged in: a refresh token is exchanged for a token (RFC 6749, section 6).

use std::fmt;

use agent_core::{Body, ProviderError, Secret};
use http::Request;

use super::grant::{TOKEN_URI, form, safe};

/// A person who has logged in with the command line tool (`gcloud auth application-default login`).
#[derive(Clone)]
pub struct AuthorizedUser {
    client_id: String,
    client_secret: Secret,
    refresh_token: Secret,
    token_uri: String,
}

impl AuthorizedUser {
    /// The user whom this client got this refresh token of.
    pub fn new(client_id: impl Into<String>, client_secret: Secret, refresh_token: Secret) -> Self {
        Self { client_id: client_id.into(), client_secret, refresh_token, token_uri: TOKEN_URI.to_owned() }
    }

    /// Sets where the refresh token is exchanged.
    ///
    /// # Errors
    /// [`ProviderError`] of kind `Auth` for an address without TLS that is not this machine's.
    pub fn token_uri(self, address: &str) -> Result<Self, ProviderError> {
        Ok(Self { token_uri: safe(address)?, ..self })
    }

    pub(super) fn request(&self) -> Result<Request<Body>, ProviderError> {
        let fields = [
            ("grant_type", "refresh_token"),
            ("client_id", &*self.client_id),
            ("client_secret", self.client_secret.expose()),
            ("refresh_token", self.refresh_token.expose()),
        ];
        form(&self.token_uri, &fields)
    }
}

impl fmt::Debug for AuthorizedUser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuthorizedUser").field("client_id", &self.client_id).finish_non_exhaustive()
    }
}
