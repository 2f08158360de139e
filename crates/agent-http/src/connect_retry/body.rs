//! A request body that stays whole until its first poll.

use std::{
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
};

use agent_core::{Body, HttpError};
use bytes::Bytes;
use http_body::{Frame, SizeHint};

/// Where a body waits; empty once somebody has begun to send it.
#[derive(Clone)]
pub(super) struct Slot(Arc<Mutex<Option<Body>>>);

/// Takes the body out of its slot when it is polled for the first time.
struct SlotBody {
    slot: Slot,
    body: Option<Body>,
    is_empty: bool,
    hint: SizeHint,
}

impl Slot {
    pub(super) fn new(body: Body) -> Self {
        Self(Arc::new(Mutex::new(Some(body))))
    }

    /// A body to send, unless it was begun before.
    pub(super) fn body(&self) -> Option<Body> {
        let slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let body = slot.as_ref()?;
        let (is_empty, hint) = (http_body::Body::is_end_stream(body), http_body::Body::size_hint(body));
        Some(Body::new(SlotBody { slot: self.clone(), body: None, is_empty, hint }))
    }

    fn take(&self) -> Option<Body> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl http_body::Body for SlotBody {
    type Data = Bytes;
    type Error = HttpError;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, HttpError>>> {
        let this = self.get_mut();
        if this.body.is_none() {
            this.body = this.slot.take();
        }
        match &mut this.body {
            Some(body) => Pin::new(body).poll_frame(cx),
            None => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().map_or(self.is_empty, http_body::Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or(self.hint, http_body::Body::size_hint)
    }
}
