//! A body that keeps its span open and tells when it ends.

use std::{
    pin::Pin,
    task::{Context, Poll},
    time::Instant,
};

use agent_core::{Body, HttpError};
use bytes::Bytes;
use http_body::{Frame, SizeHint};
use tracing::Span;

use super::future::{elapsed_ms, record};

pub(super) struct TracedBody {
    body: Body,
    span: Span,
    start: Instant,
    end: &'static str,
}

impl TracedBody {
    pub(super) fn new(body: Body, span: Span, start: Instant) -> Self {
        let end = if http_body::Body::is_end_stream(&body) { "whole" } else { "dropped" };
        Self { body, span, start, end }
    }
}

impl http_body::Body for TracedBody {
    type Data = Bytes;
    type Error = HttpError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, HttpError>>> {
        let frame = Pin::new(&mut self.body).poll_frame(cx);
        match &frame {
            Poll::Ready(None) => self.end = "whole",
            Poll::Ready(Some(Err(error))) => {
                record(&self.span, error);
                self.end = "broken";
            }
            _ if http_body::Body::is_end_stream(&self.body) => self.end = "whole",
            _ => {}
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

impl Drop for TracedBody {
    fn drop(&mut self) {
        let _entered = self.span.enter();
        tracing::debug!(elapsed_ms = elapsed_ms(self.start), end = self.end, "response body");
    }
}
