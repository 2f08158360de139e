//! Sorts a failed response by status, headers and body, before any text is made of it.

use http::{HeaderMap, StatusCode};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Billed, ProviderError, ProviderErrorKind as Kind};
use crate::http::{RetryAfter, request_id};

/// The vendor's words for "the prompt does not fit", in lower case: Anthropic, Bedrock, OpenAI,
/// Gemini, xAI, Groq, OpenRouter, Copilot, llama.cpp, LM Studio, MiniMax, Kimi, and general ones.
const OVERFLOW: [&str; 17] = [
    "prompt is too long",
    "input is too long",
    "exceeds the context window",
    "exceeds the maximum number of tokens",
    "maximum prompt length",
    "reduce the length of the messages",
    "maximum context length",
    "exceeds the limit of",
    "exceeds the available context size",
    "greater than the context length",
    "context window exceeds limit",
    "exceeded model token limit",
    "context length exceeded",
    "context_length_exceeded",
    "model_context_window_exceeded",
    "too many tokens",
    "token limit exceeded",
];

/// Error codes and types of all vendors, in lower case.
const CODES: [(&str, Kind); 31] = [
    ("rate_limit_error", Kind::RateLimited),
    ("rate_limit_exceeded", Kind::RateLimited),
    ("rate_limit", Kind::RateLimited),
    ("too_many_requests", Kind::RateLimited),
    ("throttlingexception", Kind::RateLimited),
    ("resource_exhausted", Kind::RateLimited),
    ("overloaded_error", Kind::Overloaded),
    ("overloaded", Kind::Overloaded),
    ("no_capacity", Kind::Overloaded),
    ("unavailable", Kind::Overloaded),
    ("serviceunavailableexception", Kind::Overloaded),
    ("insufficient_quota", Kind::Quota),
    ("billing_error", Kind::Quota),
    ("billing_hard_limit_reached", Kind::Quota),
    ("servicequotaexceededexception", Kind::Quota),
    ("context_length_exceeded", Kind::ContextOverflow),
    ("model_context_window_exceeded", Kind::ContextOverflow),
    ("exceed_context_size_error", Kind::ContextOverflow),
    ("authentication_error", Kind::Auth),
    ("invalid_api_key", Kind::Auth),
    ("unauthenticated", Kind::Auth),
    ("unrecognizedclientexception", Kind::Auth),
    ("permission_error", Kind::Permission),
    ("permission_denied", Kind::Permission),
    ("accessdeniedexception", Kind::Permission),
    ("not_found_error", Kind::NotFound),
    ("model_not_found", Kind::NotFound),
    ("api_error", Kind::Server),
    ("server_error", Kind::Server),
    ("internal", Kind::Server),
    ("timeout_error", Kind::Timeout),
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

#[derive(Deserialize, Default)]
#[serde(default)]
struct Wrapper<'a> {
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    #[serde(borrow)]
    response: Option<&'a RawValue>,
    #[serde(borrow)]
    code: Option<&'a RawValue>,
    #[serde(borrow)]
    status: Option<&'a RawValue>,
    #[serde(borrow, rename = "type")]
    kind: Option<&'a RawValue>,
    #[serde(borrow, rename = "__type")]
    aws_type: Option<&'a RawValue>,
    #[serde(borrow, alias = "Message")]
    message: Option<&'a RawValue>,
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
        let text = text.trim_start();
        if depth > 3 {
            return;
        }
        if text.starts_with('[') {
            // Gemini wraps the errors of an unstreamed call in a list.
            let items: Vec<&RawValue> = serde_json::from_str(text).unwrap_or_default();
            return items.iter().for_each(|item| self.collect(item.get(), depth + 1));
        }
        let Ok(outer) = serde_json::from_str::<Wrapper<'_>>(text) else {
            if depth > 0 && self.message.is_none() {
                self.message = serde_json::from_str(text).ok();
            }
            return;
        };
        for inner in [outer.response, outer.error].into_iter().flatten() {
            self.collect(inner.get(), depth + 1);
        }
        for code in [outer.code, outer.kind, outer.status, outer.aws_type].into_iter().flatten() {
            let code = code.get().trim_matches('"');
            // AWS writes `namespace#Name`, and some vendors say `"error"` where a type belongs.
            let code = code.rsplit('#').next().unwrap_or(code);
            if !matches!(code, "" | "null" | "error") {
                self.codes.push(code.to_owned());
            }
        }
        if self.message.is_none() {
            self.message = outer.message.and_then(|m| serde_json::from_str(m.get()).ok());
        }
    }

    /// The kind that the codes name, if they name one.
    pub fn kind(&self) -> Option<Kind> {
        let of = |code: &String| match code.to_ascii_lowercase().as_str() {
            "429" => Some(Kind::RateLimited),
            "503" | "529" => Some(Kind::Overloaded),
            "500" | "502" | "504" => Some(Kind::Server),
            "401" => Some(Kind::Auth),
            "403" => Some(Kind::Permission),
            lower => CODES.iter().find(|(name, _)| *name == lower).map(|(_, kind)| *kind),
        };
        let known = self.codes.iter().filter_map(of);
        // `insufficient_quota` beside a general `rate_limit_error` is the more exact word.
        known.reduce(|kind, next| if next == Kind::Quota { next } else { kind })
    }
}

