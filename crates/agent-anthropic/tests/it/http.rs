//! The wire in core's driver: address, headers, credentials, answers, errors, the token counter.

use std::sync::Arc;

use agent_anthropic::{AnthropicTokenCounter, AnthropicWire, KeyHeader, Revision};
use agent_core::{
    Assembler, AssistantMessage, Billed, CallOptions, CancelToken, Credential, HttpProvider, IdSource, Provider,
    ProviderError, ProviderErrorKind as Kind, TokenCounter,
};
use agent_testkit::{HttpReply, PausedTimer, ScriptedHttp};
use http::{HeaderName, HeaderValue, StatusCode, header};
use serde_json::{Value, json};

use crate::given::{Talk, answer, block};

fn key() -> Credential {
    Credential::ApiKey("sk-test\n".into())
}

fn good() -> HttpReply {
    let text = block(0, json!({"type": "text"}), &[json!({"type": "text_delta", "text": "Hi"})]);
    HttpReply::new(StatusCode::OK).header("content-type", "text/event-stream").body([answer(&text, "end_turn")])
}

fn wait<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

fn ask(wire: AnthropicWire, credential: Credential, http: &ScriptedHttp) -> Result<AssistantMessage, ProviderError> {
    let provider = HttpProvider::new(wire, http.client(), Arc::new(credential), Arc::new(PausedTimer::at(0)));
    let mut talk = Talk::new();
    talk.says("Hi");
    wait(async {
        let prepared = provider.prepare(talk.call()).await?;
        let mut stream = prepared.send(CancelToken::new()).await?;
        let mut assembler = Assembler::new(IdSource::seeded(2).message(0));
        while let Some(event) = stream.next().await {
            assembler.push(&event?).unwrap();
        }
        Ok(assembler.finish())
    })
}

/// The headers that one request had, by name.
fn sent(wire: AnthropicWire, credential: Credential) -> (String, http::HeaderMap) {
    let http = ScriptedHttp::new([good()]);
    assert_eq!(ask(wire, credential, &http).unwrap().content, vec!["Hi".into()]);
    let request = http.requests().pop().unwrap();
    (request.uri.to_string(), request.headers)
}

#[test]
fn the_address_is_the_base_and_messages() {
    let of = |base: &str| sent(AnthropicWire::at(base).unwrap(), key()).0;
    assert_eq!(sent(AnthropicWire::new(), key()).0, "https://api.anthropic.com/v1/messages");
    assert_eq!(of("https://api.anthropic.com"), "https://api.anthropic.com/v1/messages");
    assert_eq!(of("https://api.anthropic.com/v1//"), "https://api.anthropic.com/v1/messages");
    assert_eq!(of("http://127.0.0.1:8080/anthropic/"), "http://127.0.0.1:8080/anthropic/messages");
    assert!(AnthropicWire::at("not an address").is_err());
}

#[test]
fn revisions_differ_in_version_and_key_header() {
    let (_, new) = sent(AnthropicWire::new(), key());
    assert_eq!(
        (&new["anthropic-version"], &new[header::AUTHORIZATION]),
        (&"2026-10-21".parse().unwrap(), &"Bearer sk-test".parse().unwrap())
    );
    assert!(new[header::AUTHORIZATION].is_sensitive() && new.get("x-api-key").is_none());
    assert!(new.get("anthropic-beta").is_none());
    let (_, old) = sent(AnthropicWire::new().revision(Revision::V2023_06_01), key());
    assert_eq!(
        (&old["anthropic-version"], &old["x-api-key"]),
        (&"2023-06-01".parse().unwrap(), &"sk-test".parse().unwrap())
    );
    assert!(old["x-api-key"].is_sensitive() && old.get(header::AUTHORIZATION).is_none());
    let (_, mixed) = sent(AnthropicWire::new().key_header(KeyHeader::XApiKey), key());
    assert!(mixed.get("x-api-key").is_some());
}

