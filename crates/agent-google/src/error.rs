//! Errors as Google words them (<https://ai.google.dev/gemini-api/docs/troubleshooting>,
//! <https://google.aip.dev/193>), with the advice that their details give.

use std::{borrow::Cow, time::Duration};

use agent_core::{Billed, ProviderError, ProviderErrorKind, RetryAfter, classify};
use http::{HeaderMap, StatusCode};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::json::{Members, items, lenient, string};

#[derive(Deserialize, Default)]
#[serde(default)]
struct Report<'a> {
    #[serde(deserialize_with = "lenient")]
    code: Option<u16>,
    #[serde(borrow)]
    details: Option<&'a RawValue>,
}

/// What the details of an error say.
#[derive(Default)]
struct Advice {
    code: Option<u16>,
    retry: Option<Duration>,
    /// A quota of a day or more is used up: nothing that a wait of seconds mends.
    long: bool,
    /// The key is none.
    key: bool,
}

fn advice(body: &[u8]) -> Advice {
    let mut advice = Advice::default();
    let Ok(text) = std::str::from_utf8(body) else { return advice };
    // An answer that is not streamed as events is a list.
    let listed: Vec<&RawValue> = serde_json::from_str(text).unwrap_or_default();
    let text = listed.first().map_or(text, |first| first.get());
    let error = Members::read(text).and_then(|members| members.value("error"));
    let Some(report) = error.and_then(|error| serde_json::from_str::<Report<'_>>(error.get()).ok()) else {
        return advice;
    };
    advice.code = report.code;
    for detail in report.details.map(items).unwrap_or_default() {
        let Some(members) = Members::read(detail.get()) else { continue };
        advice.retry = advice.retry.or(members.text("retryDelay").as_deref().and_then(seconds));
        advice.key |= members.text("reason").is_some_and(|reason| reason == "API_KEY_INVALID");
        for violation in members.value("violations").map(items).unwrap_or_default() {
            let id = Members::read(violation.get()).and_then(|violation| violation.text("quotaId"));
            advice.long |= id.is_some_and(|id| id.contains("PerDay") || id.contains("PerMonth"));
        }
    }
    advice
}

/// A duration as protobuf writes it in JSON: `34.4s`.
fn seconds(text: &str) -> Option<Duration> {
    let number: f64 = text.trim().strip_suffix('s')?.parse().ok()?;
    Duration::try_from_secs_f64(number).ok()
}

/// The error that a response with an error status means.
pub(crate) fn of_response(status: StatusCode, headers: &HeaderMap, body: &[u8]) -> ProviderError {
    sorted(classify(status, headers, body), &advice(body), headers, body)
}

/// An error that comes in an answer: sorted by the status that it names, and perhaps billed.
pub(crate) fn in_stream(body: &[u8]) -> ProviderError {
    let (advice, headers) = (advice(body), HeaderMap::new());
    let named = advice.code.filter(|code| *code >= 400).and_then(|code| StatusCode::from_u16(code).ok());
    let error = classify(named.unwrap_or(StatusCode::OK), &headers, body);
    sorted(error, &advice, &headers, body).with_billed(Billed::Unknown)
}

fn sorted(error: ProviderError, advice: &Advice, headers: &HeaderMap, body: &[u8]) -> ProviderError {
    let kind = match error.kind() {
        ProviderErrorKind::RateLimited if advice.long => ProviderErrorKind::Quota,
        // A wrong key is said with status 400.
        _ if advice.key => ProviderErrorKind::Auth,
        kind => kind,
    };
    let mut error = if kind == error.kind() { error } else { again(kind, &error, body) };
    if let (None, Some(delay)) = (RetryAfter::from_headers(headers), advice.retry) {
        error = error.with_retry_after(RetryAfter::Delay(delay));
    }
    error
}

/// The same error as another kind.
fn again(kind: ProviderErrorKind, error: &ProviderError, body: &[u8]) -> ProviderError {
    let mut other = ProviderError::new(kind, error.message()).with_body(body).with_billed(error.billed());
    if let Some(status) = error.status() {
        other = other.with_status(status);
    }
    if let Some(code) = error.code() {
        other = other.with_code(code);
    }
    match error.request_id() {
        Some(id) => other.with_request_id(id),
        None => other,
    }
}

pub(crate) fn protocol(text: impl AsRef<str>) -> ProviderError {
    ProviderError::new(ProviderErrorKind::Protocol, text)
}

pub(crate) fn cut() -> ProviderError {
    ProviderError::new(ProviderErrorKind::Network, "the connection ended before the answer did")
}

/// The text of a field that may be anything; empty text is none.
pub(crate) fn text_of(raw: Option<&RawValue>) -> Option<Cow<'_, str>> {
    raw.and_then(string).filter(|text| !text.is_empty())
}
