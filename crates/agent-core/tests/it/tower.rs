//! Providers as tower services and the other way round.

use std::{
    future::{pending, poll_fn},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
};

use agent_core::{
    BoxFuture, CallOptions, CancelToken, ContextView, ForeignProvider, ModelCall, ModelEvent, ModelStream, Origin,
    Prepared, Provider, ProviderError, ProviderErrorKind as Kind, ProviderService, Segments, SendPrepared, StopReason,
    TokenBound,
};
use futures_util::FutureExt;
use tower_service::Service;

/// What a scripted service does when it is called.
#[derive(Clone, Copy)]
enum Does {
    Answers,
    Fails,
    IsNeverReady,
    RefusesWhenAsked,
    Hangs,
}

/// A service, and how many calls it has seen.
#[derive(Clone)]
struct Scripted(Does, Arc<AtomicUsize>);

impl Scripted {
    fn new(does: Does) -> Self {
        Self(does, Arc::default())
    }
}

fn failure() -> ProviderError {
    ProviderError::new(Kind::RateLimited, "slow").with_status(429).with_request_id("r1")
}

fn stop() -> ModelEvent {
    ModelEvent::Stop { reason: StopReason::EndTurn, detail: None }
}

fn answer() -> ModelStream {
    ModelStream::new(futures_util::stream::iter([Ok(stop()), Err(failure())]))
}

impl Service<ModelCall> for Scripted {
    type Response = ModelStream;
    type Error = ProviderError;
    type Future = BoxFuture<'static, Result<ModelStream, ProviderError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), ProviderError>> {
        match self.0 {
            Does::IsNeverReady => Poll::Pending,
            Does::RefusesWhenAsked => Poll::Ready(Err(failure())),
            _ => Poll::Ready(Ok(())),
        }
    }

    fn call(&mut self, call: ModelCall) -> Self::Future {
        assert_eq!(call.options.model, "toy");
        self.1.fetch_add(1, Ordering::Relaxed);
        match self.0 {
            Does::Answers => Box::pin(async { Ok(answer()) }),
            Does::Fails => Box::pin(async { Err(failure()) }),
            _ => Box::pin(pending()),
        }
    }
}

fn call() -> ModelCall {
    ModelCall::new(CallOptions::new("toy").max_output(9), ContextView::default())
}

fn foreign(service: Scripted) -> impl Provider {
    let bound = |call: &ModelCall| TokenBound::AtMost(call.options.max_output.unwrap_or(0) + 1);
    ForeignProvider::new(service, Origin::new("wire", "vendor", "nobody"), bound)
}

/// The whole of a failure, for comparing.
fn told(error: &ProviderError) -> (Kind, Option<u16>, Option<&str>) {
    (error.kind(), error.status(), error.request_id())
}

#[tokio::test]
async fn a_service_is_a_provider() {
    let service = Scripted::new(Does::Answers);
    let provider = foreign(service.clone());
    assert_eq!(provider.origin("toy"), Origin::new("wire", "vendor", "toy"));
    let prepared = provider.prepare(call()).await.unwrap();
    // It cannot be looked into; its bounds are the caller's word.
    assert!(prepared.chain().is_none() && prepared.segments().is_none());
    assert_eq!(prepared.input_bound(), TokenBound::AtMost(10));
    assert_eq!((prepared.output_bound(), prepared.lost().len()), (Some(9), 0));
    let unbounded = ModelCall::new(CallOptions::new("toy"), ContextView::default());
    assert_eq!(provider.prepare(unbounded).await.unwrap().output_bound(), None);
    // Preparing sends nothing; every attempt is a call of its own.
    assert_eq!(service.1.load(Ordering::Relaxed), 0);
    for attempt in 1..3 {
        let mut stream = prepared.send(CancelToken::new()).await.unwrap();
        assert_eq!(stream.next().await.map(Result::unwrap), Some(stop()));
        let error = stream.next().await.unwrap().unwrap_err();
        assert_eq!(told(&error), told(&failure()));
        assert!(stream.next().await.is_none());
        assert_eq!(service.1.load(Ordering::Relaxed), attempt);
    }
}

