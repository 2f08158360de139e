//! Failed responses by status, headers and body.
#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use agent_core::{Billed, ErrorDetail, ProviderError, ProviderErrorKind as Kind, classify, is_overflow_text};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};

fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
    let pair =
        |(name, value): &(&'static str, &'static str)| (HeaderName::from_static(name), HeaderValue::from_static(value));
    pairs.iter().map(pair).collect()
}

fn classified(status: u16, body: impl AsRef<[u8]>) -> ProviderError {
    classify(StatusCode::from_u16(status).unwrap(), &HeaderMap::new(), body.as_ref())
}

const STATUSES: [(u16, Kind, Billed); 17] = [
    (400, Kind::InvalidRequest, Billed::No),
    (401, Kind::Auth, Billed::No),
    (402, Kind::Quota, Billed::No),
    (403, Kind::Permission, Billed::No),
    (404, Kind::NotFound, Billed::No),
    (408, Kind::Timeout, Billed::No),
    (409, Kind::Server, Billed::No),
    (413, Kind::InvalidRequest, Billed::No),
    (422, Kind::InvalidRequest, Billed::No),
    (429, Kind::RateLimited, Billed::No),
    (500, Kind::Server, Billed::Unknown),
    (502, Kind::Server, Billed::Unknown),
    (503, Kind::Overloaded, Billed::No),
    (504, Kind::Server, Billed::Unknown),
    (529, Kind::Overloaded, Billed::No),
    (599, Kind::Server, Billed::Unknown),
    (302, Kind::Other, Billed::Unknown),
];

#[test]
fn statuses_decide_where_bodies_say_nothing() {
    let bodies: [&[u8]; 8] = [
        b"<html><body>Bad gateway</body></html>",
        b"\xff\xfe not text",
        b"{}",
        b"[]",
        b"\"oops\"",
        b"{\"error\":{\"message\":\"odd\",\"type\":\"invalid_request_error\"}}",
        b"{\"error\":true}",
        b"{\"type\":\"error\",\"error\":{\"type\":\"error\",\"message\":null}}",
    ];
    for (status, kind, billed) in STATUSES {
        for body in bodies {
            let error = classified(status, body);
            let got = (error.kind(), error.billed(), error.status());
            let body = String::from_utf8_lossy(body);
            assert_eq!(got, (kind, billed, Some(status)), "{status} {body}");
        }
    }
}

#[test]
fn empty_bodies() {
    for (status, kind, _) in STATUSES {
        let kind = if matches!(status, 400 | 413) { Kind::ContextOverflow } else { kind };
        for body in ["", " \r\n"] {
            assert_eq!(classified(status, body).kind(), kind, "{status}");
        }
    }
}

