//! A body that holds its host's permit until it ends.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use agent_core::{Body, HttpError};
use bytes::Bytes;
use http_body::{Frame, SizeHint};
use tokio::sync::OwnedSemaphorePermit;

pub(super) struct HeldBody {
    body: Body,
    permit: Option<OwnedSemaphorePermit>,
}

impl HeldBody {
    pub(super) fn new(body: Body, permit: Option<OwnedSemaphorePermit>) -> Self {
        let permit = permit.filter(|_| !http_body::Body::is_end_stream(&body));
        Self { body, permit }
    }
}

impl http_body::Body for HeldBody {
    type Data = Bytes;
    type Error = HttpError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, HttpError>>> {
        let frame = Pin::new(&mut self.body).poll_frame(cx);
        if matches!(frame, Poll::Ready(None | Some(Err(_)))) {
            self.permit = None;
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
