//! A request body that tells how far it was taken.

use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll},
};

use agent_core::{Body, HttpError};
use bytes::Bytes;
use http_body::{Frame, SizeHint};

/// The body of a request on its way.
pub(super) struct Upload {
    body: Body,
    sent: Arc<AtomicU64>,
}

/// How far a body was taken.
pub(super) struct Progress(Arc<AtomicU64>);

impl Upload {
    pub(super) fn new(body: Body) -> (Self, Progress) {
        let sent = Arc::new(AtomicU64::new(0));
        (Self { body, sent: sent.clone() }, Progress(sent))
    }
}

impl Progress {
    /// The frames that were taken so far.
    pub(super) fn sent(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl http_body::Body for Upload {
    type Data = Bytes;
    type Error = HttpError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, HttpError>>> {
        let frame = Pin::new(&mut self.body).poll_frame(cx);
        if frame.is_ready() {
            self.sent.fetch_add(1, Ordering::Relaxed);
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
