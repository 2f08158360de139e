//! Request and response bodies.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Bytes, BytesMut};
use http_body::{Body as _, Frame, SizeHint};
use http_body_util::{BodyExt, Full, combinators::UnsyncBoxBody};

use crate::{BoxError, Frames, HttpError, HttpPhase, Segments};

/// A streamed body of either direction.
///
/// Dropping a response body in the middle closes its connection, or its HTTP/2 stream.
#[derive(Debug)]
pub struct Body(UnsyncBoxBody<Bytes, HttpError>);

impl Body {
    /// Wraps any body.
    pub fn new<B: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static>(body: B) -> Self {
        let broken = |source| HttpError::Network { phase: HttpPhase::Body, source };
        let typed = move |error: B::Error| HttpError::unwrap_or(error.into(), broken);
        Self(body.map_err(typed).boxed_unsync())
    }

    /// A body of no bytes.
    pub fn empty() -> Self {
        Self::full(Bytes::new())
    }

    /// A body of known bytes.
    pub fn full(bytes: impl Into<Bytes>) -> Self {
        Self::new(Full::new(bytes.into()))
    }

    /// The body of a request, piece by piece, with its exact length; nothing is copied but small
    /// pieces into frames.
    pub fn segments(segments: &Segments) -> Self {
        let left = segments.content_length();
        Self::new(SegmentsBody { frames: segments.frames(), left })
    }

    /// The next data, cut wherever the transport cut it; `None` at the end.
    ///
    /// # Errors
    /// [`HttpError`] where the body breaks.
    pub fn poll_data(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, HttpError>>> {
        while let Some(frame) = ready!(Pin::new(&mut self.0).poll_frame(cx)?) {
            // Trailers: nothing that we read is in them.
            if let Ok(data) = frame.into_data() {
                return Poll::Ready(Some(Ok(data)));
            }
        }
        Poll::Ready(None)
    }

    /// The next data; cancel-safe: a dropped future loses no data.
    ///
    /// # Errors
    /// [`HttpError`] where the body breaks.
    pub async fn data(&mut self) -> Option<Result<Bytes, HttpError>> {
        std::future::poll_fn(|cx| self.poll_data(cx)).await
    }

    /// The whole body, if it has at most `limit` bytes.
    ///
    /// # Errors
    /// [`HttpError`] where the body breaks or is larger.
    pub async fn collect(mut self, limit: usize) -> Result<Bytes, HttpError> {
        let mut all = BytesMut::new();
        while let Some(data) = self.data().await.transpose()? {
            if all.len().saturating_add(data.len()) > limit {
                return Err(HttpError::BodyTooLarge { limit });
            }
            all.extend_from_slice(&data);
        }
        Ok(all.freeze())
    }

    /// At most the first `limit` bytes of the body, for an error report: what breaks is cut.
    pub async fn excerpt(mut self, limit: usize) -> Bytes {
        let mut all = BytesMut::new();
        while all.len() < limit
            && let Some(Ok(data)) = self.data().await
        {
            let room = limit.saturating_sub(all.len());
            all.extend_from_slice(data.get(..room).unwrap_or(&data));
        }
        all.freeze()
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = HttpError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, HttpError>>> {
        Pin::new(&mut self.0).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.0.size_hint()
    }
}

struct SegmentsBody {
    frames: Frames,
    left: u64,
}

impl http_body::Body for SegmentsBody {
    type Data = Bytes;
    type Error = HttpError;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, HttpError>>> {
        let frame = self.frames.next();
        self.left = self.left.saturating_sub(frame.as_ref().map_or(0, Bytes::len) as u64);
        Poll::Ready(frame.map(|frame| Ok(Frame::data(frame))))
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}
