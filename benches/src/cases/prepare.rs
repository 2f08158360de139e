//! Preparing a request for one new message: what it costs must not depend on how many are old.

use std::hint::black_box;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use agent_core::{
    AssistantMessage, Block, Body, BoxFuture, CacheOrder, CallOptions, ContentBlock, ContextView, Credential, Decoder,
    Encoded, Events, HttpClient, HttpError, HttpProvider, IdSource, Message, ModelCall, Origin, PieceCache, Prepared,
    Provider, ProviderError, Section, Segments, SegmentsBuilder, StopReason, Timer, Transcript, UserMessage, Wire,
};
use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, Request, Response};

use super::{Case, PerUnit, VersusFloor};

pub(super) const AFTER_10: Case = Case {
    name: "prepare-after-10",
    unit: "new message after 10 old ones",
    run: |n| rounds(10, n),
    per_unit: PerUnit { lo: 32, hi: 64, max: Some(25_000) },
    growth: None,
    floor: None,
};

pub(super) const AFTER_1000: Case = Case {
    name: "prepare-after-1000",
    unit: "new message after 1,000 old ones",
    run: |n| rounds(1_000, n),
    per_unit: PerUnit { lo: 32, hi: 64, max: None },
    growth: None,
    floor: Some(VersusFloor { name: "prepare-after-10", max_tenths: 11, routine: true }),
};

pub(super) const AFTER_5000: Case = Case {
    name: "prepare-after-5000",
    unit: "new message after 5,000 old ones",
    run: |n| rounds(5_000, n),
    per_unit: PerUnit { lo: 32, hi: 64, max: None },
    growth: None,
    floor: Some(VersusFloor { name: "prepare-after-10", max_tenths: 13, routine: true }),
};

/// A conversation that appends, prepares and compares, as a loop does in each turn.
struct Talk {
    provider: HttpProvider<BenchWire>,
    options: Arc<CallOptions>,
    transcript: Transcript,
    view: ContextView,
    cache: PieceCache,
    ids: IdSource,
    last: Option<Prepared>,
}

fn rounds(old: u64, n: u64) {
    let options = CallOptions::new("bench-1").system("You are measured.");
    let mut talk = Talk {
        provider: HttpProvider::new(
            BenchWire,
            HttpClient::new(Unreachable),
            Arc::new(Credential::Anonymous),
            Arc::new(Still),
        ),
        options: Arc::new(options),
        transcript: Transcript::new(),
        view: ContextView::default(),
        cache: PieceCache::new(),
        ids: IdSource::seeded(1),
        last: None,
    };
    for _ in 0..old {
        talk.append();
    }
    talk.prepare();
    for _ in 0..n {
        talk.append();
        talk.prepare();
    }
    black_box(talk.last);
}

impl Talk {
    fn append(&mut self) {
        let id = self.ids.message(0);
        let text = "three hundred bytes of text make a message of a usual size ".repeat(5);
        let message: Message = match self.transcript.messages().len() % 2 {
            0 => UserMessage::text(id, text).into(),
            _ => AssistantMessage::new(id, vec![ContentBlock::text(text)], StopReason::EndTurn).into(),
        };
        let _ = black_box(self.transcript.append(message));
    }

    fn prepare(&mut self) {
        let _ = black_box(self.view.catch_up(&self.transcript));
        let call = ModelCall::new(self.options.clone(), self.view.clone()).cache(self.cache.clone());
        let mut prepared = self.provider.prepare(call);
        // Nothing in here waits.
        let Poll::Ready(Ok(prepared)) = prepared.as_mut().poll(&mut Context::from_waker(Waker::noop())) else {
            return;
        };
        let now = prepared.segments();
        let last = self.last.as_ref().and_then(Prepared::segments);
        if let (Some(now), Some(last)) = (now, last) {
            black_box(now.diverges_from(last.chain(), Some(last)));
        }
        self.last = Some(prepared);
    }
}

struct BenchWire;

impl Wire for BenchWire {
    type Decoder = NoReply;

    fn origin(&self, model: &str) -> Origin {
        Origin::new("bench", "bench", model)
    }

    fn encode(&self, call: &ModelCall) -> Result<Encoded, ProviderError> {
        let (parts, ()) = Request::new(()).into_parts();
        let messages = call.cache.messages(0, &call.view, |walk, entry| {
            for (index, block) in (0..).zip(entry.message().content()) {
                let lead = if walk.state() == 0 { "{\"content\":[" } else { "]},{\"content\":[" };
                walk.set_state(1);
                let text = block.as_text().unwrap_or_default();
                walk.block(index, 0, lead, || serde_json::to_vec(text).map(Block::new))?;
            }
            Ok::<_, serde_json::Error>(())
        });
        let messages = messages.unwrap_or_default();
        let body = SegmentsBuilder::new(CacheOrder::ToolsFirst)
            .identity(call.options.model.as_bytes())
            .push(Section::System, "{\"system\":", Block::new(call.options.system.concat()))
            .push(Section::Irrelevant, ",", Block::new("\"messages\":["))
            .messages(messages)
            .end("]}]}");
        Ok(Encoded::new(parts, body.finish()))
    }

    fn authorize(&self, _: &mut Parts, _: &Segments, _: &Credential, _: u64) -> Result<(), ProviderError> {
        Ok(())
    }

    fn decoder(&self, _: &HeaderMap) -> NoReply {
        NoReply
    }
}

struct NoReply;

impl Decoder for NoReply {
    fn feed(&mut self, _: Bytes, _: &mut Events) -> Result<(), ProviderError> {
        Ok(())
    }

    fn finish(&mut self, _: &mut Events) -> Result<(), ProviderError> {
        Ok(())
    }
}

struct Still;

impl Timer for Still {
    fn now_ms(&self) -> u64 {
        0
    }

    fn sleep(&self, _: std::time::Duration) -> BoxFuture<'static, ()> {
        Box::pin(std::future::pending())
    }
}

/// Nothing is sent here.
#[derive(Clone)]
struct Unreachable;

impl tower_service::Service<Request<Body>> for Unreachable {
    type Response = Response<Body>;
    type Error = HttpError;
    type Future = std::future::Pending<Result<Response<Body>, HttpError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), HttpError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Request<Body>) -> Self::Future {
        std::future::pending()
    }
}