#[test]
fn bodies() {
    let check = |status, body: &str, expected: (Kind, Option<&str>, &str)| {
        let error = classified(status, body);
        assert_eq!((error.kind(), error.code(), error.message()), expected, "{status} {body}");
        assert_eq!(error.body(), Some(body));
    };
    // Anthropic.
    check(
        529,
        r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
        (Kind::Overloaded, Some("overloaded_error"), "Overloaded"),
    );
    check(
        200,
        r#"{"type":"error","error":{"type":"api_error","message":"Internal server error"}}"#,
        (Kind::Server, Some("api_error"), "Internal server error"),
    );
    check(
        400,
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 200001 tokens > 200000 maximum"}}"#,
        (Kind::ContextOverflow, Some("invalid_request_error"), "prompt is too long: 200001 tokens > 200000 maximum"),
    );
    check(
        400,
        r#"{"type":"error","error":{"type":"billing_error","message":"credit"}}"#,
        (Kind::Quota, Some("billing_error"), "credit"),
    );
    // OpenAI.
    check(
        429,
        r#"{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}"#,
        (Kind::Quota, Some("insufficient_quota"), "You exceeded your current quota"),
    );
    check(
        429,
        r#"{"error":{"message":"q","type":"rate_limit_error","code":null,"status":"insufficient_quota"}}"#,
        (Kind::Quota, Some("rate_limit_error"), "q"),
    );
    check(
        429,
        r#"{"error":{"message":"Request too large: too many tokens, maximum context length","code":"rate_limit_exceeded"}}"#,
        (Kind::RateLimited, Some("rate_limit_exceeded"), "Request too large: too many tokens, maximum context length"),
    );
    check(
        400,
        r#"{"error":{"message":"long","type":"invalid_request_error","code":"context_length_exceeded"}}"#,
        (Kind::ContextOverflow, Some("context_length_exceeded"), "long"),
    );
    check(
        404,
        r#"{"error":{"message":"no","type":"invalid_request_error","code":"model_not_found"}}"#,
        (Kind::NotFound, Some("model_not_found"), "no"),
    );
    check(
        400,
        r#"{"error":{"message":"bad key","code":"invalid_api_key"}}"#,
        (Kind::Auth, Some("invalid_api_key"), "bad key"),
    );
    check(
        200,
        r#"{"type":"response.failed","response":{"error":{"code":"server_error","message":"oops"}}}"#,
        (Kind::Server, Some("server_error"), "oops"),
    );
    // Gemini: an object, or a list of them.
    check(
        503,
        r#"{"error":{"code":503,"message":"busy","status":"UNAVAILABLE"}}"#,
        (Kind::Overloaded, Some("503"), "busy"),
    );
    check(
        429,
        r#"[{"error":{"code":429,"message":"slow","status":"RESOURCE_EXHAUSTED"}}]"#,
        (Kind::RateLimited, Some("429"), "slow"),
    );
    check(
        403,
        r#"{"error":{"code":403,"message":"no","status":"PERMISSION_DENIED"}}"#,
        (Kind::Permission, Some("403"), "no"),
    );
    // Bedrock.
    check(
        400,
        r#"{"__type":"com.amazon.coral.service#ThrottlingException","message":"slow"}"#,
        (Kind::RateLimited, Some("ThrottlingException"), "slow"),
    );
    check(
        403,
        r#"{"__type":"AccessDeniedException","Message":"no"}"#,
        (Kind::Permission, Some("AccessDeniedException"), "no"),
    );
    check(
        400,
        r#"{"message":"Input is too long for requested model."}"#,
        (Kind::ContextOverflow, None, "Input is too long for requested model."),
    );
    // OpenRouter, Mistral, and servers that say it in one word.
    check(
        200,
        r#"{"error":{"code":502,"message":"Provider returned error"}}"#,
        (Kind::Server, Some("502"), "Provider returned error"),
    );
    check(500, r#"{"error":"model crashed"}"#, (Kind::Server, None, "model crashed"));
    check(422, r#"{"message":"invalid","type":"error"}"#, (Kind::InvalidRequest, None, "invalid"));
    check(502, "Bad gateway", (Kind::Server, None, "Bad gateway"));
    check(400, "context_length_exceeded", (Kind::ContextOverflow, None, "context_length_exceeded"));
}

#[test]
fn overflow_words() {
    for said in [
        "prompt is too long: 1 tokens > 0 maximum",
        "Input is too long for requested model.",
        "Your input exceeds the context window of this model",
        "The input token count (1) exceeds the maximum number of tokens allowed (0).",
        "This model's maximum prompt length is 0 but the request contains 1 tokens.",
        "Please reduce the length of the messages or completion.",
        "This model's maximum context length is 0 tokens.",
        "request (1 tokens) exceeds the available context size (0 tokens)",
        "MAXIMUM CONTEXT LENGTH",
    ] {
        assert!(is_overflow_text(said), "{said}");
        assert_eq!(classified(400, said).kind(), Kind::ContextOverflow, "{said}");
        assert_eq!(classified(500, said).kind(), Kind::ContextOverflow, "{said}");
        assert_eq!(classified(429, said).kind(), Kind::RateLimited, "{said}");
        assert_eq!(classified(503, said).kind(), Kind::Overloaded, "{said}");
    }
    for said in ["", "temperature is too long", "the context was fine", "max_tokens: too large"] {
        assert!(!is_overflow_text(said), "{said}");
    }
}

#[test]
fn retries() {
    let retryable = [Kind::RateLimited, Kind::Overloaded, Kind::Server, Kind::Timeout, Kind::Network];
    let never = [
        Kind::Auth,
        Kind::Permission,
        Kind::InvalidRequest,
        Kind::NotFound,
        Kind::ContextOverflow,
        Kind::Quota,
        Kind::Protocol,
        Kind::Refused,
        Kind::Unsupported,
        Kind::Cancelled,
        Kind::Other,
    ];
    for (kinds, expected) in [(&retryable[..], true), (&never[..], false)] {
        for kind in kinds {
            assert_eq!(kind.is_retryable(), expected, "{kind}");
            let error = ProviderError::new(*kind, "");
            assert_eq!(error.is_retryable(), expected);
            // The vendor's word wins.
            assert_eq!(error.with_should_retry(!expected).is_retryable(), !expected);
        }
    }
    let check = |status, value: &'static str, expected| {
        let headers = headers(&[("x-should-retry", value)]);
        let status = StatusCode::from_u16(status).unwrap();
        assert_eq!(classify(status, &headers, b"{}").is_retryable(), expected, "{value}");
    };
    check(500, "false", false);
    check(400, "true", true);
    check(500, "maybe", true);
    check(400, "", false);
}

#[test]
fn request_ids() {
    let check = |pairs: &[(&'static str, &'static str)], expected: Option<&str>| {
        let error = classify(StatusCode::BAD_REQUEST, &headers(pairs), b"{}");
        assert_eq!(error.request_id(), expected);
    };
    check(&[], None);
    for name in ["request-id", "x-request-id", "x-amzn-requestid", "apim-request-id", "cf-ray"] {
        check(&[(name, "r1")], Some("r1"));
    }
    check(&[("cf-ray", "far"), ("x-request-id", "near")], Some("near"));
}

#[test]
fn the_wait_is_kept() {
    let headers = headers(&[("retry-after", "7")]);
    let error = classify(StatusCode::TOO_MANY_REQUESTS, &headers, b"");
    assert_eq!(error.retry_after(0).map(|wait| wait.as_secs()), Some(7));
    assert_eq!(classified(429, "").retry_after(0), None);
}

#[test]
fn shown() {
    let check = |error: ProviderError, text: &str| assert_eq!(error.to_string(), text);
    check(classified(429, r#"{"message":"slow"}"#), "rate limited (HTTP 429): slow");
    check(classified(500, ""), "server error (HTTP 500)");
    check(ProviderError::cancelled(), "cancelled: the call was cancelled");
}

#[test]
fn bodies_are_kept_in_part() {
    let body = |len: usize| classified(500, "é".repeat(len)).body().map(str::len);
    assert_eq!(body(4096), Some(8192));
    assert_eq!(body(10_000), Some(8192));
    // Cut within a character: a mark stands for the half.
    let error = classified(500, format!("x{}", "é".repeat(10_000)));
    let kept = error.body().unwrap();
    assert!(kept.ends_with("é\u{fffd}") && kept.len() < 8200, "{}", kept.len());
    assert_eq!(error.message().chars().count(), 500);
}

#[test]
fn hostile_bodies_are_survived() {
    let deep = |open: &str, close: &str| format!("{}1{}", open.repeat(100_000), close.repeat(100_000));
    let bodies = [
        deep("[", "]"),
        deep("{\"error\":", "}"),
        "[".repeat(100_000),
        r#"{"code":1,"code":2}"#.to_owned(),
        r#"{"error":{"message":{"text":"x"},"code":[1,2],"type":{}}}"#.to_owned(),
        r#"{"error":{"message":"\ud800"}}"#.to_owned(),
    ];
    for body in bodies {
        assert_eq!(classified(500, body).kind(), Kind::Server);
    }
}

#[test]
fn details() {
    let check = |body: &str, codes: &[&str], message: Option<&str>| {
        let detail = ErrorDetail::read(body.as_bytes());
        assert_eq!(
            (detail.codes, detail.message.as_deref()),
            (codes.iter().map(|c| (*c).to_owned()).collect(), message)
        );
    };
    check("", &[], None);
    check(
        r#"{"error":{"type":"t","code":"c","status":"s","message":"inner"},"message":"outer"}"#,
        &["c", "t", "s"],
        Some("inner"),
    );
    check(r#"[{"error":{"code":1}},{"error":{"code":2,"message":"m"}}]"#, &["1", "2"], Some("m"));
    check(r#"{"__type":"a.b#C"}"#, &["C"], None);
    assert_eq!(ErrorDetail::read(b"\xff"), ErrorDetail::default());
}

#[test]
fn a_header_names_the_error_where_the_body_does_not() {
    let named = headers(&[("x-amzn-errortype", "ThrottlingException:http://internal.amazon.com/")]);
    let error = classify(StatusCode::BAD_REQUEST, &named, b"{\"message\":\"slow down\"}");
    assert_eq!((error.kind(), error.code()), (Kind::RateLimited, Some("ThrottlingException")));
}
