//! The seam to HTTP: a client that any tower stack can be, bodies, retry advice, redaction.

mod body;
mod client;
mod error;
mod redact;
mod retry_after;

pub use self::{
    body::Body,
    client::HttpClient,
    error::{HttpError, HttpPhase},
    redact::{Secret, redact},
    retry_after::RetryAfter,
};

/// The vendor's id of a request, under any of the names that vendors give it.
pub(crate) fn request_id(headers: &http::HeaderMap) -> Option<&str> {
    const NAMES: [&str; 5] = ["request-id", "x-request-id", "x-amzn-requestid", "apim-request-id", "cf-ray"];
    NAMES.iter().find_map(|name| headers.get(*name)?.to_str().ok())
}
