//! A request body that tells how far it was taken.

use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    task::{Context, Poll},
};

use agent_core::{Body, HttpError};
use bytes::Bytes;
use http_body::{Body as _, Frame, SizeHint};

/// The body of a request on its way.
pub(super) struct Upload {
    body: Body,
    taken: Arc<Taken>,
}

/// How far a body was taken.
#[derive(Clone)]
pub(super) struct Progress(Arc<Taken>);

struct Taken {
    frames: AtomicU64,
    is_over: AtomicBool,
}

impl Upload {
    pub(super) fn new(body: Body) -> (Self, Progress) {
        let is_over = AtomicBool::new(body.is_end_stream());
        let taken = Arc::new(Taken { frames: AtomicU64::new(0), is_over });
        (Self { body, taken: taken.clone() }, Progress(taken))
    }
}

impl Progress {
    /// The frames that were taken so far.
    pub(super) fn sent(&self) -> u64 {
        self.0.frames.load(Ordering::Relaxed)
    }

    /// Whether the whole body was taken.
    pub(super) fn is_over(&self) -> bool {
        self.0.is_over.load(Ordering::Acquire)
    }
}

impl http_body::Body for Upload {
    type Data = Bytes;
    type Error = HttpError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, HttpError>>> {
        let frame = Pin::new(&mut self.body).poll_frame(cx);
        if frame.is_ready() {
            self.taken.frames.fetch_add(1, Ordering::Relaxed);
            if matches!(frame, Poll::Ready(None)) || self.body.is_end_stream() {
                self.taken.is_over.store(true, Ordering::Release);
            }
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
