//! A token and its lifetime, read from the answer of a token server (RFC 6749, section 5).

use agent_core::{Billed, Body, Credential, ProviderError, ProviderErrorKind, Secret, classify};
use http::Response;
use serde::Deserialize;

use super::{TokenGrant, failed};
use crate::json::{Members, lenient};

/// The largest answer that is read, in bytes.
const LARGEST: usize = 64 * 1024;
/// How long before its end a token is refreshed: as the vendor's own libraries do, and short enough that the metadata
/// server, which keeps tokens itself, has a new one by then.
const MARGIN_MS: u64 = 225_000;
/// What is assumed of a token that does not say how long it lives.
const LIFETIME_S: u64 = 600;

#[derive(Clone)]
pub(super) struct Token {
    secret: Secret,
    pub(super) expires_ms: u64,
    pub(super) refresh_ms: u64,
}

impl Token {
    /// A token that was asked for at `asked_ms` and lives so long from then on.
    fn new(secret: Secret, lifetime_ms: u64, asked_ms: u64) -> Self {
        let early = lifetime_ms.saturating_sub(MARGIN_MS).max(lifetime_ms / 2);
        Self { secret, expires_ms: asked_ms.saturating_add(lifetime_ms), refresh_ms: asked_ms.saturating_add(early) }
    }

    pub(super) fn credential(&self) -> Credential {
        Credential::Bearer(self.secret.clone())
    }
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Granted {
    #[serde(deserialize_with = "lenient")]
    access_token: Option<String>,
    #[serde(deserialize_with = "lenient")]
    expires_in: Option<u64>,
}

pub(super) async fn read(grant: &TokenGrant, response: Response<Body>, asked_ms: u64) -> Result<Token, ProviderError> {
    let (head, body) = response.into_parts();
    if !head.status.is_success() {
        let body = body.excerpt(LARGEST).await;
        return Err(refused(grant, head.status, &head.headers, &body));
    }
    if let TokenGrant::MetadataServer(_) = grant
        && head.headers.get("metadata-flavor").is_none_or(|flavor| flavor != "Google")
    {
        return Err(failed(format!("{grant} does not answer as one; is this no machine of Google Cloud?")));
    }
    let body = body.collect(LARGEST).await.map_err(|e| {
        let text = format!("the answer of {grant} cannot be read");
        ProviderError::new(ProviderErrorKind::Network, text).with_billed(Billed::No).with_source(e)
    })?;
    let granted: Granted = serde_json::from_slice(&body).unwrap_or_default();
    let secret = granted.access_token.map(Secret::new).filter(|secret| !secret.is_empty());
    // What came instead may hold a secret, and is not shown.
    let secret = secret.ok_or_else(|| failed(format!("{grant} gave no access token")))?;
    let lifetime = granted.expires_in.unwrap_or(LIFETIME_S);
    Ok(Token::new(secret, lifetime.saturating_mul(1_000), asked_ms))
}

/// A token server's refusal: `{"error":"invalid_grant","error_description":"…"}`.
fn refused(grant: &TokenGrant, status: http::StatusCode, headers: &http::HeaderMap, body: &[u8]) -> ProviderError {
    let general = classify(status, headers, body);
    let members = std::str::from_utf8(body).ok().and_then(Members::read).unwrap_or_default();
    let words: Vec<_> = ["error", "error_description"].iter().filter_map(|name| members.text(name)).collect();
    let words = if words.is_empty() { general.message().to_owned() } else { words.join(": ") };
    // What is wrong with the grant is no fault of the request that needs it.
    let kind = if general.is_retryable() { general.kind() } else { ProviderErrorKind::Auth };
    let text = format!("{grant} refused with HTTP {}: {words}", status.as_u16());
    let error = ProviderError::new(kind, text).with_billed(Billed::No);
    match agent_core::RetryAfter::from_headers(headers) {
        Some(advice) => error.with_retry_after(advice),
        None => error,
    }
}
