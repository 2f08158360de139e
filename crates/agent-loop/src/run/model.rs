//! A model call on its way: events out, a message in the end.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use agent_core::{
    Assembler, AssistantMessage, BoxFuture, CancelToken, MessageId, ModelEvent, ModelStream, Origin, Prepared,
    ProviderError, ProviderErrorKind, StopReason, Timer, Usage,
};
use futures_core::Stream;

use crate::{CallOutcome, EffectId, FailedCall, MachineSetup, contain, telemetry::CallSpan};

/// How long an answer that is whole is waited for to close: its usage may follow.
const CLOSING: Duration = Duration::from_secs(2);

pub(crate) struct ModelWork {
    pub(super) id: EffectId,
    /// Whether the consumer sees it.
    pub(super) shown: bool,
    stage: Stage,
    assembler: Option<Assembler>,
    cancel: CancelToken,
    /// Some content has arrived.
    begun: bool,
    /// What came before it: the consumer is told of no message that may not come.
    held: Vec<ModelEvent>,
    timer: Arc<dyn Timer>,
    /// The wait for the close, once there is one.
    closing: Option<BoxFuture<'static, ()>>,
    span: CallSpan,
    /// Where the price of the model is.
    priced: (Arc<MachineSetup>, usize),
}

/// What a call is besides its request.
pub(super) struct Called {
    pub(super) id: EffectId,
    pub(super) message: MessageId,
    pub(super) origin: Origin,
    pub(super) shown: bool,
    pub(super) span: CallSpan,
    pub(super) priced: (Arc<MachineSetup>, usize),
}

enum Stage {
    Sending(BoxFuture<'static, Result<ModelStream, ProviderError>>),
    Streaming(ModelStream),
}

/// What a poll of a call brings.
pub(super) enum ModelStep {
    Event {
        event: ModelEvent,
        /// What came before it, where it is the first content.
        first: Option<Vec<ModelEvent>>,
    },
    Ended(Ended),
}

/// A call that is over.
pub(super) struct Ended {
    message: Option<AssistantMessage>,
    usage: Usage,
    error: Option<ProviderError>,
}

impl Ended {
    /// Whether nothing went wrong.
    pub(super) fn is_whole(&self) -> bool {
        self.error.is_none()
    }

    pub(super) fn outcome(self, now_ms: u64, draw: u64) -> CallOutcome {
        let Self { message, usage, error } = self;
        match error {
            None => CallOutcome { message, usage, error: None },
            Some(error) => CallOutcome::failed(message, usage, FailedCall::new(error, now_ms, draw)),
        }
    }
}

impl ModelWork {
    pub(super) fn send(timer: Arc<dyn Timer>, prepared: &Prepared, called: Called) -> Self {
        let Called { id, message, origin, shown, span, priced } = called;
        let cancel = CancelToken::new();
        let (prepared, token) = (prepared.clone(), cancel.clone());
        // Built when it is polled, under the same net.
        let sending = Box::pin(async move { prepared.send(token).await });
        let assembler = Some(Assembler::new(message).origin(origin));
        let stage = Stage::Sending(sending);
        let (begun, held, closing) = (false, Vec::new(), None);
        Self { id, shown, stage, assembler, cancel, begun, held, timer, closing, span, priced }
    }

    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<ModelStep> {
        let span = self.span.span.clone();
        let _entered = span.enter();
        loop {
            let stage = &mut self.stage;
            let polled = contain::call(|| match stage {
                Stage::Sending(future) => future.as_mut().poll(cx).map(|sent| sent.map(Next::Stream)),
                Stage::Streaming(stream) => Pin::new(stream).poll_next(cx).map(|event| match event {
                    None => Ok(Next::End),
                    Some(event) => event.map(Next::Event),
                }),
            });
            let next = match polled {
                Ok(Poll::Pending) => return self.poll_closing(cx),
                Ok(Poll::Ready(next)) => next,
                Err(text) => Err(ProviderError::new(ProviderErrorKind::Other, format!("the provider {text}"))),
            };
            match next {
                Ok(Next::Stream(stream)) => self.stage = Stage::Streaming(stream),
                Ok(Next::Event(event)) => {
                    self.span.event(&event, is_content(&event), || self.timer.now_ms());
                    let pushed = self.assembler.as_mut().map_or(Ok(()), |assembler| assembler.push(&event));
                    if let Err(fault) = pushed {
                        return Poll::Ready(ModelStep::Ended(self.end(Some(fault.into()))));
                    }
                    if !self.begun && !is_content(&event) {
                        self.held.push(event);
                        continue;
                    }
                    let first = (!self.begun).then(|| std::mem::take(&mut self.held));
                    self.begun = true;
                    return Poll::Ready(ModelStep::Event { event, first });
                }
                Ok(Next::End) => return Poll::Ready(ModelStep::Ended(self.end(None))),
                Err(error) => return Poll::Ready(ModelStep::Ended(self.end(Some(error)))),
            }
        }
    }

    /// A provider that keeps its stream open behind the end of an answer does not keep the run.
    fn poll_closing(&mut self, cx: &mut Context<'_>) -> Poll<ModelStep> {
        if !self.assembler.as_ref().is_some_and(Assembler::is_stopped) {
            return Poll::Pending;
        }
        let closing = self.closing.get_or_insert_with(|| self.timer.sleep(CLOSING));
        ready!(closing.as_mut().poll(cx));
        Poll::Ready(ModelStep::Ended(self.end(None)))
    }

    fn end(&mut self, error: Option<ProviderError>) -> Ended {
        let Some(assembler) = self.assembler.take() else {
            return Ended { message: None, usage: Usage::ZERO, error };
        };
        let usage = assembler.usage();
        let error = error.or_else(|| {
            let cut = || ProviderError::new(ProviderErrorKind::Network, "the stream ended before the answer did");
            (!assembler.is_stopped()).then(cut)
        });
        let message = match &error {
            None => assembler.finish(),
            Some(error) => assembler.interrupt(StopReason::Error, Some(error.to_string())),
        };
        self.tell_end(&message, &usage, error.as_ref());
        Ended { message: Some(message), usage, error }
    }

    fn tell_end(&self, message: &AssistantMessage, usage: &Usage, error: Option<&ProviderError>) {
        if self.span.is_idle() {
            return;
        }
        let (setup, model) = &self.priced;
        let price = setup.models.get(*model).and_then(|(_, facts)| facts.price.as_ref());
        self.span.ended(usage, price.map(|price| price.cost(usage)), Some(message), error, self.timer.now_ms());
    }

    /// What had arrived of a call that is to end now.
    pub(super) fn interrupt(mut self) -> Ended {
        self.cancel.cancel();
        let Some(assembler) = self.assembler.take() else {
            return Ended { message: None, usage: Usage::ZERO, error: Some(ProviderError::cancelled()) };
        };
        let usage = assembler.usage();
        let message = assembler.interrupt(StopReason::Cancelled, None);
        let error = ProviderError::cancelled();
        self.tell_end(&message, &usage, Some(&error));
        Ended { message: Some(message), usage, error: Some(error) }
    }
}

impl Drop for ModelWork {
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}

enum Next {
    Stream(ModelStream),
    Event(ModelEvent),
    End,
}

fn is_content(event: &ModelEvent) -> bool {
    !matches!(event, ModelEvent::Start { .. } | ModelEvent::Usage(_) | ModelEvent::Stop { .. })
}
