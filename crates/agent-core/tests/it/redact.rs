//! Secrets stay out of texts: keys of all vendors, in addresses, bodies and headers.

use std::borrow::Cow;

use agent_core::{Credential, ProviderError, ProviderErrorKind, Secret, classify, redact};
use http::{HeaderMap, StatusCode};
use proptest::prelude::*;

/// A key of each vendor that marks its keys, made up; and how it begins.
const KEYS: [(&str, &str); 14] = [
    ("sk-ant-api03-AbCdEfGhIjKl_MnOpQrStUvWx-YzAA", "sk-"), // Anthropic
    ("sk-proj-AbCdEfGhIjKlMnOpQrStUvWx", "sk-"),            // OpenAI
    ("sk-or-v1-0123456789abcdef0123456789abcdef", "sk-"),   // OpenRouter
    ("AIzaSyA0123456789abcdefghijklmnopqrstuv", "AIza"),    // Google
    ("ya29.a0AbCdEfGhIjKlMnOpQr", "ya29."),                 // Google OAuth
    ("AKIAIOSFODNN7EXAMPLE", "AKIA"),                       // AWS
    ("ASIAIOSFODNN7EXAMPLE", "ASIA"),                       // AWS, temporary
    ("gsk_AbCdEfGhIjKlMnOpQrStUvWx", "gsk_"),               // Groq
    ("xai-AbCdEfGhIjKlMnOpQrStUvWx", "xai-"),               // xAI
    ("ghp_AbCdEfGhIjKlMnOpQrStUvWx", "ghp_"),               // GitHub
    ("gho_AbCdEfGhIjKlMnOpQrStUvWx", "gho_"),               // Copilot
    ("hf_AbCdEfGhIjKlMnOpQrStUvWx", "hf_"),                 // Hugging Face
    ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-_", "eyJ"),  // a JSON web token
    ("github_pat_AbCdEfGhIjKlMnOpQrStUvWx", "github_pat_"),
];

#[test]
fn keys_of_vendors_anywhere() {
    for (key, prefix) in KEYS {
        let check = |before: &str, after: &str| {
            let text = format!("{before}{key}{after}");
            assert_eq!(redact(&text), format!("{before}{prefix}[redacted]{after}"), "{text}");
        };
        check("", "");
        check("Incorrect API key provided: ", ". You can find your key at https://a.b/c.");
        check("é (", ")");
        check("{\"said\":\"", "\"}");
        check("two: ", &format!(" and {}", "x"));
        let twice = format!("{key} {key}");
        assert_eq!(redact(&twice), format!("{prefix}[redacted] {prefix}[redacted]"));
    }
}

#[test]
fn named_values() {
    let check = |text: &str, expected: &str| assert_eq!(redact(text), expected);
    let hidden = "[redacted]";
    for name in [
        "key",
        "api_key",
        "apikey",
        "api-key",
        "x-api-key",
        "access_token",
        "token",
        "secret",
        "password",
        "X-Amz-Signature",
        "X-Amz-Security-Token",
        "API_KEY",
        "x-goog-api-key",
        "client_secret",
        "refresh_token",
        "id_token",
    ] {
        check(&format!("https://a.b/c?x=1&{name}=abc%2F1+2&y=2"), &format!("https://a.b/c?x=1&{name}={hidden}&y=2"));
        check(&format!("{{\"{name}\":\"abc\"}}"), &format!("{{\"{name}\":\"{hidden}\"}}"));
        check(&format!("{{\"{name}\": \"abc\", \"x\": 1}}"), &format!("{{\"{name}\": \"{hidden}\", \"x\": 1}}"));
        check(&format!("{name}: abc\nother: def"), &format!("{name}: {hidden}\nother: def"));
        // JSON within JSON.
        check(&format!("{{\\\"{name}\\\":\\\"abc\\\"}}"), &format!("{{\\\"{name}\\\":\\\"{hidden}\\\"}}"));
    }
    check("Authorization: Bearer abc.def", "Authorization: Bearer [redacted]");
    check("{\"Authorization\":\"bearer abc\"}", "{\"Authorization\":\"bearer [redacted]\"}");
}

#[test]
fn harmless_texts_are_left_alone() {
    for text in [
        "",
        "the key was wrong",
        "no token given",
        "max_tokens: 4096 is too large",
        "{\"usage\":{\"input_tokens\":12,\"total_tokens\":34}}",
        "https://a.b/c?alt=sse&page=2",
        "sk-short and task-0123456789abcdef",
        "risk-assessment-of-the-tokenizer",
        "prompt is too long: 200001 tokens > 200000 maximum",
        "req_011CSHoEeqs5C35K2UUqR7Fy",
        "claude-haiku-4-5-20251001",
        "ключ 鍵 🔑",
    ] {
        assert!(matches!(redact(text), Cow::Borrowed(same) if same == text), "{text}: {}", redact(text));
    }
}

const KEY: &str = "sk-ant-api03-verysecretindeed";

#[test]
fn debug_never_shows_a_secret() {
    let secret = Secret::new(format!(" {KEY}\n"));
    assert_eq!((secret.expose(), secret.is_empty()), (KEY, false));
    assert_eq!(format!("{secret:?}"), "Secret([redacted])");
    assert_eq!(format!("{:?}", Secret::from("  ")), "Secret(empty)");
    assert!(Secret::from(" \n".to_owned()).is_empty());

    let credentials = [
        (Credential::Anonymous, "no credential"),
        (Credential::ApiKey(secret.clone()), "an API key"),
        (Credential::Bearer(secret.clone()), "a bearer token"),
        (
            Credential::Signing {
                access_key_id: "public".to_owned(),
                secret_key: secret.clone(),
                session_token: Some(secret),
            },
            "signing keys",
        ),
    ];
    for (credential, words) in credentials {
        assert_eq!(credential.to_string(), words);
        let debug = format!("{credential:?} {credential:#?}");
        assert!(!debug.contains("secretindeed"), "{debug}");
    }
}

#[test]
fn errors_never_show_a_secret() {
    let shown = |error: &ProviderError| format!("{error} {error:?} {error:#?}");
    let said = format!("bad key {KEY}");
    let address = std::io::Error::other("GET https://example.com/v1?key=verysecretindeed failed");
    let sourced = ProviderError::new(ProviderErrorKind::Network, "no connection").with_source(address);
    assert!(!shown(&sourced).contains("secretindeed"), "{sourced:?}");
    let error = ProviderError::new(ProviderErrorKind::Auth, &said).with_body(said.as_bytes()).with_code(KEY);
    assert!(!shown(&error).contains("secretindeed"), "{error:?}");
    for body in [
        format!("{{\"error\":{{\"message\":\"{said}\",\"code\":\"{KEY}\"}}}}"),
        said.clone(),
        format!("{}{KEY}", " ".repeat(490)),
        format!("{}{KEY}", " ".repeat(8192 - 29)),
    ] {
        let error = classify(StatusCode::UNAUTHORIZED, &HeaderMap::new(), body.as_bytes());
        assert!(!shown(&error).contains("secretindeed"), "{error:?}");
    }
}

proptest! {
    #[test]
    fn any_text_is_survived(text: String) {
        let once = redact(&text).into_owned();
        prop_assert_eq!(redact(&once), once.as_str());
    }

    #[test]
    fn a_key_never_stays(before in ".{0,20}[^-_.+/%~a-zA-Z0-9]", after in "[^-_.+/%~a-zA-Z0-9].{0,20}") {
        let text = format!("{before}{KEY}{after}");
        prop_assert!(!redact(&text).contains("secretindeed"), "{}", text);
    }
}