/// Whether a text says that the prompt does not fit.
pub fn is_overflow_text(text: &str) -> bool {
    let lower = text.to_lowercase();
    OVERFLOW.iter().any(|phrase| lower.contains(phrase))
}

/// The error that a failed response means.
///
/// Rate limits and overload are decided before overflow phrases are looked for, since vendors put
/// "too many tokens" into both. An empty body under 400 or 413 is how Cerebras and Mistral say that
/// the prompt does not fit. A response that was turned away (4xx, 503, 529) was not billed.
pub fn classify(status: StatusCode, headers: &HeaderMap, body: &[u8]) -> ProviderError {
    let detail = ErrorDetail::read(body);
    let code = status.as_u16();
    let text = detail.message.clone().unwrap_or_else(|| plain_text(body));
    let kind = kind_of(code, &detail, &text, body);
    let turned_away = status.is_client_error() || matches!(code, 503 | 529);
    let billed = if turned_away { Billed::No } else { Billed::Unknown };
    let mut error = ProviderError::new(kind, text)
        .with_status(code)
        .with_body(body)
        .with_billed(billed)
        .with_should_retry(should_retry(headers));
    if let Some(code) = detail.codes.into_iter().next() {
        error = error.with_code(code);
    }
    if let Some(id) = request_id(headers) {
        error = error.with_request_id(id);
    }
    match RetryAfter::from_headers(headers) {
        Some(advice) => error.with_retry_after(advice),
        None => error,
    }
}

fn kind_of(status: u16, detail: &ErrorDetail, text: &str, body: &[u8]) -> Kind {
    let said = detail.kind();
    match (status, said) {
        (429, Some(Kind::Quota)) => return Kind::Quota,
        (429, _) => return Kind::RateLimited,
        (503 | 529, _) => return Kind::Overloaded,
        (_, Some(kind @ (Kind::RateLimited | Kind::Overloaded | Kind::Quota))) => return kind,
        _ => {}
    }
    let empty = body.iter().all(u8::is_ascii_whitespace);
    if matches!(status, 400 | 413) && empty || is_overflow_text(text) {
        return Kind::ContextOverflow;
    }
    match (status, said) {
        (_, Some(kind)) => kind,
        (401, _) => Kind::Auth,
        (402, _) => Kind::Quota,
        (403, _) => Kind::Permission,
        (404, _) => Kind::NotFound,
        (408, _) => Kind::Timeout,
        // A conflict with a request under way: the vendors' own clients try it again.
        (409, _) => Kind::Server,
        (500..=599, _) => Kind::Server,
        (400..=499, _) => Kind::InvalidRequest,
        _ => Kind::Other,
    }
}

fn plain_text(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    text.trim().chars().take(500).collect()
}

fn should_retry(headers: &HeaderMap) -> Option<bool> {
    match headers.get("x-should-retry")?.as_bytes() {
        b"true" => Some(true),
        b"false" => Some(false),
        _ => None,
    }
}