#[tokio::test]
async fn typed_errors_come_through() {
    for (does, calls) in [(Does::Fails, 1), (Does::RefusesWhenAsked, 0)] {
        let service = Scripted::new(does);
        let prepared = foreign(service.clone()).prepare(call()).await.unwrap();
        let error = prepared.send(CancelToken::new()).await.unwrap_err();
        assert_eq!(told(&error), told(&failure()));
        assert_eq!(service.1.load(Ordering::Relaxed), calls);
    }
}

#[tokio::test]
async fn cancelling_ends_a_foreign_call() {
    for (does, calls) in [(Does::Hangs, 1), (Does::IsNeverReady, 0)] {
        let service = Scripted::new(does);
        let prepared = foreign(service.clone()).prepare(call()).await.unwrap();
        let cancel = CancelToken::new();
        let mut sent = prepared.send(cancel.clone());
        assert!((&mut sent).now_or_never().is_none());
        cancel.cancel();
        assert_eq!(sent.await.unwrap_err().kind(), Kind::Cancelled);
        assert_eq!(service.1.load(Ordering::Relaxed), calls);
    }
    // Cancelled before it began, it does not begin.
    let (service, cancel) = (Scripted::new(Does::Answers), CancelToken::new());
    let prepared = foreign(service.clone()).prepare(call()).await.unwrap();
    cancel.cancel();
    assert_eq!(prepared.send(cancel).await.unwrap_err().kind(), Kind::Cancelled);
    assert_eq!(service.1.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn a_provider_is_a_service() {
    // There and back: the outer service sends what the inner one answers.
    let ready = |service: &mut ProviderService| poll_fn(|cx| Service::poll_ready(service, cx)).now_or_never().unwrap();
    let mut service = ProviderService::new(Arc::new(foreign(Scripted::new(Does::Answers))), CancelToken::new());
    ready(&mut service).unwrap();
    let mut stream = service.call(call()).await.unwrap();
    assert_eq!(stream.next().await.map(Result::unwrap), Some(stop()));

    let mut failing = ProviderService::new(Arc::new(foreign(Scripted::new(Does::Fails))), CancelToken::new());
    assert_eq!(told(&failing.call(call()).await.unwrap_err()), told(&failure()));

    let cancel = CancelToken::new();
    let mut hanging = ProviderService::new(Arc::new(foreign(Scripted::new(Does::Hangs))), cancel.clone());
    let mut sent = hanging.call(call());
    assert!((&mut sent).now_or_never().is_none());
    cancel.cancel();
    assert_eq!(sent.await.unwrap_err().kind(), Kind::Cancelled);
}

/// A provider that cannot carry a call at all.
struct Unable;

impl SendPrepared for Unable {
    fn send(&self, _: Option<&Segments>, _: CancelToken) -> BoxFuture<'static, Result<ModelStream, ProviderError>> {
        Box::pin(async { Ok(answer()) })
    }
}

impl Provider for Unable {
    fn origin(&self, model: &str) -> Origin {
        Origin::new("w", "v", model)
    }

    fn prepare(&self, _: ModelCall) -> BoxFuture<'_, Result<Prepared, ProviderError>> {
        Box::pin(async { Err(ProviderError::new(Kind::Unsupported, "no images")) })
    }
}

#[tokio::test]
async fn what_cannot_be_prepared_is_not_sent() {
    let mut service = ProviderService::new(Arc::new(Unable), CancelToken::new());
    assert_eq!(service.call(call()).await.unwrap_err().kind(), Kind::Unsupported);
    let prepared = Prepared::unguarded(TokenBound::Unknown, Arc::new(Unable));
    assert_eq!(prepared.clone().overhead(TokenBound::AtMost(1)).input_bound(), TokenBound::Unknown);
    assert!(prepared.send(CancelToken::new()).await.is_ok());
}
