//! Sorts a failed response by status, headers and body, before any text is made of it.

use std::collections::BTreeMap;

use http::{HeaderMap, StatusCode};
use serde_json::value::RawValue;

use super::{Billed, ProviderError, ProviderErrorKind as Kind};
use crate::{RetryAfter, http::request_id, redact};

/// The vendor's words for "the prompt does not fit", in lower case: Anthropic, Bedrock, OpenAI,
/// Gemini, xAI, Groq, OpenRouter, Copilot, llama.cpp, LM Studio, MiniMax, Kimi, and general ones.
const OVERFLOW: &str = "\
    prompt is too long|input is too long|exceeds the context window|exceeds the maximum number of tokens\
    |maximum prompt length|reduce the length of the messages|maximum context length|exceeds the limit of\
    |exceeds the available context size|greater than the context length|context window exceeds limit\
    |exceeded model token limit|context length exceeded|context_length_exceeded|model_context_window_exceeded\
    |too many tokens|token limit exceeded";

/// Error codes and types of all vendors, in lower case.
const CODES: [(Kind, &str); 10] = [
    (Kind::RateLimited, "429 rate_limit rate_limit_error rate_limit_exceeded too_many_requests"),
    (Kind::RateLimited, "throttlingexception resource_exhausted"),
    (Kind::Overloaded, "503 529 overloaded_error overloaded no_capacity unavailable serviceunavailableexception"),
    (Kind::Quota, "insufficient_quota billing_error billing_hard_limit_reached servicequotaexceededexception"),
    (Kind::ContextOverflow, "context_length_exceeded model_context_window_exceeded exceed_context_size_error"),
    (Kind::Auth, "401 authentication_error invalid_api_key unauthenticated unrecognizedclientexception"),
    (Kind::Permission, "403 permission_error permission_denied accessdeniedexception"),
    (Kind::NotFound, "not_found_error model_not_found"),
    (Kind::Server, "500 502 504 api_error server_error internal"),
    (Kind::Timeout, "timeout_error"),
];

/// What a vendor's error body says, whatever its shape.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ErrorDetail {
    /// The codes and types, most specific first.
    pub codes: Vec<String>,
    /// The text.
    pub message: Option<String>,
}

impl ErrorDetail {
    /// Reads an error object: `{"error":{…}}`, `{"response":{"error":{…}}}`, a list of them, or the
    /// bare object. What is not there stays empty.
    pub fn read(body: &[u8]) -> Self {
        let mut detail = Self::default();
        if let Ok(text) = std::str::from_utf8(body) {
            detail.collect(text, 0);
        }
        detail
    }

    fn collect(&mut self, text: &str, depth: u8) {
        if depth > 3 {
            return;
        }
        // Gemini wraps the errors of an unstreamed call in a list.
        let items: Vec<&RawValue> = serde_json::from_str(text).unwrap_or_default();
        let fields: BTreeMap<String, &RawValue> = serde_json::from_str(text).unwrap_or_default();
        let errors = ["response", "error"].iter().filter_map(|name| fields.get(*name));
        items.iter().chain(errors).for_each(|inner| self.collect(inner.get(), depth + 1));

        // AWS writes `namespace#Name`, and some vendors say `"error"` where a type belongs.
        let codes = ["code", "type", "status", "__type"].iter().filter_map(|name| fields.get(*name));
        let codes = codes.filter_map(|code| code.get().trim_matches('"').rsplit('#').next());
        self.codes.extend(codes.filter(|code| !matches!(*code, "" | "null" | "error")).map(str::to_owned));

        // `{"error":"text"}`: what is no object is the message itself, if it is a string.
        let itself = if depth > 0 { text } else { "" };
        let message = fields.get("message").or_else(|| fields.get("Message")).map_or(itself, |message| message.get());
        self.message = self.message.take().or_else(|| serde_json::from_str(message).ok());
    }

    /// The kind that the codes name, if they name one.
    pub fn kind(&self) -> Option<Kind> {
        let of = |code: &String| {
            let code = code.to_ascii_lowercase();
            CODES.iter().find(|(_, names)| names.split(' ').any(|name| name == code)).map(|(kind, _)| *kind)
        };
        // `insufficient_quota` beside a general `rate_limit_error` is the more exact word.
        self.codes.iter().filter_map(of).reduce(|kind, next| if next == Kind::Quota { next } else { kind })
    }
}

/// Whether a text says that the prompt does not fit.
pub fn is_overflow_text(text: &str) -> bool {
    let lower = text.to_lowercase();
    OVERFLOW.split('|').any(|phrase| lower.contains(phrase))
}

/// The error that a failed response means.
///
/// Rate limits and overload are decided before overflow phrases are looked for, since vendors put
/// "too many tokens" into both. An empty body under 400 or 413 is how Cerebras and Mistral say that
/// the prompt does not fit. A response that was turned away (4xx, 503, 529) was not billed.
///
/// ```
/// use agent_core::{ProviderErrorKind, classify};
/// use http::{HeaderMap, StatusCode};
/// let body = br#"{"error":{"message":"prompt is too long: 210000 tokens"}}"#;
/// let error = classify(StatusCode::BAD_REQUEST, &HeaderMap::new(), body);
/// assert_eq!(error.kind(), ProviderErrorKind::ContextOverflow);
/// ```
pub fn classify(status: StatusCode, headers: &HeaderMap, body: &[u8]) -> ProviderError {
    let mut detail = ErrorDetail::read(body);
    // AWS also names the error in a header: `ThrottlingException:http://…`.
    let named = headers.get("x-amzn-errortype").and_then(|value| value.to_str().ok()?.split(':').next());
    detail.codes.extend(named.map(str::to_owned));
    let code = status.as_u16();
    let plain_text = || String::from_utf8_lossy(body).trim().chars().take(500).collect();
    let text = detail.message.clone().unwrap_or_else(plain_text);
    let kind = kind_of(code, &detail, &text, body);
    let turned_away = status.is_client_error() || matches!(code, 503 | 529);
    let billed = if turned_away { Billed::No } else { Billed::Unknown };
    let mut error = ProviderError::new(kind, text).with_status(code).with_body(body).with_billed(billed);
    let response = &mut error.0.response;
    response.code = detail.codes.first().map(|code| redact(code).into_owned());
    response.request_id = request_id(headers).map(str::to_owned);
    response.retry_after = RetryAfter::from_headers(headers);
    response.should_retry = headers.get("x-should-retry").and_then(|value| value.to_str().ok()?.parse().ok());
    error
}

fn kind_of(status: u16, detail: &ErrorDetail, text: &str, body: &[u8]) -> Kind {
    let empty = || matches!(status, 400 | 413) && body.iter().all(u8::is_ascii_whitespace);
    match (status, detail.kind()) {
        (429, Some(Kind::Quota)) => Kind::Quota,
        (429, _) => Kind::RateLimited,
        (503 | 529, _) => Kind::Overloaded,
        (_, Some(kind @ (Kind::RateLimited | Kind::Overloaded | Kind::Quota))) => kind,
        _ if empty() || is_overflow_text(text) => Kind::ContextOverflow,
        (_, Some(kind)) => kind,
        (401, _) => Kind::Auth,
        (402, _) => Kind::Quota,
        (403, _) => Kind::Permission,
        (404, _) => Kind::NotFound,
        (408, _) => Kind::Timeout,
        // A conflict with a request under way: the vendors' own clients try it again.
        (409 | 500..=599, _) => Kind::Server,
        (400..=499, _) => Kind::InvalidRequest,
        _ => Kind::Other,
    }
}
