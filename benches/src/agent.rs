//! A model, a tool and a clock that cost next to nothing: what is measured is the loop.

use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use agent_core::{
    Approval, Block, BlockStart, BoxFuture, CacheOrder, CancelToken, Effects, ModelCall, ModelEvent, ModelStream,
    Origin, Prepared, Provider, ProviderError, RawJson, Segments, SegmentsBuilder, SendPrepared, StopReason, Timer,
    Tool, ToolContext, ToolOutcome, ToolSpec,
};
use futures_core::Stream;

/// A model that calls the tool `note` with other arguments each time, until it has been asked so often.
#[derive(Debug)]
pub struct Caller {
    calls: u64,
    asked: AtomicU64,
}

impl Caller {
    /// A model that makes so many calls before it is done.
    pub fn new(calls: u64) -> Self {
        Self { calls, asked: AtomicU64::new(0) }
    }
}

impl Provider for Caller {
    fn origin(&self, model: &str) -> Origin {
        Origin::new("bench", "bench", model)
    }

    fn prepare(&self, call: ModelCall) -> BoxFuture<'_, Result<Prepared, ProviderError>> {
        // As a wire does: each message becomes a piece once.
        let pieces = call.cache.messages(0, &call.view, |walk, entry| {
            let mut blocks = 0..;
            entry.message().content().iter().zip(&mut blocks).try_for_each(|(_, index)| {
                walk.block(index, 0, ",", || {
                    Ok::<_, ProviderError>(Block::new("{\"role\":\"user\",\"content\":\"ok\"}"))
                })
            })
        });
        let asked = self.asked.fetch_add(1, Ordering::Relaxed);
        let answer = Answer { call: (asked < self.calls).then_some(asked) };
        Box::pin(std::future::ready(pieces.map(|pieces| {
            let body = SegmentsBuilder::new(CacheOrder::ToolsFirst).identity(b"bench").messages(pieces).end("]}");
            Prepared::new(body.finish(), Arc::new(answer)).max_output(100)
        })))
    }
}

struct Answer {
    call: Option<u64>,
}

impl SendPrepared for Answer {
    fn send(&self, _: Option<&Segments>, _: CancelToken) -> BoxFuture<'static, Result<ModelStream, ProviderError>> {
        let mut events = vec![ModelEvent::Start { response_id: None, model: None }];
        let reason = match self.call {
            Some(number) => {
                let start = BlockStart::ToolCall { name: "note".into(), vendor_id: None };
                events.push(ModelEvent::BlockStart { block: 0, start });
                events.push(ModelEvent::ArgumentsDelta { block: 0, json: format!("{{\"number\":{number}}}").into() });
                StopReason::ToolUse
            }
            None => {
                events.push(ModelEvent::BlockStart { block: 0, start: BlockStart::Text });
                events.push(ModelEvent::TextDelta { block: 0, text: "Done.".into() });
                StopReason::EndTurn
            }
        };
        events.push(ModelEvent::BlockEnd { block: 0 });
        events.push(ModelEvent::Stop { reason, detail: None });
        let stream = ModelStream::new(Listed(events.into_iter()));
        Box::pin(std::future::ready(Ok(stream)))
    }
}

struct Listed(std::vec::IntoIter<ModelEvent>);

impl Stream for Listed {
    type Item = Result<ModelEvent, ProviderError>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Poll::Ready(self.0.next().map(Ok))
    }
}

/// A tool that says `noted`, after somebody has agreed where that is asked for.
#[derive(Debug)]
pub struct Note {
    spec: ToolSpec,
    approval: Approval,
}

impl Note {
    /// The tool; `None` only where its specification were wrong.
    pub fn new(approval: Approval) -> Option<Self> {
        let schema = RawJson::parse(r#"{"type":"object","properties":{"number":{"type":"integer"}}}"#).ok()?;
        ToolSpec::new("note", "Notes a number.", schema).ok().map(|spec| Self { spec, approval })
    }
}

impl Tool for Note {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn effects(&self, _: &RawJson) -> Effects {
        Effects::shared().approval(self.approval)
    }

    fn call(&self, _: RawJson, _: ToolContext) -> BoxFuture<'_, ToolOutcome> {
        Box::pin(std::future::ready(ToolOutcome::Output("noted".into())))
    }
}

/// A clock that stands still.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "it has no settings")]
pub struct Still;

impl Timer for Still {
    fn now_ms(&self) -> u64 {
        0
    }

    fn sleep(&self, _: Duration) -> BoxFuture<'static, ()> {
        Box::pin(std::future::pending())
    }
}
