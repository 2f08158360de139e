//! The driver of all wires, over real bytes: every cut, every status, credentials, cancel, breaks.

use std::{
    convert::Infallible,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use agent_core::{
    Assembler, AssistantMessage, Billed, Body, BoxFuture, CallOptions, CancelToken, ContextView, Credential,
    CredentialSource, HttpClient, HttpError, HttpProvider, IdSource, Message, ModelCall, ModelEvent, Provider,
    ProviderError, ProviderErrorKind, StopReason, Transcript, UserMessage,
};
use bytes::Bytes;
use futures_util::{FutureExt, StreamExt, stream};
use http::{Request, Response};

use crate::toy::{Seen, Server, StandingClock, ToyWire, provider};

const REPLY: &str = "data: {\"text\":\"Grü\"}\n\ndata: {\"text\":\"ße\"}\n\ndata: {\"call\":\"add\",\"id\":\"v1\"}\n\n\
                     data: {\"arguments\":\"{\\\"a\\\":\"}\n\ndata: {\"arguments\":\"1}\"}\n\n\
                     data: {\"usage\":[9,4,2]}\n\ndata: {\"stop\":\"toolUse\"}\n\n";

fn call() -> ModelCall {
    let mut transcript = Transcript::new();
    let id = IdSource::seeded(3).message(0);
    transcript.append(Message::from(UserMessage::text(id, "Hi"))).unwrap();
    ModelCall::new(CallOptions::new("toy-1").max_output(50), ContextView::of(&transcript).unwrap())
}

type Answer = Result<AssistantMessage, (Vec<ModelEvent>, ProviderError)>;

/// Sends once and folds what comes.
fn ask(provider: &dyn Provider, cancel: &CancelToken) -> Answer {
    let run = async {
        let prepared = provider.prepare(call()).await.map_err(|e| (Vec::new(), e))?;
        let mut stream = prepared.send(cancel.clone()).await.map_err(|e| (Vec::new(), e))?;
        let mut assembler = Assembler::new(IdSource::seeded(4).message(0));
        let mut events = Vec::new();
        while let Some(event) = stream.next().await {
            match event {
                Ok(event) => {
                    assembler.push(&event).unwrap();
                    events.push(event);
                }
                Err(error) => {
                    assert!(stream.next().await.is_none(), "an error is the last item");
                    return Err((events, error));
                }
            }
        }
        assert!(assembler.is_stopped(), "a stream that ends without an error has stopped");
        Ok(assembler.finish())
    };
    run.now_or_never().expect("everything is in this process")
}

fn pieces(text: &str, cuts: &[usize]) -> Vec<Bytes> {
    let mut pieces = Vec::new();
    let mut start = 0;
    for end in cuts.iter().copied().chain([text.len()]) {
        pieces.push(Bytes::copy_from_slice(&text.as_bytes()[start..end]));
        start = end;
    }
    pieces
}

#[test]
fn the_request_is_what_the_protocol_says() {
    let server = Server::new(|_| (200, vec![Bytes::from(REPLY)]));
    ask(&provider(&server), &CancelToken::new()).unwrap();
    let seen = server.seen().pop().unwrap();
    assert_eq!(seen.headers["x-api-key"], "toy-key");
    assert!(seen.headers["x-api-key"].is_sensitive(), "the key is kept out of logs");
    assert_eq!(seen.headers["content-length"], seen.body.len().to_string().as_str());
    let expected = serde_json::json!({
        "max_tokens": 50, "tools": [], "system": [],
        "messages": [{"role": "user", "content": [{"text": "Hi", "type": "text", "cache": true}]}],
    });
    assert_eq!(seen.json(), expected);
}

#[test]
fn the_answer_is_the_same_under_every_cut() {
    let whole = {
        let server = Server::new(|_| (200, vec![Bytes::from(REPLY)]));
        ask(&provider(&server), &CancelToken::new()).unwrap()
    };
    assert_eq!(whole.content[0].as_text(), Some("Grüße"));
    assert_eq!((whole.usage.prompt(), whole.stop_reason.clone()), (11, StopReason::ToolUse));
    for cut in 1..REPLY.len() {
        let server = Server::new(move |_| (200, pieces(REPLY, &[cut])));
        assert_eq!(ask(&provider(&server), &CancelToken::new()).unwrap(), whole, "cut at {cut}");
    }
    let bytes: Vec<usize> = (1..REPLY.len()).collect();
    let server = Server::new(move |_| (200, pieces(REPLY, &bytes)));
    assert_eq!(ask(&provider(&server), &CancelToken::new()).unwrap(), whole, "byte by byte");
}

#[test]
fn an_answer_that_ends_before_its_end_is_a_network_error_after_its_events() {
    let stop = REPLY.find("data: {\"stop\"").unwrap();
    for end in 0..stop {
        let server = Server::new(move |_| (200, vec![Bytes::copy_from_slice(&REPLY.as_bytes()[..end])]));
        let (events, error) = ask(&provider(&server), &CancelToken::new()).unwrap_err();
        assert_eq!((error.kind(), error.billed()), (ProviderErrorKind::Network, Billed::Unknown), "ends at {end}");
        assert!(error.is_retryable());
        assert_eq!(error.request_id(), Some("toy-1"));
        let whole = REPLY[..stop].get(..end).map_or(0, |text| text.matches("\n\n").count());
        assert!(events.len() >= whole, "what had arrived was handed on");
    }
}

/// A client whose body breaks behind these bytes.
fn breaking(text: &'static str) -> HttpClient {
    #[derive(Clone)]
    struct Breaking(&'static str);
    impl tower_service::Service<Request<Body>> for Breaking {
        type Response = Response<Body>;
        type Error = Infallible;
        type Future = std::future::Ready<Result<Response<Body>, Infallible>>;
        fn poll_ready(&mut self, _: &mut std::task::Context<'_>) -> std::task::Poll<Result<(), Infallible>> {
            std::task::Poll::Ready(Ok(()))
        }
        fn call(&mut self, _: Request<Body>) -> Self::Future {
            let data = stream::iter([Ok(http_body::Frame::data(Bytes::from(self.0)))]);
            let broken = stream::iter([Err(std::io::Error::other("reset by peer"))]);
            let body = Body::new(http_body_util::StreamBody::new(data.chain(broken)));
            std::future::ready(Ok(Response::new(body)))
        }
    }
    HttpClient::new(Breaking(text))
}

fn over(http: HttpClient, credentials: Arc<dyn CredentialSource>) -> HttpProvider<ToyWire> {
    HttpProvider::new(ToyWire::default(), http, credentials, Arc::new(StandingClock))
}

#[test]
fn a_break_behind_the_end_breaks_nothing_and_one_before_it_is_told_with_its_cause() {
    let key = || Arc::new(Credential::ApiKey("k".into()));
    assert!(ask(&over(breaking(REPLY), key()), &CancelToken::new()).is_ok());
    let (_, error) = ask(&over(breaking("data: {\"text\":\"a\"}\n\n"), key()), &CancelToken::new()).unwrap_err();
    assert_eq!(error.kind(), ProviderErrorKind::Network);
    let source = std::error::Error::source(&error).and_then(|e| e.downcast_ref::<HttpError>());
    assert!(matches!(source, Some(HttpError::Network { .. })), "{error:?}");
}

#[test]
fn an_error_within_the_answer_comes_after_what_was_said() {
    let server =
        Server::new(|_| (200, vec![Bytes::from("data: {\"text\":\"a\"}\n\ndata: {\"error\":\"out of memory\"}\n\n")]));
    let (events, error) = ask(&provider(&server), &CancelToken::new()).unwrap_err();
    assert_eq!(events.len(), 2);
    assert_eq!((error.kind(), error.message()), (ProviderErrorKind::Server, "out of memory"));
}

#[test]
fn a_failed_status_is_an_error_with_everything_that_is_known() {
    let body = r#"{"error":{"type":"rate_limit_error","message":"slow down, key sk-abcdefghijklmnop"}}"#;
    let server = Server::new(move |_| (429, pieces(body, &[10, 20])));
    let (events, error) = ask(&provider(&server), &CancelToken::new()).unwrap_err();
    assert!(events.is_empty());
    assert_eq!(error.kind(), ProviderErrorKind::RateLimited);
    assert_eq!(
        (error.status(), error.code(), error.request_id()),
        (Some(429), Some("rate_limit_error"), Some("toy-1"))
    );
    assert_eq!(error.billed(), Billed::No);
    for shown in [error.to_string(), format!("{error:?}"), error.body().unwrap().to_owned()] {
        assert!(!shown.contains("abcdefghijklmnop"), "{shown}");
    }
}

/// Gives `old` until it was refreshed, then `new`.
struct Rotating {
    refreshed: AtomicU32,
    has_new: bool,
}

impl CredentialSource for Rotating {
    fn credential(&self) -> BoxFuture<'_, Result<Credential, ProviderError>> {
        Box::pin(std::future::ready(Ok(Credential::ApiKey("old".into()))))
    }

    fn refresh<'a>(&'a self, rejected: &'a Credential) -> BoxFuture<'a, Result<Option<Credential>, ProviderError>> {
        assert!(matches!(rejected, Credential::ApiKey(key) if key.expose() == "old"));
        self.refreshed.fetch_add(1, Ordering::Relaxed);
        Box::pin(std::future::ready(Ok(self.has_new.then(|| Credential::ApiKey("new".into())))))
    }
}

#[test]
fn a_401_is_tried_once_more_with_fresh_credentials() {
    let source = |has_new| Arc::new(Rotating { refreshed: AtomicU32::new(0), has_new });
    let by_key = |seen: &Seen| match seen.headers["x-api-key"].as_bytes() {
        b"new" => (200, vec![Bytes::from(REPLY)]),
        _ => (401, vec![Bytes::from("{}")]),
    };
    let (server, rotating) = (Server::new(by_key), source(true));
    assert!(ask(&over(server.client(), rotating.clone()), &CancelToken::new()).is_ok());
    assert_eq!((server.seen().len(), rotating.refreshed.load(Ordering::Relaxed)), (2, 1));
    assert_eq!(server.seen()[0].body, server.seen()[1].body, "the same request again");

    let (server, rotating) = (Server::new(|_| (401, vec![])), source(true));
    let (_, error) = ask(&over(server.client(), rotating), &CancelToken::new()).unwrap_err();
    assert_eq!((error.kind(), server.seen().len()), (ProviderErrorKind::Auth, 2), "once more, not for ever");

    let (server, rotating) = (Server::new(|_| (401, vec![])), source(false));
    ask(&over(server.client(), rotating), &CancelToken::new()).unwrap_err();
    assert_eq!(server.seen().len(), 1, "there is no other credential");

    let server = Server::new(|_| (403, vec![]));
    ask(&over(server.client(), source(true)), &CancelToken::new()).unwrap_err();
    assert_eq!(server.seen().len(), 1, "only a 401 says that the credential is bad");
}

#[test]
fn a_credential_that_the_wire_cannot_use_is_not_sent() {
    let server = Server::new(|_| (200, vec![]));
    let (_, error) = ask(&over(server.client(), Arc::new(Credential::Anonymous)), &CancelToken::new()).unwrap_err();
    assert_eq!((error.kind(), server.seen().len()), (ProviderErrorKind::Auth, 0));
}

#[test]
fn a_cancelled_call_is_not_begun_and_one_under_way_ends_at_the_next_poll() {
    let server = Server::new(|_| (200, vec![Bytes::from("data: {\"text\":\"a\"}\n\n")]));
    let cancel = CancelToken::new();
    cancel.cancel();
    let (_, error) = ask(&provider(&server), &cancel).unwrap_err();
    assert_eq!((error.kind(), server.seen().len()), (ProviderErrorKind::Cancelled, 0));
    assert!(!error.is_retryable());

    let cancel = CancelToken::new();
    let prepared = provider(&server).prepare(call()).now_or_never().unwrap().unwrap();
    let mut stream = prepared.send(cancel.clone()).now_or_never().unwrap().unwrap();
    assert!(matches!(stream.next().now_or_never(), Some(Some(Ok(ModelEvent::BlockStart { .. })))));
    cancel.cancel();
    // What had arrived is still handed on, then the cancel.
    assert!(matches!(stream.next().now_or_never(), Some(Some(Ok(ModelEvent::TextDelta { .. })))));
    let end = stream.next().now_or_never().unwrap().unwrap().unwrap_err();
    assert_eq!(end.kind(), ProviderErrorKind::Cancelled);
    assert!(stream.next().now_or_never().unwrap().is_none());
}

#[test]
fn one_request_can_be_sent_again() {
    let server = Server::new(|_| (200, vec![Bytes::from(REPLY)]));
    let prepared = provider(&server).prepare(call()).now_or_never().unwrap().unwrap();
    for _ in 0..2 {
        let stream = prepared.send(CancelToken::new()).now_or_never().unwrap().unwrap();
        assert!(stream.count().now_or_never().unwrap() > 3);
    }
    let seen = server.seen();
    assert_eq!((seen.len(), &seen[0].body), (2, &seen[1].body));
    assert_eq!(prepared.output_bound(), Some(50));
}
