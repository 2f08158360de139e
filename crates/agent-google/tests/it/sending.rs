//! The wire in core's driver, over real sockets' bytes and over scripted ones.

use std::sync::Arc;

use agent_core::{
    Assembler, AssistantMessage, CallOptions, CancelToken, Credential, HttpProvider, IdSource, Provider, ProviderError,
    ProviderErrorKind as Kind,
};
use agent_google::GoogleWire;
use agent_testkit::{HttpReply, PausedTimer, ScriptedHttp};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};

use crate::given::{MODEL, STOP, Talk, parts, stream};

fn wait<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

fn good() -> HttpReply {
    let body = stream(&[&parts(r#"{"text":"Hi"}"#), STOP]);
    HttpReply::new(StatusCode::OK).header("content-type", "text/event-stream").body([body])
}

fn ask(wire: GoogleWire, credential: Credential, http: &ScriptedHttp) -> Result<AssistantMessage, ProviderError> {
    let provider = HttpProvider::new(wire, http.client(), Arc::new(credential), Arc::new(PausedTimer::at(0)));
    wait(async {
        let prepared = provider.prepare(Talk::new().call(CallOptions::new(MODEL))).await?;
        let mut stream = prepared.send(CancelToken::new()).await?;
        let mut assembler = Assembler::new(IdSource::seeded(2).message(0));
        while let Some(event) = stream.next().await {
            assembler.push(&event?).unwrap();
        }
        Ok(assembler.finish())
    })
}

fn sent(wire: GoogleWire, credential: Credential) -> (String, HeaderMap) {
    let http = ScriptedHttp::new([good()]);
    assert_eq!(ask(wire, credential, &http).unwrap().content, vec!["Hi".into()]);
    let request = http.requests().pop().unwrap();
    assert_eq!(request.headers[header::CONTENT_LENGTH], request.body.len().to_string());
    (request.uri.to_string(), request.headers)
}

const KEY: &str = "x-goog-api-key";

#[test]
fn case_85_the_key_stands_in_a_header_and_nowhere_else() {
    let (uri, headers) = sent(GoogleWire::gemini(), Credential::ApiKey("AIzaTestTestTestTest\r\n".into()));
    assert!(!uri.contains("AIza"), "{uri}");
    assert_eq!(headers[KEY], "AIzaTestTestTestTest");
    assert!(headers[KEY].is_sensitive() && headers.get(header::AUTHORIZATION).is_none());
    let (_, headers) = sent(GoogleWire::vertex("p", "global"), Credential::Bearer("ya29.token".into()));
    assert_eq!(headers[header::AUTHORIZATION], "Bearer ya29.token");
    assert!(headers[header::AUTHORIZATION].is_sensitive() && headers.get(KEY).is_none());
    let (_, headers) = sent(GoogleWire::gemini(), Credential::Anonymous);
    assert!(headers.get(KEY).is_none() && headers.get(header::AUTHORIZATION).is_none());

    let http = ScriptedHttp::new([]);
    let signing = Credential::Signing { access_key_id: "a".into(), secret_key: "b".into(), session_token: None };
    for wrong in [signing, Credential::ApiKey("a\u{7f}b".into())] {
        let error = ask(GoogleWire::gemini(), wrong, &http).unwrap_err();
        assert_eq!(error.kind(), Kind::Auth);
        assert!(!error.to_string().contains("a\u{7f}b"));
    }
    assert!(http.requests().is_empty());
}

#[test]
fn w04_a_header_of_yours_stands_once() {
    let wire = GoogleWire::gemini().header(HeaderName::from_static(KEY), HeaderValue::from_static("mine"));
    let wire = wire.header(HeaderName::from_static("x-goog-user-project"), HeaderValue::from_static("p"));
    let (_, headers) = sent(wire, Credential::ApiKey("theirs".into()));
    assert_eq!(headers.get_all(KEY).iter().collect::<Vec<_>>(), ["mine"]);
    assert_eq!(headers["x-goog-user-project"], "p");
    assert_eq!(headers[header::CONTENT_TYPE], "application/json");
}

#[test]
fn a_status_and_a_broken_connection_are_what_they_are() {
    let body = r#"{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"key=AIzaSecretSecretSecret used up",
        "details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"2s"}]}}"#;
    let http = ScriptedHttp::new([HttpReply::new(StatusCode::TOO_MANY_REQUESTS).body([body])]);
    let error = ask(GoogleWire::gemini(), Credential::Anonymous, &http).unwrap_err();
    assert_eq!((error.kind(), error.retry_after(0).unwrap().as_secs()), (Kind::RateLimited, 2));
    assert!(!format!("{error} {error:?}").contains("AIzaSecret"));
    let half = stream(&[&parts(r#"{"text":"Hi"}"#)]);
    let http = ScriptedHttp::new([HttpReply::new(StatusCode::OK).body([half])]);
    assert_eq!(ask(GoogleWire::gemini(), Credential::Anonymous, &http).unwrap_err().kind(), Kind::Network);
}
