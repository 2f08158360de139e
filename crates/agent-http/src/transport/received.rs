//! A response body whose errors are typed.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use agent_core::HttpError;
use bytes::Bytes;
use http::uri::Authority;
use http_body::{Frame, SizeHint};
use hyper::body::Incoming;

use super::classify;

/// What arrives.
pub(super) struct Received {
    body: Incoming,
    peer: Option<Authority>,
}

impl Received {
    pub(super) fn new(body: Incoming, peer: Option<Authority>) -> Self {
        Self { body, peer }
    }
}

impl http_body::Body for Received {
    type Data = Bytes;
    type Error = HttpError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, HttpError>>> {
        let frame = Pin::new(&mut self.body).poll_frame(cx);
        frame.map_err(|e| classify::broken(e, self.peer.as_ref()))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
