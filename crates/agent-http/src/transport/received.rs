//! A response body whose errors are typed, and which gives its connection back.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use agent_core::HttpError;
use bytes::Bytes;
use http_body::{Body as _, Frame, SizeHint};
use hyper::body::Incoming;

use super::{
    classify,
    connection::Http1,
    pool::{Host, Pool},
    upload::Progress,
};

/// What arrives.
pub(super) struct Received {
    body: Incoming,
    host: Host,
    lease: Option<Lease>,
}

/// The connection over which a body comes, where it is for one exchange at a time.
pub(super) struct Lease {
    pub(super) http1: Http1,
    pub(super) pool: Arc<Pool>,
    pub(super) progress: Progress,
}

impl Received {
    pub(super) fn new(body: Incoming, host: Host, lease: Option<Lease>) -> Self {
        let mut received = Self { body, host, lease };
        received.give_back();
        received
    }

    /// Gives the connection back where the exchange is over: the next request may come at once.
    fn give_back(&mut self) {
        if let Some(lease) = self.lease.take_if(|lease| self.body.is_end_stream() && lease.progress.is_over()) {
            lease.pool.keep(self.host.clone(), lease.http1);
        }
    }
}

impl http_body::Body for Received {
    type Data = Bytes;
    type Error = HttpError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, HttpError>>> {
        let frame = Pin::new(&mut self.body).poll_frame(cx);
        match &frame {
            Poll::Ready(None) => {
                if let Some(lease) = self.lease.take_if(|lease| lease.progress.is_over()) {
                    lease.pool.keep(self.host.clone(), lease.http1);
                }
            }
            Poll::Ready(Some(Ok(_))) => self.give_back(),
            Poll::Ready(Some(Err(_))) => self.lease = None,
            Poll::Pending => {}
        }
        frame.map_err(|e| classify::broken(e, &self.host.authority))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Received {
    fn drop(&mut self) {
        // Not read to its end, but it may have arrived to its end.
        if let Some(lease) = self.lease.take_if(|lease| lease.http1.sender.is_ready()) {
            lease.pool.keep(self.host.clone(), lease.http1);
        }
    }
}
