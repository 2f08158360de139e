//! Providers that say what a test wants, over real segments.

mod encode;
mod function;
mod play;
mod reply;
mod scripted;
mod steps;

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use agent_core::{
    Billed, BoxFuture, CancelToken, Chain, Message, ModelCall, ModelStream, Origin, Prepared, ProviderError,
    ProviderErrorKind, Segments, SendPrepared,
};
use bytes::Bytes;

use self::steps::Stamp;
pub use self::{function::FnProvider, reply::Reply, scripted::ScriptedProvider};
use crate::refusal::{Asked, refusal};

/// A request that a double was sent, whether it was refused, failed or answered.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Sent {
    /// The call that it was made of.
    pub call: ModelCall,
    /// Its chain.
    pub chain: Chain,
    /// Its body in the doubles' own encoding: JSON, with cache markers.
    pub body: Bytes,
    /// Which send of the same request this is, from 1: a retry has 2.
    pub attempt: u64,
}

/// What all doubles share: a name, what they were asked, and how they answer.
struct Double {
    protocol: String,
    provider: String,
    state: Mutex<Seen>,
    answers: Box<Answers>,
}

type Answers = dyn Fn(&ModelCall) -> Result<Reply, ProviderError> + Send + Sync;

#[derive(Default)]
struct Seen {
    files: Vec<String>,
    calls: Vec<ModelCall>,
    sent: Vec<Sent>,
    attempts: HashMap<u128, u64>,
}

impl Double {
    fn new(answers: impl Fn(&ModelCall) -> Result<Reply, ProviderError> + Send + Sync + 'static) -> Self {
        Self {
            protocol: "toy".to_owned(),
            provider: "toy".to_owned(),
            state: Mutex::default(),
            answers: Box::new(answers),
        }
    }

    fn origin(&self, model: &str) -> Origin {
        Origin::new(self.protocol.as_str(), self.provider.as_str(), model)
    }

    fn prepare(self: &Arc<Self>, call: ModelCall) -> Result<Prepared, ProviderError> {
        let segments = encode::segments(&call, &self.origin(&call.options.model))?;
        self.seen().calls.push(call.clone());
        let max_output = call.options.max_output;
        let sender = ToSend { double: self.clone(), call };
        let prepared = Prepared::new(segments, Arc::new(sender));
        Ok(match max_output {
            Some(tokens) => prepared.max_output(tokens),
            None => prepared,
        })
    }

    /// Notes the request and judges it.
    fn receive(&self, call: &ModelCall, segments: &Segments) -> Result<Stamp, ProviderError> {
        let origin = self.origin(&call.options.model);
        let head = segments.chain().head().bits();
        let mut seen = self.seen();
        let attempt = seen.attempts.entry(head).or_default();
        *attempt += 1;
        let attempt = *attempt;
        let (chain, body) = (*segments.chain(), segments.to_bytes());
        seen.sent.push(Sent { call: call.clone(), chain, body, attempt });

        let messages: Vec<&Message> = call.view.messages().map(|message| &**message).collect();
        let asked = Asked::of(call).origin(origin.clone()).files(&seen.files);
        if let Some(refusal) = refusal(&messages, asked) {
            return Err(ProviderError::new(ProviderErrorKind::InvalidRequest, refusal.to_string())
                .with_status(400)
                .with_billed(Billed::No)
                .with_source(refusal));
        }
        // Made of the whole request: unique in a conversation, even when the process that answers
        // is another one after a crash, and the same in every run of a test.
        let id = format!("{:016x}_{attempt}", head >> 64);
        Ok(Stamp { origin, id })
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Double {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sent = self.seen().sent.len();
        f.debug_struct("Double").field("provider", &self.provider).field("sent", &sent).finish()
    }
}

struct ToSend {
    double: Arc<Double>,
    call: ModelCall,
}

impl SendPrepared for ToSend {
    fn send(
        &self,
        segments: Option<&Segments>,
        cancel: CancelToken,
    ) -> BoxFuture<'static, Result<ModelStream, ProviderError>> {
        let (double, call, segments) = (self.double.clone(), self.call.clone(), segments.cloned());
        Box::pin(async move {
            if cancel.is_cancelled() {
                return Err(ProviderError::cancelled().with_billed(Billed::No));
            }
            let segments = segments
                .ok_or_else(|| ProviderError::new(ProviderErrorKind::InvalidRequest, "a request without segments"))?;
            let stamp = double.receive(&call, &segments)?;
            let reply = (double.answers)(&call)?;
            play::send(reply, &stamp, cancel).await
        })
    }
}