#[test]
fn each_credential_goes_where_it_belongs() {
    let old = || AnthropicWire::new().revision(Revision::V2023_06_01);
    let bearer = sent(old(), Credential::Bearer("t".into())).1;
    assert_eq!(
        (&bearer[header::AUTHORIZATION], bearer.get("x-api-key")),
        (&"Bearer t".parse::<HeaderValue>().unwrap(), None)
    );
    let oauth = sent(old(), Credential::ApiKey("sk-ant-oat01-x".into())).1;
    assert!(oauth.get("x-api-key").is_none() && oauth.get("x-app").is_none(), "an OAuth token, and no impersonation");
    let anonymous = sent(old(), Credential::Anonymous).1;
    assert!(anonymous.get("x-api-key").is_none() && anonymous.get(header::AUTHORIZATION).is_none());
    let own = old().header(header::AUTHORIZATION, HeaderValue::from_static("Bearer mine"));
    let own = sent(own.header(HeaderName::from_static("x-route"), HeaderValue::from_static("a")), key()).1;
    assert_eq!(own.get_all(header::AUTHORIZATION).iter().collect::<Vec<_>>(), ["Bearer mine"]);
    assert_eq!((&own["x-route"], own.get("x-api-key")), (&HeaderValue::from_static("a"), None));
    let http = ScriptedHttp::new([]);
    let signing = Credential::Signing { access_key_id: "a".into(), secret_key: "b".into(), session_token: None };
    for wrong in [signing, Credential::ApiKey("a\u{7f}b".into())] {
        let error = ask(AnthropicWire::new(), wrong, &http).unwrap_err();
        assert_eq!(error.kind(), Kind::Auth);
    }
    assert!(http.requests().is_empty());
}

#[test]
fn statuses_are_sorted_with_billing_and_advice() {
    let fail = |status: u16, body: Value| {
        let reply = HttpReply::new(StatusCode::from_u16(status).unwrap()).header("retry-after", "2");
        let http = ScriptedHttp::new([reply.body([body.to_string()])]);
        ask(AnthropicWire::new(), key(), &http).unwrap_err()
    };
    let error = |code: &str, text: &str| {
        let error = json!({"type": code, "message": text});
        json!({"type": "error", "error": error, "request_id": "req_9"})
    };
    let cases = [
        (400, "invalid_request_error", "bad", Kind::InvalidRequest, Billed::No),
        (400, "invalid_request_error", "prompt is too long: 2 > 1", Kind::ContextOverflow, Billed::No),
        (402, "billing_error", "pay", Kind::Quota, Billed::No),
        (403, "permission_error", "no", Kind::Permission, Billed::No),
        (404, "not_found_error", "no model", Kind::NotFound, Billed::No),
        (413, "request_too_large", "big", Kind::InvalidRequest, Billed::No),
        (429, "rate_limit_error", "slow down", Kind::RateLimited, Billed::No),
        (500, "api_error", "oops", Kind::Server, Billed::Unknown),
        (529, "overloaded_error", "busy", Kind::Overloaded, Billed::No),
    ];
    for (status, code, text, kind, billed) in cases {
        let found = fail(status, error(code, text));
        assert_eq!((found.kind(), found.billed(), found.message()), (kind, billed, text), "{status}");
        assert_eq!((found.status(), found.code(), found.request_id()), (Some(status), Some(code), Some("req_9")));
        assert_eq!(found.retry_after(0).unwrap().as_secs(), 2);
    }
}

#[test]
fn tokens_are_counted_at_the_endpoint() {
    let http = ScriptedHttp::new([
        HttpReply::new(StatusCode::OK).body(["{\"input_tokens\":", "2095}"]),
        HttpReply::new(StatusCode::OK).body(["{}"]),
        HttpReply::new(StatusCode::from_u16(529).unwrap()).body(["{}"]),
    ]);
    let counter =
        AnthropicTokenCounter::new(AnthropicWire::new(), http.client(), Arc::new(key()), Arc::new(PausedTimer::at(0)));
    let mut talk = Talk::new();
    talk.says("Hi");
    let mut options = CallOptions::new("claude-sonnet-5").system("Be brief.").max_output(5);
    options.stop_sequences = vec!["END".into()];
    let call = talk.call_with(options);
    assert_eq!(wait(counter.count(&call)).unwrap(), 2_095);
    let request = http.requests().pop().unwrap();
    assert_eq!(request.uri, "https://api.anthropic.com/v1/messages/count_tokens");
    let expected = json!({
        "model": "claude-sonnet-5", "system": [{"type": "text", "text": "Be brief."}],
        "messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}],
    });
    assert_eq!(serde_json::from_slice::<Value>(&request.body).unwrap(), expected);
    assert!(wait(counter.count(&call)).is_err(), "an answer without a count");
    assert_eq!(wait(counter.count(&call)).unwrap_err().kind(), Kind::Overloaded);
}
