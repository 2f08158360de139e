//! A body with a limit on its silence.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use agent_core::{Body, BoxFuture, HttpError, HttpPhase, Timer};
use bytes::Bytes;
use http_body::{Frame, SizeHint};

use crate::timer::millis;

pub(super) struct IdleBody {
    body: Body,
    limit: Duration,
    timer: Arc<dyn Timer>,
    /// Runs from the first poll that found nothing; a frame ends it.
    silence: Option<BoxFuture<'static, ()>>,
}

impl IdleBody {
    pub(super) fn new(body: Body, limit: Duration, timer: Arc<dyn Timer>) -> Self {
        Self { body, limit, timer, silence: None }
    }
}

impl http_body::Body for IdleBody {
    type Data = Bytes;
    type Error = HttpError;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, HttpError>>> {
        let this = self.get_mut();
        if let Poll::Ready(frame) = Pin::new(&mut this.body).poll_frame(cx) {
            this.silence = None;
            return Poll::Ready(frame);
        }
        let silence = this.silence.get_or_insert_with(|| this.timer.sleep(this.limit));
        if silence.as_mut().poll(cx).is_pending() {
            return Poll::Pending;
        }
        // The connection is of no use any more.
        this.body = Body::empty();
        this.silence = None;
        Poll::Ready(Some(Err(HttpError::Timeout { phase: HttpPhase::Body, after_ms: millis(this.limit) })))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
