//! AWS Signature Version 4 (<https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html>).

mod canonical;
mod hmac;
mod payload;
mod time;

use std::fmt::Write;

use agent_core::Secret;
use http::HeaderMap;
use sha2::{Digest, Sha256};

pub use self::{
    canonical::PathForm,
    payload::{PayloadHash, PayloadHasher},
};
use self::{
    canonical::{CanonicalHeaders, canonical_path, canonical_query},
    hmac::hmac,
    time::timestamp,
};

const ALGORITHM: &str = "AWS4-HMAC-SHA256";

/// Keys, and what they sign for.
///
/// ```
/// use agent_bedrock::{PayloadHash, SigV4, SignedRequest};
/// use http::{HeaderMap, HeaderValue};
/// let secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY".into();
/// let signer = SigV4::new("AKIDEXAMPLE", &secret, "us-east-1", "service");
/// let mut headers = HeaderMap::new();
/// headers.insert("host", HeaderValue::from_static("example.amazonaws.com"));
/// headers.insert("x-amz-date", HeaderValue::from_static("20150830T123600Z"));
/// let request = SignedRequest::new("GET", "/", &headers);
/// let signature = signer.sign(&request, &PayloadHash::of(b""), 1_440_938_160_000);
/// assert_eq!(signature.signature, "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31");
/// ```
#[derive(Debug, Clone)]
pub struct SigV4<'a> {
    access_key_id: &'a str,
    secret_key: &'a Secret,
    region: &'a str,
    service: &'a str,
    path: PathForm,
}

/// What is signed of a request: all headers that it has here.
#[derive(Debug, Clone)]
pub struct SignedRequest<'a> {
    method: &'a str,
    path: &'a str,
    query: &'a str,
    headers: &'a HeaderMap,
}

/// A signature, and what it was made of.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Signature {
    /// The request in the form that both sides hash.
    pub canonical_request: String,
    /// The text under the signature.
    pub string_to_sign: String,
    /// The signature, in hexadecimal digits.
    pub signature: String,
    /// The value of the header `authorization`.
    pub authorization: String,
}

impl<'a> SignedRequest<'a> {
    /// A request without a query. The headers have `host`, and `x-amz-date` where they carry the signature.
    pub fn new(method: &'a str, path: &'a str, headers: &'a HeaderMap) -> Self {
        Self { method, path, query: "", headers }
    }

    /// Sets the query, without the question mark.
    #[must_use]
    pub fn query(self, query: &'a str) -> Self {
        Self { query, ..self }
    }
}

impl<'a> SigV4<'a> {
    /// Keys for a service in a region.
    pub fn new(access_key_id: &'a str, secret_key: &'a Secret, region: &'a str, service: &'a str) -> Self {
        Self { access_key_id, secret_key, region, service, path: PathForm::default() }
    }

    /// Sets how the path is read.
    #[must_use]
    pub fn path(self, path: PathForm) -> Self {
        Self { path, ..self }
    }

    /// The time as the header `x-amz-date` has it; milliseconds since the Unix epoch.
    pub fn date(now_ms: u64) -> String {
        timestamp(now_ms)
    }

    /// Signs a request whose headers carry the signature.
    pub fn sign(&self, request: &SignedRequest<'_>, payload: &PayloadHash, now_ms: u64) -> Signature {
        self.over(request, canonical_query(request.query, &[]), payload, &timestamp(now_ms))
    }

    /// Signs a request whose query carries the signature. `session_token` is that of temporary keys. The query
    /// wants [`Signature::signature`] as `X-Amz-Signature`, besides what stands in the canonical request.
    pub fn presign(
        &self,
        request: &SignedRequest<'_>,
        payload: &PayloadHash,
        now_ms: u64,
        seconds: u32,
        session_token: Option<&Secret>,
    ) -> Signature {
        let date = timestamp(now_ms);
        let mut more = vec![
            ("X-Amz-Algorithm", ALGORITHM.to_owned()),
            ("X-Amz-Credential", format!("{}/{}", self.access_key_id, self.scope(&date))),
            ("X-Amz-Date", date.clone()),
            ("X-Amz-Expires", seconds.to_string()),
            ("X-Amz-SignedHeaders", CanonicalHeaders::of(request.headers).names),
        ];
        more.extend(session_token.map(|token| ("X-Amz-Security-Token", token.expose().to_owned())));
        self.over(request, canonical_query(request.query, &more), payload, &date)
    }

    fn over(&self, request: &SignedRequest<'_>, query: String, payload: &PayloadHash, date: &str) -> Signature {
        let headers = CanonicalHeaders::of(request.headers);
        let canonical_request = format!(
            "{}\n{}\n{query}\n{}\n{}\n{}",
            request.method,
            canonical_path(request.path, self.path),
            headers.lines,
            headers.names,
            payload.hex(),
        );
        let scope = self.scope(date);
        let string_to_sign = format!("{ALGORITHM}\n{date}\n{scope}\n{}", hex(&Sha256::digest(&canonical_request)));
        let signature = hex(&hmac(&self.key(date), string_to_sign.as_bytes()));
        let authorization = format!(
            "{ALGORITHM} Credential={}/{scope}, SignedHeaders={}, Signature={signature}",
            self.access_key_id, headers.names
        );
        Signature { canonical_request, string_to_sign, signature, authorization }
    }

    fn scope(&self, date: &str) -> String {
        format!("{}/{}/{}/aws4_request", day(date), self.region, self.service)
    }

    /// The key of a day, a region and a service.
    fn key(&self, date: &str) -> [u8; 32] {
        let secret = Secret::new(format!("AWS4{}", self.secret_key.expose()));
        let day = hmac(secret.expose().as_bytes(), day(date).as_bytes());
        [self.region, self.service, "aws4_request"].iter().fold(day, |key, part| hmac(&key, part.as_bytes()))
    }
}

fn day(date: &str) -> &str {
    date.split('T').next().unwrap_or(date)
}

fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().saturating_mul(2));
    for byte in bytes {
        _ = write!(text, "{byte:02x}");
    }
    text
}
