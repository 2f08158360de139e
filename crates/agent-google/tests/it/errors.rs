//! Responses with an error status, sorted.

use agent_core::{Billed, ProviderError, ProviderErrorKind as Kind, Wire};
use agent_google::GoogleWire;
use http::{HeaderMap, HeaderValue, StatusCode};
use serde_json::{Value, json};

fn sorted(status: u16, body: &str) -> ProviderError {
    GoogleWire::gemini().classify(StatusCode::from_u16(status).unwrap(), &HeaderMap::new(), body.as_bytes())
}

fn error(code: u16, status: &str, message: &str, details: Value) -> String {
    json!({"error": {"code": code, "status": status, "message": message, "details": details}}).to_string()
}

#[test]
fn w02_and_w05_statuses_are_sorted_before_they_are_worded() {
    let overflow = "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).";
    let cases = [
        (400, error(400, "INVALID_ARGUMENT", "bad", json!([])), Kind::InvalidRequest, false),
        (400, error(400, "INVALID_ARGUMENT", overflow, json!([])), Kind::ContextOverflow, false),
        (413, String::new(), Kind::ContextOverflow, false),
        (401, error(401, "UNAUTHENTICATED", "no token", json!([])), Kind::Auth, false),
        (403, error(403, "PERMISSION_DENIED", "not you", json!([])), Kind::Permission, false),
        (404, error(404, "NOT_FOUND", "no such model", json!([])), Kind::NotFound, false),
        (408, String::new(), Kind::Timeout, true),
        (429, error(429, "RESOURCE_EXHAUSTED", "slow", json!([])), Kind::RateLimited, true),
        (500, error(500, "INTERNAL", "oops", json!([])), Kind::Server, true),
        (502, "<html>".into(), Kind::Server, true),
        (503, error(503, "UNAVAILABLE", "busy", json!([])), Kind::Overloaded, true),
        (504, error(504, "DEADLINE_EXCEEDED", "late", json!([])), Kind::Server, true),
    ];
    for (status, body, kind, retryable) in cases {
        let found = sorted(status, &body);
        assert_eq!((found.kind(), found.is_retryable(), found.status()), (kind, retryable, Some(status)), "{body}");
        if body.starts_with('{') {
            assert_eq!(
                sorted(status, &format!("[{body}]")).kind(),
                kind,
                "an answer that is no stream of events is a list"
            );
        }
    }
}

#[test]
fn w11_a_quota_that_is_used_up_is_not_tried_again() {
    let failure = |id: &str| {
        let quota = json!({"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": id}]});
        let retry = json!({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "31.5s"});
        sorted(429, &error(429, "RESOURCE_EXHAUSTED", "quota", json!([quota, retry])))
    };
    let day = failure("GenerateRequestsPerDayPerProjectPerModel-FreeTier");
    assert_eq!((day.kind(), day.is_retryable(), day.billed()), (Kind::Quota, false, Billed::No));
    assert_eq!((day.status(), day.message()), (Some(429), "quota"));
    assert!(day.body().unwrap().contains("PerDay"));
    let minute = failure("GenerateRequestsPerMinutePerProjectPerModel");
    assert_eq!((minute.kind(), minute.retry_after(0).unwrap().as_millis()), (Kind::RateLimited, 31_500));
}

#[test]
fn a_header_with_advice_wins_over_the_details() {
    let retry = json!([{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "31.5s"}]);
    let body = error(503, "UNAVAILABLE", "busy", retry);
    let headers = HeaderMap::from_iter([(http::header::RETRY_AFTER, HeaderValue::from_static("4"))]);
    let found = GoogleWire::gemini().classify(StatusCode::SERVICE_UNAVAILABLE, &headers, body.as_bytes());
    assert_eq!(found.retry_after(0).unwrap().as_secs(), 4);
    for nonsense in ["-1s", "1e400s", "soon", "12", ""] {
        let retry = json!([{"retryDelay": nonsense}, 7, null]);
        assert_eq!(sorted(503, &error(503, "UNAVAILABLE", "busy", retry)).retry_after(0), None, "{nonsense}");
    }
}

#[test]
fn a_wrong_key_is_an_auth_error_whatever_its_status() {
    let reason = json!([{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}]);
    let found = sorted(400, &error(400, "INVALID_ARGUMENT", "API key not valid.", reason));
    assert_eq!((found.kind(), found.status(), found.is_retryable()), (Kind::Auth, Some(400), false));
}
