//! A 401 over the real transport: one look-up for all who got it, and one more try for each.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use agent_core::{
    Block, BoxFuture, CacheOrder, CallOptions, CancelToken, ContextView, Credential, Decoder, Encoded, Events,
    HttpClient, HttpProvider, ModelCall, ModelEvent, Origin, Provider, ProviderError, ProviderErrorKind, Section,
    Segments, SegmentsBuilder, StopReason, Wire,
};
use agent_http::{Fetch, SingleFlight, TokioTimer};
use bytes::Bytes;
use futures_util::{StreamExt, future::join_all};
use http::{HeaderMap, HeaderValue, Request, request::Parts};
use tokio::io::AsyncWriteExt;

use crate::support::{Server, plain, read_head};

/// The least that a protocol can be: any body is an answer.
struct Ping(String);

struct Pong;

impl Wire for Ping {
    type Decoder = Pong;

    fn origin(&self, model: &str) -> Origin {
        Origin::new("ping", "ping", model)
    }

    fn encode(&self, _: &ModelCall) -> Result<Encoded, ProviderError> {
        let (parts, ()) = Request::post(&self.0).body(()).unwrap().into_parts();
        let body = SegmentsBuilder::new(CacheOrder::ToolsFirst).push(Section::System, "", Block::new("{}")).finish();
        Ok(Encoded::new(parts, body))
    }

    fn authorize(&self, parts: &mut Parts, _: &Segments, credential: &Credential, _: u64) -> Result<(), ProviderError> {
        let Credential::ApiKey(key) = credential else { panic!("{credential}") };
        parts.headers.insert("x-api-key", HeaderValue::from_str(key.expose()).unwrap());
        Ok(())
    }

    fn decoder(&self, _: &HeaderMap) -> Pong {
        Pong
    }
}

impl Decoder for Pong {
    fn feed(&mut self, _: Bytes, _: &mut Events) -> Result<(), ProviderError> {
        Ok(())
    }

    fn finish(&mut self, events: &mut Events) -> Result<(), ProviderError> {
        events.push(ModelEvent::Stop { reason: StopReason::EndTurn, detail: None });
        Ok(())
    }
}

/// Gives `key-0`, then `key-1`, and so on.
struct Numbered(Arc<AtomicUsize>);

impl Fetch for Numbered {
    fn fetch(&self) -> BoxFuture<'_, Result<Credential, ProviderError>> {
        let number = self.0.fetch_add(1, Ordering::SeqCst);
        Box::pin(std::future::ready(Ok(Credential::ApiKey(format!("key-{number}").into()))))
    }
}

/// A server that takes this key only, and the provider that asks it.
async fn provider(accepted: &'static str) -> (HttpProvider<Ping>, Arc<AtomicUsize>, Arc<AtomicUsize>, Server) {
    let requests = Arc::new(AtomicUsize::new(0));
    let seen = requests.clone();
    let server = Server::new(move |mut stream, _| {
        let seen = seen.clone();
        async move {
            let Some(head) = read_head(&mut stream).await else { return };
            seen.fetch_add(1, Ordering::SeqCst);
            let status = if head.contains(accepted) { "200 OK" } else { "401 Unauthorized" };
            let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok");
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    })
    .await;
    let fetched = Arc::new(AtomicUsize::new(0));
    let credentials = Arc::new(SingleFlight::new(Numbered(fetched.clone())));
    let http = HttpClient::from(plain().0.build());
    let provider = HttpProvider::new(Ping(server.url("/")), http, credentials, Arc::new(TokioTimer::new()));
    (provider, fetched, requests, server)
}

async fn ask(provider: &HttpProvider<Ping>) -> Result<usize, ProviderError> {
    let call = ModelCall::new(CallOptions::new("ping-1"), ContextView::default());
    let stream = provider.prepare(call).await?.send(CancelToken::new()).await?;
    Ok(stream.count().await)
}

#[tokio::test]
async fn many_that_got_a_401_share_one_look_up_and_try_once_more() {
    let (provider, fetched, requests, _server) = provider("key-1").await;
    let answers = join_all((0..10).map(|_| ask(&provider))).await;
    assert!(answers.iter().all(|answer| matches!(answer, Ok(1))), "{answers:?}");
    assert_eq!(fetched.load(Ordering::SeqCst), 2, "the first key, and one new one for all");
    let sent = requests.load(Ordering::SeqCst);
    assert!((11..=20).contains(&sent), "each is sent again once at most: {sent}");
    assert!(matches!(ask(&provider).await, Ok(1)));
    assert_eq!((fetched.load(Ordering::SeqCst), requests.load(Ordering::SeqCst)), (2, sent + 1), "the new key is kept");
}

#[tokio::test]
async fn a_second_401_is_the_answer() {
    let (provider, fetched, requests, _server) = provider("no such key").await;
    let error = ask(&provider).await.unwrap_err();
    assert_eq!((error.kind(), error.status()), (ProviderErrorKind::Auth, Some(401)));
    assert_eq!((fetched.load(Ordering::SeqCst), requests.load(Ordering::SeqCst)), (2, 2));
}
