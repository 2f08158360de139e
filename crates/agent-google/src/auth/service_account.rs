//! Service accounts: a signed assertion is exchanged for a token
//! (<https://developers.google.com/identity/protocols/oauth2/service-account>, RFC 7523).

use std::{fmt, sync::Arc};

use agent_core::{Body, ProviderError};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use http::Request;
use serde::Serialize;

use super::grant::{SCOPE, TOKEN_URI, form, json, safe};

/// How long an assertion holds, in seconds; the vendor takes an hour at most.
const LIFETIME_S: u64 = 3_600;

/// Signs by RS256 (RSASSA-PKCS1-v1_5 with SHA-256, RFC 7518 section 3.3): with a key in memory, as `RsaSigner` of the
/// feature `service-account` does, or with a key that never leaves a module or a service.
pub trait Signer: Send + Sync {
    /// The signature over these bytes.
    ///
    /// # Errors
    /// [`ProviderError`] of kind `Auth` where it cannot sign.
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, ProviderError>;
}

/// A service account, with what signs for it.
#[derive(Clone)]
pub struct ServiceAccount {
    email: String,
    key_id: Option<String>,
    token_uri: String,
    scope: String,
    signer: Arc<dyn Signer>,
}

#[derive(Serialize)]
struct Header<'a> {
    alg: &'static str,
    typ: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    kid: Option<&'a str>,
}

#[derive(Serialize)]
struct Claims<'a> {
    iss: &'a str,
    scope: &'a str,
    aud: &'a str,
    iat: u64,
    exp: u64,
}

impl ServiceAccount {
    /// The account of this address (`client_email`).
    pub fn new(email: impl Into<String>, signer: Arc<dyn Signer>) -> Self {
        Self { email: email.into(), key_id: None, token_uri: TOKEN_URI.to_owned(), scope: SCOPE.to_owned(), signer }
    }

    /// Names the key (`private_key_id`).
    #[must_use]
    pub fn key_id(self, id: impl Into<String>) -> Self {
        Self { key_id: Some(id.into()), ..self }
    }

    /// Sets where the assertion is exchanged.
    ///
    /// # Errors
    /// [`ProviderError`] of kind `Auth` for an address without TLS that is not this machine's.
    pub fn token_uri(self, address: &str) -> Result<Self, ProviderError> {
        Ok(Self { token_uri: safe(address)?, ..self })
    }

    /// Sets what the token is for, several parted by spaces: the whole of Google Cloud if it isn't set.
    #[must_use]
    pub fn scope(self, scope: impl Into<String>) -> Self {
        Self { scope: scope.into(), ..self }
    }

    pub(super) fn email(&self) -> &str {
        &self.email
    }

    pub(super) fn request(&self, now_ms: u64) -> Result<Request<Body>, ProviderError> {
        let assertion = self.assertion(now_ms / 1_000)?;
        let grant = "urn:ietf:params:oauth:grant-type:jwt-bearer";
        form(&self.token_uri, &[("grant_type", grant), ("assertion", &assertion)])
    }

    /// The signed assertion (RFC 7515, compact).
    fn assertion(&self, now_s: u64) -> Result<String, ProviderError> {
        let header = Header { alg: "RS256", typ: "JWT", kid: self.key_id.as_deref() };
        let exp = now_s.saturating_add(LIFETIME_S);
        let claims = Claims { iss: &self.email, scope: &self.scope, aud: &self.token_uri, iat: now_s, exp };
        let [header, claims] = [json(&header)?, json(&claims)?].map(|part| URL_SAFE_NO_PAD.encode(part.get()));
        let message = format!("{header}.{claims}");
        let signature = self.signer.sign(message.as_bytes())?;
        Ok(format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature)))
    }
}

impl fmt::Debug for ServiceAccount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServiceAccount").field("email", &self.email).finish_non_exhaustive()
    }
}
